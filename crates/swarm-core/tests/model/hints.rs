//! A refusal names a command. That command, executed in the same state, is accepted.

use std::collections::BTreeSet;

use swarm_core::input::Input;
use swarm_core::owed;
use swarm_protocol::command::{Command, SaveKind};
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::plan::{TaskPatch, TaskSpec};
use swarm_protocol::refusal::Refusal;

use crate::explore::{Place, plan_of, task_id};
use crate::operations;
use crate::reports::reports;

pub fn every_hint_is_accepted(here: &Place, refused: &[(Command, Refusal)]) {
    // What is offered at the end of a run is accepted, too.
    if let Some(ways) =
        swarm_core::show::retry_options(&here.state).filter(|_| here.state.ops.running.is_none())
    {
        assert!(execute(here.clone(), &ways.same_plan), "`{}` is refused", ways.same_plan);
    }
    let mut tried = BTreeSet::new();
    for (command, refusal) in refused {
        let hint = refusal.hint();
        if !tried.insert(hint.clone()) {
            continue;
        }
        let accepted = match hint.as_str() {
            "swarm close --stop" => close_with_stop(here.clone()),
            _ => execute(here.clone(), &hint),
        };
        assert!(
            accepted,
            "{} was refused ({}) with the hint `{hint}`, which is refused too; stages {:?}",
            command.kind(),
            refusal.message(),
            here.state.tasks.iter().map(|(id, t)| (id, t.stage.name())).collect::<Vec<_>>()
        );
    }
}

/// Carries a hint out. One that only reads is always accepted.
pub fn execute(mut place: Place, hint: &str) -> bool {
    let words: Vec<&str> = hint.split(' ').collect();
    let task = |word: &str| task_id(word);
    let command = match words.as_slice() {
        ["swarm", "status" | "--help"] => return true,
        ["swarm", "plan", "show"] | ["swarm", "task", "list"] => return true,
        ["swarm", "task", "show", id] => return place.state.task(&task(id)).is_some(),
        ["swarm", "task", "start", id] => Command::StartTasks { tasks: vec![task(id)] },
        ["swarm", "task", "unblock", id] => Command::UnblockTask { task: task(id) },
        ["swarm", "task", "accept", id, "--reason", _] => {
            Command::AcceptTask { task: task(id), reason: "seen".into() }
        }
        ["swarm", "review", "show", id] => {
            return swarm_core::show::review(&place.state, &task(id)).is_some();
        }
        ["swarm", "task", "defer", id] => Command::DeferTask { task: task(id) },
        ["swarm", "task", "cancel", id] => Command::CancelTask { task: task(id) },
        ["swarm", "budget", "extend", id] => Command::ExtendBudget { task: Some(task(id)) },
        ["swarm", "task", "split", id] => {
            let parts = ["p1", "p2"].map(|id| TaskSpec::new(task_id(id), "a part"));
            Command::SplitTask { task: task(id), parts: parts.into(), planning: None }
        }
        ["swarm", "agent", "message", id, "\"…\""] => {
            Command::MessageAgent { task: task(id), text: "the old parser".into() }
        }
        ["swarm", "agent", "stop", id] => Command::StopAgent { task: task(id) },
        ["swarm", "task", "edit", id, "--depends", "''"] => {
            let patch = TaskPatch { depends: Some(vec![]), ..TaskPatch::default() };
            Command::EditTask { task: task(id), patch }
        }
        ["swarm", "run", "--retry"] => Command::Retry,
        ["swarm", "budget", "extend"] => Command::ExtendBudget { task: None },
        ["swarm", "pause"] => Command::Pause { reason: PauseReason::User, why: String::new(), force: false },
        ["swarm", "resume"] => Command::Resume { reason: PauseReason::User },
        ["swarm", "resume", "--reason", word] => {
            let named = PauseReason::ALL.into_iter().find(|reason| reason.word() == *word);
            Command::Resume { reason: named.expect("a reason") }
        }
        ["swarm", "plan", "reset"] => Command::ResetPlan,
        ["swarm", "plan", "salvage"] => Command::AcknowledgeLoss { salvaged: 0 },
        ["swarm", "plan", "save", "FILE"] => {
            let (plan, source) = (plan_of(&[("a", &[])]), "plan.json".into());
            Command::SavePlan { plan, kind: SaveKind::Save, source, reset_statuses: false, planning: None }
        }
        ["swarm", "op", "log"] | ["swarm", "checkpoint", "list"] => return true,
        ["swarm", "op", "show", id] => return place.state.ops.log.iter().any(|r| r.seq.to_string() == *id),
        ["swarm", "checkpoint", "show", name] => return place.state.ops.checkpoints.contains_key(*name),
        ["swarm", "undo", ..] | ["swarm", "task", "rollback", ..] => {
            match operations::hinted(&place.state, &words) {
                Some(command) => command,
                None => panic!("the hint {words:?} is not known here"),
            }
        }
        other => panic!("the hint {other:?} is not known here; teach it to this test"),
    };
    place.ask(command).is_ok()
}

/// `swarm close --stop`: a drain, the executors' good reports until nothing runs, then the close.
fn close_with_stop(mut place: Place) -> bool {
    if !place.state.draining && place.ask(Command::Drain { why: "close --stop".into() }).is_err() {
        return false;
    }
    for _ in 0..100 {
        if place.state.runs.is_empty() && place.state.trunk_held_by.is_none() {
            return place.ask(Command::ClosePlan { archive: "plan.jsonl".into() }).is_ok();
        }
        let Some(effect) = owed(&place.state).into_iter().next() else { return false };
        let report = reports(&place.state, &effect).swap_remove(0);
        if place.take_in(Input::Report(report)).is_err() {
            return false;
        }
    }
    false
}
