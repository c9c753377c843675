//! What an operation would do, for people.

use swarm_protocol::channel::RunKind;
use swarm_protocol::oplog::{PreviewView, StopView};

use super::harmless;

pub fn text(view: &PreviewView) -> String {
    let mut text = format!("{} would do this:", harmless(&view.kind));
    if !view.text.is_empty() {
        text.push_str(&format!("\n  {}", harmless(&view.text)));
    }
    let says = &view.says;
    let mut said = false;
    let stops: Vec<String> = view.stops.iter().map(stop).collect();
    for (head, lines) in [
        ("Stopped", &stops),
        ("Tasks", &says.tasks),
        ("Commits", &says.commits),
        ("Uncommitted work", &says.work),
        ("Your own commits", &says.foreign),
        ("Stays as it is, and no undo takes it back", &says.stays),
    ] {
        if !lines.is_empty() {
            text.push_str(&format!("\n\n{head}"));
            lines.iter().for_each(|line| text.push_str(&format!("\n  {}", harmless(line))));
            said |= head != "Stopped";
        }
    }
    if !said {
        for change in &view.facts {
            text.push_str(&format!("\n  {}", harmless(&swarm_core::show::fact_words(change))));
        }
    }
    match &view.checkpoint {
        Some(name) => text.push_str(&format!(
            "\n\nThe state before it is kept as checkpoint {}; `swarm undo` brings it back.",
            harmless(name)
        )),
        None if !view.facts.is_empty() => text.push_str("\n\n`swarm undo` takes it back."),
        None => {}
    }
    text
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
