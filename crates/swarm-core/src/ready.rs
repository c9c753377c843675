//! What has to hold before something is started or merged.

use sha2::{Digest, Sha256};
use swarm_protocol::ids::{RunId, TaskId};

use crate::operation::machine;
use crate::planted::{self, Bug};
use crate::stage::Stage;
use crate::state::{State, Task};

/// Whether anything new may be started at all.
pub(crate) fn dispatches(state: &State) -> bool {
    // What a task builds on may have gone from trunk: that is known first.
    let proven = state.proven.is_some() || !state.has_provable() || planted::is(Bug::DoneNotAsked);
    state.running && !state.draining && state.paused.is_empty() && machine::lets_start(state) && proven
}

/// Names the processes of a run: nobody else's ledger has this id but that of a copy of our folder, which lies in another
/// place, and no other run of ours has this number.
pub(crate) fn nonce(state: &State, run: &RunId) -> String {
    let ledger = state.plan.as_ref().map_or("", |p| p.ledger_id.as_str());
    let place = state.policy.place.as_ref().map_or_else(String::new, |place| format!(" at {place}"));
    let digest = Sha256::digest(format!("swarm run {run} of {ledger}{place}").as_bytes());
    crate::hash::hex(&digest)[..32].to_string()
}

/// Whether what the task builds on is on trunk: it may have gone since the task was begun, and may be on its way back.
pub(crate) fn builds_on_trunk(state: &State, task: &Task) -> bool {
    not_on_trunk(state, task).next().is_none()
}

/// What the task builds on and has to be on trunk before it.
pub(crate) fn not_on_trunk<'a>(state: &'a State, task: &'a Task) -> impl Iterator<Item = &'a TaskId> {
    // What a person did by hand may come before what the plan says is first, but not upon work that has gone.
    let by_hand = task.last_agent.is_none();
    let awaited = move |id: &&TaskId| {
        state.task(id).is_some_and(|t| match t.stage {
            Stage::Gone { .. } => true,
            Stage::Done { .. } | Stage::Cancelled => false,
            _ => !by_hand,
        })
    };
    task.spec.depends.iter().filter(awaited)
}

#[cfg(test)]
mod tests {
    use swarm_protocol::policy::Policy;

    use super::*;

    #[test]
    fn runs_of_a_ledger_and_of_its_copy_have_different_nonces() {
        let at = |place: Option<&str>| {
            let policy = Policy { place: place.map(str::to_owned), ..Policy::default() };
            nonce(&State { policy, ..State::default() }, &RunId::nth(1))
        };
        assert_ne!(at(Some("fd00-1")), at(Some("fd00-2")));
        assert_eq!(at(Some("fd00-1")), at(Some("fd00-1")));
        // A coordinator of an older version recorded no place.
        let digest = Sha256::digest(b"swarm run r1 of ");
        assert_eq!(at(None), crate::hash::hex(&digest)[..32].to_string());
    }
}
