//! Attacks on files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use super::{ANSWERED, ASKS, Field, call, text_of};

const ANSWERED_WITHIN: Duration = Duration::from_secs(10);

pub fn attack(name: &str, field: &Field) -> Option<io::Result<()>> {
    let home = |below: &str| field.home.join(below);
    let repo = |below: &str| field.repo.join(below);
    let here = |below: &str| field.worktree.join(below);
    Some(match name {
        "write-home" => append(&home(".bashrc")),
        "chmod-home" => fs::set_permissions(home(".config"), fs::Permissions::from_mode(0o777)),
        "chmod-ledger" => fs::set_permissions(repo(".swarm/ledger.jsonl"), fs::Permissions::from_mode(0o000)),
        "utimes-home" => touch(&home(".bashrc")),
        "setxattr-home" => {
            let (path, name) = (text_of(&home(".bashrc")), c"user.evil");
            call!(libc::SYS_setxattr, path.as_ptr(), name.as_ptr(), c"x".as_ptr(), 1, 0)
        }
        "set-flags-home" => set_flags(&home(".bashrc")),
        "fchmod-readonly-fd" => File::open(home(".bashrc"))
            .and_then(|file| file.set_permissions(fs::Permissions::from_mode(0o666))),
        "truncate-home" => call!(libc::SYS_truncate, text_of(&home(".bashrc")).as_ptr(), 0),
        "reopen-through-proc-fd" => File::open(home(".bashrc"))
            .and_then(|file| append(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())))),
        "hardlink-home" => fs::hard_link(home(".bashrc"), here("mine")).and_then(|()| append(&here("mine"))),
        "rename-home" => fs::rename(home(".bashrc"), here("mine")),
        "unlink-home" => fs::remove_file(home(".bashrc")),
        "write-checkout" => append(&repo("README")),
        "write-git-hook" => append(&repo(".git/hooks/post-commit")),
        "write-git-config" => append(&repo(".git/config")),
        "write-other-worktree" => append(&repo(".swarm/worktrees/t2/file")),
        "write-ledger" => append(&repo(".swarm/ledger.jsonl")),
        "write-etc" => append(Path::new("/etc/swarm-attack")),
        "write-usr-local" => append(Path::new("/usr/local/bin/swarm-attack")),
        "write-autostart" => append(&home(".config/autostart/evil")),
        "write-cron" => append(&super::started_at_times().join("swarm-attack")),
        "write-var-tmp" => append(Path::new("/var/tmp/swarm-attack")),
        "write-tmp-of-the-person" => append(&field.in_tmp.join("evil")),
        "read-run-folder" => read(&repo(".swarm/run/secret.key")),
        "read-ssh-key" => read(&home(".ssh/id")),
        "read-ssh-key-by-link" => symlink(home(".ssh/id"), here("key")).and_then(|()| read(&here("key"))),
        "read-ssh-key-by-proc-root" => {
            let below = home(".ssh/id");
            let by = |process: &str| read(Path::new(&format!("/proc/{process}/root{}", below.display())));
            by("1").or_else(|_| by("self"))
        }
        "read-netrc" => read(&home(".netrc")),
        "poison-cargo-source" => append(&home(".cargo/registry/src/a/build.rs")),
        "poison-cache" => append(&home(".cache/tool/start")),
        "new-file-in-cache" => append(&home(".cache/evil")),
        "delete-cache" => fs::remove_dir_all(home(".cache/tool")),
        "replace-what-the-next-sees" => replace_own_folders(),
        "setuid-by-chmod" => made(&here("tool"))
            .and_then(|()| fs::set_permissions(here("tool"), fs::Permissions::from_mode(0o4755))),
        "setuid-by-open" => OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o4755)
            .open(here("tool"))
            .map(drop),
        "setuid-by-fchmodat2" => made(&here("tool")).and_then(|()| {
            call!(libc::SYS_fchmodat2, libc::AT_FDCWD, text_of(&here("tool")).as_ptr(), 0o4755, 0)
        }),
        "setuid-by-nameless-file" => nameless(&field.worktree).and_then(|file| {
            let (from, to) = (format!("/proc/self/fd/{}", file.as_raw_fd()), here("tool-of-nobody"));
            rustix::fs::linkat(CWD, from, CWD, to, AtFlags::SYMLINK_FOLLOW)?;
            Ok(())
        }),
        "nest-folders" => nest().and(Err(io::Error::other("nested, and removed afterwards"))),
        "device-node" => {
            call!(
                libc::SYS_mknodat,
                libc::AT_FDCWD,
                text_of(&here("disk")).as_ptr(),
                libc::S_IFBLK | 0o600,
                0x0800
            )
        }
        "raw-disk" => first_that_opens(&["/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/loop0", "/dev/mem"]),
        "kernel-log-device" => first_that_opens(&["/dev/kmsg"]),
        "open-console" => first_that_opens(&["/dev/console", "/dev/tty0", "/dev/tty1", "/dev/ttyS0"]),
        "core-pattern" => open_to_write(Path::new("/proc/sys/kernel/core_pattern")),
        "sysrq" => open_to_write(Path::new("/proc/sysrq-trigger")),
        "sysfs" => open_to_write(Path::new("/sys/kernel/mm/transparent_hugepage/enabled"))
            .or_else(|_| open_to_write(Path::new("/sys/power/state"))),
        "leave-cgroup" => leave_cgroup(),
        "oom-score-of-other" => append_text(Path::new(&format!("/proc/{}/oom_score_adj", field.victim)), "1"),
        "environ-of-other" => environ_of(field.victim),
        "root-of-other" => {
            let socket = format!("/proc/{}/root{}", field.victim, home(".ssh/id").display());
            read(Path::new(&socket))
        }
        "lease-home" => File::open(home(".config/autostart/a"))
            .and_then(|file| call!(libc::SYS_fcntl, file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK)),
        "hold-a-lock" => File::open(repo(".git/swarm/worktrees.lock"))
            .and_then(|file| file.try_lock().map_err(|_| io::Error::other("somebody else holds it"))),
        "read-netrc-written-anew" => after_the_person(field, ".netrc"),
        "read-log-in-made-later" => after_the_person(field, ".aws/credentials"),
        "read-log-in-made-later-below" => after_the_person(field, ".config/gh/hosts.yml"),
        "read-log-in-made-in-a-cache" => after_the_person(field, ".cargo/credentials.toml"),
        "inherited-file" => {
            call!(libc::SYS_write, super::OPEN_FILE, c"evil".as_ptr(), 4)
        }
        "inherited-folder" => {
            call!(libc::SYS_openat, super::OPEN_FOLDER, c"id".as_ptr(), libc::O_RDONLY)
        }
        "open-terminal" => open_terminal(field),
        "shared-memory-file" => read(&field.shm),
        _ => return None,
    })
}

