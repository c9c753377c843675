//! What an operation would do, for people.

use swarm_core::show;
use swarm_protocol::channel::RunKind;
use swarm_protocol::operation::{FactChange, TaskPart};
use swarm_protocol::oplog::{PreviewView, StopView};

use super::harmless;

pub fn text(view: &PreviewView) -> String {
    if view.nothing {
        return "Nothing would change".into();
    }
    let mut text = format!("Preview of {}:", harmless(&view.kind));
    for line in view.text.lines() {
        text.push_str(&format!("\n  {}", harmless(line)));
    }
    let says = &view.says;
    let stops: Vec<String> = view.stops.iter().map(stop).collect();
    let facts = facts(view);
    for (head, lines) in [
        ("Stopped", &stops),
        ("Tasks", &says.tasks),
        ("Commits", &says.commits),
        ("Work", &says.work),
        ("Other commits", &says.foreign),
        ("Plan and swarm", &facts),
        ("Cannot be undone", &says.stays),
    ] {
        if !lines.is_empty() {
            text.push_str(&format!("\n\n{head}"));
            lines.iter().for_each(|line| text.push_str(&format!("\n  {}", harmless(line))));
        }
    }
    match &view.checkpoint {
        Some(name) => text.push_str(&format!(
            "\n\nThe state before is kept as checkpoint {}; `swarm undo` restores it.",
            harmless(name)
        )),
        None if !view.facts.is_empty() => {
            let back = if view.kind == "undo" { "redo" } else { "undo" };
            text.push_str(&format!("\n\n`swarm {back}` reverts it."));
        }
        None => {}
    }
    text
}

/// What changes in the ledger and is not among the lines above.
fn facts(view: &PreviewView) -> Vec<String> {
    let said = |change: &&FactChange| {
        let in_the_plan = matches!(change.fact.part(), Some(TaskPart::Spec | TaskPart::Place));
        view.plan.is_some() && change.fact.task().is_some() && !in_the_plan
    };
    let rest: Vec<FactChange> = view.facts.iter().filter(|change| !said(change)).cloned().collect();
    show::changes(&rest)
}

/// Files named in a line; `--json` has more.
const FILES_MAX: usize = 5;

fn stop(stop: &StopView) -> String {
    let who = match (&stop.agent, stop.kind) {
        (Some(agent), _) => format!("{agent} on {}", stop.task),
        (None, RunKind::Verify) => format!("the verification of {}, which is merged later", stop.task),
        (None, RunKind::Review) => format!("the review of {}, which is held later", stop.task),
        (None, RunKind::Probe | RunKind::Work) => format!("{} of {}", stop.run, stop.task),
    };
    let Some(name) = &stop.saved_to else { return who };
    let mut files: Vec<String> = stop.files.iter().take(FILES_MAX).cloned().collect();
    if stop.files_in_all > files.len() {
        files.push(format!("{} more", stop.files_in_all - files.len()));
    }
    format!("{who}; kept at {name}: {}", files.join(", "))
}
