//! What the agent of the selected task says. Lines, no terminal within the terminal.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::layout;
use super::text::{cut, put, put_all, rule, span, wrapped};
use crate::input::{LogLine, Tone};
use crate::keys::Action;
use crate::model::Model;
use crate::said::{age, clock, spent, tokens};
use crate::theme::{Role, Theme};

pub fn title(model: &Model) -> String {
    let Some(task) = &model.log_of else { return "log · no agent works on this task".into() };
    let mut parts = Vec::new();
    if let Some(search) = &model.search {
        let cursor = if model.typing_search { "_" } else { "" };
        parts.push(format!("search: {}{cursor}", search.text()));
    }
    if model.log_folded {
        parts.push("landmarks only".into());
    }
    parts.push(task.to_string());
    let follows = match model.log.back {
        None => "follow on".to_owned(),
        Some(_) => format!("↓ {} new, {} follows", model.log.unseen, model.keys.first(Action::Last)),
    };
    if let Some(agent) = model.agent_of(task) {
        let (view, news) = (&agent.agent, agent.news.as_ref());
        let iteration = news.map_or(view.iteration, |news| news.iteration.max(view.iteration));
        parts.push(view.agent.to_string());
        parts.push(format!("iteration {iteration}/{}", agent.iterations_max));
        parts.push(follows);
        parts.extend(news.map(|news| format!("heard {}", age(model.clock(), news.heard))));
        let used = view.usage.input_tokens + view.usage.output_tokens;
        if used > 0 {
            parts.push(format!("{} tokens", tokens(used)));
        }
        if view.usage.cost_micros > 0 {
            parts.push(spent(&view.usage));
        }
    } else {
        parts.extend(["its agent has ended".into(), follows]);
    }
    parts.join(" · ")
}

pub fn draw(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let room = usize::from(area.height);
    let width = usize::from(area.width);
    if model.log.lines.is_empty() {
        let text = if model.log.run.is_some() { " Nothing was said yet" } else { "" };
        put_all(frame, area, [Line::from(span(model.theme, Role::Dim, text))]);
        return;
    }
    let all = shown_lines(model);
    if all.is_empty() {
        put_all(frame, area, [Line::from(span(model.theme, Role::Dim, " No line of the log matches"))]);
        return;
    }
    let end = all.len() - model.log.back.unwrap_or_default().min(all.len());
    let first = end.saturating_sub(room);
    let mut lines: Vec<Line<'static>> = Vec::new();
    for at in first..end {
        let line = &model.log.lines[all[at]];
        // What is folded away behind a landmark is counted.
        let next = all.get(at + 1).copied().unwrap_or(model.log.lines.len());
        let hidden = if model.log_folded && model.search.is_none() { next - all[at] - 1 } else { 0 };
        let folded = LogLine { text: format!("{} (+{hidden})", line.text), ..line.clone() };
        let line = if hidden > 0 { &folded } else { line };
        lines.extend(shown(model.theme, line, width, model.wrap));
    }
    // Wrapped lines may be more than there is room for: the newest count.
    let surplus = lines.len().saturating_sub(room);
    put_all(frame, area, lines.into_iter().skip(surplus));
}

/// Places of the lines that are shown: all, those that have what is searched for, or the landmarks.
pub fn shown_lines(model: &Model) -> Vec<usize> {
    let wanted = model.search.as_ref().map(|search| search.text().to_lowercase());
    let has = |line: &LogLine| match &wanted {
        Some(words) => words.split_whitespace().all(|word| line.text.to_lowercase().contains(word)),
        None => true,
    };
    let is_shown = |line: &LogLine| (!model.log_folded || is_landmark(line)) && has(line);
    model.log.lines.iter().enumerate().filter(|(_, line)| is_shown(line)).map(|(at, _)| at).collect()
}

pub fn length(model: &Model) -> usize {
    if model.search.is_none() && !model.log_folded {
        return model.log.lines.len();
    }
    shown_lines(model).len()
}

/// Lines from the end up to those with which the screen is full at the beginning; of wrapped ones fewer fit.
pub fn back_max(model: &Model) -> usize {
    let area = layout::log_area(model);
    let (room, width) = (usize::from(area.height), usize::from(area.width));
    if !model.wrap {
        return length(model).saturating_sub(room);
    }
    let (all, mut rows) = (shown_lines(model), 0);
    let fits = |at: &&usize| {
        rows += shown(model.theme, &model.log.lines[**at], width, true).len();
        rows <= room
    };
    let first = all.iter().take_while(fits).count().max(1);
    all.len().saturating_sub(first)
}

/// Tool calls, and what the swarm itself says: iterations, signals, commits.
pub fn is_landmark(line: &LogLine) -> bool {
    matches!(line.tone, Tone::Tool | Tone::Swarm)
}

/// The last line on the screen.
fn at(model: &Model) -> Option<usize> {
    let all = shown_lines(model);
    all.len().checked_sub(model.log.back.unwrap_or_default() + 1).map(|last| all[last])
}

pub fn line_at(model: &Model) -> Option<String> {
    Some(model.log.lines.get(at(model)?)?.text.clone())
}

/// The lines from the landmark before the last line on the screen up to the next one.
pub fn block(model: &Model) -> Option<String> {
    let (last, lines) = (at(model)?, &model.log.lines);
    let first = (0..=last).rev().find(|at| is_landmark(&lines[*at])).unwrap_or_default();
    let end = (first + 1..lines.len()).find(|at| is_landmark(&lines[*at])).unwrap_or(lines.len());
    let text = lines.range(first..end).map(|line| format!("{} {}\n", clock(line.at), line.text));
    Some(text.collect())
}

/// One line as it is drawn; several where it is wrapped.
pub fn shown(theme: Theme, line: &LogLine, width: usize, wrap: bool) -> Vec<Line<'static>> {
    let (role, sign) = match line.tone {
        Tone::Said => (Role::Plain, ' '),
        Tone::Tool => (Role::Bold, '▸'),
        Tone::Error => (Role::Bad, '!'),
        Tone::Swarm => (Role::Dim, '·'),
    };
    let room = width.saturating_sub(12);
    let texts = match wrap {
        true => wrapped(&line.text, room),
        false => vec![cut(&line.text, room)],
    };
    let mut lines = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let head = if at == 0 { format!(" {}", clock(line.at)) } else { " ".repeat(9) };
        lines.push(Line::from(vec![
            span(theme, Role::Dim, &head),
            span(theme, role, &format!(" {sign} {text}")),
        ]));
    }
    lines
}

pub fn full(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    put(frame, area, rule(model.theme, &title(model), area.width, Role::Title));
    draw(model, frame, Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area });
}
