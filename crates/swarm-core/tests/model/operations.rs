//! Operations in the model: what people may ask, what executors may say, and what of it decides what comes next.

use swarm_core::effect::Effect;
use swarm_core::input::Report;
use swarm_core::state::State;
use swarm_protocol::command::Command;
use swarm_protocol::failure::{Failure, FailureClass, Usage};
use swarm_protocol::operation::{Force, HookOutcome, Moved, Saved, Survey, TrunkCommit};
use swarm_protocol::outcome::PauseReason;

use crate::explore::task_id;
use crate::reports::oid;

/// What is explored of operations: together they have more states than time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Checkpoints, and the ways back.
    Back,
    /// The same where an agent is asked about reverts that conflict.
    Resolved,
    /// Undo and redo of what is one batch.
    Undo,
    /// Agents that are killed, held by force, and sent to another task.
    Sent,
}

/// Operations that are remembered where they are undone; what several do to each other is seen in the simulator.
const REMEMBERED: usize = 2;

pub fn wishes(cut: Cut) -> Vec<Command> {
    let (force, expect) = (Force::default(), None);
    let first = || task_id("a");
    match cut {
        Cut::Back | Cut::Resolved => vec![
            Command::MakeCheckpoint { name: Some("x".into()) },
            Command::DeleteCheckpoint { name: "x".into() },
            Command::Rollback { to: Some("x".into()), force, expect: None },
            Command::Rollback { to: None, force, expect: None },
            Command::RollbackTask { task: first(), cascade: false, force, expect: None },
            Command::Abort { force, expect },
            Command::UnblockTask { task: first() },
            Command::CancelTask { task: first() },
        ],
        Cut::Undo => vec![
            Command::BlockTask { task: first(), reason: "wait".into() },
            Command::UnblockTask { task: first() },
            Command::CancelTask { task: first() },
            Command::StopAgent { task: first() },
            Command::Undo { operation: None, partial: false, force, expect: None },
            Command::Undo {
                operation: None,
                partial: false,
                force: Force { set_aside: true, ..force },
                expect: None,
            },
            Command::Redo { operation: None, force, expect },
        ],
        Cut::Sent => vec![
            Command::KillAgent { task: first() },
            Command::Redirect { task: first(), to: task_id("b"), same_worktree: false },
            Command::UnblockTask { task: first() },
            Command::Pause { reason: PauseReason::User, why: "now".into(), force: true },
            Command::Resume { reason: PauseReason::User },
        ],
    }
}

/// Whether the effect is one of operations: all that can be said of it is explored.
pub fn is_theirs(effect: &Effect) -> bool {
    use Effect::{Forget, Hook, Mark, Move, Resolve, Rewind, Save, Survey};
    matches!(
        effect,
        Survey { .. }
            | Save { .. }
            | Mark { .. }
            | Move { .. }
            | Resolve { .. }
            | Forget { .. }
            | Rewind { .. }
            | Hook { .. }
    )
}

