//! What an agent could take up instead of its task.

use std::collections::BTreeSet;

use swarm_protocol::board::Choice;
use swarm_protocol::ids::TaskId;
use swarm_protocol::refusal::Refusal;

use crate::state::State;

/// The one that lets most others start stands first; among equals the order of the queue decides. Refused, as the redirect
/// itself would be, where no agent works on the task.
pub fn choices(state: &State, instead_of: &TaskId) -> Result<Vec<Choice>, Refusal> {
    if state.task(instead_of).is_none_or(|task| task.stage.run().is_none()) {
        return Err(Refusal::NoAgent { task: instead_of.clone() });
    }
    let ready = state.index.queue().filter(|id| *id != instead_of && !state.has_run(id));
    let mut all: Vec<Choice> = ready.enumerate().filter_map(|(place, id)| choice(state, id, place)).collect();
    all.sort_by_key(|choice| std::cmp::Reverse(choice.unblocks.len()));
    Ok(all)
}

fn choice(state: &State, id: &TaskId, place: usize) -> Option<Choice> {
    let task = state.task(id)?;
    let unblocks = waiting_for(state, id);
    let why = match unblocks.len() {
        0 if place == 0 => "first in the queue".into(),
        0 => "nothing waits for it".into(),
        1 => "1 task waits for it".into(),
        n => format!("{n} tasks wait for it"),
    };
    let (title, tags) = (task.spec.title.clone(), task.spec.tags.clone());
    Some(Choice { task: id.clone(), title, phase: task.phase, tags, unblocks, why })
}

fn waiting_for(state: &State, id: &TaskId) -> Vec<TaskId> {
    let mut found: BTreeSet<&TaskId> = BTreeSet::new();
    let mut next = vec![id];
    while let Some(id) = next.pop() {
        let open = |id: &&TaskId| state.task(id).is_some_and(|task| !task.stage.is_closed());
        next.extend(state.index.dependents(id).filter(open).filter(|id| found.insert(id)));
    }
    found.into_iter().cloned().collect()
}
