//! The status view as one calm screen of text.

use std::fmt::Write;

use swarm_protocol::time::Timestamp;
use swarm_protocol::view::{
    AgentView, AttentionView, BudgetView, ConflictView, Counts, PhaseView, QuotaView, ReservationView,
    StatusView, without_walls,
};

use crate::output::harmless;
use crate::output::money::{cost, dollars, tokens};
use crate::output::paint::{Paint, paint};
use crate::output::table::table_within;
use crate::output::time::{length, near};

/// Entries of each list that are shown; the rest is counted.
const SHOWN_MAX: usize = 8;

/// How far in a list stands below its head.
const MARGIN: usize = 2;

pub fn screen(view: &StatusView, now: Timestamp, colour: bool) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}",
        paint(colour, Paint::Bold, &harmless(view.goal.lines().next().unwrap_or_default()))
    );
    let _ = writeln!(text, "{}", paint(colour, Paint::Dim, &where_it_stands(view)));
    for banner in banners(view, now) {
        let _ = writeln!(text, "\n{}", paint(colour, Paint::Yellow, &banner));
    }
    section(&mut text, colour, "Phases", &view.phases, phases);
    section(&mut text, colour, "Agents", &view.agents, |agents| self::agents(agents, now));
    section(&mut text, colour, "Next", &view.next, |next| {
        table_of(
            next,
            |n| vec![n.task.to_string(), n.title.clone(), n.because.clone()],
            &["task", "title", "because"],
        )
    });
    section(&mut text, colour, "Will conflict", &view.conflicts, conflicts);
    section(&mut text, colour, "Waits for you", &view.attention, |entries| attention(entries, now));
    if view.counts.total == 0 {
        let _ = writeln!(text, "\nThe plan has no tasks: `swarm task add TITLE`");
    }
    text
}

fn conflicts(conflicts: &[ConflictView]) -> String {
    let files = |files: &[String]| match files {
        [first, rest @ ..] if !rest.is_empty() => format!("{first} and {} more", rest.len()),
        _ => files.join(", "),
    };
    table_of(
        conflicts,
        |one| vec![one.task.to_string(), one.conflict.with.clone(), files(&one.conflict.files)],
        &["task", "with", "in"],
    )
}

fn where_it_stands(view: &StatusView) -> String {
    let trunk = view.trunk.as_deref().map(|trunk| format!(", trunk {trunk}")).unwrap_or_default();
    let slots = view.profile.slots();
    let at_once = if slots == 1 { "one task at a time".to_owned() } else { format!("{slots} tasks at once") };
    let locked = if view.profile.locked { " (locked)" } else { "" };
    let mode = view.mode.word();
    let mut words = format!("{}{}, {mode}, {at_once}{locked}", counts(&view.counts), harmless(&trunk));
    for spent in [tokens(&view.usage), cost(&view.usage)].iter().filter(|spent| !spent.is_empty()) {
        words.push_str(&format!(", {spent}"));
    }
    format!("{words}, record {}", view.seq)
}

