//! What is older than memory: it is fetched when somebody reads towards it, and what is newest gives way meanwhile.

use swarm_protocol::ids::RunId;

use crate::draw::layout;
use crate::draw::log as drawn;
use crate::input::{EventLine, LogLine, Wish};
use crate::model::{Full, HELD_MAX, Model, View};

/// Asks for what stands before the first line, where the person has come near it; and for the present, where they have
/// come back to it.
pub fn wanted(model: &mut Model) -> Vec<Wish> {
    let mut wishes = events(model);
    wishes.extend(log(model));
    wishes
}

fn events(model: &mut Model) -> Vec<Wish> {
    let is_placed = |placed: &layout::Placed| placed.pane == layout::Pane::View(View::Events);
    if !layout::panes(model).iter().any(is_placed) {
        return vec![];
    }
    let at = model.cursor(View::Events);
    match model.past {
        None if model.events_cut && at == 0 => {
            model.events.clear();
            (model.events_cut, model.events_asked, model.events_to) = (false, None, None);
            return vec![Wish::NewestEvents];
        }
        Some(past) if at == 0 && !has_events_to(model, past) => return events_to(model, past),
        _ => {}
    }
    if model.view != View::Events {
        return vec![];
    }
    let Some(first) = model.events.front().map(|event| event.seq).filter(|seq| *seq > 1) else {
        return vec![];
    };
    let near = at + usize::from(layout::page(model)) >= model.length(View::Events);
    if !near || model.events_asked == Some(first) {
        return vec![];
    }
    model.events_asked = Some(first);
    vec![Wish::OlderEvents { before: first, newest: model.newest }]
}

/// Whether the newest event of a record of the past is kept, or was asked for already.
fn has_events_to(model: &Model, past: u64) -> bool {
    let begins = model.events.front().is_some_and(|event| event.seq <= past);
    let goes_on = model.events.back().is_some_and(|event| event.seq >= past);
    model.events_to == Some(past) || (begins && (goes_on || !model.events_cut))
}

/// Memory has what was read last, which may be far from that record.
fn events_to(model: &mut Model, past: u64) -> Vec<Wish> {
    model.events.clear();
    (model.events_cut, model.events_asked, model.events_to) = (true, None, Some(past));
    vec![Wish::OlderEvents { before: past + 1, newest: model.newest }]
}

fn log(model: &mut Model) -> Vec<Wish> {
    let Some(run) = model.log.run.clone() else { return vec![] };
    if model.log.cut && model.log.back.is_none() {
        // What came meanwhile was not kept: the end of the journal is read anew.
        model.log.lines.clear();
        (model.log.cut, model.log.asked, model.log.unseen) = (false, None, 0);
        return vec![Wish::FollowAnew(run)];
    }
    let Some(first) = model.log.lines.front().filter(|line| line.n > 1) else { return vec![] };
    let (before, byte) = (first.n, first.byte);
    let Some(back) = model.log.back.filter(|_| model.full == Some(Full::Log)) else { return vec![] };
    let room = usize::from(layout::log_room(model));
    let near = back + 2 * room >= drawn::length(model);
    if !near || model.log.asked == Some(before) {
        return vec![];
    }
    model.log.asked = Some(before);
    vec![Wish::OlderLog { run, before, byte }]
}

pub fn events_came(model: &mut Model, older: Vec<EventLine>) {
    let is_awaited = match model.events.front() {
        Some(first) => model.events_asked == Some(first.seq),
        None => model.events_cut,
    };
    // Before anything else there would be a gap behind them.
    if !is_awaited {
        return;
    }
    let first = model.events.front().map_or(u64::MAX, |event| event.seq);
    for event in older.into_iter().rev().filter(|event| event.seq < first) {
        model.events.push_front(event);
    }
    // Newest first: whoever reads at the end of the list stays at their line when the list gets shorter at its beginning.
    let machinery = model.machinery;
    let mut gone = 0;
    while model.events.len() > HELD_MAX
        && let Some(newest) = model.events.pop_back()
    {
        model.events_cut = true;
        gone += usize::from(machinery || newest.text.is_some());
    }
    let at = &mut model.cursors[View::Events.index()];
    if gone > 0 && *at > 0 {
        model.events_to = None;
    }
    *at = at.saturating_sub(gone);
}

pub fn log_came(model: &mut Model, run: &RunId, older: Vec<LogLine>) {
    if model.log.run.as_ref() != Some(run) {
        return;
    }
    let first = model.log.lines.front().map_or(u64::MAX, |line| line.n);
    for line in older.into_iter().rev().filter(|line| line.n < first) {
        model.log.lines.push_front(line);
    }
    let surplus = model.log.lines.len().saturating_sub(HELD_MAX);
    if surplus > 0 {
        let with_older = drawn::length(model);
        model.log.lines.truncate(HELD_MAX);
        model.log.cut = true;
        let gone = with_older.saturating_sub(drawn::length(model));
        // Not at the end, although nothing newer is kept.
        model.log.back = model.log.back.map(|back| back.saturating_sub(gone).max(1));
    }
}
