//! Checkpoints: their names, which are made by themselves, and which may go.

use std::collections::BTreeSet;

use swarm_protocol::operation::{Checkpoint, Fact};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use crate::planted::{self, Bug};
use crate::state::State;

/// Characters of a name.
const NAME_MAX: usize = 64;

/// Automatic ones that stay whatever their age.
const NEWEST_KEPT: usize = 3;

/// The checkpoint of this name.
pub fn known<'a>(state: &'a State, name: &str) -> Result<&'a Checkpoint, Refusal> {
    let listed = |name: &str| state.ops.checkpoints.get(name).filter(|c| c.deleted.is_none());
    listed(name).ok_or_else(|| {
        let near =
            state.ops.checkpoints.keys().find(|known| known.starts_with(name) || name.starts_with(*known));
        Refusal::UnknownCheckpoint { name: name.into(), near: near.filter(|n| listed(n).is_some()).cloned() }
    })
}

/// Why another one cannot have this name.
pub fn taken(state: &State, name: &str) -> Refusal {
    match known(state, name) {
        Ok(_) => Refusal::CheckpointExists { name: name.into() },
        Err(_) => {
            let why =
                "a deleted checkpoint has it, and an undo could restore that checkpoint; choose another one"
                    .into();
            Refusal::BadValue { what: format!("The name {name:?}"), why }
        }
    }
}

/// The name, or the first of `name-2`, `name-3` … that nobody has.
pub fn unused(state: &State, name: &str) -> String {
    let taken = |name: &str| {
        state.ops.checkpoints.contains_key(name) || state.ops.due.iter().any(|due| due.name == name)
    };
    if !taken(name) {
        return name.into();
    }
    (2u64..).map(|n| format!("{name}-{n}")).find(|name| !taken(name)).unwrap_or_else(|| name.into())
}

/// Whether a name can stand in a ref and in a file name.
pub fn check_name(name: &str) -> Result<(), Refusal> {
    let Some(why) = what_is_wrong(name) else { return Ok(()) };
    let why =
        format!("{why} (letters, digits, dots, dashes and underscores are possible, at most {NAME_MAX})");
    Err(Refusal::BadValue { what: format!("The name {name:?}"), why })
}

fn what_is_wrong(name: &str) -> Option<String> {
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() {
        return Some("it is empty".into());
    }
    if name.len() > NAME_MAX {
        return Some(format!("it has {} bytes", name.len()));
    }
    if let Some(odd) = name.chars().find(|c| !plain(c)) {
        return Some(format!("it contains {odd:?}"));
    }
    let why = match name {
        // A command would take it for an option, and git too.
        _ if name.starts_with('-') => "it begins with a dash",
        _ if name.starts_with('.') => "it begins with a dot",
        _ if name.ends_with('.') => "it ends with a dot",
        _ if name.ends_with(".lock") => "git keeps names that end with .lock for itself",
        _ if name.contains("..") => "it contains two dots in a row",
        // `swarm rollback 4` means the fourth of the list.
        _ if name.bytes().all(|byte| byte.is_ascii_digit()) => {
            "a number alone stands for a place in the list of checkpoints; add a letter"
        }
        _ => return None,
    };
    Some(why.into())
}

/// Checkpoints that an operation needs that can still be undone (or stands again when its undo is), or
/// that is under way.
pub fn needed(state: &State) -> BTreeSet<&str> {
    let undoable = state.ops.log.iter().filter(|r| r.can_be_undone() || r.undone_by.is_some());
    let named = undoable.filter_map(|r| r.checkpoint.as_deref());
    let running = state.ops.running.iter().filter_map(|r| match &r.request {
        swarm_protocol::operation::Request::Rollback { to, .. }
        | swarm_protocol::operation::Request::Abort { to, .. } => Some(to.as_str()),
        _ => None,
    });
    named.chain(running).chain(state.ops.session_start.as_deref()).collect()
}

/// The next automatic one that has had its time.
pub fn expired(state: &State, now: Timestamp) -> Option<&str> {
    let rules = state.policy.checkpoints;
    let listed = || state.ops.checkpoints.values().filter(|c| c.auto && c.deleted.is_none());
    let too_many = rules.keep > 0 && listed().count() > rules.keep as usize;
    let due = |c: &Checkpoint| rules.keep_secs > 0 && c.at.plus_secs(rules.keep_secs) <= now;
    // Asked after every event: nearly always there is nothing to do.
    if !too_many && !listed().any(due) {
        return None;
    }
    let needed = needed(state);
    let mut auto: Vec<&Checkpoint> = listed().collect();
    auto.sort_by_key(|c| (c.at, c.seq));
    let spare = auto.len().saturating_sub(NEWEST_KEPT);
    let free =
        |c: &&&Checkpoint| !needed.contains(c.name.as_str()) || planted::is(Bug::NeededCheckpointPurged);
    let candidates = auto[..spare].iter().filter(free);
    candidates.copied().find(|c| too_many || due(c)).map(|c| c.name.as_str())
}

/// One that is off the list and that no undo can want back: its refs may go.
pub fn purgeable(state: &State) -> Option<&str> {
    let wanted_back = |name: &str| {
        let fact = Fact::Checkpoint(name.into());
        state.ops.log.iter().any(|r| r.can_be_undone() && r.facts.iter().flatten().any(|c| c.fact == fact))
    };
    let mut gone = state.ops.checkpoints.values().filter(|c| c.deleted.is_some()).peekable();
    gone.peek()?;
    let needed = needed(state);
    gone.map(|c| c.name.as_str()).find(|name| {
        planted::is(Bug::NeededCheckpointPurged) || (!wanted_back(name) && !needed.contains(name))
    })
}
