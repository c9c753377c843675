//! What the processes of a run take of the machine, looked at from outside.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::statvfs;

/// Open files that are looked through for those in memory.
const FILES_MAX: usize = 10_000;

const SHARED: &str = "/dev/shm";

/// What the processes of a run take at this moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub processes: u64,
    pub memory_bytes: u64,
}

impl Usage {
    /// Without what they share with files: a library is not taken once more by each. What they share with each other is
    /// counted for each of them, so that it is never less than they take.
    pub(crate) fn of(pids: &[u32]) -> Self {
        Self::with(pids, resident)
    }

    /// The same with what they share with each other counted once. That takes longer.
    pub(crate) fn of_all_together(pids: &[u32]) -> Self {
        Self::with(pids, |pid| proportional(pid).or_else(|| resident(pid)))
    }

    fn with(pids: &[u32], one: impl Fn(u32) -> Option<Memory>) -> Self {
        let each = pids.iter().filter_map(|pid| one(*pid));
        let all = each.fold(Memory::default(), |all, one| Memory {
            own: all.own + one.own,
            shared: all.shared + one.shared,
        });
        // A file in memory is part of the first number where somebody has mapped it, and of the second in any case.
        let shared = all.shared.max(open_in_memory(pids) + in_shared_folder(pids));
        Self { processes: pids.len() as u64, memory_bytes: all.own + shared }
    }
}

/// Memory of a process that belongs to no file on a disk, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Memory {
    own: u64,
    shared: u64,
}

impl Memory {
    fn read(pid: u32, file: &str, own: &str, shared: &str) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/{file}")).ok()?;
        Some(Self { own: bytes_of(&text, own)?, shared: bytes_of(&text, shared).unwrap_or_default() })
    }
}

fn resident(pid: u32) -> Option<Memory> {
    Memory::read(pid, "status", "RssAnon:", "RssShmem:")
}

/// Of a page that several have, each has a part.
fn proportional(pid: u32) -> Option<Memory> {
    Memory::read(pid, "smaps_rollup", "Pss_Anon:", "Pss_Shmem:")
}

fn bytes_of(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kib| kib << 10)
}

/// Files that are in memory and have no name, each once, whoever has it open.
fn open_in_memory(pids: &[u32]) -> u64 {
    let folders = pids.iter().filter_map(|pid| fs::read_dir(format!("/proc/{pid}/fd")).ok());
    let files = folders.flat_map(Iterator::flatten).take(FILES_MAX).map(|file| file.path());
    let in_memory = files.filter(|file| fs::read_link(file).is_ok_and(|to| is_memfd(&to)));
    let found = in_memory.filter_map(|file| fs::metadata(file).ok());
    let each: HashMap<u64, u64> = found.map(|meta| (meta.ino(), meta.blocks() * 512)).collect();
    each.values().sum()
}

/// The name that somebody gave it follows without a slash.
fn is_memfd(to: &Path) -> bool {
    to.as_os_str().as_encoded_bytes().starts_with(b"/memfd:")
}

/// What lies in `/dev/shm`, where that is the run's own.
fn in_shared_folder(pids: &[u32]) -> u64 {
    let device = |path: &Path| fs::metadata(path).ok().map(|meta| meta.dev());
    let outside = device(Path::new(SHARED));
    let theirs = pids.iter().find_map(|pid| {
        let place = format!("/proc/{pid}/root{SHARED}");
        let inside = device(Path::new(&place))?;
        (Some(inside) != outside).then_some(place)
    });
    let Some(Ok(room)) = theirs.map(statvfs) else { return 0 };
    room.f_blocks.saturating_sub(room.f_bfree).saturating_mul(room.f_frsize)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn our_own_memory_is_counted_and_what_we_share_with_others_less_than_once() {
        let ours = [std::process::id()];
        let usage = Usage::of(&ours);
        assert!(usage.processes == 1 && usage.memory_bytes > 0, "{usage:?}");
        let (all, part) = (resident(ours[0]).expect("read"), proportional(ours[0]).expect("read"));
        assert!(part.own > 0 && part.own <= 2 * all.own, "{part:?} of {all:?}");
    }

    /// Nobody has mapped it, so that it is in no number of a process.
    #[test]
    fn a_file_in_memory_is_counted_once_however_many_have_it_open() {
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        let mut file = fs::File::from(rustix::fs::memfd_create("counted", flags).expect("made"));
        file.write_all(&vec![1; 32 << 20]).expect("written");
        let again = file.try_clone().expect("another");
        let ours = std::process::id();
        let bytes = open_in_memory(&[ours, ours]);
        // Others may be open in this process at the same time, but none so large.
        assert!((32 << 20..64 << 20).contains(&bytes), "{bytes}");
        assert!(Usage::of(&[ours]).memory_bytes >= 32 << 20);
        drop((file, again));
    }

    #[test]
    fn what_the_kernel_tells_of_a_process_is_read_by_name() {
        let text = "Rss:  900 kB\nPss_Anon:  12 kB\nPss_Shmem:\t4 kB\n";
        assert_eq!(bytes_of(text, "Pss_Anon:"), Some(12 << 10));
        assert_eq!(bytes_of(text, "Pss_Shmem:"), Some(4 << 10));
        assert_eq!(bytes_of(text, "Pss_File:"), None);
    }
}
