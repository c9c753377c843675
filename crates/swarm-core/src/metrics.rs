//! The swarm in numbers, in the text format that Prometheus reads. Labels come from closed lists and from the
//! configuration, never from a task, a run or a path: each new label value costs whoever keeps them for good.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use swarm_protocol::board::{AttentionKind, BoardView};
use swarm_protocol::event::Event;
use swarm_protocol::failure::{FailureClass, Usage};
use swarm_protocol::ids::TaskId;
use swarm_protocol::outcome::{Ended, PauseReason};
use swarm_protocol::plan::Status;
use swarm_protocol::review::Reviewer;
use swarm_protocol::time::Timestamp;

use crate::spending::{By, Spending};

/// Every name, its type and what it says; the documentation lists the same.
pub const METRICS: &[(&str, &str, &str)] = &[
    ("swarm_build_info", "gauge", "Always 1; the version of the program is a label"),
    ("swarm_tasks", "gauge", "Tasks of the plan by status"),
    ("swarm_agents", "gauge", "Agents that have a task, at work or held at their boundary"),
    ("swarm_slots", "gauge", "Tasks that may run at the same time"),
    ("swarm_attention", "gauge", "Entries that wait for a person, by kind"),
    ("swarm_attention_oldest_seconds", "gauge", "How long the oldest of them waits"),
    ("swarm_pause_active", "gauge", "1 for each reason for which nothing new starts"),
    ("swarm_quota_closed", "gauge", "1 for each group of profiles whose allowance is used up"),
    ("swarm_attempts_total", "counter", "Attempts by how they ended"),
    ("swarm_iterations_total", "counter", "Runs of an agent program inside an attempt"),
    ("swarm_failures_total", "counter", "Attempts that failed, by class"),
    ("swarm_merges_total", "counter", "Merges by outcome"),
    ("swarm_reviews_total", "counter", "Reviews by verdict"),
    ("swarm_tokens_total", "counter", "Tokens by type"),
    ("swarm_cost_usd_total", "counter", "Cost in dollars"),
    // Work moves from one outcome to another, so these fall too.
    ("swarm_cost_usd", "gauge", "Cost in dollars by what became of the work"),
    ("swarm_ledger_records_total", "counter", "Records of the ledger"),
    ("swarm_ledger_loss", "gauge", "1 where records were lost and nobody has seen it yet"),
];

/// What only the whole ledger knows. Built record by record.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    spending: Spending,
    attempts: BTreeMap<&'static str, u64>,
    failures: BTreeMap<&'static str, u64>,
    merges: BTreeMap<&'static str, u64>,
    reviews: BTreeMap<&'static str, u64>,
    iterations: u64,
}

impl Tally {
    pub fn note(&mut self, event: &Event, at: Timestamp) {
        self.spending.note(event, at);
        match event {
            Event::AgentCompleted { .. } => count(&mut self.attempts, "completed"),
            Event::AgentStopped { .. } => count(&mut self.attempts, "stopped"),
            Event::AgentFailed { how, .. } => {
                count(&mut self.attempts, "failed");
                count(&mut self.failures, class(how));
            }
            Event::Iteration { .. } => self.iterations += 1,
            Event::MergeCompleted { .. } => count(&mut self.merges, "merged"),
            Event::MergeFailed { .. } => count(&mut self.merges, "failed"),
            Event::VerificationFailed { .. } => count(&mut self.merges, "red"),
            // Work that nobody is to review is approved by name only.
            Event::TaskApproved { policy, .. } if *policy != Reviewer::None.word() => {
                count(&mut self.reviews, "approved");
            }
            Event::ReviewFailed { .. } | Event::ChangesRequested { .. } => {
                count(&mut self.reviews, "needs_changes");
            }
            _ => {}
        }
    }

