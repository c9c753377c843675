//! Whether a process that calls us runs inside an attempt. An agent may show whatever token it found;
//! where it runs it cannot choose.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use swarm_protocol::channel::DaemonRecord;
use swarm_protocol::ids::RunId;

use super::containment::cgroup::{groups_of, nonce_in};
use super::identity::{Pidfd, boot_id, parent_of, pid_in_proc, start_time_of};
use super::sweep::NONCE_VARIABLE;

/// The nonces of hooks begin with it. An agent that takes such a one for a child is still that child's ancestor.
pub const HOOK_MARK: &str = "hook-";

/// Ancestors that are looked at. Real trees have ten.
const ANCESTORS_MAX: usize = 1024;

/// The other end of a socket, by the pid that the kernel gives for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    pub pid: u32,
}

/// A caller inside an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inside {
    pub run: Option<RunId>,
    pub nonce: Option<String>,
    pub seen_by: SeenBy,
}

/// What gave it away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeenBy {
    /// The control group that it is in.
    Cgroup,
    /// The mark in its environment, or in that of one that it descends from.
    Nonce,
    /// It descends from a daemon.
    Daemon,
    /// It is behind walls that no program of a person's is behind.
    Walls,
    /// It was gone before it could be looked at. Nobody knows who it was, so it is nobody to be trusted.
    Vanished,
}

/// Where the caller runs, if that is inside an attempt; none for everybody else, daemons included.
/// `known` are the daemons that live.
pub fn attempt_of(peer: Peer, known: &[DaemonRecord]) -> Option<Inside> {
    marked(peer, known).or_else(|| walled(peer.pid))
}

/// By what a run leaves on each of its processes.
fn marked(peer: Peer, known: &[DaemonRecord]) -> Option<Inside> {
    let vanished = || Some(Inside { run: None, nonce: None, seen_by: SeenBy::Vanished });
    // The hold first: what is read afterwards is about this process, or it is gone.
    let Some(held) = Pidfd::open(peer.pid) else { return vanished() };
    let found = look(peer.pid, known, own_nonces());
    if found.is_none() && (held.is_gone() || parent_of(peer.pid).is_none()) {
        return vanished();
    }
    found
}

/// Behind walls of whomever: without the right to gain new ones, or in a pid namespace below ours. A person's own programs
/// call from neither, unless we ourselves run there.
fn walled(pid: u32) -> Option<Inside> {
    let line = |pid: u32, name: &str| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().find_map(|line| line.strip_prefix(name).map(|rest| rest.trim().to_owned()))
    };
    let no_new = |pid| line(pid, "NoNewPrivs:").is_some_and(|value| value == "1");
    let depth = |pid| line(pid, "NSpid:").map_or(0, |pids| pids.split_whitespace().count());
    let ourselves = pid_in_proc();
    let inside = (no_new(pid) && !no_new(ourselves)) || depth(pid) > depth(ourselves);
    inside.then_some(Inside { run: None, nonce: None, seen_by: SeenBy::Walls })
}

/// As [`attempt_of`], with the daemons known by the folder that their specs lie in: also those that came after we
/// looked, and whoever hides its environment has one of them among its ancestors.
pub fn attempt_below(peer: Peer, daemons: &Path) -> Option<Inside> {
    let seen = marked(peer, &[]);
    if seen.is_some() {
        return seen;
    }
    // A daemon itself is not inside its run; its children are.
    let found =
        ancestors(peer.pid).find_map(|pid| daemon_by_its_command_line(pid, Some(daemons))).or_else(|| {
            // It may have ended while we looked, and then nothing that was seen is about it.
            let vanished = Inside { run: None, nonce: None, seen_by: SeenBy::Vanished };
            parent_of(peer.pid).is_none().then_some(vanished)
        });
    // Last, since others build walls as well: a browser does.
    found.or_else(|| walled(peer.pid))
}

/// How often the way up from a process is followed: a parent that ends on the way breaks it, and there is a new one.
const WAYS_UP: usize = 3;

/// Whether the caller descends from this process. Only the kernel is asked: what a process says of itself in its
/// environment any other can say as well.
pub fn descends_from_us(peer: Peer) -> bool {
    // The hold first: what is read afterwards is about this process, or it is gone.
    let Some(held) = Pidfd::open(peer.pid) else { return false };
    let ourselves = pid_in_proc();
    let found = (0..WAYS_UP).any(|_| ancestors(peer.pid).any(|pid| pid == ourselves));
    found && !held.is_gone()
}

/// The same about ourselves, as far as it can be known without the records of the daemons.
pub fn am_i_inside() -> Option<Inside> {
    let myself = pid_in_proc();
    look(myself, &[], &[])
        .or_else(|| ancestors(myself).find_map(|pid| daemon_by_its_command_line(pid, None)))
        .or_else(first_is_ours)
}

