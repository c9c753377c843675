//! How long things took, off the spans that have ended.

use std::collections::BTreeMap;

use super::float;
use super::page::{Histogram, Page, SLOW};
use crate::trace::{Span, names};

/// What attempts come to; whatever else a task may be in then is `other`.
const OUTCOMES: [&str; 5] = ["merged", "failed", "stopped", "sent_back", "other"];

/// Kinds of spans inside an attempt, and the stages that they are.
const STAGES: [(&str, &str); 6] = [
    (names::INVOKE_AGENT, "work"),
    (names::CHECK, "check"),
    (names::REVIEW, "review"),
    (names::BUILD, "build"),
    (names::VERIFY, "verify"),
    (names::PUBLISH, "publish"),
];

#[derive(Debug, Clone)]
pub(super) struct Times {
    tasks: BTreeMap<&'static str, Histogram>,
    stages: BTreeMap<&'static str, Histogram>,
    merges: Histogram,
}

impl Default for Times {
    fn default() -> Self {
        let none = || Histogram::new(SLOW);
        Self {
            tasks: OUTCOMES.map(|outcome| (outcome, none())).into(),
            stages: STAGES.map(|(_, stage)| (stage, none())).into(),
            merges: none(),
        }
    }
}

impl Times {
    pub fn note(&mut self, span: &Span) {
        let seconds = float(span.end.0.saturating_sub(span.start.0)) / 1000.0;
        if span.kind == names::MERGE {
            self.merges.note(seconds);
        } else if span.kind == names::TASK {
            let said = span.outcome().unwrap_or_default();
            let known = OUTCOMES.into_iter().find(|known| *known == said).unwrap_or("other");
            self.tasks.entry(known).and_modify(|times| times.note(seconds));
        } else if let Some((_, stage)) = STAGES.iter().find(|(kind, _)| *kind == span.kind) {
            self.stages.entry(stage).and_modify(|times| times.note(seconds));
        }
    }

    pub fn show(&self, page: &mut Page) {
        for (outcome, times) in &self.tasks {
            page.histogram("swarm_task_seconds", &[("outcome", outcome)], times);
        }
        for (stage, times) in &self.stages {
            page.histogram("swarm_stage_seconds", &[("stage", stage)], times);
        }
        page.histogram("swarm_merge_seconds", &[], &self.merges);
    }
}
