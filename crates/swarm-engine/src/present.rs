//! What the ledger says is done, held against trunk as it is now: for views and for the start of a run. Nothing is
//! written here; a read never writes the ledger.

use std::collections::BTreeMap;

use swarm_core::input::{Input, Missing, Report};
use swarm_core::stage::Stage;
use swarm_core::{State, is_settled, react};
use swarm_protocol::event::{Event, Proof};
use swarm_protocol::ids::{Oid, TaskId};

use crate::store::{Store, StoreError};
use swarm_git::trunk::way_back;
use swarm_git::{Git, GitError};
use swarm_work::prove::{self, Absent, Found};
use swarm_work::publish::has_ended;

/// What a look at trunk finds out; none where the ledger knows it already, or there is nothing to look for.
pub async fn found_on_trunk(git: &Git, state: &State) -> Result<Option<Report>, GitError> {
    let Some(trunk) = state.trunk.as_deref().filter(|_| state.has_provable()) else { return Ok(None) };
    let Some(commit) = git.ref_value(&format!("refs/heads/{trunk}")).await? else {
        let way_back = way_back(trunk, state.last_seen_on_trunk().as_ref());
        return Err(GitError::NoBranch { branch: trunk.into(), way_back });
    };
    if state.proven.as_ref() == Some(&commit) {
        return Ok(None);
    }
    let found = prove::look(git, trunk, &commit, &proofs(state)).await?;
    Ok(Some(told(found, commit)))
}

/// Records what has gone from trunk, or come back to it, where nobody coordinates who would have seen it: a command that
/// follows then meets the task as views show it.
pub async fn record(git: &Git, store: &mut Store, by: &str) -> Result<(), StoreError> {
    // A trunk that cannot be read is told by whoever needs it.
    let Ok(Some(report)) = found_on_trunk(git, store.state()).await else { return Ok(()) };
    let now = store.clock().now();
    let events = react(store.state(), Input::Report(report.clone()), now).unwrap_or_default();
    if events.iter().all(|event| matches!(event, Event::TrunkProven { .. })) {
        return Ok(());
    }
    let decided = store.submit(Input::Report(report), now, by)?;
    decided.ticket.wait().map_err(StoreError::from_append)
}

/// What was found at this commit of trunk, for the core.
pub(crate) fn told(found: Found, commit: Oid) -> Report {
    let missing = found.absent.into_iter().map(|(id, Absent { why, work })| (id, Missing { why, work }));
    Report::Proven { commit, missing: missing.collect(), standing: found.standing }
}

fn proofs(state: &State) -> BTreeMap<TaskId, Proof> {
    let proofs = state.tasks.iter().filter_map(|(id, task)| Some((id.clone(), task.stage.proof()?.clone())));
    proofs.filter(|(_, proof)| proof.accepted.is_none()).collect()
}

/// The state with what has gone from trunk, or come back to it, since it was last looked up, and without what kept the
/// person's checkout from following and has ended since.
pub async fn as_on_trunk(git: &Git, state: State) -> State {
    let mut state = as_in_checkouts(git, state);
    let found = found_on_trunk(git, &state).await;
    let report = match found {
        Ok(None) => return state,
        Ok(Some(report)) => report,
        Err(error) => {
            let (seq, at) = (state.seq, state.at);
            state.apply(&Event::ProofFailed { why: error.to_string() }, at);
            state.seq = seq;
            return state;
        }
    };
    let (seq, at) = (state.seq, state.at);
    for event in react(&state, Input::Report(report), at).unwrap_or_default() {
        state.apply(&event, at);
    }
    // Phases that are open again; nothing is granted in a copy that nobody carries out.
    let more = is_settled(&state, at).err().unwrap_or_default();
    for event in more.iter().filter(|event| matches!(event, Event::PhaseReopened { .. })) {
        state.apply(event, at);
    }
    state.seq = seq; // no record says so yet
    state
}

/// Nobody may be watching the checkout that a merge waits for.
fn as_in_checkouts(git: &Git, mut state: State) -> State {
    let Some(trunk) = state.trunk.clone() else { return state };
    let waiting = state.tasks_in_order().filter_map(|task| match &task.stage {
        Stage::Approved { waits: Some(waits), .. } => Some((task.spec.id.clone(), waits.why.clone())),
        _ => None,
    });
    let over: Vec<TaskId> =
        waiting.filter(|(_, why)| has_ended(git, &trunk, why)).map(|(task, _)| task).collect();
    let (seq, at) = (state.seq, state.at);
    for task in over {
        for event in react(&state, Input::Report(Report::CheckoutChanged { task }), at).unwrap_or_default() {
            state.apply(&event, at);
        }
    }
    state.seq = seq;
    state
}
