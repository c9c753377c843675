//! Operations, checkpoints and hooks for people.

use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::oplog::{CheckpointView, Did, HookView, OperationState, OperationView};

use crate::limits::DEEDS_KEPT;
use crate::operation::{Record, Running, checkpoints};
use crate::stage::Stage;
use crate::state::State;
use crate::state::operations::{Asked, HookRun, Step};

/// The operations that are remembered, newest first; the one under way stands before them.
pub fn operations(state: &State) -> Vec<OperationView> {
    newest(state, usize::MAX)
}

/// So many of them, and the one under way.
pub(super) fn newest(state: &State, count: usize) -> Vec<OperationView> {
    let running = state.ops.running.iter().map(under_way);
    let ended = state.ops.log.iter().rev().take(count);
    running.chain(ended.map(|record| operation(state, record))).collect()
}

/// The one with this id, under way or over; what came of a proposal is told by its operation.
pub(super) fn by_id(state: &State, id: &CommandId) -> Option<OperationView> {
    let running = state.ops.running.as_ref().filter(|running| running.id == *id).map(under_way);
    running.or_else(|| state.ops.record(id).map(|record| operation(state, record)))
}

fn under_way(running: &Running) -> OperationView {
    let step = match (&running.stuck, &running.step) {
        (Some(why), step) => format!("{}: {why}", step.name()),
        (None, step @ Step::Resolving { asked, .. }) => {
            let Asked { profile, paths, .. } = asked;
            format!("{}: {profile} is asked what is to become of {}", step.name(), paths.join(", "))
        }
        (None, step) => step.name().into(),
    };
    OperationView {
        id: running.id.clone(),
        seq: running.before + 1,
        at: running.asked_at,
        by: running.by.clone(),
        kind: running.kind.clone(),
        subject: running.subject.clone(),
        text: "under way".into(),
        state: OperationState::UnderWay,
        step: Some(step),
        undoes: None,
        undone_by: None,
        checkpoint: None,
        facts: vec![],
        changes: vec![],
        did: match &running.step {
            Step::Saving { plan } | Step::Moving { plan, .. } | Step::Resolving { plan, .. } => {
                Some(Did::of(&plan.says, &[], DEEDS_KEPT)).filter(|did| !did.is_nothing())
            }
            _ => None,
        },
        can_be_undone: false,
        why_not: Some("it is under way".into()),
        hint: None,
    }
}

fn operation(state: &State, record: &Record) -> OperationView {
    let outcome = match (&record.failed, &record.undone_by) {
        (Some(_), _) => OperationState::Failed,
        (None, Some(_)) => OperationState::Undone,
        (None, None) => OperationState::Done,
    };
    let refusal = crate::react::undo_refused(state, record);
    let view = OperationView {
        id: record.id.clone(),
        seq: record.seq,
        at: record.at,
        by: record.by.clone(),
        kind: record.kind.clone(),
        subject: record.subject.clone(),
        text: record.text.clone(),
        state: outcome,
        step: None,
        undoes: record.undoes.clone(),
        undone_by: record.undone_by.clone(),
        checkpoint: record.checkpoint.clone(),
        facts: record.facts.clone().unwrap_or_default(),
        changes: super::changes(record.facts.as_deref().unwrap_or_default()),
        did: record.did.clone(),
        can_be_undone: refusal.is_none(),
        why_not: refusal.as_ref().map(|r| r.message()),
        hint: record
            .failed
            .as_ref()
            .map(|(_, hint)| hint.clone())
            .or(refusal.map(|r| r.hint()))
            // That is where it stands.
            .filter(|hint| *hint != format!("swarm op show {}", record.seq)),
    };
    super::proposals::followed(state, view)
}

/// Checkpoints that can be returned to, newest first.
pub fn checkpoints(state: &State) -> Vec<CheckpointView> {
    let needed = checkpoints::needed(state);
    let mut all: Vec<CheckpointView> = state
        .ops
        .checkpoints
        .values()
        .filter(|c| c.deleted.is_none())
        .map(|c| CheckpointView {
            merged_since: merged_since(state, c.seq),
            needed: needed.contains(c.name.as_str()).then(|| "an undo or this session needs it".into()),
            checkpoint: c.clone(),
        })
        .collect();
    all.sort_by_key(|view| std::cmp::Reverse((view.checkpoint.at, view.checkpoint.seq)));
    all
}

/// Each once, and only what is on trunk: a task may have been merged, taken back and merged again.
fn merged_since(state: &State, seq: u64) -> Vec<TaskId> {
    let merges = state.ops.log.iter().filter(|r| r.kind == "merge" && r.seq > seq);
    let mut merged: Vec<TaskId> = Vec::new();
    for id in merges.filter_map(|r| TaskId::new(r.subject.as_deref()?).ok()) {
        let is_done = state.task(&id).is_some_and(|task| matches!(task.stage, Stage::Done { .. }));
        if is_done && !merged.contains(&id) {
            merged.push(id);
        }
    }
    merged
}

/// Hooks that wait or run, then those that ended, newest first.
pub fn hooks(state: &State) -> Vec<HookView> {
    let view = |h: &HookRun| HookView {
        n: h.n,
        hook: h.hook.clone(),
        subject: h.subject.clone(),
        running: h.started.is_some() && h.outcome.is_none(),
        outcome: h.outcome.clone(),
        output: h.output.clone(),
    };
    let open = state.ops.hooks.values().map(view);
    open.chain(state.ops.hooks_ended.iter().rev().map(view)).collect()
}