    /// The page, of what the main screen shows at the same moment.
    pub fn text(&self, board: &BoardView, version: &str) -> String {
        let mut page = Page::default();
        page.one("swarm_build_info", &[("version", version)], 1.0);
        of_tasks(&mut page, board);
        of_attention(&mut page, board);
        self.of_work(&mut page, board);
        page.one("swarm_ledger_records_total", &[], float(board.status.seq));
        page.one("swarm_ledger_loss", &[], f64::from(u8::from(board.status.loss.is_some())));
        page.text
    }

    fn of_work(&self, page: &mut Page, board: &BoardView) {
        page.counted("swarm_attempts_total", "outcome", &["completed", "failed", "stopped"], &self.attempts);
        page.one("swarm_iterations_total", &[], float(self.iterations));
        let classes: Vec<&str> = FailureClass::ALL.map(FailureClass::word).into_iter().chain(OWN).collect();
        page.counted("swarm_failures_total", "class", &classes, &self.failures);
        page.counted("swarm_merges_total", "outcome", &["merged", "red", "failed"], &self.merges);
        page.counted("swarm_reviews_total", "verdict", &["approved", "needs_changes"], &self.reviews);
        let status: BTreeMap<&TaskId, Status> =
            board.rows.iter().map(|row| (&row.row.id, row.row.status)).collect();
        let costs = self.spending.view(By::Outcome, |task| status.get(task).copied());
        let Usage { input_tokens, output_tokens, cached_tokens, .. } = costs.total;
        for (kind, many) in [("input", input_tokens), ("output", output_tokens), ("cached", cached_tokens)] {
            page.one("swarm_tokens_total", &[("type", kind)], float(many));
        }
        let dollars = |usage: &Usage| float(usage.cost_micros) / 1_000_000.0;
        page.one("swarm_cost_usd_total", &[], dollars(&costs.total));
        for row in &costs.rows {
            page.one("swarm_cost_usd", &[("outcome", &row.name)], dollars(&row.usage));
        }
    }
}

fn of_tasks(page: &mut Page, board: &BoardView) {
    for status in Status::ALL {
        let many = board.rows.iter().filter(|row| row.row.status == status).count();
        page.one("swarm_tasks", &[("status", status.word())], many as f64);
    }
    let status = &board.status;
    for (word, held) in [("working", false), ("held", true)] {
        let many = status.agents.iter().filter(|agent| agent.held == held).count();
        page.one("swarm_agents", &[("state", word)], many as f64);
    }
    page.one("swarm_slots", &[], f64::from(status.profile.slots()));
    for reason in PauseReason::ALL {
        let active = status.paused.contains(&reason);
        page.one("swarm_pause_active", &[("reason", reason.word())], f64::from(u8::from(active)));
    }
    for quota in &status.quotas {
        page.one("swarm_quota_closed", &[("group", &quota.group)], 1.0);
    }
}

fn of_attention(page: &mut Page, board: &BoardView) {
    use AttentionKind::{
        Agent, Blocked, Checkout, Failed, Gone, Other, Pause, Question, Quota, Review, Seen, Start,
    };
    const KINDS: [(AttentionKind, &str); 12] = [
        (Question, "question"),
        (Blocked, "blocked"),
        (Failed, "failed"),
        (Review, "review"),
        (Start, "start"),
        (Checkout, "checkout"),
        (Gone, "gone"),
        (Pause, "pause"),
        (Quota, "quota"),
        (Agent, "agent"),
        (Seen, "seen"),
        (Other, "other"),
    ];
    let entries = &board.attention;
    for (kind, word) in KINDS {
        let many = entries.iter().filter(|entry| entry.kind == kind).count();
        page.one("swarm_attention", &[("kind", word)], many as f64);
    }
    let oldest = entries.iter().map(|entry| entry.entry.since).min();
    page.one(
        "swarm_attention_oldest_seconds",
        &[],
        oldest.map_or(0.0, |since| float(board.now.secs_since(since))),
    );
}

