//! Things of the person that attacks are aimed at.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command};

use rustix::process::Pid;

use crate::attacker::{OPEN_FILE, OPEN_FOLDER};

pub fn victim() -> Child {
    Command::new("sleep").arg("86400").env("SECRET_OF_THE_PERSON", "a secret").spawn().expect("a process")
}

/// Listeners in the home folder that are not where the name says by which they were bound, and one whose name is odd.
pub fn odd_sockets(home: &Path) -> Vec<UnixListener> {
    let bind = |path: &Path| UnixListener::bind(path).expect("it listens");
    let folder = fs::File::open(home).expect("it opens");
    let by_descriptor = format!("/proc/self/fd/{}/by-descriptor.sock", folder.as_raw_fd());
    let names = ["before.sock", "first.sock"].map(|name| home.join(name));
    let odd = home.join(OsStr::from_bytes(b"a b\n\xff.sock"));
    let listeners = vec![bind(Path::new(&by_descriptor)), bind(&names[0]), bind(&names[1]), bind(&odd)];
    fs::rename(&names[0], home.join("renamed.sock")).expect("renamed");
    fs::hard_link(&names[1], home.join("linked.sock")).expect("linked");
    listeners
}

/// Somewhere in its stack, which every process has.
pub fn address_in(pid: u32) -> usize {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let stack = maps.lines().find(|line| line.ends_with("[stack]")).unwrap_or_default();
    let end = stack.split(['-', ' ']).nth(1).unwrap_or_default();
    usize::from_str_radix(end, 16).map_or(0, |end| end - 64)
}

/// Its length, its kind, and the numbers by which the file system knows it. Empty where it has none.
pub fn handle_of(path: &Path) -> Vec<u32> {
    let name = crate::attacker::text_of(path);
    let mut handle = vec![0_u32; 34];
    handle[0] = 128;
    let mut mount = 0_i32;
    // SAFETY: the handle says how much room it has, and all of it lives through the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_name_to_handle_at,
            libc::AT_FDCWD,
            name.as_ptr(),
            handle.as_mut_ptr(),
            &raw mut mount,
            0,
        )
    };
    if done == 0 { handle } else { Vec::new() }
}

/// As after `exec 9>>~/.bashrc 8<~/.ssh` in the shell from which everything is started. Anew each time: the file may have
/// been replaced.
pub fn leave_open(home: &Path) {
    let file = fs::OpenOptions::new().append(true).open(home.join(".bashrc")).expect("it can be written");
    let folder = fs::File::open(home.join(".ssh")).expect("it can be read");
    for (opened, number) in [(file, OPEN_FILE), (folder, OPEN_FOLDER)] {
        // SAFETY: nobody else uses these numbers.
        assert_eq!(unsafe { libc::dup2(opened.as_raw_fd(), number) }, number);
    }
}

/// Processes that an attacker of this trial has left. They say whose they are.
pub fn lingering() -> Vec<Pid> {
    let mark = format!("attack\0linger-on\0{}\0", std::process::id()).into_bytes();
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_left =
        |entry: &fs::DirEntry| fs::read(entry.path().join("cmdline")).is_ok_and(|line| line.ends_with(&mark));
    let number = |entry: fs::DirEntry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?);
    all.filter(is_left).filter_map(number).collect()
}

pub fn terminal() -> (OwnedFd, String) {
    let mut name = [0_u8; 64];
    // SAFETY: the kernel gives a new descriptor, and the buffer is as long as it is told.
    unsafe {
        let fd = libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_NONBLOCK | libc::O_CLOEXEC);
        assert!(fd >= 0, "no terminal");
        libc::grantpt(fd);
        libc::unlockpt(fd);
        libc::ptsname_r(fd, name.as_mut_ptr().cast(), name.len());
        let name = String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned();
        (OwnedFd::from_raw_fd(fd), name)
    }
}
