//! Checkpoints and hooks that older ledgers left to fall due by themselves. Frozen, as its parent is.

use swarm_protocol::event::Event;
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::outcome::{Mode, PauseReason};
use swarm_protocol::time::Timestamp;

use super::tail;
use crate::stage::Stage;
use crate::state::State;
use crate::state::operations::HookRun;

/// What has to be known of the state before the event.
pub(in crate::apply) struct Before {
    stage: Option<&'static str>,
    ended: bool,
    running: bool,
}

impl Before {
    pub fn of(state: &State, event: &Event) -> Self {
        let task = event.task().and_then(|id| state.task(id));
        Self {
            stage: task.map(|t| t.stage.name()),
            ended: task.is_some_and(|t| has_ended(&t.stage)),
            running: state.running,
        }
    }
}

fn has_ended(stage: &Stage) -> bool {
    matches!(stage, Stage::Done { .. } | Stage::Failed { .. } | Stage::Timeout { .. } | Stage::Cancelled)
}

pub(in crate::apply) fn falls_due(state: &mut State, event: &Event, before: &Before, at: Timestamp) {
    if state.explicit {
        return;
    }
    let rules = state.policy.checkpoints;
    let seq = state.seq.saturating_sub(1);
    match event {
        Event::CoordinatorStarted { policy, .. }
            if policy.dispatch && rules.session_start && !before.running && state.plan.is_some() =>
        {
            let name = unused(state, "session-start");
            state.due_checkpoint(name, "session start", true, seq, at);
        }
        Event::ModeChanged { mode: Mode::Autopilot } if rules.before_autopilot && state.running => {
            let name = unused(state, "before-autopilot");
            state.due_checkpoint(name, "autopilot", true, seq, at);
        }
        Event::TrunkGranted { task, .. } if rules.before_merge => {
            let name = unused(state, &format!("before-merge-{task}"));
            state.due_checkpoint(name, "merge", false, seq, at);
        }
        Event::MergeCompleted { task, .. }
            if rules.periodic > 0 && state.ops.done_since >= rules.periodic =>
        {
            state.ops.done_since = 0;
            let name = unused(state, &format!("after-{task}"));
            state.due_checkpoint(name, "periodic", false, state.seq, at);
        }
        _ => {}
    }
}

fn unused(state: &State, name: &str) -> String {
    let taken = |name: &str| {
        state.ops.checkpoints.contains_key(name) || state.ops.due.iter().any(|due| due.name == name)
    };
    if !taken(name) {
        return name.into();
    }
    (2u64..).map(|n| format!("{name}-{n}")).find(|name| !taken(name)).unwrap_or_else(|| name.into())
}

fn due(
    state: &mut State,
    hook: &str,
    subject: Option<&TaskId>,
    run: Option<&RunId>,
    variables: &[(&str, String)],
) {
    let Some(rule) = state.policy.hooks.iter().find(|rule| rule.name == hook) else { return };
    if state.ops.hooks.len() >= 1_000 {
        return;
    }
    let blocking = rule.blocking && hook.starts_with("pre-");
    state.ops.hooks_ever += 1;
    let n = state.ops.hooks_ever;
    let variables = variables.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
    let (subject, run) = (subject.map(ToString::to_string), run.cloned());
    let hook = hook.to_string();
    let output = String::new();
    let due = HookRun { n, hook, subject, run, variables, blocking, started: None, outcome: None, output };
    state.ops.hooks.insert(n, due);
}

pub(in crate::apply) fn hooks_fall_due(state: &mut State, event: &Event, before: &Before, at: Timestamp) {
    if state.explicit || state.policy.hooks.is_empty() {
        return;
    }
    match event {
        Event::WorkspaceReady { task, run, branch, .. } => {
            let agent = state.runs.get(run).and_then(|r| r.agent.as_ref()).map(ToString::to_string);
            let variables = [("AGENT", agent.unwrap_or_default()), ("BRANCH", branch.clone())];
            due(state, "pre-start", Some(task), Some(run), &variables);
        }
        Event::TrunkGranted { task, .. } => {
            let target = state.trunk.clone().unwrap_or_default();
            let variables = [("BRANCH", task.branch()), ("TARGET", target)];
            due(state, "pre-merge", Some(task), None, &variables);
        }
        Event::MergeCompleted { task, proof } => {
            let variables = [("COMMIT_HASH", proof.commit.as_str().into())];
            due(state, "post-merge", Some(task), None, &variables);
        }
        Event::MergeFailed { task, paths, .. } if !paths.is_empty() => {
            let variables = [("FILES", paths.join("\n")), ("LEVEL", "4".into())];
            due(state, "on-conflict", Some(task), None, &variables);
        }
        Event::Signal { task, signal, text, .. } if signal.starts_with("LEARNING") => {
            let scope = if signal == "LEARNING_GLOBAL" { "global" } else { "local" };
            let variables =
                [("LEARNING_ID", state.seq.to_string()), ("SCOPE", scope.into()), ("CONTENT", text.clone())];
            due(state, "on-learning", Some(task), None, &variables);
        }
        Event::Paused { reason, why } => on_pause(state, *reason, why),
        Event::AgentFailed { task, how, .. } => {
            on_error(state, Some(task), error_type(how), how.describe());
        }
        Event::VerificationFailed { task, output, .. } => {
            on_error(state, Some(task), "verification".into(), tail(output));
        }
        Event::OperationFailed { why, .. } => {
            on_error(state, None, "operation".into(), why.clone());
        }
        _ => {}
    }
    // Last: first the merge, then the end that came of it.
    ending(state, event, before, at);
}

fn on_pause(state: &mut State, reason: PauseReason, why: &str) {
    let at_work = state.tasks.iter().filter(|(_, t)| t.stage.run().is_some());
    let running: Vec<&str> = at_work.map(|(id, _)| id.as_str()).collect();
    let variables = [("REASON", reason.word().to_string()), ("RUNNING_TASKS", running.join("\n"))];
    due(state, "on-pause", None, None, &variables);
    if !matches!(reason, PauseReason::User | PauseReason::Abort) {
        on_error(state, None, reason.word().into(), why.into());
    }
}

fn on_error(state: &mut State, task: Option<&TaskId>, kind: String, message: String) {
    due(state, "on-error", task, None, &[("ERROR_TYPE", kind), ("MESSAGE", message)]);
}

/// A task that ends fires once; one that is set back to an end has fired before.
fn ending(state: &mut State, event: &Event, before: &Before, at: Timestamp) {
    let Some(id) = event.task().filter(|_| !matches!(event, Event::TaskRestored { .. })) else { return };
    let Some(task) = state.task(id).filter(|t| has_ended(&t.stage)) else { return };
    if before.ended && before.stage == Some(task.stage.name()) {
        return;
    }
    let status = task.stage.status().word().to_string();
    let agent = task.last_agent.as_ref().map(ToString::to_string).unwrap_or_default();
    let began = state.runs.values().filter(|r| r.task == *id).map(|r| r.claimed_at).min();
    let secs = began.map_or(0, |began| at.secs_since(began));
    let variables =
        [("STATUS", status), ("AGENT", agent), ("DURATION", secs.to_string()), ("BRANCH", id.branch())];
    due(state, "post-complete", Some(&id.clone()), None, &variables);
}

/// The class of F12 where the program told it, else how it ended.
fn error_type(how: &swarm_protocol::outcome::Ended) -> String {
    let value = serde_json::to_value(how).unwrap_or_default();
    let class = value["failure"]["class"].as_str().or(value["kind"].as_str());
    class.unwrap_or("unknown").into()
}
