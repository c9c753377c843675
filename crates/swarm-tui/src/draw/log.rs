//! What the agent of the selected task says. Lines, no terminal within the terminal.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::text::{cut, put, put_all, rule, span, wrapped};
use crate::input::{LogLine, Tone};
use crate::keys::Action;
use crate::model::Model;
use crate::said::{age, clock, money, tokens};
use crate::theme::Role;

pub fn title(model: &Model) -> String {
    let Some(task) = &model.log_of else { return "log · no agent works on this task".into() };
    let mut parts = vec![task.to_string()];
    if let Some(agent) = model.agent_of(task) {
        let (view, news) = (&agent.agent, agent.news.as_ref());
        let iteration = news.map_or(view.iteration, |news| news.iteration.max(view.iteration));
        parts.push(view.agent.to_string());
        parts.push(format!("iteration {iteration}/{}", agent.iterations_max));
        parts.extend(news.map(|news| format!("heard {}", age(model.clock(), news.heard))));
        let used = view.usage.input_tokens + view.usage.output_tokens;
        if used > 0 {
            parts.push(format!("{} tokens", tokens(used)));
        }
        if view.usage.cost_micros > 0 {
            parts.push(money(view.usage.cost_micros));
        }
    } else {
        parts.push("its agent has ended".into());
    }
    parts.push(match model.log.back {
        None => "follow on".into(),
        Some(_) => format!("↓ {} new, {} follows", model.log.unseen, model.keys.first(Action::Last)),
    });
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
    let end = model.log.lines.len() - model.log.back.unwrap_or_default().min(model.log.lines.len());
    let first = end.saturating_sub(room);
    let mut lines: Vec<Line<'static>> = Vec::new();
    for line in model.log.lines.range(first..end) {
        lines.extend(shown(model, line, width));
    }
    // Wrapped lines may be more than there is room for: the newest count.
    let surplus = lines.len().saturating_sub(room);
    put_all(frame, area, lines.into_iter().skip(surplus));
}

fn shown(model: &Model, line: &LogLine, width: usize) -> Vec<Line<'static>> {
    let theme = model.theme;
    let (role, sign) = match line.tone {
        Tone::Said => (Role::Plain, ' '),
        Tone::Tool => (Role::Bold, '▸'),
        Tone::Error => (Role::Bad, '!'),
        Tone::Swarm => (Role::Dim, '·'),
    };
    let room = width.saturating_sub(12);
    let texts = match model.wrap {
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
