//! Checkpoints, hooks and worktrees that are waited for, due because something happened. Decided here, right after the event that makes
//! them due is taken in, and recorded behind it: a replay never decides it again.

use swarm_protocol::event::Event;
use swarm_protocol::ids::{CommandId, RunId, TaskId};
use swarm_protocol::outcome::{Ended, Mode, Next, PauseReason};
use swarm_protocol::time::Timestamp;

use crate::hooks;
use crate::limits::DUE_MAX;
use crate::operation::checkpoints;
use crate::planted::{self, Bug};
use crate::stage::Stage;
use crate::state::operations::PERIODIC;
use crate::state::{State, Task};
use crate::text::tail;

/// What has to be known of the state before the event.
pub(crate) struct Before {
    stage: Option<&'static str>,
    ended: bool,
    running: bool,
    /// Somebody may be at it to give the worktree up.
    goes: bool,
}

impl Before {
    pub fn of(state: &State, event: &Event) -> Self {
        let task = event.task().and_then(|id| state.task(id));
        Self {
            stage: task.map(|t| t.stage.name()),
            ended: task.is_some_and(|t| has_ended(&t.stage)),
            running: state.running,
            goes: state.running && event.task().zip(task).is_some_and(|(id, task)| goes(state, id, task)),
        }
    }
}

fn goes(state: &State, id: &TaskId, task: &Task) -> bool {
    task.stage == Stage::Cancelled && task.worktree && task.kept.is_none() && !state.has_run(id)
}

fn has_ended(stage: &Stage) -> bool {
    matches!(stage, Stage::Done { .. } | Stage::Failed { .. } | Stage::Timeout { .. } | Stage::Cancelled)
}

/// What falls due with an event that has been taken in, in order.
pub(crate) fn of(state: &State, event: &Event, before: &Before, now: Timestamp) -> Vec<Event> {
    if !state.explicit {
        return vec![]; // this part of the ledger leaves it to whoever replays it
    }
    let mut dues = Dues { state, events: vec![], hooks: 0 };
    dues.events.extend(checkpoint(state, event, before));
    if !state.policy.hooks.is_empty() {
        dues.hooks(event);
        // Last: first the merge, then the end that came of it.
        dues.ending(event, before, now);
    }
    let opened =
        event.task().filter(|id| before.goes && state.task(id).is_some_and(|t| !t.stage.is_closed()));
    dues.events.extend(opened.map(|id| Event::WorktreeAwaited { task: id.clone() }));
    dues.events.extend(planted_work(state, event));
    dues.events
}

fn checkpoint(state: &State, event: &Event, before: &Before) -> Option<Event> {
    if state.ops.due.len() >= DUE_MAX {
        return None; // as many wait to be made as may
    }
    let rules = state.policy.checkpoints;
    let just_before = state.seq.saturating_sub(1);
    let due = |name: &str, trigger: &str, full: bool, seq: u64| {
        let (name, trigger) = (checkpoints::unused(state, name), trigger.into());
        Some(Event::CheckpointDue { name, trigger, full, seq: Some(seq) })
    };
    match event {
        Event::CoordinatorStarted { policy, .. }
            if policy.dispatch && rules.session_start && !before.running && state.plan.is_some() =>
        {
            due("session-start", "session start", true, just_before)
        }
        Event::ModeChanged { mode: Mode::Autopilot } if rules.before_autopilot && state.running => {
            due("before-autopilot", "autopilot", true, just_before)
        }
        Event::TrunkGranted { task, .. } if rules.before_merge => {
            due(&format!("before-merge-{task}"), "merge", false, just_before)
        }
        Event::MergeCompleted { task, .. }
            if rules.periodic > 0 && state.ops.done_since >= rules.periodic =>
        {
            due(&format!("after-{task}"), PERIODIC, false, state.seq)
        }
        _ => None,
    }
}

struct Dues<'a> {
    state: &'a State,
    events: Vec<Event>,
    hooks: usize,
}

