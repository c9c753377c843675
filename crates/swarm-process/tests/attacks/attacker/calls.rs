//! Attacks by unusual system calls.

use std::io;
use std::os::fd::AsRawFd;

use super::files::append;
use super::{Field, call, checked, text_of};

#[allow(clippy::too_many_lines, reason = "a table")]
pub fn attack(name: &str, field: &Field) -> Option<io::Result<()>> {
    let zeros = [0_u8; 256];
    Some(match name {
        "clone-into-cgroup" => clone_into_cgroup(),
        "mount" => call!(libc::SYS_mount, c"none".as_ptr(), c".".as_ptr(), c"tmpfs".as_ptr(), 0, 0),
        "umount-view" => {
            call!(libc::SYS_umount2, text_of(&field.home.join(".ssh")).as_ptr(), libc::MNT_DETACH)
        }
        "unshare-user" => call!(libc::SYS_unshare, libc::CLONE_NEWUSER),
        "clone-user" => clone_user(),
        "setns" => std::fs::File::open(format!("/proc/{}/ns/mnt", field.victim))
            .and_then(|file| call!(libc::SYS_setns, file.as_raw_fd(), 0)),
        "chroot" => call!(libc::SYS_chroot, c".".as_ptr()),
        "open-tree" => call!(libc::SYS_open_tree, libc::AT_FDCWD, c"/".as_ptr(), 1),
        "io-uring" => {
            let parameters = [0_u8; 512];
            call!(libc::SYS_io_uring_setup, 4, parameters.as_ptr())
        }
        "bpf" => {
            // A table of one number.
            let mut attributes = [0_u32; 16];
            attributes[..4].copy_from_slice(&[2, 4, 4, 1]);
            call!(libc::SYS_bpf, 0, attributes.as_ptr(), size_of_val(&attributes))
        }
        "perf" => {
            let mut attributes = [0_u64; 16];
            attributes[0] = 1 | (128 << 32);
            // Only of itself, without the kernel: allowed to everybody on many machines.
            attributes[5] = 1 << 5 | 1 << 6;
            call!(libc::SYS_perf_event_open, attributes.as_ptr(), 0, -1, -1, 0)
        }
        "keyring" => add_key(),
        "userfault" => call!(libc::SYS_userfaultfd, 1),
        "open-by-handle" => open_by_handle(field),
        "fanotify" => call!(libc::SYS_fanotify_init, 0x200, 0),
        "syslog" => call!(libc::SYS_syslog, 3, zeros.as_ptr(), zeros.len()),
        "second-table" => {
            let mount = 0x4000_0000 | libc::SYS_unshare;
            call!(mount, libc::CLONE_NEWUSER)
        }
        "hostname" => call!(libc::SYS_sethostname, c"evil".as_ptr(), 4),
        "clock" => set_clock(),
        "capabilities" => capabilities(),
        "setuid-root-again" => setuid_program(field),
        "memfd-program" => memfd_program(field),
        "shared-memory-sysv" => shared_memory(field.memory),
        "environment" => environment(),
        "dump-core" => core_limit(),
        _ => return None,
    })
}

fn clone_into_cgroup() -> io::Result<()> {
    let top = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];
    let top = top.iter().find_map(|path| std::fs::File::open(path).ok());
    let group = top.as_ref().map_or(0, |file| u64::from(file.as_raw_fd().cast_unsigned()));
    let arguments = [0x2_0000_0000_u64, 0, 0, 0, 17, 0, 0, 0, 0, 0, group];
    // SAFETY: the structure is as long as it is told; the child ends at once.
    let child = unsafe { libc::syscall(libc::SYS_clone3, arguments.as_ptr(), size_of_val(&arguments)) };
    if child == 0 {
        std::process::exit(0);
    }
    checked(child)
}

fn clone_user() -> io::Result<()> {
    // SAFETY: without a stack of its own it is a fork; the child ends at once.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::CLONE_NEWUSER | libc::SIGCHLD, 0, 0, 0, 0) };
    if child == 0 {
        std::process::exit(0);
    }
    checked(child)
}

