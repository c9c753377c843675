//! Work that a person did on a task's branch: it goes to trunk as an agent's would, verified there.

use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::plan::Status;
use swarm_protocol::refusal::Refusal;

use super::command::Outcome;
use super::{task, validate};
use crate::stage::Stage;
use crate::state::State;

/// The commits of `base..tip` are the person's.
pub(super) fn submit(state: &State, id: TaskId, base: Oid, tip: Oid, tree: Oid) -> Result<Outcome, Refusal> {
    let found = validate::known(state, &id)?;
    // What came onto the branch after it was merged: in the worktree that was kept for it, or in one that was made anew.
    let more = matches!(found.stage, Stage::Done { proof: Some(_) });
    let base = found.handed_in.clone().filter(|_| more && found.worktree).unwrap_or(base);
    let idle = more
        || matches!(
            found.stage,
            Stage::Pending { .. }
                | Stage::Blocked { .. }
                | Stage::Failed { .. }
                | Stage::Timeout { .. }
                | Stage::Deferred
                // Whoever is to review it has put the last touches to it.
                | Stage::Review { run: None, .. }
        );
    if !idle {
        return Err(task::wrong(state, &id, found, "merged by hand"));
    }
    // Processes that are still being ended might write to the branch.
    if state.has_run(&id) || state.trunk_held_by.as_ref() == Some(&id) {
        return Err(task::wrong(
            state,
            &id,
            found,
            "merged by hand before its last attempt has come to rest",
        ));
    }
    if base == tip {
        let what = format!("The branch of task {id} has no new commits");
        return Err(Refusal::NothingToChange { what });
    }
    let answer = format!("Task {id} is approved at {} and waits for its turn to merge", tip.short());
    let (status, policy) = (Status::Merging, "person".into());
    let event = Event::TaskApproved { task: id, status, tip, tree, policy, base: Some(base), left_out: None };
    Ok(Outcome::new(vec![event], answer))
}
