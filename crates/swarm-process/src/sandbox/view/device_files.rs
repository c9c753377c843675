//! A `/dev` with what every program needs and nothing else.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::Path;

use super::mounts;

/// They hold nothing of anybody's. `tty` is the terminal of whoever opens it, and programs of a run have none.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

const LINKS: [(&str, &str); 5] = [
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
    ("pts/ptmx", "/dev/ptmx"),
];

/// What is laid over places that are not to be seen. Nobody may open them.
pub const NOTHING_DIR: &str = "/dev/.nothing/folder";
pub const NOTHING_FILE: &str = "/dev/.nothing/file";

/// Most that programs of one run may put into shared memory.
const SHARED_MEMORY: &str = "50%";

/// The devices of the machine, held before its `/dev` is covered.
pub fn held() -> Vec<(&'static str, io::Result<OwnedFd>)> {
    DEVICES.map(|name| (name, mounts::copy_of(&Path::new("/dev").join(name)))).into()
}

pub fn make(devices: Vec<(&'static str, io::Result<OwnedFd>)>) -> io::Result<()> {
    mounts::put(mounts::memory("0755", "1m")?, Path::new("/dev"))?;
    for (name, device) in devices {
        let place = Path::new("/dev").join(name);
        OpenOptions::new().create_new(true).write(true).mode(0o666).open(&place)?;
        match (device, name) {
            (Ok(device), _) => mounts::put(device, &place)?,
            // Without a controlling terminal nobody misses it.
            (Err(_), "tty") => std::fs::remove_file(&place)?,
            (Err(error), _) => return Err(error),
        }
    }
    for (to, link) in LINKS {
        symlink(to, link)?;
    }
    let folder = |path: &str, mode| DirBuilder::new().mode(mode).create(path);
    folder("/dev/pts", 0o755)?;
    mounts::put(mounts::terminals()?, Path::new("/dev/pts"))?;
    folder("/dev/shm", 0o1777)?;
    mounts::put(mounts::memory("1777", SHARED_MEMORY)?, Path::new("/dev/shm"))?;
    folder("/dev/.nothing", 0o755)?;
    folder(NOTHING_DIR, 0o000)?;
    OpenOptions::new().create_new(true).write(true).mode(0o000).open(NOTHING_FILE)?;
    Ok(())
}
