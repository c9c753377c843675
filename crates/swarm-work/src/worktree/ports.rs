//! A range of port numbers for each worktree, so that servers of two tasks do not meet.

use std::collections::BTreeMap;
use std::path::PathBuf;

use swarm_git::{Git, GitError, read_marker, write_note};

/// Ports that one worktree has for itself.
pub const STEP: u16 = 20;

/// Not made durable: after a power cut no server runs that another one could meet.
fn slots_path(git: &Git) -> PathBuf {
    git.swarm_dir().join("ports.json")
}

/// `SWARM_PORT_BASE` of this worktree: the same as long as it lives, another one's only after it is given back.
/// Slots are counted from `first`; when the numbers run out they start again.
pub async fn port_base(git: &Git, name: &str, first: u16) -> Result<u16, GitError> {
    let _one_at_a_time = git.administration().await?;
    let mut slots: BTreeMap<String, u16> = read_marker(&slots_path(git)).unwrap_or_default();
    let room = ((u16::MAX - first) / STEP).max(1);
    let slot = match slots.get(name) {
        Some(slot) => *slot,
        None => {
            let free = (0..room).find(|slot| !slots.values().any(|taken| taken == slot));
            let slot = free.unwrap_or(slots.len() as u16 % room);
            slots.insert(name.to_owned(), slot);
            write_note(&slots_path(git), &slots)?;
            slot
        }
    };
    Ok(first.saturating_add((slot % room).saturating_mul(STEP)))
}

/// The slot is free for another worktree.
pub(crate) async fn give_back(git: &Git, name: &str) -> Result<(), GitError> {
    let _one_at_a_time = git.administration().await?;
    let mut slots: BTreeMap<String, u16> = read_marker(&slots_path(git)).unwrap_or_default();
    if slots.remove(name).is_some() {
        write_note(&slots_path(git), &slots)?;
    }
    Ok(())
}
