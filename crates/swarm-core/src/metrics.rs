//! The swarm in numbers, in the text format that Prometheus reads. Labels come from closed lists and from the
//! configuration, never from a task, a run or a path: each new label value costs whoever keeps them for good.

mod live;
mod page;
mod programs;
mod times;

use std::collections::BTreeMap;

use swarm_protocol::board::{AttentionKind, BoardView};
use swarm_protocol::event::Event;
use swarm_protocol::failure::FailureClass;
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::operation::HookOutcome;
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::plan::Status;
use swarm_protocol::review::Reviewer;
use swarm_protocol::time::Timestamp;

use crate::how_ended::{NO_CLASS, class};
use crate::spending::{By, Spending};
use crate::trace::Spans;
pub use live::Live;
use page::Page;
use programs::Programs;
use times::Times;

/// Every name, its type and what it says; the documentation lists the same.
pub const METRICS: &[(&str, &str, &str)] = &[
    ("swarm_build_info", "gauge", "Always 1; the version of the program is a label"),
    ("swarm_tasks", "gauge", "Tasks of the plan by status"),
    ("swarm_agents", "gauge", "Agents that have a task, at work or held at their boundary"),
    ("swarm_slots", "gauge", "Tasks that may run at the same time"),
    ("swarm_attention", "gauge", "Entries that wait for a person, by kind"),
    ("swarm_attention_oldest_seconds", "gauge", "How long the oldest of them waits"),
    ("swarm_pause_active", "gauge", "1 for each reason for which nothing new starts"),
    ("swarm_quota_closed", "gauge", "1 for each quota group that is used up"),
    ("swarm_quota_reset_timestamp_seconds", "gauge", "When a used-up quota resets, if the program said so"),
    ("swarm_disk_free_bytes", "gauge", "Free space on the disk of the repository"),
    ("swarm_attempts_total", "counter", "Ended attempts by outcome and profile"),
    ("swarm_task_seconds", "histogram", "Duration of attempts from claim to end, by outcome"),
    ("swarm_stage_seconds", "histogram", "Duration of the stages of an attempt"),
    ("swarm_merge_seconds", "histogram", "How long a task holds the trunk"),
    ("swarm_iterations_total", "counter", "Runs of an agent program inside an attempt, by profile"),
    ("swarm_failures_total", "counter", "Attempts that failed, by class"),
    ("swarm_merges_total", "counter", "Merges by outcome"),
    ("swarm_conflicts_total", "counter", "Merges that conflicted, by the level that resolved them"),
    ("swarm_reviews_total", "counter", "Reviews by verdict"),
    ("swarm_hooks_total", "counter", "Hooks that have run, by outcome"),
    ("swarm_tokens_total", "counter", "Tokens by program, model and type"),
    ("swarm_cost_usd_total", "counter", "Cost in dollars by program and model"),
    // Work moves from one outcome to another, so these fall too.
    ("swarm_cost_usd", "gauge", "Cost in dollars by outcome of the work"),
    ("swarm_ledger_records_total", "counter", "Records of the ledger"),
    ("swarm_ledger_loss", "gauge", "1 if records were lost and nobody has acknowledged it"),
    // What only a running coordinator knows, since it began.
    ("swarm_ledger_append_seconds", "histogram", "Time from a decision until it is on disk"),
    ("swarm_effects", "gauge", "Effects in flight, by kind"),
    ("swarm_effect_seconds", "histogram", "How long effects take, by kind"),
    ("swarm_http_requests_total", "counter", "Requests on the socket by route and code"),
    ("swarm_http_seconds", "histogram", "Time until the answer to a request begins, by route"),
    ("swarm_feed_clients", "gauge", "Front ends that follow the records"),
    ("swarm_feed_cuts_total", "counter", "Followers that were cut off because they read too slowly"),
];

/// What only the whole ledger knows. Built record by record.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    spending: Spending,
    /// By profile, and how they ended.
    attempts: BTreeMap<(String, &'static str), u64>,
    failures: BTreeMap<&'static str, u64>,
    merges: BTreeMap<&'static str, u64>,
    reviews: BTreeMap<&'static str, u64>,
    conflicts: BTreeMap<&'static str, u64>,
    hooks: BTreeMap<&'static str, u64>,
    /// By profile; the names are the configuration's.
    iterations: BTreeMap<String, u64>,
    /// Of runs under way.
    profiles: BTreeMap<RunId, String>,
    programs: Programs,
    spans: Spans,
    times: Times,
}

/// What is around the ledger at the moment.
#[derive(Debug, Clone, Default)]
pub struct Around {
    pub disk_free: Option<u64>,
    /// None where no coordinator is asked.
    pub live: Option<Live>,
}

