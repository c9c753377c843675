//! What events of every kind mean for operations: read off them, after they are taken in.

use swarm_protocol::event::Event;
use swarm_protocol::ids::{CommandId, Oid};
use swarm_protocol::operation::{Fact, FactChange, TaskPart};
use swarm_protocol::time::Timestamp;

use super::legacy;
use crate::stage::{MergeStep, Stage};
use crate::state::State;
use crate::state::operations::Record;
use crate::state::saved;

/// What has to be known of the state before the event.
pub(super) struct Before {
    /// Where the merge of this event's task began.
    base: Option<Oid>,
    saved: Option<serde_json::Value>,
    implied: legacy::Before,
}

impl Before {
    pub fn of(state: &State, event: &Event) -> Self {
        let task = event.task().and_then(|id| state.task(id));
        let merges = matches!(event, Event::MergeCompleted { .. });
        let base = task.filter(|_| merges).and_then(|t| match &t.stage {
            Stage::Merging { step: MergeStep::Publishing { base, .. }, .. } => Some(base.clone()),
            _ => None,
        });
        let saved = task.filter(|_| merges).and_then(|t| serde_json::to_value(saved::stage(t)).ok());
        Self { base, saved, implied: legacy::Before::of(state, event) }
    }
}

impl State {
    pub(super) fn watched(&mut self, event: &Event, before: Before, at: Timestamp) {
        self.note_branches(event);
        if matches!(event, Event::MergeCompleted { .. }) {
            self.ops.done_since += 1;
        }
        legacy::falls_due(self, event, &before.implied, at);
        self.note_merge(event, &before, at);
        legacy::hooks_fall_due(self, event, &before.implied, at);
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

    /// A merge is an operation of the swarm's own: undone only by name.
    fn note_merge(&mut self, event: &Event, before: &Before, at: Timestamp) {
        let Event::MergeCompleted { task, proof } = event else { return };
        let Some(base) = before.base.clone().filter(|_| !proof.commits.is_empty()) else { return };
        let Ok(id) = CommandId::new(format!("merge-{}-{}", task.as_str().replace('.', "-"), self.seq)) else {
            return;
        };
        let now = self.task(task).and_then(|t| serde_json::to_value(saved::stage(t)).ok());
        let facts = vec![
            FactChange {
                fact: Fact::Part(task.clone(), TaskPart::Stage),
                before: before.saved.clone(),
                after: now,
            },
            FactChange {
                fact: Fact::of_branch(&proof.trunk),
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
            did: None,
            checkpoint: None,
            undoes: None,
            undone_by: None,
            failed: None,
            paths: vec![],
            seen: false,
            bytes: 500,
        });
    }
}
