//! What an agent is told at the start of an iteration.

use std::fmt::Write;

use swarm_core::state::{State, Task};
use swarm_protocol::ids::{AgentId, TaskId};

/// Bytes of a prompt, well below the limit of one frame.
const PROMPT_MAX: usize = 512 * 1024;

pub struct Setting<'a> {
    pub task: &'a TaskId,
    pub agent: &'a AgentId,
    pub attempt: u32,
    pub iteration: u32,
    pub worktree: &'a std::path::Path,
}

/// The prompt of one iteration: the task, where it stands in the plan, where the work is to be done,
/// and what went wrong before.
pub fn prompt(state: &State, setting: &Setting<'_>) -> String {
    let Some(task) = state.task(setting.task) else { return String::new() };
    let mut text = String::new();
    let goal = state.plan.as_ref().map_or("", |p| p.goal.as_str());
    // Writing to a String cannot fail.
    let _ = writeln!(text, "# Task {}: {}\n", setting.task, task.spec.title);
    if !goal.is_empty() {
        let _ = writeln!(text, "It is part of this goal: {goal}\n");
    }
    if !task.spec.description.is_empty() {
        let _ = writeln!(text, "{}\n", task.spec.description);
    }
    list(&mut text, "It is done when:", &task.spec.acceptance);
    list(&mut text, "It is about these files:", &task.spec.files);
    neighbours(state, task, &mut text);
    let _ = writeln!(
        text,
        "## Where to work\n\nWork only in the worktree {} on the branch {}. Commit what you do, with messages like \
         `type: text #{} @{}`.\nWhen everything is done, print <swarm>COMPLETE</swarm> on a line of its own. If you need \
         a person, print <swarm>BLOCKED: reason</swarm>; if it cannot be done, print <swarm>FAILED: reason</swarm>.\n",
        setting.worktree.display(),
        setting.task.branch(),
        setting.task,
        setting.agent,
    );
    history(task, setting, &mut text);
    if text.len() > PROMPT_MAX {
        let mut end = PROMPT_MAX;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    text
}

fn list(text: &mut String, head: &str, entries: &[String]) {
    if entries.is_empty() {
        return;
    }
    let _ = writeln!(text, "{head}");
    for entry in entries {
        let _ = writeln!(text, "- {entry}");
    }
    text.push('\n');
}

fn neighbours(state: &State, task: &Task, text: &mut String) {
    let title =
        |id: &TaskId| state.task(id).map_or_else(|| id.to_string(), |t| format!("{id} {}", t.spec.title));
    let before: Vec<String> = task.spec.depends.iter().map(title).collect();
    list(text, "It builds on these finished tasks:", &before);
    let after: Vec<String> = state.dependents(&task.spec.id).iter().map(title).collect();
    list(text, "These tasks wait for it:", &after);
}

fn history(task: &Task, setting: &Setting<'_>, text: &mut String) {
    if setting.attempt == 1 && setting.iteration == 1 {
        return;
    }
    let _ = writeln!(
        text,
        "## Before now\n\nThis is attempt {}, iteration {}.",
        setting.attempt, setting.iteration
    );
    if let Some(failure) = &task.last_failure {
        let _ = writeln!(text, "What went wrong last:\n\n```\n{failure}\n```");
    }
    let _ = writeln!(text, "The worktree is as it was left: look at it and go on from there.");
}
