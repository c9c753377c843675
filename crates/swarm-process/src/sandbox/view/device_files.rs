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

/// Most that programs of one run may put into shared memory, of what the machine has.
const SHARED_MEMORY: &str = "50%";

/// The devices of the machine, held before its `/dev` is covered.
pub fn held() -> Vec<(&'static str, io::Result<OwnedFd>)> {
    DEVICES.map(|name| (name, mounts::copy_of(&Path::new("/dev").join(name)))).into()
}

/// `memory_max`: of the whole run.
pub fn make(devices: Vec<(&'static str, io::Result<OwnedFd>)>, memory_max: Option<u64>) -> io::Result<()> {
    let shared = shared_memory(memory_max, &std::fs::read_to_string("/proc/meminfo").unwrap_or_default());
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
    mounts::put(mounts::memory("1777", &shared)?, Path::new("/dev/shm"))?;
    folder("/dev/.nothing", 0o755)?;
    folder(NOTHING_DIR, 0o000)?;
    OpenOptions::new().create_new(true).write(true).mode(0o000).open(NOTHING_FILE)?;
    Ok(())
}

/// As a mount is told it: the limit, where that is less than half of what there is.
fn shared_memory(memory_max: Option<u64>, meminfo: &str) -> String {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|total| total.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    match (memory_max, kib) {
        (Some(max), Some(kib)) if max < (kib << 10) / 2 => max.to_string(),
        _ => SHARED_MEMORY.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_has_the_limit_of_the_run_but_never_more_than_half_of_the_machine() {
        let machine = "MemTotal:        1024 kB\nMemFree: 1 kB\n";
        assert_eq!(shared_memory(Some(256 << 10), machine), "262144");
        assert_eq!(shared_memory(Some(512 << 10), machine), "50%");
        assert_eq!(shared_memory(None, machine), "50%");
        assert_eq!(shared_memory(Some(1), ""), "50%");
    }
}