fn counts(counts: &Counts) -> String {
    let named = [
        (counts.active, "active"),
        (counts.split, "split"),
        (counts.review, "in review"),
        (counts.merging, "merging"),
        (counts.aborted, "aborted"),
        (counts.ready, "ready"),
        (counts.waiting, "waiting"),
        (counts.blocked, "blocked"),
        (counts.gone, "gone"),
        (counts.failed, "failed"),
        (counts.timeout, "timed out"),
        (counts.deferred, "deferred"),
        (counts.cancelled, "cancelled"),
    ];
    let mut words = vec![format!("{} of {} done", counts.done, counts.total)];
    words.extend(named.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")));
    words.join(", ")
}

/// What must not be overlooked, one sentence each.
fn banners(view: &StatusView, now: Timestamp) -> Vec<String> {
    let mut banners = vec![];
    if let Some(loss) = &view.loss {
        banners.push(format!("! Records were lost: {}. Run `swarm plan salvage`", harmless(loss)));
    }
    if let Some(sentence) = without_walls(&view.without_walls) {
        banners.push(format!("! {}", harmless(&sentence)));
    }
    if view.draining {
        banners.push("! Stopping: nothing new starts".into());
    }
    for reason in &view.paused {
        banners.push(match reason {
            swarm_protocol::outcome::PauseReason::User => {
                "! Paused: nothing new starts. Run `swarm resume`".into()
            }
            swarm_protocol::outcome::PauseReason::Trunk => {
                "! Paused: trunk fails verification. Resumes when trunk moves, or with `swarm resume --reason trunk`".into()
            }
            swarm_protocol::outcome::PauseReason::Setup => {
                "! Paused: worktrees cannot be set up. Fix `worktree.setup`, then run `swarm resume --reason setup`".into()
            }
            swarm_protocol::outcome::PauseReason::Budget => {
                "! Paused: the budget is spent. `swarm budget extend` allows the same amount again".into()
            }
            swarm_protocol::outcome::PauseReason::Errors => {
                "! Paused: several agents were taken out of service. See `swarm attention`, then run `swarm resume --reason errors`".into()
            }
            swarm_protocol::outcome::PauseReason::Abort if view.counts.aborted > 0 => {
                "! Paused: the session was aborted. `swarm run --retry` merges its work again, in order".into()
            }
            swarm_protocol::outcome::PauseReason::Abort => {
                "! Paused: the session was aborted. `swarm run --retry` continues with the plan".into()
            }
            swarm_protocol::outcome::PauseReason::Close => {
                "! Paused: the plan is being closed. Resumes by itself if that does not finish".into()
            }
            swarm_protocol::outcome::PauseReason::Checks => {
                "! Paused: the checks fail before any work is done. Fix them or trunk, then run `swarm resume --reason checks`".into()
            }
            swarm_protocol::outcome::PauseReason::Disk => {
                "! Paused: the disk is nearly full or read-only. Resumes by itself when it takes files again".into()
            }
        });
    }
    banners.extend(view.quotas.iter().map(|one| quota(one, now)));
    banners.extend(view.reservations.iter().filter(|one| is_worth_a_word(one)).map(|one| reserved(one, now)));
    if let Some(budget) = view.budget.as_ref().filter(|budget| !budget.spent && nearly(budget)) {
        banners.push(format!("! The budget is nearly spent: {}", spent(budget)));
    }
    if view.approved.drifted {
        banners.push("! The plan has changed since it was approved. Run `swarm plan approved`".into());
    }
    banners
}

/// "The quota of claude is used up; resets at 14:16:00, next probe 14:05:00. Run `swarm quota open claude`"
fn quota(quota: &QuotaView, now: Timestamp) -> String {
    let group = harmless(&quota.group);
    let mut when: Vec<String> =
        quota.resets_at.iter().map(|at| format!("resets at {}", near(*at, now))).collect();
    when.push(match quota.next_probe {
        _ if quota.held => "held by a person".into(),
        _ if quota.probing => "probing now".into(),
        Some(at) => format!("next probe {}", near(at, now)),
        None => "no probe".into(),
    });
    let waiting = match quota.waiting {
        0 => String::new(),
        1 => "; 1 task waits".into(),
        n => format!("; {n} tasks wait"),
    };
    let what = quota.cause.says(&group).replacen('t', "T", 1);
    format!("! {what}; {}{waiting}. Run `swarm quota open {group}`", when.join(", "))
}

/// What agents at work have is free by itself soon; a person's own, or somebody who waits for work that rests, is worth a line.
fn is_worth_a_word(one: &ReservationView) -> bool {
    one.task.is_none() || (one.until.is_some() && !one.waiting.is_empty())
}

/// "src/ui/** is reserved by person:cli until 14:16:00; 2 tasks wait. Run `swarm reservations release 3`"
fn reserved(one: &ReservationView, now: Timestamp) -> String {
    let files: Vec<&str> = one.files.iter().chain(&one.shared).map(String::as_str).collect();
    let verb = if files.len() == 1 { "is" } else { "are" };
    let until = one.until.map(|at| format!(" until {}", near(at, now))).unwrap_or_default();
    let waiting = match one.waiting.len() {
        0 => String::new(),
        1 => "; 1 task waits".into(),
        n => format!("; {n} tasks wait"),
    };
    let (files, holder) = (harmless(&files.join(", ")), harmless(&one.holder));
    let release = format!("swarm reservations release {}", one.number);
    format!("! {files} {verb} reserved by {holder}{until}{waiting}. Run `{release}`")
}

/// Nine tenths of any bound.
fn nearly(budget: &BudgetView) -> bool {
    let near = |used: u64, bound: Option<u64>| bound.is_some_and(|bound| used / 9 >= bound / 10 && bound > 0);
    near(budget.tokens, budget.tokens_max)
        || near(budget.cost_micros, budget.cost_micros_max)
        || near(budget.secs, budget.secs_max)
}

/// What is used of what is bounded.
pub fn spent(budget: &BudgetView) -> String {
    let of = |used: String, bound: Option<String>| bound.map(|bound| format!("{used} of {bound}"));
    let parts = [
        of(budget.tokens.to_string(), budget.tokens_max.map(|n| format!("{n} tokens"))),
        of(dollars(budget.cost_micros), budget.cost_micros_max.map(dollars)),
        of(length(budget.secs), budget.secs_max.map(length)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn section<T>(text: &mut String, colour: bool, head: &str, entries: &[T], body: impl FnOnce(&[T]) -> String) {
    if entries.is_empty() {
        return;
    }
    let shown = &entries[..entries.len().min(SHOWN_MAX)];
    let _ = writeln!(text, "\n{}", paint(colour, Paint::Bold, head));
    for line in body(shown).lines() {
        let _ = writeln!(text, "{:MARGIN$}{line}", "");
    }
    if entries.len() > shown.len() {
        let _ = writeln!(text, "  … and {} more", entries.len() - shown.len());
    }
}

fn table_of<T>(entries: &[T], cells: impl Fn(&T) -> Vec<String>, head: &[&str]) -> String {
    table_within(MARGIN, head, entries.iter().map(cells))
}

fn phases(phases: &[PhaseView]) -> String {
    let cells = |phase: &PhaseView| {
        let state = if phase.complete { "complete" } else { "" };
        vec![
            phase.id.to_string(),
            bar(phase.done, phase.total),
            format!("{}/{}", phase.done, phase.total),
            phase.name.clone(),
            state.to_owned(),
        ]
    };
    // The numbers say all that the bar does, so nothing is lost where it cannot be seen.
    table_of(phases, cells, &["#", "", "done", "name", ""])
}

fn bar(done: u64, total: u64) -> String {
    const WIDTH: u64 = 10;
    let full = done.saturating_mul(WIDTH).checked_div(total).unwrap_or(0);
    (0..WIDTH).map(|at| if at < full { '#' } else { '.' }).collect()
}

fn agents(agents: &[AgentView], now: Timestamp) -> String {
    let cells = |agent: &AgentView| {
        let doing = if agent.iteration > 0 {
            format!("{} (iteration {})", agent.doing, agent.iteration)
        } else {
            agent.doing.clone()
        };
        vec![
            agent.agent.to_string(),
            agent.task.to_string(),
            doing,
            length(now.secs_since(agent.since)),
            agent.title.clone(),
        ]
    };
    table_of(agents, cells, &["agent", "task", "doing", "since", "title"])
}

fn attention(entries: &[AttentionView], now: Timestamp) -> String {
    let mut text = String::new();
    for entry in entries {
        let since = length(now.secs_since(entry.since));
        // `swarm attention` has all of it.
        let mut lines = entry.why.lines();
        let first = lines.next().map(harmless).unwrap_or_default();
        let more = if lines.next().is_some() { " …" } else { "" };
        let why = if first.is_empty() { String::new() } else { format!(": {first}{more}") };
        let _ = writeln!(text, "{}{why} ({since})", harmless(&entry.what));
        for command in &entry.commands {
            let _ = writeln!(text, "    {}", harmless(command));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reservation_until_another_day_says_of_which() {
        let now = Timestamp(1_768_298_400_000);
        let until = |until: Timestamp| ReservationView {
            number: 3,
            holder: "person:cli".into(),
            task: None,
            files: vec!["src/ui/**".into()],
            shared: vec![],
            reason: None,
            since: now,
            until: Some(until),
            waiting: vec![],
            beside: vec![],
        };
        let later = now.plus_secs(3 * 86_400);
        let said = reserved(&until(later), now);
        assert!(
            said.contains(&format!("reserved by person:cli until {}. ", crate::output::time::moment(later))),
            "{said}"
        );
        assert!(!reserved(&until(now), now).contains("-13 "), "of today the time of day is enough");
    }
}