impl Dues<'_> {
    fn hook(&mut self, name: &str, task: Option<&TaskId>, run: Option<&RunId>, variables: &[(&str, String)]) {
        if let Some(due) = hooks::due(self.state, self.hooks, name, task, run, variables) {
            self.hooks += 1;
            self.events.push(due);
        }
    }

    fn hooks(&mut self, event: &Event) {
        match event {
            Event::WorkspaceReady { task, run, branch, .. } => {
                let agent = self.state.runs.get(run).and_then(|r| r.agent.as_ref()).map(ToString::to_string);
                let variables = [("AGENT", agent.unwrap_or_default()), ("BRANCH", branch.clone())];
                self.hook("pre-start", Some(task), Some(run), &variables);
            }
            Event::TrunkGranted { task, .. } => {
                let target = self.state.trunk.clone().unwrap_or_default();
                let variables = [("BRANCH", task.branch()), ("TARGET", target)];
                self.hook("pre-merge", Some(task), None, &variables);
            }
            Event::MergeCompleted { task, proof } => {
                let variables = [("COMMIT_HASH", proof.commit.as_str().into())];
                self.hook("post-merge", Some(task), None, &variables);
            }
            Event::MergeFailed { task, paths, next, .. } if !paths.is_empty() => {
                let by_agent = matches!(next, Next::Pending { .. });
                self.conflict(task, paths, if by_agent { 3 } else { 4 });
            }
            Event::MergeBuilt { task, level: Some(level), resolved: Some(resolved), .. }
            | Event::MergeResolved { task, level, resolved, .. } => {
                let mut paths: Vec<String> = resolved.iter().map(|one| one.path.clone()).collect();
                paths.dedup();
                self.conflict(task, &paths, *level);
            }
            Event::Signal { task, signal, text, .. } if signal.starts_with("LEARNING") => {
                let scope = if signal == "LEARNING_GLOBAL" { "global" } else { "local" };
                let id = self.state.seq.to_string();
                let variables = [("LEARNING_ID", id), ("SCOPE", scope.into()), ("CONTENT", text.clone())];
                self.hook("on-learning", Some(task), None, &variables);
            }
            Event::Paused { reason, why } => self.pause(*reason, why),
            // Nothing of the group is started any more; where it is closed already that has been said.
            Event::QuotaExhausted { group, cause, .. } if self.has_just_closed(group) => {
                self.paused(cause.unwrap_or_default().word());
            }
            Event::AgentFailed { task, how, .. } => self.error(Some(task), error_type(how), how.describe()),
            Event::VerificationFailed { task, output, .. } => {
                self.error(Some(task), "verification".into(), tail(output));
            }
            Event::ResolverStarted { task, paths, .. } => self.conflict(task, paths, 3),
            Event::OperationFailed { id, why, paths, .. } => {
                if let Some(task) = self.taken_back(id).filter(|_| !paths.is_empty()) {
                    self.conflict(&task, paths, 4);
                }
                self.error(None, "operation".into(), why.clone());
            }
            _ => {}
        }
    }

    /// The task that the operation was to take back.
    fn taken_back(&self, id: &CommandId) -> Option<TaskId> {
        let record = self.state.ops.record(id).filter(|record| record.kind == "task rollback")?;
        TaskId::new(record.subject.as_deref()?).ok()
    }

    /// `level`: the rung of the ladder that resolved it; 3 is an agent that is asked to, 4 a person.
    fn conflict(&mut self, task: &TaskId, paths: &[String], level: u32) {
        let variables = [("FILES", paths.join("\n")), ("LEVEL", level.to_string())];
        self.hook("on-conflict", Some(task), None, &variables);
    }

    fn has_just_closed(&self, group: &str) -> bool {
        let closed = self.state.quotas.get(group).and_then(|gate| gate.closed.as_ref());
        closed.is_some_and(|closed| closed.since == self.state.at)
    }

    fn paused(&mut self, reason: &str) {
        let at_work = self.state.tasks.iter().filter(|(_, t)| t.stage.run().is_some());
        let running: Vec<&str> = at_work.map(|(id, _)| id.as_str()).collect();
        let variables = [("REASON", reason.to_string()), ("RUNNING_TASKS", running.join("\n"))];
        self.hook("on-pause", None, None, &variables);
    }

    fn pause(&mut self, reason: PauseReason, why: &str) {
        self.paused(reason.word());
        if !matches!(reason, PauseReason::User | PauseReason::Abort) {
            self.error(None, reason.word().into(), why.into());
        }
    }

    fn error(&mut self, task: Option<&TaskId>, kind: String, message: String) {
        self.hook("on-error", task, None, &[("ERROR_TYPE", kind), ("MESSAGE", message)]);
    }

    /// A task that ends fires once; one that is set back to an end has fired before.
    fn ending(&mut self, event: &Event, before: &Before, now: Timestamp) {
        let again = matches!(event, Event::TaskRestored { .. } | Event::WorkBack { .. });
        let Some(id) = event.task().filter(|_| !again) else { return };
        let Some(task) = self.state.task(id).filter(|t| has_ended(&t.stage)) else { return };
        if before.ended && before.stage == Some(task.stage.name()) {
            return;
        }
        let status = task.stage.status().word().to_string();
        let agent = task.last_agent.as_ref().map(ToString::to_string).unwrap_or_default();
        let secs = began(task).map_or(0, |began| now.secs_since(began)).max(task.spent.worked_ms / 1000);
        let variables =
            [("STATUS", status), ("AGENT", agent), ("DURATION", secs.to_string()), ("BRANCH", id.branch())];
        self.hook("post-complete", Some(id), None, &variables);
    }
}

/// When somebody took the task up first, as far as its history goes back: the runs that did the work are gone by now.
fn began(task: &Task) -> Option<Timestamp> {
    task.audit.iter().find(|entry| entry.event == "task_claimed").map(|entry| entry.at)
}

/// The class of F12 where the program told it, else how it ended.
fn error_type(how: &Ended) -> String {
    let value = serde_json::to_value(how).unwrap_or_default();
    let class = value["failure"]["class"].as_str().or(value["kind"].as_str());
    class.unwrap_or("unknown").into()
}

/// Planted: a task that was at work then is put back to work, without an agent.
fn planted_work(state: &State, event: &Event) -> Option<Event> {
    use swarm_protocol::operation::SavedStage;
    let Event::TaskRestored { task, stage: Some(SavedStage::Working), .. } = event else { return None };
    planted::is(Bug::ActiveRestored).then(|| Event::Iteration {
        task: task.clone(),
        run: RunId::nth(state.runs_ever),
        iteration: 0,
        tip: None,
        note: None,
        usage: None,
        session: None,
        class: None,
    })
}
