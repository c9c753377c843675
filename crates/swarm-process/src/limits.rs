//! How much of the machine one run may take. Enforced by the control group where it has such files, else by the limits that a
//! process hands on to its children; and looked at from outside, which holds everywhere and can say what was hit.

use rustix::process::{
    Pid, Resource, Rlimit, getpriority_process, getrlimit, prlimit, setpriority_process, setrlimit,
};
use serde::{Deserialize, Serialize};

use crate::usage::Usage;

/// What a process hands on to its children lies above the limit: whoever passes that is ended and told why, instead of
/// being refused memory without a word. It bounds what can happen between two looks: of memory, what one process has for
/// itself; of processes, those of a user namespace. The kernel bounds no process of root's.
const PROCESSES_ROOM: u64 = 1024;
const MEMORY_ROOM: u64 = 4 << 30;

/// None: as much as there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Of all processes of the run together.
    pub memory_bytes: Option<u64>,
    pub processes: Option<u64>,
    /// Of each process.
    pub open_files: Option<u64>,
    /// Of 100, when the processor is not enough for everybody.
    pub cpu_weight: Option<u32>,
    /// What the worktree, the temporary files and the agent's own repository may grow to together.
    pub worktree_bytes: Option<u64>,
}

impl Limits {
    /// For this process and all that it starts. `alone`: its user is counted for this run only.
    pub(crate) fn hand_on(&self, alone: bool) {
        if let Some(files) = self.open_files {
            lower(Resource::Nofile, files);
        }
        if let Some(processes) = self.processes.filter(|_| alone) {
            lower(Resource::Nproc, processes.saturating_mul(2).max(PROCESSES_ROOM));
        }
        if let Some(memory) = self.memory_bytes {
            lower(Resource::Data, memory.saturating_mul(2).max(MEMORY_ROOM));
        }
        let nice = self.cpu_weight.map_or(0, |weight| 100_u32.saturating_sub(weight) / 6);
        if let (1.., Ok(now)) = (nice, getpriority_process(None)) {
            let _ = setpriority_process(None, (now + nice.cast_signed()).min(19));
        }
    }

    /// The limit that was passed, for people.
    pub fn passed(&self, usage: Usage) -> Option<String> {
        match (self.memory_bytes, self.processes) {
            (Some(max), _) if usage.memory_bytes > max => Some(format!(
                "its processes took {} MiB of memory, and limits.memory allows {}",
                usage.memory_bytes >> 20,
                max >> 20
            )),
            (_, Some(max)) if usage.processes > max => {
                Some(format!("it had {} processes, and limits.processes allows {max}", usage.processes))
            }
            _ => None,
        }
    }
}

/// Files that we want to be able to have open. Not more: programs that we start inherit it, and some take a long time to
/// close every file that they could have.
const FILES_WANTED: u64 = 4096;

/// Asks for more open files than a shell gives, as far as the machine lets us. Answers with how many there may be; none: as
/// many as one likes.
pub fn take_room_for_files() -> Option<u64> {
    let now = getrlimit(Resource::Nofile);
    let wanted = now.maximum.map_or(FILES_WANTED, |most| most.min(FILES_WANTED));
    let has = now.current?;
    if has >= wanted {
        return Some(has);
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..now }) {
        Ok(()) => Some(wanted),
        Err(_) => Some(has),
    }
}

/// Whether the machine has no more of something for us at this moment: files, processes, memory. Nobody's fault, and over
/// when others end.
pub fn is_shortage(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let kinds = [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM];
    error.raw_os_error().is_some_and(|code| kinds.iter().any(|kind| kind.raw_os_error() == code))
}

/// What that process may have of memory of its own, and each one that it starts from now on. Where that cannot be said it
/// stays without.
pub(super) fn keep_within(pid: u32, bytes: u64) {
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = prlimit(Some(pid), Resource::Data, limit);
    }
}

/// Neither above what is allowed already nor above what is asked.
fn lower(resource: Resource, to: u64) {
    let now = getrlimit(resource);
    let least = |limit: Option<u64>| Some(limit.map_or(to, |limit| limit.min(to)));
    let _ = setrlimit(resource, Rlimit { current: least(now.current), maximum: least(now.maximum) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_passed_is_named_with_both_numbers() {
        let limits = Limits { memory_bytes: Some(64 << 20), processes: Some(10), ..Limits::default() };
        assert_eq!(limits.passed(Usage { processes: 10, memory_bytes: 64 << 20 }), None);
        let memory = limits.passed(Usage { processes: 1, memory_bytes: 65 << 20 }).expect("too much");
        assert_eq!(memory, "its processes took 65 MiB of memory, and limits.memory allows 64");
        let many = limits.passed(Usage { processes: 11, memory_bytes: 0 }).expect("too many");
        assert_eq!(many, "it had 11 processes, and limits.processes allows 10");
    }
}
