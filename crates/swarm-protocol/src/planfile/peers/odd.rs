//! What other tools write that has no exact form here: taken over as near as possible, and said.

use serde_json::Value;

use super::issue::State;
use super::members::Members;
use super::{Care, listed};
use crate::planfile::error::PlanFileError;

/// 0 is the most urgent.
const PRIORITY_MAX: u8 = 4;

/// Something that was taken over as something else, with the word that it had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Odd {
    /// A worker has it there.
    Hooked,
    /// Put aside there, to be kept in sight.
    Pinned,
    /// Not known: open here.
    Status(String),
    /// Not known: no size here.
    Size(String),
    /// It runs there only if what it waits for fails.
    Conditional,
    /// A kind of dependency that is not known: it orders nothing here.
    Link(String),
    /// What it was, and what it is here.
    Priority(String, Option<u8>),
}

/// The status of an issue.
pub(super) fn state(
    members: &mut Members<'_>,
    care: Care,
    odd: &mut Vec<Odd>,
) -> Result<State, PlanFileError> {
    let word = members.text("status")?.unwrap_or_else(|| "open".into());
    if let Some(state) = State::of(&word) {
        return Ok(state);
    }
    if care == Care::Strict {
        let known =
            "open, in_progress, blocked, deferred, closed and tombstone are known; nothing was imported";
        return Err(members.wrong(format!("{word:?} is no status of an issue"), known));
    }
    let plain = word.trim().to_lowercase().replace(['-', ' '], "_");
    let state = match plain.as_str() {
        "hooked" => {
            odd.push(Odd::Hooked);
            State::Open
        }
        "pinned" => {
            odd.push(Odd::Pinned);
            State::Deferred
        }
        "completed" | "complete" | "done" | "resolved" => State::Closed,
        "cancelled" | "canceled" | "wontfix" | "wont_fix" => State::Cancelled,
        plain => State::of(plain).unwrap_or_else(|| {
            odd.push(Odd::Status(word.clone()));
            State::Open
        }),
    };
    members.keep("status", word.into());
    Ok(state)
}

/// The priority of an issue, brought into our range.
pub(super) fn priority(
    members: &mut Members<'_>,
    care: Care,
    odd: &mut Vec<Odd>,
) -> Result<Option<u8>, PlanFileError> {
    let Some(value) = members.peek("priority").cloned() else {
        members.take_value("priority");
        return Ok(None);
    };
    if let Some(exact) = value.as_u64().and_then(|n| u8::try_from(n).ok()).filter(|n| *n <= PRIORITY_MAX) {
        members.take_value("priority");
        return Ok(Some(exact));
    }
    if care == Care::Strict {
        let hint = "0 (most urgent) to 4 is wanted; nothing was imported";
        return Err(match members.number("priority")? {
            Some(number) => members.wrong(format!("its priority is {number}"), hint),
            None => members.wrong("its priority cannot be read", hint),
        });
    }
    // It stays with the issue under a name of its own.
    let nearest = nearest(&value);
    let was = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    odd.push(Odd::Priority(was, nearest));
    Ok(nearest)
}

fn nearest(value: &Value) -> Option<u8> {
    let clamped = |number: f64| (number.clamp(0.0, f64::from(PRIORITY_MAX)).round()) as u8;
    let Value::String(text) = value else { return value.as_f64().map(clamped) };
    let text = text.trim().to_lowercase();
    match text.as_str() {
        "critical" | "urgent" | "highest" | "blocker" => Some(0),
        "high" => Some(1),
        "medium" | "normal" => Some(2),
        "low" => Some(3),
        "lowest" | "trivial" | "backlog" => Some(4),
        number => number
            .strip_prefix('p')
            .unwrap_or(number)
            .parse()
            .ok()
            .filter(|n: &f64| n.is_finite())
            .map(clamped),
    }
}

/// One sentence for each kind.
pub(super) fn say<'a>(all: impl Iterator<Item = (&'a str, &'a [Odd])>, notes: &mut Vec<String>) {
    let mut hooked = Vec::new();
    let mut pinned = Vec::new();
    let mut statuses = Vec::new();
    let mut sizes = Vec::new();
    let mut conditional = Vec::new();
    let mut links = Vec::new();
    let mut priorities = Vec::new();
    for (id, odd) in all.flat_map(|(id, odds)| odds.iter().map(move |odd| (id, odd))) {
        match odd {
            Odd::Hooked => hooked.push(id.to_owned()),
            Odd::Pinned => pinned.push(id.to_owned()),
            Odd::Status(word) => statuses.push(format!("{id} ({})", word.escape_debug())),
            Odd::Conditional => conditional.push(id.to_owned()),
            Odd::Link(kind) => links.push(format!("{id} ({})", kind.escape_debug())),
            Odd::Size(word) => sizes.push(format!("{id} ({})", word.escape_debug())),
            Odd::Priority(was, Some(is)) => {
                priorities.push(format!("{id} ({} is {is} here)", was.escape_debug()))
            }
            Odd::Priority(was, None) => {
                priorities.push(format!("{id} ({} is none here)", was.escape_debug()))
            }
        }
    }
    for (words, ids) in [
        ("Hooked there, to be started here", hooked),
        ("Pinned there, deferred here", pinned),
        ("Statuses that are not known, open here", statuses),
        ("Sizes that are not known, left out", sizes),
        ("Run there only if what they wait for fails, here after it", conditional),
        ("Kinds of dependencies that are not known, without an order here", links),
        ("Priorities other than 0 to 4", priorities),
    ] {
        if !ids.is_empty() {
            notes.push(format!("{words}: {}", listed(&ids)));
        }
    }
}
