//! Where a process stands by its control group, its environment and its parents.
//!
//! Every program of a run carries the run's nonce, and whatever loses its parents is taken over by the run's
//! daemon; so a process that hides its own environment still has a daemon of ours among its ancestors.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use swarm_engine::process::NONCE_VARIABLE;
use swarm_engine::process::caller::{self, SeenBy, attempt_of};
use swarm_protocol::ids::RunId;

use super::{Inside, Peer, Standing, Who};

/// A chain of parents that is longer is no chain of people's shells.
const ANCESTORS_MAX: usize = 256;

/// Recognises processes of the runs whose daemons were started from this swarm's folder.
///
/// A swarm may itself run inside an attempt of another one (its own tests do). What all processes here
/// have in common with the coordinator says nothing about them.
pub fn by_ancestors(swarm_dir: &Path) -> Who {
    let daemons = swarm_dir.join("run").join("daemons");
    let ours: BTreeSet<String> =
        chain(std::process::id()).filter_map(|pid| nonce_and_run(pid).map(|(nonce, _)| nonce)).collect();
    Arc::new(move |peer: Peer| stands(peer, &daemons, &ours))
}

fn stands(peer: Peer, daemons: &Path, ours: &BTreeSet<String>) -> Standing {
    if peer.pid == 0 || parent_of(peer.pid).is_none() {
        return Standing::Unseen;
    }
    // The control group first: nobody can leave it, and it is one file to read.
    match attempt_of(caller::Peer { pid: peer.pid }, &[]) {
        Some(inside) if inside.seen_by == SeenBy::Vanished => return Standing::Unseen,
        Some(inside) => return Standing::Inside(Inside { run: inside.run, nonce: inside.nonce }),
        None => {}
    }
    for (steps, pid) in chain(peer.pid).enumerate() {
        if let Some((nonce, run)) = nonce_and_run(pid).filter(|(nonce, _)| !ours.contains(nonce)) {
            return Standing::Inside(Inside { run, nonce: Some(nonce) });
        }
        // The daemon itself is not inside its run; its children are.
        if let Some(run) = daemon_of(pid, daemons).filter(|_| steps > 0) {
            return Standing::Inside(Inside { run: Some(run), nonce: None });
        }
    }
    // It may have ended while we looked, and then nothing that was seen is about it.
    if parent_of(peer.pid).is_none() { Standing::Unseen } else { Standing::Outside }
}

/// The process, its parent and so on. A process is its own only ancestor when it is gone.
fn chain(pid: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(pid), |pid| parent_of(*pid).filter(|parent| *parent > 1)).take(ANCESTORS_MAX)
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The program's name stands in parentheses and may hold some itself: what follows the last is regular.
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn nonce_and_run(pid: u32) -> Option<(String, Option<RunId>)> {
    let environ = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let value = |name: &str| {
        environ.split(|byte| *byte == 0).find_map(|entry| {
            let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
            Some(String::from_utf8_lossy(value).into_owned())
        })
    };
    let run = value("SWARM_RUN").and_then(|run| RunId::new(run).ok());
    Some((value(NONCE_VARIABLE)?, run))
}

/// The run that this process is the daemon of: `… daemon --spec RUN.spec.json`, in our folder.
fn daemon_of(pid: u32, daemons: &Path) -> Option<RunId> {
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let mut words = command.split(|byte| *byte == 0);
    words.by_ref().find(|word| *word == b"--spec")?;
    let spec = Path::new(std::ffi::OsStr::from_bytes(words.next()?));
    if spec.parent() != Some(daemons) {
        return None;
    }
    RunId::new(spec.file_name()?.to_str()?.strip_suffix(".spec.json")?).ok()
}
