//! The views that are lists: attention, agents, events, checkpoints.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use swarm_protocol::board::{AttentionEntry, BoardAgent, CheckpointRow};

use super::layout;
use super::text::{cut, pad, put_all, span, wrapped_to};
use crate::input::EventLine;
use crate::model::{Model, View};
use crate::said::{age, count, moment, spent, tokens};
use crate::theme::Role;

/// Lines of a reason; the dialog that answers it has all of them.
const WHY_MAX: usize = 6;

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
    let list = Rect { height: attention_rows(model, area), ..area };
    let width = usize::from(area.width);
    let line = |n: usize| {
        let entry = board.attention.get(n)?;
        let old = age(model.clock(), entry.entry.since);
        let text = pad(&format!("! {}", entry.entry.what), width.saturating_sub(6));
        Some(Line::from(vec![span(model.theme, Role::NeedsYou, &text), span(model.theme, Role::Dim, &old)]))
    };
    let first = layout::first_shown(model, View::Attention);
    rows(model, frame, list, View::Attention, first, line, "Nothing waits for you");
    let below = Rect { y: list.bottom(), height: area.height - list.height, ..area };
    put_all(frame, below, open_entry(model, area));
}

/// Rows of the list in a view of this height.
pub fn attention_rows(model: &Model, area: Rect) -> u16 {
    let all = u16::try_from(model.length(View::Attention)).unwrap_or(u16::MAX).max(1);
    let open = u16::try_from(open_entry(model, area).len()).unwrap_or(u16::MAX);
    area.height.saturating_sub(open).max(1).min(all).min(area.height)
}

fn open_entry(model: &Model, area: Rect) -> Vec<Line<'static>> {
    let at = model.cursor(View::Attention);
    let entry = model.board.as_ref().and_then(|board| board.attention.get(at));
    entry.map(|entry| unfolded(model, entry, usize::from(area.width))).unwrap_or_default()
}

fn unfolded(model: &Model, entry: &AttentionEntry, width: usize) -> Vec<Line<'static>> {
    let theme = model.theme;
    let mut lines = vec![Line::default()];
    for text in wrapped_to(&entry.entry.why, width.saturating_sub(4), WHY_MAX) {
        lines.push(Line::from(span(theme, Role::Plain, &format!("  {text}"))));
    }
    for (n, choice) in entry.choices.iter().enumerate() {
        lines.push(Line::from(vec![
            span(theme, Role::Key, &format!("    {} ", n + 1)),
            span(theme, Role::Plain, &cut(&choice.label, width.saturating_sub(6))),
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
    let none = match model.past {
        Some(_) => "Nothing is known that happened until then",
        None => "Nothing has happened since you look",
    };
    rows(model, frame, area, View::Events, layout::first_shown(model, View::Events), line, none);
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
    let at = moment(event.at, model.clock());
    Line::from(vec![
        span(theme, Role::Dim, &format!(" {at} ")),
        span(theme, Role::Bold, &pad(&who, 6)),
        span(theme, role, &cut(&format!(" {text}"), width.saturating_sub(8 + at.len()))),
    ])
}

pub fn checkpoints(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let Some(board) = &model.board else { return };
    let line = |n: usize| {
        let text = checkpoint_line(model, n, board.checkpoints.get(n)?);
        Some(Line::from(span(model.theme, Role::Plain, &cut(&text, usize::from(area.width)))))
    };
    let first = layout::first_shown(model, View::Checkpoints);
    rows(model, frame, area, View::Checkpoints, first, line, "No checkpoint yet; c makes one");
}

/// `1  14:30:00  auto    before-autopilot         3 tasks, 5 commits since`
pub fn checkpoint_line(model: &Model, n: usize, row: &CheckpointRow) -> String {
    let kind = if row.auto { "auto" } else { "manual" };
    let since = match (row.tasks_since, row.commits_since) {
        (0, 0) => "nothing merged since".into(),
        (tasks, commits) => format!("{}, {} since", count(tasks, "task"), count(commits, "commit")),
    };
    format!(
        "{:>3}  {}  {}  {}  {since}",
        n + 1,
        moment(row.at, model.clock()),
        pad(kind, 6),
        pad(&row.name, 22)
    )
}