fn capabilities() -> io::Result<()> {
    let may_gain = std::fs::read_to_string("/proc/self/status")?.contains("NoNewPrivs:\t0");
    match has_rights() || may_gain {
        true => Ok(()),
        false => Err(io::Error::other("no right is left")),
    }
}

pub fn has_rights() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let sets = status.lines().filter(|line| {
        ["CapPrm:", "CapEff:", "CapInh:", "CapAmb:"].iter().any(|name| line.starts_with(name))
    });
    sets.filter_map(|line| line.split_whitespace().nth(1)).any(|set| !set.trim_matches('0').is_empty())
}

/// Root gains its rights with every program that it starts; others by a program with the bit.
fn setuid_program(field: &Field) -> io::Result<()> {
    let is_root = rustix::process::geteuid().is_root();
    let program = if is_root { std::path::Path::new("/proc/self/exe") } else { &field.rooted };
    match std::process::Command::new(program).args(["attack", "rights"]).status()?.success() {
        true => Ok(()),
        false => Err(io::Error::other("no right is gained")),
    }
}

/// As it is now: it is the right that counts.
fn set_clock() -> io::Result<()> {
    // SAFETY: a structure of numbers, of which zeros are a value.
    let mut clock: libc::timex = unsafe { std::mem::zeroed() };
    call!(libc::SYS_adjtimex, &raw mut clock)?;
    clock.modes = libc::ADJ_TICK;
    call!(libc::SYS_adjtimex, &raw mut clock)
}

fn add_key() -> io::Result<()> {
    let (kind, name, ring) = (c"user".as_ptr(), c"swarm-attack".as_ptr(), libc::KEY_SPEC_USER_KEYRING);
    // SAFETY: names and a value that live through the call.
    let key = unsafe { libc::syscall(libc::SYS_add_key, kind, name, c"x".as_ptr(), 1_usize, ring) };
    checked(key)?;
    // Where it can be done nothing of it is to stay.
    call!(libc::SYS_keyctl, libc::KEYCTL_UNLINK, key, ring)
}

/// A file is opened without its name: no folder on the way is asked.
fn open_by_handle(field: &Field) -> io::Result<()> {
    use std::io::Read;
    use std::os::fd::FromRawFd;
    let mount = std::fs::File::open(&field.worktree)?;
    // SAFETY: the handle begins with its length; the descriptor is new and ours.
    let mut file = unsafe {
        let opened = libc::syscall(
            libc::SYS_open_by_handle_at,
            mount.as_raw_fd(),
            field.handle.as_ptr(),
            libc::O_RDONLY,
        );
        checked(opened)?;
        std::fs::File::from_raw_fd(opened as i32)
    };
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    if text == "a key" { Ok(()) } else { Err(io::Error::other("another file")) }
}

/// A program that lies nowhere is behind the same walls.
fn memfd_program(field: &Field) -> io::Result<()> {
    let memory = rustix::fs::memfd_create("evil", rustix::fs::MemfdFlags::empty())?;
    let mut file = std::fs::File::from(memory);
    io::copy(&mut std::fs::File::open("/proc/self/exe")?, &mut file)?;
    let field = serde_json::to_string(field)?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let ran = std::process::Command::new(path).args(["attack", "write-home", &field]).status()?;
    match ran.success() {
        true => Ok(()),
        false => append(std::path::Path::new("/etc/swarm-attack")),
    }
}

fn shared_memory(number: i32) -> io::Result<()> {
    // SAFETY: the kernel chooses where; nothing is read.
    let at = unsafe { libc::shmat(number, std::ptr::null(), 0) };
    checked(at as i64)
}

fn environment() -> io::Result<()> {
    match std::env::vars().any(|(_, value)| value == super::SECRET) {
        true => Ok(()),
        false => Err(io::Error::other("not handed on")),
    }
}

fn core_limit() -> io::Result<()> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Core);
    match limit.current {
        Some(0) => Err(io::Error::other("no core files")),
        _ => Ok(()),
    }
}
