//! What a person is told about a task beside its stage.

use swarm_protocol::view::AttentionView;

use super::attention::entry;
use crate::state::Task;
use crate::state::unseen::{messages_seen_by, overstep_seen_by};

/// What was done for it before. Nobody begins without it, and it comes back as soon as nothing is in the way.
pub(super) fn not_back(task: &Task) -> Option<AttentionView> {
    let (id, known) = (&task.spec.id, task.not_back()?);
    let mut commands: Vec<String> = known.hint.iter().cloned().collect();
    commands.extend([format!("swarm task show {id}"), format!("swarm worktree cleanup {id}")]);
    let why = format!("{}; `swarm worktree cleanup {id}` lets it begin anew instead", known.why);
    Some(entry(format!("The work of task {id} cannot be put back; retrying"), known.since, &why, &commands))
}

/// Also when the task is closed: that its work was good does not undo what its agent tried.
pub(super) fn overstep(task: &Task) -> Option<AttentionView> {
    let last = task.overstep.as_ref().filter(|_| task.oversteps > task.oversteps_seen)?;
    let id = &task.spec.id;
    let mut commands = vec![format!("swarm task show {id}")];
    if task.stage.run().is_some() {
        commands.push(format!("swarm agent stop {id}"));
    }
    let why = match task.oversteps {
        1 => last.details.clone(),
        n => format!("{} ({n} times so far)", last.details),
    };
    let name = overstep_seen_by(task, task.oversteps);
    commands.push(format!("swarm attention --seen {name}"));
    let who = if task.by_anybody { "Somebody changed the branch of" } else { "An agent overstepped on" };
    let told = entry(format!("{who} task {id}"), last.at, &why, &commands);
    Some(AttentionView { seen_by: Some(name), ..told })
}

pub(super) fn not_delivered(task: &Task) -> Option<AttentionView> {
    let last = task.messages.iter().rev().find(|m| m.undelivered.is_some() && !m.seen)?;
    let (id, name) = (&task.spec.id, messages_seen_by(task));
    let why = format!("{}: {}", last.undelivered.as_deref().unwrap_or_default(), last.text);
    let commands = [format!("swarm task show {id}"), format!("swarm attention --seen {name}")];
    let told = entry(format!("A message to task {id} was not delivered"), last.at, &why, &commands);
    Some(AttentionView { seen_by: Some(name), ..told })
}
