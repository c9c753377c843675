//! What events of every kind mean for checkpoints and hooks: read off them, after they are taken in.

use swarm_protocol::event::Event;
use swarm_protocol::ids::{CommandId, Oid, TaskId};
use swarm_protocol::operation::FactChange;
use swarm_protocol::outcome::{Mode, PauseReason};
use swarm_protocol::time::Timestamp;

use crate::hooks;
use crate::operation::state::Record;
use crate::operation::{checkpoints, saved};
use crate::stage::Stage;
use crate::state::State;

/// What has to be known of the state before the event.
pub(super) struct Before {
    stage: Option<&'static str>,
    ended: bool,
    running: bool,
    /// Where the merge of this event's task began.
    base: Option<Oid>,
    saved: Option<serde_json::Value>,
}

impl Before {
    pub fn of(state: &State, event: &Event) -> Self {
        let task = event.task().and_then(|id| state.task(id));
        let merges = matches!(event, Event::MergeCompleted { .. });
        let base = task.filter(|_| merges).and_then(|t| match &t.stage {
            Stage::Merging { step: crate::stage::MergeStep::Publishing { base, .. }, .. } => {
                Some(base.clone())
            }
            _ => None,
        });
        Self {
            stage: task.map(|t| t.stage.name()),
            ended: task.is_some_and(|t| has_ended(&t.stage)),
            running: state.running,
            base,
            saved: task.filter(|_| merges).and_then(|t| serde_json::to_value(saved::stage(t)).ok()),
        }
    }
}

fn has_ended(stage: &Stage) -> bool {
    matches!(stage, Stage::Done { .. } | Stage::Failed { .. } | Stage::Timeout { .. } | Stage::Cancelled)
}

impl State {
    pub(super) fn watched(&mut self, event: &Event, before: Before, at: Timestamp) {
        self.note_branches(event);
        self.note_checkpoints(event, &before, at);
        self.note_merge(event, &before, at);
        if !self.policy.hooks.is_empty() {
            self.note_hooks(event, &before, at);
        }
    }

    fn note_branches(&mut self, event: &Event) {
        match event {
            Event::WorkspaceReady { task, tip, .. } => {
                self.ops.redirects.remove(task);
                self.ops.tips.insert(task.clone(), tip.clone());
            }
            Event::Iteration { task, tip: Some(tip), .. } => {
                self.ops.tips.insert(task.clone(), tip.clone());
            }
            Event::TaskClaimed { task, .. } => {
                self.ops.first.retain(|first| first.task != *task);
            }
            Event::WorkSubmitted { task, tip, .. } => {
                self.ops.tips.insert(task.clone(), tip.clone());
            }
            Event::TaskRemoved { task } | Event::WorktreeRemoved { task, .. } => self.forget_task(task),
            _ => {}
        }
    }

    fn note_checkpoints(&mut self, event: &Event, before: &Before, at: Timestamp) {
        let rules = self.policy.checkpoints;
        let seq = self.seq.saturating_sub(1);
        match event {
            Event::CoordinatorStarted { policy, .. }
                if policy.dispatch && rules.session_start && !before.running && self.plan.is_some() =>
            {
                let name = checkpoints::unused(self, "session-start");
                self.due_checkpoint(name, "session start", true, seq, at);
            }
            Event::ModeChanged { mode: Mode::Autopilot } if rules.before_autopilot && self.running => {
                let name = checkpoints::unused(self, "before-autopilot");
                self.due_checkpoint(name, "autopilot", true, seq, at);
            }
            Event::TrunkGranted { task, .. } if rules.before_merge => {
                let name = checkpoints::unused(self, &format!("before-merge-{task}"));
                self.due_checkpoint(name, "merge", false, seq, at);
            }
            Event::MergeCompleted { task, .. } => {
                self.ops.done_since += 1;
                if rules.periodic > 0 && self.ops.done_since >= rules.periodic {
                    self.ops.done_since = 0;
                    let name = checkpoints::unused(self, &format!("after-{task}"));
                    self.due_checkpoint(name, "periodic", false, self.seq, at);
                }
            }
            _ => {}
        }
    }

    /// A merge is an operation of the swarm's own: undone only by name.
    fn note_merge(&mut self, event: &Event, before: &Before, at: Timestamp) {
        let Event::MergeCompleted { task, proof } = event else { return };
        let Some(base) = before.base.clone().filter(|_| !proof.commits.is_empty()) else { return };
        let Ok(id) = CommandId::new(format!("merge-{}-{}", task.as_str().replace('.', "-"), self.seq)) else {
            return;
        };
        let now = self.task(task).and_then(|t| serde_json::to_value(saved::stage(t)).ok());
        let facts = vec![
            FactChange { fact: format!("task/{task}/stage"), before: before.saved.clone(), after: now },
            FactChange {
                fact: format!("ref/refs/heads/{}", proof.trunk),
                before: Some(base.as_str().into()),
                after: Some(proof.commit.as_str().into()),
            },
        ];
        self.log(Record {
            id,
            seq: self.seq,
            at,
            by: "swarm:coordinator".into(),
            kind: "merge".into(),
            subject: Some(task.to_string()),
            text: format!("{task} is on {} at {}", proof.trunk, proof.commit.short()),
            facts: Some(facts),
            checkpoint: None,
            undoes: None,
            undone_by: None,
            failed: None,
            paths: vec![],
            seen: false,
            bytes: 500,
        });
    }

