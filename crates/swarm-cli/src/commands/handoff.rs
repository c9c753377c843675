//! `swarm handoff`: what a fresh agent or person needs to go on.

use std::fmt::Write;

use swarm_protocol::view::{ConflictView, HandoffView, MoreView, TaskRow};

use crate::context::{At, Context};
use crate::error::CliError;
use crate::output::harmless;
use crate::swarm::Swarm;

/// Print a summary for a new agent or person
///
/// Markdown: goal, current phase, open tasks, pending reviews, conflicts ahead, decisions, and how many tasks may run at once.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub at: At,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let view = Swarm::open(cx)?.handoff(args.at.at)?;
    cx.out.document(&view, markdown)
}

fn markdown(view: &HandoffView) -> String {
    let mut text = format!("# {}\n\n", harmless(view.goal.lines().next().unwrap_or_default()));
    let profile = view.execution_profile;
    if let Some(phase) = &view.phase {
        let _ = writeln!(
            text,
            "Phase {}: {} ({} of {} done)  ",
            phase.id,
            harmless(&phase.name),
            phase.done,
            phase.total
        );
    }
    let _ = writeln!(
        text,
        "Tasks at once: {}{}  ",
        profile.slots(),
        if profile.locked { " (locked)" } else { "" }
    );
    let approval = match (view.approved.approved, view.approved.drifted) {
        (false, _) => "not approved",
        (true, false) => "approved",
        (true, true) => "changed since it was approved",
    };
    let _ = writeln!(text, "Plan: {approval}, as of record {}", view.seq);
    rows(&mut text, "Open tasks", &view.open);
    rows(&mut text, "Reviews to come", &view.pending_reviews);
    if !view.attention.is_empty() {
        text.push_str("\n## Waits for a person\n\n");
    }
    for entry in &view.attention {
        let commands: Vec<String> = entry.commands.iter().map(|c| format!("`{}`", harmless(c))).collect();
        let _ =
            writeln!(text, "- {}: {} ({})", harmless(&entry.what), harmless(&entry.why), commands.join(", "));
    }
    conflicts(&mut text, &view.conflicts);
    if !view.decisions.is_empty() {
        text.push_str("\n## Decisions\n\n");
    }
    for entry in &view.decisions {
        let _ =
            writeln!(text, "- {} {}: {}", entry.at.dated(), harmless(&entry.event), harmless(&entry.details));
    }
    if !view.more.is_empty() {
        text.push_str("\n## Not shown\n\n");
    }
    for MoreView { what, count, command } in &view.more {
        let _ = writeln!(text, "- {count} {what}: `{command}`");
    }
    text
}

fn conflicts(text: &mut String, conflicts: &[ConflictView]) {
    if conflicts.is_empty() {
        return;
    }
    text.push_str("\n## Will conflict\n\n");
    for ConflictView { task, conflict } in conflicts {
        let files: Vec<String> = conflict.files.iter().map(|file| harmless(file)).collect();
        let _ = writeln!(text, "- {task} with {}: {}", harmless(&conflict.with), files.join(", "));
    }
}

fn rows(text: &mut String, head: &str, rows: &[TaskRow]) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n## {head}\n");
    for row in rows {
        let stage = if row.stage.is_empty() { row.status.word() } else { &row.stage };
        let _ = writeln!(text, "- {} {} ({})", row.id, harmless(&row.title), harmless(stage));
    }
}
