//! The views that are lists: attention, agents, events, checkpoints.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use swarm_protocol::board::{AttentionEntry, BoardAgent, CheckpointRow};

use super::layout;
use super::text::{cut, pad, put_all, span};
use crate::input::EventLine;
use crate::model::{Model, View};
use crate::said::{age, clock, count, spent, tokens};
use crate::theme::Role;

/// Rows from the first that is shown on, the selected one marked.
pub fn rows(
    model: &Model,
    frame: &mut Frame<'_>,
    area: Rect,
    view: View,
    first: usize,
    row: impl Fn(usize) -> Option<Line<'static>>,
    none: &str,
) {
    let at = model.cursor(view);
    let marked = |n: usize| {
        let line = row(n)?;
        let role = if model.view == view { Role::Selected } else { Role::Plain };
        Some(if n == at { line.patch_style(model.theme.style(role)) } else { line })
    };
    if model.length(view) == 0 {
        put_all(frame, area, [Line::from(span(model.theme, Role::Dim, &format!(" {none}")))]);
        return;
    }
    put_all(frame, area, (first..first + usize::from(area.height)).map_while(marked));
}

/// The selected entry stands unfolded below the list, with its numbered ways on.
pub fn attention(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let Some(board) = &model.board else { return };
    let at = model.cursor(View::Attention);
    let open = board.attention.get(at).map(|entry| unfolded(model, entry, usize::from(area.width)));
    let open = open.unwrap_or_default();
    let room = area.height.saturating_sub(open.len() as u16).max(1);
    let list = Rect { height: room.min(board.attention.len().max(1) as u16).min(area.height), ..area };
    let width = usize::from(area.width);
    let line = |n: usize| {
        let entry = board.attention.get(n)?;
        let old = age(model.clock(), entry.entry.since);
        let text = pad(&format!("! {}", entry.entry.what), width.saturating_sub(6));
        Some(Line::from(vec![span(model.theme, Role::NeedsYou, &text), span(model.theme, Role::Dim, &old)]))
    };
    let first = at.saturating_sub(usize::from(list.height).saturating_sub(1));
    rows(model, frame, list, View::Attention, first, line, "Nothing waits for you");
    let below = Rect { y: list.bottom(), height: area.height - list.height, ..area };
    put_all(frame, below, open);
}

fn unfolded(model: &Model, entry: &AttentionEntry, width: usize) -> Vec<Line<'static>> {
    let theme = model.theme;
    let mut lines = vec![Line::default()];
    for text in super::text::wrapped(&entry.entry.why, width.saturating_sub(4)).into_iter().take(6) {
        lines.push(Line::from(span(theme, Role::Plain, &format!("  {text}"))));
    }
    for (n, choice) in entry.choices.iter().enumerate() {
        lines.push(Line::from(vec![
            span(theme, Role::Key, &format!("    {} ", n + 1)),
            span(theme, Role::Plain, &choice.label),
        ]));
    }
    if entry.choices.is_empty() {
        for command in &entry.entry.commands {
            let text = cut(&format!("    in a shell: {command}"), width);
            lines.push(Line::from(span(theme, Role::Dim, &text)));
        }
    }
    lines
}

pub fn agents(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let Some(board) = &model.board else { return };
    let line = |n: usize| Some(agent(model, board.agents.get(n)?, usize::from(area.width)));
    rows(
        model,
        frame,
        area,
        View::Agents,
        layout::first_shown(model, View::Agents),
        line,
        "No agent is at work",
    );
}

fn agent(model: &Model, agent: &BoardAgent, width: usize) -> Line<'static> {
    let theme = model.theme;
    let (view, news) = (&agent.agent, agent.news.as_ref());
    let iteration = news.map_or(view.iteration, |news| news.iteration.max(view.iteration));
    let percent = news.and_then(|news| news.percent).map(|n| format!("{n}%")).unwrap_or_default();
    let used = view.usage.input_tokens + view.usage.output_tokens;
    let cost = if view.usage.cost_micros > 0 { spent(&view.usage) } else { String::new() };
    let doing = news.and_then(|news| news.doing.clone()).filter(|_| !view.held);
    let doing = doing.unwrap_or_else(|| view.doing.clone());
    let (sign, role) = match view.held {
        true => ("=", Role::Waits),
        false => (theme.either("»", "*"), Role::Works),
    };
    let mut numbers = format!(
        "{} {} {} {}",
        pad(view.task.as_str(), 6),
        pad(&format!("{iteration}/{}", agent.iterations_max), 6),
        pad(&age(model.clock(), view.since), 4),
        pad(&percent, 5),
    );
    // What nobody counts takes no room.
    if used > 0 || !cost.is_empty() {
        numbers.push_str(&format!("{} {} ", pad(&tokens(used), 5), pad(&cost, 6)));
    }
    let rest = width.saturating_sub(13 + numbers.chars().count());
    let heard = news.map(|n| format!(" · heard {}", age(model.clock(), n.heard))).unwrap_or_default();
    Line::from(vec![
        span(theme, role, &format!(" {sign} {}", pad(view.agent.as_str(), 9))),
        span(theme, Role::Plain, &numbers),
        span(theme, Role::Dim, &cut(&format!("{doing}{heard}"), rest)),
    ])
}

pub fn events(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let shown: Vec<&EventLine> = model
        .shown_events()
        .take(layout::first_shown(model, View::Events) + usize::from(area.height))
        .collect();
    let width = usize::from(area.width);
    let line = |n: usize| Some(event(model, shown.get(n)?, width));
    rows(
        model,
        frame,
        area,
        View::Events,
        layout::first_shown(model, View::Events),
        line,
        "Nothing has happened since you look",
    );
}

fn event(model: &Model, event: &EventLine, width: usize) -> Line<'static> {
    let theme = model.theme;
    let who = match &event.task {
        Some(task) => task.to_string(),
        None if event.by.starts_with("person:") => "you".into(),
        None => String::new(),
    };
    let text = event.text.clone().unwrap_or_else(|| event.kind.replace('_', " "));
    let role = if event.text.is_some() { Role::Plain } else { Role::Dim };
    Line::from(vec![
        span(theme, Role::Dim, &format!(" {} ", clock(event.at))),
        span(theme, Role::Bold, &pad(&who, 6)),
        span(theme, role, &cut(&format!(" {text}"), width.saturating_sub(16))),
    ])
}

pub fn checkpoints(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let Some(board) = &model.board else { return };
    let line = |n: usize| {
        let text = checkpoint_line(n, board.checkpoints.get(n)?);
        Some(Line::from(span(model.theme, Role::Plain, &cut(&text, usize::from(area.width)))))
    };
    let first = layout::first_shown(model, View::Checkpoints);
    rows(model, frame, area, View::Checkpoints, first, line, "No checkpoint yet; c makes one");
}

/// `1  14:30:00  auto    before-autopilot         3 tasks, 5 commits since`
pub fn checkpoint_line(n: usize, row: &CheckpointRow) -> String {
    let kind = if row.auto { "auto" } else { "manual" };
    let since = match (row.tasks_since, row.commits_since) {
        (0, 0) => "nothing merged since".into(),
        (tasks, commits) => format!("{}, {} since", count(tasks, "task"), count(commits, "commit")),
    };
    format!("{:>3}  {}  {}  {}  {since}", n + 1, clock(row.at), pad(kind, 6), pad(&row.name, 22))
}
