//! What is remembered so that each failure has its own recovery.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use swarm_protocol::failure::{FailureClass, GateCause, Usage};
use swarm_protocol::ids::{CommandId, Oid, RunId, TaskId};
use swarm_protocol::policy::{Allowance, Policy};
use swarm_protocol::time::Timestamp;

/// What was seen, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nudge {
    pub class: FailureClass,
    pub why: String,
    /// The iteration in which it was seen.
    pub iteration: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub id: CommandId,
    pub by: String,
    pub text: String,
    pub at: Timestamp,
    /// A prompt that knows the ledger up to here contains it.
    pub seq: u64,
    pub landed: Option<Landed>,
    /// Why it will never reach an agent.
    #[serde(default)]
    pub undelivered: Option<String>,
    /// A person has seen that.
    #[serde(default)]
    pub seen: bool,
}

impl Message {
    /// It waits for a prompt that contains it.
    pub fn waits(&self) -> bool {
        self.landed.is_none() && self.undelivered.is_none()
    }
}

/// A failure of the checks, by the digest of what they said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SameFailure {
    pub digest: String,
    pub count: u32,
}

/// What was given up with a worktree could not be put back, so often in a row. It is tried on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotRevived {
    pub tries: u32,
    pub since: Timestamp,
    pub why: String,
    /// The command that helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// It needs a person.
    pub given_up: bool,
}

/// The commits that tasks begin with, as far as the checks were tried on them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bases {
    /// Tried by this coordinator, whatever came of it, newest last (bounded).
    pub tried: VecDeque<Oid>,
    /// To be tried, or being tried. Nobody who began there is paid for another iteration before that.
    pub suspects: BTreeMap<Oid, Suspect>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspect {
    /// Whose checks failed; not to blame.
    pub task: TaskId,
    pub run: Option<RunId>,
    /// Trials that had no verdict.
    pub lost: u32,
}

/// The iteration that was given the message has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landed {
    pub run: RunId,
    pub iteration: u32,
    pub at: Timestamp,
}

/// Tokens, money and time that runs have used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    pub tokens: u64,
    pub cost_micros: u64,
    pub worked_ms: u64,
}

/// The allowance of a group of profiles.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaGate {
    /// Runs up to this one were claimed before the gate was last opened: what they say is old.
    pub opened_after: u64,
    pub closed: Option<Closed>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closed {
    #[serde(default, skip_serializing_if = "GateCause::is_quota")]
    pub cause: GateCause,
    pub since: Timestamp,
    pub why: String,
    /// When it comes back, where the program said so.
    pub resets_at: Option<Timestamp>,
    pub next_probe: Timestamp,
    /// A person has taken it off the clock.
    pub held: bool,
    pub probing: Option<RunId>,
    /// Probes since it was closed.
    pub probes: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    pub run: Option<RunId>,
    /// Crashes one after the other, without a stable run or a result between them.
    pub crashes_in_a_row: u32,
    /// When it crashed, newest last (bounded by what takes it out of service).
    pub crashes: VecDeque<Timestamp>,
    pub degraded: Option<Degraded>,
}

/// Out of service until a person revives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Degraded {
    pub since: Timestamp,
    pub why: String,
}

impl Agent {
    /// What is known of the agent after one more crash, of a run that lived for so long.
    pub fn after_crash(&self, lived_secs: u64, at: Timestamp, policy: &Policy) -> Self {
        let mut next = self.clone();
        if lived_secs >= policy.stable_secs {
            next.crashes_in_a_row = 0;
            next.crashes.clear();
        }
        next.crashes_in_a_row = next.crashes_in_a_row.saturating_add(1);
        next.crashes.push_back(at);
        while next.crashes.len() > policy.crashes_max as usize + 1 {
            next.crashes.pop_front();
        }
        next
    }

    /// Crashes within the window that ends now.
    pub fn crashes_lately(&self, now: Timestamp, policy: &Policy) -> u32 {
        self.crashes.iter().filter(|at| now.secs_since(**at) < policy.crash_window_secs).count() as u32
    }
}

impl Spent {
    pub fn of(usage: Usage) -> Self {
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        Self {
            tokens: tokens.saturating_sub(usage.cached_tokens),
            cost_micros: usage.cost_micros,
            worked_ms: 0,
        }
    }

    pub fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost_micros: self.cost_micros.saturating_add(other.cost_micros),
            worked_ms: self.worked_ms.saturating_add(other.worked_ms),
        }
    }

    pub fn since(self, before: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(before.tokens),
            cost_micros: self.cost_micros.saturating_sub(before.cost_micros),
            worked_ms: self.worked_ms.saturating_sub(before.worked_ms),
        }
    }

    /// What of the allowance is used up, in words; none while there is something left.
    pub fn uses_up(self, allowance: Allowance) -> Option<String> {
        let reached = |bound: u64, used: u64| bound > 0 && used >= bound;
        if reached(allowance.tokens, self.tokens) {
            return Some(format!("{} of {} tokens", self.tokens, allowance.tokens));
        }
        if reached(allowance.cost_micros, self.cost_micros) {
            return Some(format!("{} of {}", dollars(self.cost_micros), dollars(allowance.cost_micros)));
        }
        if reached(allowance.secs.saturating_mul(1000), self.worked_ms) {
            return Some(format!("{} of {}", span(self.worked_ms / 1000), span(allowance.secs)));
        }
        None
    }
}

fn dollars(micros: u64) -> String {
    format!("${}.{:02}", micros / 1_000_000, micros / 10_000 % 100)
}

fn span(secs: u64) -> String {
    if secs < 120 { format!("{secs} s of work") } else { format!("{} min of work", secs / 60) }
}