    fn note_hooks(&mut self, event: &Event, before: &Before, at: Timestamp) {
        match event {
            Event::WorkspaceReady { task, run, branch, .. } => {
                let agent = self.runs.get(run).and_then(|r| r.agent.as_ref()).map(ToString::to_string);
                let variables = [("AGENT", agent.unwrap_or_default()), ("BRANCH", branch.clone())];
                hooks::due(self, "pre-start", Some(task), Some(run), &variables);
            }
            Event::TrunkGranted { task, .. } => {
                let target = self.trunk.clone().unwrap_or_default();
                let variables = [("BRANCH", task.branch()), ("TARGET", target)];
                hooks::due(self, "pre-merge", Some(task), None, &variables);
            }
            Event::MergeCompleted { task, proof } => {
                let variables = [("COMMIT_HASH", proof.commit.as_str().into())];
                hooks::due(self, "post-merge", Some(task), None, &variables);
            }
            Event::MergeFailed { task, paths, .. } if !paths.is_empty() => {
                let variables = [("FILES", paths.join("\n")), ("LEVEL", "4".into())];
                hooks::due(self, "on-conflict", Some(task), None, &variables);
            }
            Event::Signal { task, signal, text, .. } if signal.starts_with("LEARNING") => {
                let scope = if signal == "LEARNING_GLOBAL" { "global" } else { "local" };
                let variables = [
                    ("LEARNING_ID", self.seq.to_string()),
                    ("SCOPE", scope.into()),
                    ("CONTENT", text.clone()),
                ];
                hooks::due(self, "on-learning", Some(task), None, &variables);
            }
            Event::Paused { reason, why } => self.hook_on_pause(*reason, why),
            Event::AgentFailed { task, how, .. } => {
                self.hook_on_error(Some(task), error_type(how), how.words());
            }
            Event::VerificationFailed { task, output, .. } => {
                self.hook_on_error(Some(task), "verification".into(), super::tail(output));
            }
            Event::OperationFailed { why, .. } => {
                self.hook_on_error(None, "operation".into(), why.clone());
            }
            _ => {}
        }
        // Last: first the merge, then the end that came of it.
        self.note_ending(event, before, at);
    }

    fn hook_on_pause(&mut self, reason: PauseReason, why: &str) {
        let at_work = self.tasks.iter().filter(|(_, t)| t.stage.run().is_some());
        let running: Vec<&str> = at_work.map(|(id, _)| id.as_str()).collect();
        let variables = [("REASON", reason.word().to_string()), ("RUNNING_TASKS", running.join("\n"))];
        hooks::due(self, "on-pause", None, None, &variables);
        if !matches!(reason, PauseReason::User | PauseReason::Abort) {
            self.hook_on_error(None, reason.word().into(), why.into());
        }
    }

    fn hook_on_error(&mut self, task: Option<&TaskId>, kind: String, message: String) {
        hooks::due(self, "on-error", task, None, &[("ERROR_TYPE", kind), ("MESSAGE", message)]);
    }

    /// A task that ends fires once; one that is set back to an end has fired before.
    fn note_ending(&mut self, event: &Event, before: &Before, at: Timestamp) {
        let Some(id) = event.task().filter(|_| !matches!(event, Event::TaskRestored { .. })) else { return };
        let Some(task) = self.task(id).filter(|t| has_ended(&t.stage)) else { return };
        if before.ended && before.stage == Some(task.stage.name()) {
            return;
        }
        let status = task.stage.status().word().to_string();
        let agent = task.last_agent.as_ref().map(ToString::to_string).unwrap_or_default();
        let began = self.runs.values().filter(|r| r.task == *id).map(|r| r.claimed_at).min();
        let secs = began.map_or(0, |began| at.secs_since(began));
        let variables =
            [("STATUS", status), ("AGENT", agent), ("DURATION", secs.to_string()), ("BRANCH", id.branch())];
        hooks::due(self, "post-complete", Some(&id.clone()), None, &variables);
    }
}

/// The class of F12 where the program told it, else how it ended.
fn error_type(how: &swarm_protocol::outcome::Ended) -> String {
    let value = serde_json::to_value(how).unwrap_or_default();
    let class = value["failure"]["class"].as_str().or(value["kind"].as_str());
    class.unwrap_or("unknown").into()
}
