//! The first two lines, and a third where something is abnormal.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use swarm_protocol::board::AttentionKind;
use swarm_protocol::outcome::Mode;
use unicode_width::UnicodeWidthStr;

use super::text::{cut, put, span};
use crate::input::Link;
use crate::keys::Action;
use crate::model::Model;
use crate::said::{age, moment, money, spent};
use crate::theme::Role;

pub fn draw(model: &Model, frame: &mut Frame<'_>) {
    let width = model.size.0;
    put(frame, Rect::new(0, 0, width, 1), first(model));
    put(frame, Rect::new(0, 1, width, 1), attention(model));
    if let Some(text) = abnormal(model) {
        let line = format!(" {}", cut(&text, usize::from(width).saturating_sub(1)));
        put(frame, Rect::new(0, 2, width, 1), Line::from(span(model.theme, Role::NeedsYou, &line)));
    }
}

/// Who and where, the mode, and how far it has come.
fn first(model: &Model) -> Line<'static> {
    let theme = model.theme;
    let width = usize::from(model.size.0);
    let Some(board) = &model.board else {
        return Line::from(span(theme, Role::Bold, &format!(" swarm · {}", model.place)));
    };
    let (status, counts) = (&board.status, &board.status.counts);
    let mut place = format!(" swarm · {}", model.place);
    if width >= 110
        && let Some(trunk) = &status.trunk
    {
        place.push_str(&format!(" · {trunk}"));
    }
    let mode = match (model.past, status.mode) {
        // Of what is shown: what was asked for last may be on its way, or may not be had.
        (Some(_), _) => format!("PAST · record {} of {}", status.seq, model.newest),
        (None, Mode::Autopilot) => "AUTOPILOT".into(),
        (None, Mode::SemiAuto) => "SEMI-AUTO".into(),
    };
    let slots = status.profile.slots();
    let used = match status.budget.as_ref().and_then(|budget| budget.cost_micros_max) {
        Some(most) => format!("{} of {}", spent(&status.usage), money(most)),
        None => spent(&status.usage),
    };
    let mut right = format!(
        "{}/{slots} at work · {} ready · {}/{} done · {used} ",
        board.agents.len(),
        counts.ready,
        counts.done,
        counts.total
    );
    if width >= 110 {
        right = format!("{right}· record {} ", status.seq);
    }
    // A narrow screen keeps the numbers and lets the words go.
    if right.width() + mode.width() + 1 > width {
        right = format!("{}/{slots} · {}/{} · {used} ", board.agents.len(), counts.done, counts.total);
    }
    let mode_role = if model.past.is_some() { Role::Past } else { Role::Title };
    let room = width.saturating_sub(right.width() + mode.width() + 1);
    let place = cut(&place, room.saturating_sub(1));
    let gap = room.saturating_sub(place.width());
    let (before, after) = (gap.div_ceil(2), gap / 2);
    Line::from(vec![
        span(theme, Role::Bold, &place),
        " ".repeat(before).into(),
        span(theme, mode_role, &mode),
        " ".repeat(after + 1).into(),
        span(theme, Role::Plain, &right),
    ])
}

/// The oldest thing that waits for the person; two where there is room.
fn attention(model: &Model) -> Line<'static> {
    let theme = model.theme;
    let width = usize::from(model.size.0);
    let Some(board) = model.board.as_ref().filter(|board| !board.attention.is_empty()) else {
        let text = if model.board.is_some() { " Nothing waits for you" } else { "" };
        return Line::from(span(theme, Role::Dim, text));
    };
    let key = model.keys.first(Action::Attention);
    let foot = match board.attention.len() {
        // What waits is worth more than what is done about it.
        n if width < 40 => format!(" {n} · {key} "),
        1 => format!(" {key} answer "),
        n => format!(" 1 of {n} · {key} answer "),
    };
    let shown = if width >= 150 { 2 } else { 1 };
    let room = width.saturating_sub(foot.width()) / shown;
    let mut spans = vec![];
    for entry in board.attention.iter().take(shown) {
        let why = entry.entry.why.lines().next().unwrap_or_default();
        let what = match (&entry.task, entry.kind) {
            (Some(task), AttentionKind::Question) => format!("{task} asks"),
            _ => entry.entry.what.clone(),
        };
        let text = format!("! {what} ({}): {why}", age(model.clock(), entry.entry.since));
        let role = Role::NeedsYou;
        spans.push(span(theme, role, &super::text::pad(&text, room)));
    }
    let used: usize = spans.iter().map(|span| span.width()).sum();
    spans.push(" ".repeat(width.saturating_sub(used + foot.width())).into());
    spans.push(span(theme, Role::Key, &foot));
    Line::from(spans)
}

/// Pauses, draining, quotas, a lost connection: what a person must not overlook.
pub fn abnormal(model: &Model) -> Option<String> {
    let stale = stale(model);
    if let Some(at) = model.past {
        if stale.is_some() {
            return stale;
        }
        let [back, forth, present, rollback] =
            [Action::RecordBack, Action::RecordForth, Action::Present, Action::Checkpoints]
                .map(|action| model.keys.first(action));
        return Some(format!(
            "The past, record {at}: {back} {forth} move, {present} goes to now, {rollback} rolls back to here"
        ));
    }
    let board = model.board.as_ref();
    let mut parts: Vec<String> = Vec::new();
    if model.link == Link::Offline {
        parts.extend(super::link_words(model));
    }
    parts.extend(stale);
    let Some(board) = board else { return (!parts.is_empty()).then(|| parts.join(" · ")) };
    for pause in &board.pauses {
        let why = pause.why.lines().next().unwrap_or_default();
        let because = if why.is_empty() { String::new() } else { format!(": {why}") };
        let held = board.agents.iter().filter(|agent| agent.agent.held).count();
        let running = board.agents.len() - held;
        parts.push(format!(
            "PAUSED by {}{because} ({held} held, {running} still running)",
            pause.reason.word()
        ));
    }
    if board.status.draining {
        parts.push("stopping: agents go to their boundary".into());
    }
    for quota in &board.status.quotas {
        let until = quota.resets_at.map(|at| format!(", resets at {}", moment(at, board.now)));
        parts.push(format!("{}{}", quota.cause.says(&quota.group), until.unwrap_or_default()));
    }
    for one in board.status.reservations.iter().filter(|one| one.until.is_some() && !one.waiting.is_empty()) {
        let waiting: Vec<&str> = one.waiting.iter().map(swarm_protocol::ids::TaskId::as_str).collect();
        let files: Vec<&str> = one.files.iter().chain(&one.shared).map(String::as_str).collect();
        let (files, holder) = (files.join(", "), &one.holder);
        parts.push(format!("{} waits for {files}, reserved by {holder}", waiting.join(", ")));
    }
    parts.extend(board.status.loss.as_ref().map(|_| "the ledger lost records".to_owned()));
    if !board.status.without_walls.is_empty() {
        parts.push(format!("no walls around {} (sandbox: none)", board.status.without_walls.join(", ")));
    }
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// Why what is shown is another record than the one that was asked for.
fn stale(model: &Model) -> Option<String> {
    let (error, board) = (model.trouble.as_ref()?, model.board.as_ref()?);
    let (seq, why) = (board.status.seq, error.message.lines().next().unwrap_or_default());
    Some(match model.past {
        Some(at) => {
            let present = model.keys.first(Action::Present);
            format!("Record {at} cannot be read: {why}; this is record {seq}, {present} goes to now")
        }
        None => format!("Nothing newer than record {seq} can be read: {why}"),
    })
}