/// In a namespace of its own a program sees nothing of the daemon, but the first process there is our launcher.
fn first_is_ours() -> Option<Inside> {
    let line = std::fs::read("/proc/1/cmdline").ok()?;
    let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
    let ours = words.get(1) == Some(&&b"boxed"[..]) && words.get(3) == Some(&&b"first"[..]);
    ours.then(|| Inside { run: None, nonce: nonce_of(1), seen_by: SeenBy::Walls })
}

fn look(pid: u32, known: &[DaemonRecord], not: &[String]) -> Option<Inside> {
    let named = |nonce: String, seen_by| {
        let run = known.iter().find(|record| record.nonce == nonce).map(|record| record.run.clone());
        Some(Inside { run, nonce: Some(nonce), seen_by })
    };
    let other = |nonce: &String| !not.contains(nonce);
    if let Some(nonce) = leaf_nonces(pid).into_iter().find(other) {
        return named(nonce, SeenBy::Cgroup);
    }
    let boot = boot_id();
    let is = |record: &&DaemonRecord, pid: u32| {
        record.pid == pid
            && boot.as_ref() == Some(&record.boot_id)
            && start_time_of(pid) == Some(record.start_time)
    };
    for ancestor in std::iter::once(pid).chain(ancestors(pid)) {
        if let Some(record) = known.iter().find(|record| is(record, ancestor)) {
            // A daemon that calls itself is ours.
            let (run, nonce) = (Some(record.run.clone()), Some(record.nonce.clone()));
            return (ancestor != pid).then_some(Inside { run, nonce, seen_by: SeenBy::Daemon });
        }
        if ancestor == pid_in_proc() && pid != ancestor {
            return None;
        }
        if let Some(nonce) = nonce_of(ancestor).filter(other) {
            return named(nonce, SeenBy::Nonce);
        }
    }
    None
}

fn ancestors(pid: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(parent_of(pid), |pid| parent_of(*pid))
        .take_while(|pid| *pid > 1)
        .take(ANCESTORS_MAX)
}

/// A swarm may itself be worked on by a swarm: what we are in ourselves says nothing about our callers. Looked up
/// once: what we were started in does not change, and everybody who calls would wait for it.
fn own_nonces() -> &'static [String] {
    static OURS: OnceLock<Vec<String>> = OnceLock::new();
    OURS.get_or_init(|| {
        let myself = pid_in_proc();
        let mut all = leaf_nonces(myself);
        all.extend(std::iter::once(myself).chain(ancestors(myself)).filter_map(nonce_of));
        all
    })
}

fn leaf_nonces(pid: u32) -> Vec<String> {
    groups_of(pid).filter_map(|group| nonce_in(&group).map(str::to_owned)).collect()
}

fn nonce_of(pid: u32) -> Option<String> {
    let environ = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mark = format!("{NONCE_VARIABLE}=");
    let value = environ.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(mark.as_bytes()))?;
    // A hook is the person's own program: it may ask for whatever the person may.
    String::from_utf8(value.to_vec()).ok().filter(|nonce| !nonce.starts_with(HOOK_MARK))
}

/// `swarm daemon --spec …/RUN.spec.json`. In a known folder that file alone says enough.
fn daemon_by_its_command_line(pid: u32, folder: Option<&Path>) -> Option<Inside> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
    let at = words.iter().position(|word| *word == b"--spec")?;
    let spec = Path::new(std::ffi::OsStr::from_bytes(words.get(at + 1)?));
    let is_one = match folder {
        Some(folder) => spec.parent() == Some(folder),
        None => at == 2 && words[1] == b"daemon",
    };
    let run = spec.file_name()?.to_str()?.strip_suffix(".spec.json").filter(|_| is_one)?;
    Some(Inside { run: Some(RunId::new(run).ok()?), nonce: None, seen_by: SeenBy::Daemon })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_descend_from_us_and_we_ourselves_and_our_parents_do_not() {
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().expect("cat");
        assert!(descends_from_us(Peer { pid: child.id() }));
        assert!(!descends_from_us(Peer { pid: std::process::id() }));
        assert!(!descends_from_us(Peer { pid: parent_of(std::process::id()).expect("a parent") }));
        drop(child.stdin.take());
        child.wait().expect("ended");
        assert!(!descends_from_us(Peer { pid: child.id() }));
    }

    #[test]
    fn one_that_is_gone_is_nobody_to_be_trusted_and_we_ourselves_are_outside() {
        let gone = attempt_of(Peer { pid: u32::MAX }, &[]);
        assert_eq!(gone.map(|inside| inside.seen_by), Some(SeenBy::Vanished));
        assert_eq!(attempt_of(Peer { pid: std::process::id() }, &[]), None);
        assert_eq!(attempt_of(Peer { pid: 1 }, &[]), None);
    }
}
