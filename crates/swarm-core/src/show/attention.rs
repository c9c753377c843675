//! Everything that waits for a person, in one list. An entry is there exactly as long as its cause.

use swarm_protocol::view::AttentionView;

use super::task::unmet;
use crate::stage::Stage;
use crate::state::{State, Task};

pub fn attention(state: &State) -> Vec<AttentionView> {
    let mut list: Vec<AttentionView> = Vec::new();
    if let Some(loss) = &state.loss {
        list.push(AttentionView {
            what: "The ledger lost records".into(),
            since: state.at,
            why: loss.clone(),
            commands: vec!["swarm plan salvage".into()],
        });
    }
    list.extend(state.tasks_in_order().filter_map(|task| of_task(state, task)));
    list
}

fn of_task(state: &State, task: &Task) -> Option<AttentionView> {
    let id = &task.spec.id;
    let entry = |what: String, since, why: &str, commands: Vec<String>| {
        Some(AttentionView { what, since, why: why.into(), commands })
    };
    let unblock = || vec![format!("swarm task show {id}"), format!("swarm task unblock {id}")];
    match &task.stage {
        Stage::Blocked { block, why, since } => {
            entry(format!("Task {id} is blocked ({})", block.word()), *since, why, unblock())
        }
        Stage::Failed { why, since } => entry(format!("Task {id} failed"), *since, why, unblock()),
        Stage::Timeout { why, since } => entry(format!("Task {id} ran out of time"), *since, why, unblock()),
        Stage::Approved { waits: Some(waits), since, .. } => {
            entry(format!("Task {id} waits for your checkout"), *since, &waits.why, vec![waits.hint.clone()])
        }
        Stage::Pending { since, .. } => {
            let gone = unmet(state, task)
                .into_iter()
                .find(|d| state.task(d).is_none_or(|t| matches!(t.stage, Stage::Cancelled)))?;
            let keep: Vec<&str> =
                task.spec.depends.iter().filter(|d| *d != gone).map(|d| d.as_str()).collect();
            let command = format!("swarm task edit {id} --depends '{}'", keep.join(","));
            entry(
                format!("Task {id} waits for {gone}, which is cancelled"),
                *since,
                "it would wait for ever",
                vec![command],
            )
        }
        Stage::Done { .. } | Stage::Cancelled => {
            let why = task.kept.as_ref()?;
            entry(
                format!("The worktree of task {id} was kept"),
                state.at,
                why,
                vec![format!("swarm task show {id}")],
            )
        }
        _ => None,
    }
}