/// Ways to end that are no class of a failing program.
const OWN: [&str; 6] = ["lost", "orphaned", "timeout", "cannot_do", "asks_human", "not_started"];

pub(crate) fn class(how: &Ended) -> &'static str {
    match how {
        Ended::Failed { failure } => failure.class.word(),
        Ended::Crashed { .. } => FailureClass::Crashed.word(),
        Ended::Lost { .. } => "lost",
        Ended::Orphaned { .. } => "orphaned",
        Ended::Timeout { .. } => "timeout",
        Ended::CannotDo { .. } => "cannot_do",
        Ended::AsksHuman { .. } => "asks_human",
        Ended::NotStarted { .. } | Ended::NoWorkspace { .. } | Ended::Stopped => "not_started",
    }
}

fn count(counts: &mut BTreeMap<&'static str, u64>, word: &'static str) {
    *counts.entry(word).or_default() += 1;
}

/// Exact up to 2^53, which no ledger reaches.
fn float(number: u64) -> f64 {
    number as f64
}

#[derive(Default)]
struct Page {
    text: String,
    /// The name whose head was written last.
    last: &'static str,
}

impl Page {
    fn one(&mut self, name: &'static str, labels: &[(&str, &str)], value: f64) {
        if self.last != name {
            if let Some((_, kind, help)) = METRICS.iter().find(|(known, ..)| *known == name) {
                let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
            }
            self.last = name;
        }
        self.text.push_str(name);
        for (at, (label, word)) in labels.iter().enumerate() {
            let word = word.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.text, "{}{label}=\"{word}\"", if at == 0 { '{' } else { ',' });
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.text, "{end} {value}");
    }

    /// Every value of a closed list, also those that nothing was counted for: a rate needs the zero.
    fn counted(
        &mut self,
        name: &'static str,
        label: &str,
        words: &[&str],
        counts: &BTreeMap<&'static str, u64>,
    ) {
        for word in words {
            self.one(name, &[(label, word)], float(counts.get(word).copied().unwrap_or(0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_one_head_and_every_sample_a_known_name() {
        let board = crate::show::board(&crate::State::default(), Timestamp::ZERO);
        let text = Tally::default().text(&board, "0.1.0");
        let heads: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
        let mut sorted = heads.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), heads.len(), "{text}");
        // Of a quota nothing is said while none is closed.
        let all: Vec<&str> = METRICS.iter().map(|(name, ..)| *name).collect();
        assert!(all.iter().all(|name| heads.contains(name) || *name == "swarm_quota_closed"), "{text}");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split(['{', ' ']).next().unwrap_or_default();
            assert!(all.contains(&name), "{line}");
            assert!(line.rsplit(' ').next().is_some_and(|value| value.parse::<f64>().is_ok()), "{line}");
        }
    }

    #[test]
    fn the_guide_lists_every_name_and_no_other() {
        let guide = include_str!("../../../docs/guides/observability.md");
        let listed: Vec<(&str, &str, &str)> = guide
            .lines()
            .filter_map(|line| {
                let cells: Vec<&str> = line.split('|').map(str::trim).collect();
                let name = cells.get(1)?.strip_prefix("`swarm_")?.strip_suffix('`')?;
                Some((name, *cells.get(2)?, *cells.get(4)?))
            })
            .collect();
        let known: Vec<(&str, &str, &str)> = METRICS
            .iter()
            .map(|(name, kind, help)| (name.trim_start_matches("swarm_"), *kind, *help))
            .collect();
        assert_eq!(listed, known);
    }

    #[test]
    fn a_group_from_the_configuration_cannot_break_the_page() {
        let mut page = Page::default();
        page.one("swarm_quota_closed", &[("group", "a\"b\nc\\d")], 1.0);
        assert!(page.text.ends_with("swarm_quota_closed{group=\"a\\\"b\\nc\\\\d\"} 1\n"), "{}", page.text);
    }
}
