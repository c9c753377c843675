//! What one attempt leaves for the next: `context/<task>.md` for whoever reads, `context/<task>.json` for the prompt.
//!
//! Written by the daemon before, during and after each iteration, so that whatever ends it (a crash, a full context
//! window, a circle, a stop, a killed daemon) the next one knows what was done and why it is not done. Lies in
//! the swarm's folder, where agents cannot write.

mod markdown;
mod store;
mod tests_seen;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use swarm_protocol::failure::Usage;

pub use store::{ContextFiles, READ_MAX};
pub use tests_seen::tests_in;

/// Bounds of what is kept: a handover is read by an agent whose window may just have been full.
const TOOLS_KEPT: usize = 15;
const LINES_KEPT: usize = 30;
const LINE_MAX: usize = 300;
const FILES_KEPT: usize = 50;
const LOG_KEPT: usize = 40;
const SESSIONS_KEPT: usize = 8;
/// Longer than any program's; the ledger takes none that is longer either.
const SESSION_MAX: usize = 512;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Handover {
    pub task: String,
    /// The first line of the prompt: what the task is.
    pub heading: String,
    pub agent: String,
    pub run: String,
    pub attempt: u32,
    pub iteration: u32,
    /// When this was written.
    pub written: String,
    /// The iteration had not ended then.
    pub under_way: bool,
    /// The program's session, as soon as it has told it in this iteration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Why it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    pub files_modified: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_commit: Option<String>,
    pub worktree_has_changes: bool,
    /// The ref that holds what is not committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_status: Option<TestStatus>,
    pub tools: Vec<String>,
    pub output: Vec<String>,
    /// Over all attempts, oldest first.
    pub audit_log: Vec<AuditEntry>,
    /// What programs said the life of a session has cost, by session.
    pub sessions: BTreeMap<String, Usage>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    pub timestamp: String,
    pub event: AuditEvent,
    pub attempt: u32,
    #[serde(default)]
    pub iteration: u32,
    #[serde(default)]
    pub details: AuditDetails,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditEvent {
    Start,
    Iteration,
    Signal,
    Crash,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AuditDetails {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_status: Option<TestStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestStatus {
    pub passed: u64,
    pub failed: u64,
}

/// What git says of the worktree at a boundary.
#[derive(Debug, Clone, Default)]
pub struct Ground {
    pub files_modified: Vec<String>,
    /// `abc1234 "subject"`.
    pub last_commit: Option<String>,
    pub kept_at: Option<String>,
}

impl Handover {
    /// An attempt begins; the log of earlier ones stays.
    pub fn attempt_begins(&mut self, task: &str, agent: &str, run: &str, attempt: u32) {
        if self.run == run {
            return;
        }
        let mut next = Self {
            task: task.into(),
            agent: agent.into(),
            run: run.into(),
            attempt,
            heading: std::mem::take(&mut self.heading),
            test_status: self.test_status,
            audit_log: std::mem::take(&mut self.audit_log),
            sessions: std::mem::take(&mut self.sessions),
            ..Self::default()
        };
        next.log(AuditEvent::Start, AuditDetails::default());
        *self = next;
    }

    pub fn iteration_begins(&mut self, iteration: u32, prompt: &str) {
        (self.iteration, self.under_way, self.ended) = (iteration, true, None);
        self.session = None;
        self.tools.clear();
        self.output.clear();
        let heading =
            prompt.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
        self.heading = short(heading.unwrap_or_default());
    }

    pub fn tool(&mut self, call: &str) {
        push(&mut self.tools, short(call), TOOLS_KEPT);
    }

    pub fn tool_failed(&mut self) {
        if let Some(last) = self.tools.last_mut().filter(|last| !last.ends_with(FAILED)) {
            last.push_str(FAILED);
        }
    }

    pub fn said(&mut self, line: &str) {
        push(&mut self.output, short(line), LINES_KEPT);
    }

    pub fn signalled(&mut self, signal: &str) {
        self.log(AuditEvent::Signal, AuditDetails { error: Some(short(signal)), ..AuditDetails::default() });
    }

    /// `why`: it failed, for this reason; `how`: how it ended, for people.
    pub fn iteration_ended(&mut self, ground: Ground, how: &str, why: Option<&str>) {
        self.under_way = false;
        self.ended = Some(short(how));
        self.worktree_has_changes = ground.kept_at.is_some();
        self.kept_at = ground.kept_at;
        self.last_commit = ground.last_commit;
        self.files_modified = ground.files_modified;
        self.files_modified.truncate(FILES_KEPT);
        let event = if why.is_some() { AuditEvent::Crash } else { AuditEvent::Iteration };
        let details = AuditDetails {
            files_modified: self.files_modified.clone(),
            test_status: self.test_status,
            last_commit: self.last_commit.clone(),
            error: why.map(short),
        };
        self.log(event, details);
    }

    /// The checks ended.
    pub fn checked(&mut self, output: &str) {
        // Not what the commands themselves look like.
        let printed: Vec<&str> = output.lines().filter(|line| !line.starts_with("$ ")).collect();
        if let Some(status) = tests_in(&printed.join("\n")) {
            self.test_status = Some(status);
            if let Some(last) = self.audit_log.last_mut() {
                last.details.test_status = Some(status);
            }
        }
    }

    /// The program has told its session.
    pub fn in_session(&mut self, session: Option<&str>) {
        self.session = session.filter(|session| session.len() <= SESSION_MAX).map(str::to_owned);
    }

    pub fn session_cost(&mut self, session: &str, sum: Usage) {
        if session.len() > SESSION_MAX {
            return;
        }
        if self.sessions.len() >= SESSIONS_KEPT && !self.sessions.contains_key(session) {
            self.sessions.pop_first();
        }
        self.sessions.insert(session.to_owned(), sum);
    }

    fn log(&mut self, event: AuditEvent, details: AuditDetails) {
        let timestamp = now();
        let entry =
            AuditEntry { timestamp, event, attempt: self.attempt, iteration: self.iteration, details };
        push(&mut self.audit_log, entry, LOG_KEPT);
    }
}

const FAILED: &str = " (failed)";

pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn push<T>(list: &mut Vec<T>, item: T, most: usize) {
    if list.len() >= most {
        list.remove(0);
    }
    list.push(item);
}

/// One line, not too long.
fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LINE_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_has_bounds_and_survives_the_attempt_that_made_it() {
        let mut handover = Handover::default();
        handover.attempt_begins("1.2", "ed-001", "r1", 1);
        for iteration in 1..=100 {
            handover.iteration_begins(iteration, "# Task 1.2: Parse");
            (0..100).for_each(|n| handover.said(&format!("{n} {}", "long ".repeat(200))));
            (0..100).for_each(|n| handover.tool(&format!("Bash {n}")));
            handover.in_session(Some(&"s".repeat(1 << 20)));
            handover.session_cost(&format!("{iteration}{}", "s".repeat(1 << 20)), Usage::default());
            let files = (0..500).map(|n| format!("src/{n}.rs")).collect();
            let ground = Ground { files_modified: files, ..Ground::default() };
            handover.iteration_ended(ground, "crashed", Some("exit code 7"));
        }
        handover.attempt_begins("1.2", "ed-002", "r2", 2);
        assert_eq!((handover.audit_log.len(), handover.tools.len()), (LOG_KEPT, 0));
        assert_eq!(handover.heading, "Task 1.2: Parse");
        assert_eq!(handover.audit_log.last().map(|entry| entry.event), Some(AuditEvent::Start));
        let bytes = serde_json::to_vec(&handover).expect("json").len();
        assert!(bytes < READ_MAX as usize, "{bytes}");
        // The same daemon, asked twice.
        let before = handover.clone();
        handover.attempt_begins("1.2", "ed-002", "r2", 2);
        assert_eq!(handover, before);
    }
}