pub fn append(path: &Path) -> io::Result<()> {
    OpenOptions::new().append(true).create(true).open(path)?.write_all(b"evil")
}

fn open_to_write(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).open(path).map(drop)
}

fn made(path: &Path) -> io::Result<()> {
    fs::write(path, "#!/bin/sh\n")
}

/// The next program of the run would see a folder of the person's as its own `/tmp`.
fn replace_own_folders() -> io::Result<()> {
    let own = std::env::temp_dir().join(".view");
    fs::rename(&own, own.with_file_name("mine"))?;
    symlink("/", own)
}

/// Deeper than a process may have files open, in the folder that goes with the run.
fn nest() -> io::Result<()> {
    let mut at = rustix::fs::open(std::env::temp_dir(), OFlags::PATH, Mode::empty())?;
    for _ in 0..1500 {
        rustix::fs::mkdirat(&at, "in", Mode::RWXU)?;
        at = rustix::fs::openat(&at, "in", OFlags::PATH, Mode::empty())?;
    }
    Ok(())
}

/// Reads what the person replaces or makes while we run. Waits for it by trying, as an agent would.
fn after_the_person(field: &Field, name: &str) -> io::Result<()> {
    let (asks, answered) = (field.worktree.join(ASKS), field.worktree.join(ANSWERED));
    fs::write(asks, "")?;
    let begun = Instant::now();
    while !answered.exists() {
        if begun.elapsed() > ANSWERED_WITHIN {
            println!("the person did nothing");
            std::process::exit(0);
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
    read(&field.later.join(name))
}

/// With the bit from its first moment on.
fn nameless(folder: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).mode(0o4755).open(folder)
}

fn read(path: &Path) -> io::Result<()> {
    let mut text = String::new();
    File::open(path)?.take(4096).read_to_string(&mut text)?;
    if text.is_empty() { Err(io::Error::other("it is empty")) } else { Ok(()) }
}

fn touch(path: &Path) -> io::Result<()> {
    let times = [libc::timespec { tv_sec: 1, tv_nsec: 0 }; 2];
    call!(libc::SYS_utimensat, libc::AT_FDCWD, text_of(path).as_ptr(), times.as_ptr(), 0)
}

/// The mark that a file is left out of backups.
fn set_flags(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    let flags: libc::c_long = 0x40;
    call!(libc::SYS_ioctl, file.as_raw_fd(), libc::FS_IOC_SETFLAGS, &raw const flags)
}

fn first_that_opens(names: &[&str]) -> io::Result<()> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for name in names {
        match File::open(name) {
            Ok(_) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn leave_cgroup() -> io::Result<()> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for top in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory"] {
        match append_text(&Path::new(top).join("cgroup.procs"), "0") {
            Ok(()) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn append_text(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

fn environ_of(pid: i32) -> io::Result<()> {
    let text = fs::read(format!("/proc/{pid}/environ"))?;
    match text.windows(6).any(|part| part == b"SECRET") {
        true => Ok(()),
        false => Err(io::Error::other("another process")),
    }
}

/// The person's terminal has this number; one of our own with the same number is another.
fn open_terminal(field: &Field) -> io::Result<()> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK)
        .open(&field.terminal)
        .map(drop)
}