/// The good report first.
pub fn reports(state: &State, effect: &Effect, failed: Report) -> Vec<Report> {
    match effect {
        Effect::Survey { op, ask } => {
            let commit = |digit| TrunkCommit {
                oid: oid(digit),
                subject: "work".into(),
                pushed: false,
                reverts: vec![],
            };
            let merged = !ask.revert.is_empty() || !ask.landed.is_empty();
            let survey = Survey {
                trunk: "main".into(),
                now: Some(oid(if merged { 'c' } else { 'a' })),
                since: if merged { vec![commit('c')] } else { vec![] },
                tips: ask.tasks.iter().map(|id| (id.clone(), oid('b'))).collect(),
                ..Survey::default()
            };
            let local = Survey { local: vec!["a.rs".into()], ..survey.clone() };
            let told = |survey| Report::Surveyed { op: op.clone(), survey: Box::new(survey) };
            vec![told(survey), told(local), failed]
        }
        Effect::Save { name, .. } | Effect::Mark { name, .. } => {
            let tips = state.tasks.iter().filter(|(_, t)| t.worktree).map(|(id, _)| (id.clone(), oid('b')));
            let saved = Saved { trunk: Some(oid('a')), tips: tips.collect(), ..Saved::default() };
            let not = Report::NotSaved { name: name.clone(), why: "no room".into() };
            vec![Report::Saved { name: name.clone(), saved }, not, failed]
        }
        Effect::Move { op, plan } => {
            let moved = Moved { trunk: plan.trunk.as_ref().map(|_| oid('e')), ..Moved::default() };
            let (why, hint) = ("main moved".into(), "swarm status".into());
            vec![
                Report::Moved { op: op.clone(), moved },
                Report::MoveConflict { op: op.clone(), paths: vec!["a.rs".into()], why: None, asks: true },
                Report::MoveRefused { op: op.clone(), why, hint },
                failed,
            ]
        }
        Effect::Resolve { op, .. } => {
            let told = |why: Option<&str>, class: Option<FailureClass>, stopped| Report::Resolved {
                op: op.clone(),
                why: why.map(str::to_owned),
                failure: class.map(|class| Failure::new(class, "no")),
                usage: Usage::default(),
                stopped,
            };
            let used_up = told(None, Some(FailureClass::Quota), false);
            let stopped = told(Some("it was told to stop"), None, true);
            vec![told(None, None, false), told(Some("it names b.rs"), None, false), used_up, stopped, failed]
        }
        Effect::Forget { name } => vec![Report::Forgotten { name: name.clone() }, failed],
        Effect::Rewind { task, .. } => vec![Report::Rewound { task: task.clone(), saved: None }, failed],
        Effect::Hook { n, .. } => {
            let ended = |outcome| Report::HookEnded { n: *n, outcome, output: String::new() };
            vec![ended(HookOutcome::Ok), ended(HookOutcome::Failed { code: Some(1) }), failed]
        }
        _ => vec![failed],
    }
}

/// Where nothing is undone nothing is remembered: it would be copied with every state.
pub fn forget(state: &mut State, explored: Option<Cut>) {
    let most = if explored == Some(Cut::Undo) { REMEMBERED } else { 0 };
    while state.ops.log.len() > most {
        state.ops.log.pop_front();
    }
    // What is only told to people is copied with every state, and decides nothing.
    state.answers.clear();
    state.decisions.clear();
    state.tasks.values_mut().for_each(|task| task.audit.clear());
}

/// Everything about operations that decides what can happen next.
pub fn key(state: &State) -> String {
    let ops = &state.ops;
    let running = ops.running.as_ref().map(|r| (kind(&r.request), r.step.name(), r.stuck.is_some(), r.asked));
    let rewinds: Vec<_> = ops.rewinds.iter().map(|(id, rewind)| (id, rewind.failures)).collect();
    let sent: Vec<_> = ops.redirects.iter().map(|(id, redirect)| (id, &redirect.from)).collect();
    let first: Vec<_> = ops.first.iter().map(|f| &f.task).collect();
    let saved = ops.checkpoints.get("x").map(|c| (c.tips.len(), c.deleted.is_some()));
    let mut key = format!("{running:?}{rewinds:?}{sent:?}{first:?}{saved:?}");
    for record in &ops.log {
        let facts = record.facts.iter().flatten();
        let facts: Vec<_> = facts.map(|c| (&c.fact, stage(&c.before), stage(&c.after))).collect();
        let (stands, undoes) = (record.can_be_undone(), record.undoes.is_some());
        key += &format!("{}{stands}{undoes}{facts:?};", record.kind);
    }
    key
}

fn stage(value: &Option<serde_json::Value>) -> Option<String> {
    value.as_ref().map(|v| v["stage"].to_string())
}

fn kind(request: &swarm_protocol::operation::Request) -> String {
    let value = serde_json::to_value(request).unwrap_or_default();
    format!("{}{}", value["what"], value["tasks"])
}

/// The command of a hint about operations; none: it only reads.
pub fn hinted(state: &State, words: &[&str]) -> Option<Command> {
    let (force, expect) = (Force::default(), None);
    match words {
        ["swarm", "undo", number, rest @ ..] => {
            let found = state.ops.log.iter().find(|record| record.seq.to_string() == **number);
            let operation = Some(found.expect("an operation").id.clone());
            let force = Force { set_aside: rest.contains(&"--set-aside"), ..force };
            Some(Command::Undo { operation, partial: rest.contains(&"--partial"), force, expect })
        }
        ["swarm", "task", "rollback", id, rest @ ..] => {
            let cascade = rest.contains(&"--cascade");
            Some(Command::RollbackTask { task: task_id(id), cascade, force, expect })
        }
        _ => None,
    }
}
