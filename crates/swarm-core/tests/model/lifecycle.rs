//! Prints the life of a task from the code into `docs/reference/lifecycle.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use swarm_core::owed;
use swarm_core::stage::Stage;
use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;

use crate::explore::Place;

#[derive(Default)]
struct Life {
    entered_by: BTreeSet<String>,
    owes: BTreeSet<&'static str>,
    ended_by: BTreeMap<String, BTreeSet<&'static str>>,
}

type Lives = BTreeMap<&'static str, Life>;

/// From, to, and the event that did it.
type StageChange = (Option<&'static str>, &'static str, String);

/// What was seen of the stages on a walk through the states.
#[derive(Default)]
pub struct Walk {
    changes: BTreeSet<StageChange>,
    owes: BTreeSet<(&'static str, &'static str)>,
}

impl Walk {
    pub fn visit(&mut self, place: &Place) {
        for effect in owed(&place.state) {
            if let Some(task) = effect.task().and_then(|id| place.state.task(id)) {
                self.owes.insert((task.stage.name(), effect.verb()));
            }
        }
    }

    pub fn edge(&mut self, from: &Place, events: &[Event]) {
        self.changes.extend(between(from, events));
    }

    pub fn add(&mut self, other: Self) {
        self.changes.extend(other.changes);
        self.owes.extend(other.owes);
    }

    /// The page that the walk amounts to is the one in the documents.
    pub fn compare(self) {
        let mut lives: Lives = Stage::NAMES.iter().map(|name| (*name, Life::default())).collect();
        for (from, to, by) in self.changes {
            if let Some(from) = from {
                lives.entry(from).or_default().ended_by.entry(by.clone()).or_default().insert(to);
            }
            lives.entry(to).or_default().entered_by.insert(by);
        }
        for (stage, verb) in self.owes {
            lives.entry(stage).or_default().owes.insert(verb);
        }
        compare(&page(&lives));
    }
}

/// The changes of stage that these events bring, one by one.
fn between(from: &Place, events: &[Event]) -> Vec<StageChange> {
    let mut state = from.state.clone();
    let mut stages: BTreeMap<TaskId, &'static str> =
        state.tasks.iter().map(|(id, task)| (id.clone(), task.stage.name())).collect();
    let mut changes = Vec::new();
    for event in events {
        state.apply(event, from.now);
        for (id, task) in &state.tasks {
            let (old, new) = (stages.insert(id.clone(), task.stage.name()), task.stage.name());
            if old != Some(new) {
                changes.push((old, new, event.kind().to_string()));
            }
        }
    }
    changes
}

fn page(lives: &Lives) -> String {
    let mut page = String::from(
        "# Life of a task\n\n\
         Printed from the code by a test that walks every state of one and two tasks\n\
         (`cargo xtask gen` writes this file). Events are named as in the ledger. A stage also owes what\n\
         is left over from earlier ones: `Stop` until the last attempt's processes are proven gone,\n\
         `Release` until its executor has left the trunk.\n\n\
         | stage | entered by | owes | ended by → next |\n|---|---|---|---|\n",
    );
    for name in Stage::NAMES {
        let life = &lives[name];
        let entered: Vec<&str> = life.entered_by.iter().map(String::as_str).collect();
        let owes: Vec<&str> = life.owes.iter().copied().collect();
        let ended: Vec<String> = life
            .ended_by
            .iter()
            .map(|(by, to)| format!("{by} → {}", to.iter().copied().collect::<Vec<_>>().join(", ")))
            .collect();
        let dash = |text: String| if text.is_empty() { "—".to_string() } else { text };
        writeln!(
            page,
            "| {name} | {} | {} | {} |",
            dash(entered.join(", ")),
            dash(owes.join(", ")),
            dash(ended.join(" · "))
        )
        .expect("a String takes every write");
    }
    page
}

/// Writes the page with `SWARM_GEN=1`, else compares.
fn compare(page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/lifecycle.md");
    if std::env::var_os("SWARM_GEN").is_some() {
        std::fs::write(&path, page).expect("docs/ can be written");
        return;
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == page,
        "docs/reference/lifecycle.md is not what the code says: run `cargo xtask gen`\n{page}"
    );
}