impl Tally {
    pub fn note(&mut self, seq: u64, event: &Event, at: Timestamp) {
        self.spending.note(event, at);
        self.spans.note(seq, event, at, &mut |span| self.times.note(&span));
        match event {
            Event::CoordinatorStarted { policy, .. } => {
                self.programs.know(policy);
                for profile in self.programs.profiles() {
                    for outcome in ATTEMPTS {
                        self.attempts.entry((profile.clone(), outcome)).or_default();
                    }
                }
            }
            Event::AgentCompleted { run, .. } => self.attempt(run, "completed"),
            // An attempt that goes on has not ended.
            Event::AgentStopped { goes_on: Some(true), .. } => {}
            Event::AgentStopped { run, .. } => self.attempt(run, "stopped"),
            Event::AgentFailed { run, how, after, .. } => {
                if !after.as_ref().is_some_and(|after| after.goes_on) {
                    self.attempt(run, "failed");
                }
                count(&mut self.failures, class(how));
            }
            Event::TaskClaimed { run, profile, .. } => {
                let profile = profile.as_ref().unwrap_or(&self.programs.profile);
                self.profiles.insert(run.clone(), profile.clone());
            }
            Event::ReviewStarted { run, profile: Some(profile), .. } => {
                self.profiles.insert(run.clone(), profile.clone());
            }
            Event::AttemptStopped { run, .. } => drop(self.profiles.remove(run)),
            Event::Iteration { run, usage, .. } => {
                *self.iterations.entry(self.profile_of(run)).or_default() += 1;
                self.programs.used(&self.profile_of(run), usage.unwrap_or_default());
            }
            Event::ReviewAnswered { run, usage: Some(usage), .. } => {
                self.programs.used(&self.profile_of(run), *usage);
            }
            Event::MergeBuilt { level: Some(level), .. } | Event::MergeResolved { level, .. } => {
                count(&mut self.conflicts, if *level == 1 { "rule" } else { "order" });
            }
            Event::HookEnded { outcome, .. } => count(&mut self.hooks, hook_word(outcome)),
            Event::MergeCompleted { .. } => count(&mut self.merges, "merged"),
            Event::MergeFailed { paths, .. } => {
                count(&mut self.merges, "failed");
                if !paths.is_empty() {
                    count(&mut self.conflicts, "unresolved");
                }
            }
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

    fn profile_of(&self, run: &RunId) -> String {
        self.profiles.get(run).cloned().unwrap_or_default()
    }

    fn attempt(&mut self, run: &RunId, outcome: &'static str) {
        *self.attempts.entry((self.profile_of(run), outcome)).or_default() += 1;
    }

    /// The page, of what the main screen shows at the same moment.
    pub fn text(&self, board: &BoardView, version: &str, around: &Around) -> String {
        let mut page = Page::default();
        page.one("swarm_build_info", &[("version", version)], 1.0);
        of_tasks(&mut page, board);
        of_attention(&mut page, board);
        if let Some(free) = around.disk_free {
            page.one("swarm_disk_free_bytes", &[], float(free));
        }
        self.of_work(&mut page, board);
        page.one("swarm_ledger_records_total", &[], float(board.status.seq));
        page.one("swarm_ledger_loss", &[], f64::from(u8::from(board.status.loss.is_some())));
        if let Some(live) = &around.live {
            live.show(&mut page);
        }
        page.text
    }

    fn of_work(&self, page: &mut Page, board: &BoardView) {
        for ((profile, outcome), many) in &self.attempts {
            let labels = [("outcome", *outcome), ("profile", profile.as_str())];
            page.one("swarm_attempts_total", &labels, float(*many));
        }
        for (profile, many) in &self.iterations {
            page.one("swarm_iterations_total", &[("profile", profile)], float(*many));
        }
        let classes: Vec<&str> =
            FailureClass::ALL.map(FailureClass::word).into_iter().chain(NO_CLASS).collect();
        page.counted("swarm_failures_total", "class", &classes, &self.failures);
        page.counted("swarm_merges_total", "outcome", &["merged", "red", "failed"], &self.merges);
        self.times.show(page);
        page.counted("swarm_conflicts_total", "level", &["rule", "order", "unresolved"], &self.conflicts);
        page.counted("swarm_reviews_total", "verdict", &["approved", "needs_changes"], &self.reviews);
        page.counted("swarm_hooks_total", "outcome", &HOOKS, &self.hooks);
        let status: BTreeMap<&TaskId, Status> =
            board.rows.iter().map(|row| (&row.row.id, row.row.status)).collect();
        let costs = self.spending.view(By::Outcome, |task| status.get(task).copied());
        self.programs.show(page);
        for row in &costs.rows {
            page.one("swarm_cost_usd", &[("outcome", &row.name)], programs::dollars(&row.usage));
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
    for quota in &status.quotas {
        if let Some(at) = quota.resets_at {
            let seconds = float(at.0) / 1000.0;
            page.one("swarm_quota_reset_timestamp_seconds", &[("group", &quota.group)], seconds);
        }
    }
}

fn of_attention(page: &mut Page, board: &BoardView) {
    use AttentionKind::{
        Agent, Blocked, Checkout, Failed, Gone, Other, Pause, Proposal, Question, Quota, Review, Seen, Start,
    };
    const KINDS: [(AttentionKind, &str); 13] = [
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
        (Proposal, "proposal"),
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

fn count(counts: &mut BTreeMap<&'static str, u64>, word: &'static str) {
    *counts.entry(word).or_default() += 1;
}

/// Exact up to 2^53, which no ledger reaches.
fn float(number: u64) -> f64 {
    number as f64
}

const ATTEMPTS: [&str; 3] = ["completed", "failed", "stopped"];

const HOOKS: [&str; 5] = ["ok", "failed", "timed_out", "not_started", "interrupted"];

fn hook_word(outcome: &HookOutcome) -> &'static str {
    match outcome {
        HookOutcome::Ok => "ok",
        HookOutcome::Failed { .. } => "failed",
        HookOutcome::TimedOut => "timed_out",
        HookOutcome::NotStarted { .. } => "not_started",
        HookOutcome::Interrupted => "interrupted",
    }
}

#[cfg(test)]
mod tests;
