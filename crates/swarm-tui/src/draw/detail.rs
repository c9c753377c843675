//! Everything about the selected task that fits.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use swarm_protocol::view::TaskView;

use super::text::{cut, pad, put_all, span, wrapped_to};
use crate::keys::Action;
use crate::model::Model;
use crate::said::{count, spent, tokens};
use crate::theme::Role;

pub fn title(model: &Model) -> String {
    match (&model.task, &model.looking_at) {
        (Some(task), _) => {
            format!("{} {} · {} diff", task.row.id, task.row.title, model.keys.first(Action::Diff))
        }
        (None, Some(id)) => id.to_string(),
        (None, None) => "no task is selected".into(),
    }
}

pub fn draw(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let Some(task) = &model.task else { return };
    let width = usize::from(area.width);
    let facts = facts(model, task);
    // Two facts stand side by side where there is room for both.
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (name, text) in facts {
        let head = format!(" {}", pad(name, 10));
        let body = wrapped_to(&text, width.saturating_sub(13), 3);
        for (at, part) in body.into_iter().enumerate() {
            let head = if at == 0 { head.clone() } else { " ".repeat(11) };
            let role =
                if matches!(name, "waits" | "conflict" | "failed") { Role::NeedsYou } else { Role::Plain };
            lines.push(Line::from(vec![
                span(model.theme, Role::Dim, &head),
                span(model.theme, role, &cut(&part, width.saturating_sub(12))),
            ]));
        }
    }
    put_all(frame, area, lines);
}

fn facts(model: &Model, task: &TaskView) -> Vec<(&'static str, String)> {
    let mut facts = vec![("stage", task.row.stage.clone())];
    if let Some(why) = &task.why
        && !task.row.stage.contains(why.as_str())
    {
        facts.push(("waits", why.lines().take(3).collect::<Vec<_>>().join(" ")));
    }
    let list =
        |ids: &[swarm_protocol::ids::TaskId]| ids.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", ");
    for conflict in &task.conflicts_with {
        let files = conflict.files.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
        facts.push(("conflict", format!("foreseen with {} in {files}", conflict.with)));
    }
    let mut place = format!("{}, attempt {}", task.branch, task.row.attempts);
    if let Some(agent) = model.agent_of(&task.row.id)
        && !agent.profile.is_empty()
    {
        place.push_str(&format!(", profile {}", agent.profile));
    }
    facts.push(("branch", place));
    let mut order = vec![];
    if !task.row.depends.is_empty() {
        order.push(format!("after {}", list(&task.row.depends)));
    }
    if !task.unblocks.is_empty() {
        order.push(format!("unblocks {}", list(&task.unblocks)));
    }
    if !task.tags.is_empty() {
        order.push(format!("tags {}", task.tags.join(" ")));
    }
    if !order.is_empty() {
        facts.push(("order", order.join(" · ")));
    }
    let used = task.usage.input_tokens + task.usage.output_tokens;
    if used > 0 || task.usage.cost_micros > 0 {
        facts.push(("cost", format!("{} tokens, {}", tokens(used), spent(&task.usage))));
    }
    if let Some(proof) = &task.proof {
        let commits = count(proof.commits.len() as u64, "commit");
        facts.push(("proof", format!("{commits} on {} at {}", proof.trunk, proof.commit.short())));
    }
    if let Some(message) = task.messages.last() {
        let state = match (&message.landed, &message.undelivered) {
            (Some(landed), _) => format!("delivered in iteration {}", landed.iteration),
            (None, Some(why)) => format!("not delivered: {why}"),
            (None, None) => "queued for the next boundary".into(),
        };
        facts.push(("message", format!("{} ({state})", message.text)));
    }
    if !task.acceptance.is_empty() {
        facts.push(("accept", task.acceptance.join(" · ")));
    }
    let description = task.description.trim();
    if !description.is_empty() {
        facts.push(("task", description.lines().take(6).collect::<Vec<_>>().join(" ")));
    }
    for line in task.audit.iter().rev().take(12) {
        let text = format!("{} {}", line.event.replace('_', " "), line.details);
        facts.push((
            "history",
            format!(
                "{} {}",
                crate::said::moment(line.at, model.clock()),
                text.lines().next().unwrap_or_default()
            ),
        ));
    }
    facts
}
