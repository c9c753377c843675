//! What is done when things go wrong, and what the swarm may spend.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{OnDamage, Profiles, Span};
use crate::policy::{Allowance, ProfileRule};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Recovery {
    /// Attempts that may end by crash, timeout or loss before the task is blocked for a person.
    #[cfg_attr(feature = "schema", schemars(range(max = 100)))]
    pub max_retries: u32,
    /// A task whose agent is found dead by a new coordinator goes back to the queue; false: it waits for a person.
    pub auto_reset_orphaned: bool,
    /// The next attempt is told what happened before, record by record.
    pub inject_audit_log: bool,
    /// Longest delay before an agent that crashed begins again; the first is 2s, then doubled.
    pub backoff_max: Span,
    /// Crashes of one agent within `crashWindow` after which it is taken out of service.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100)))]
    pub max_crashes: u32,
    pub crash_window: Span,
    /// An agent that ran for so long without a crash starts counting anew.
    pub stable: Span,
    /// Failures of the service in a row (throttled, overloaded, unreachable) before the task is blocked for a person. The default waits for days.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000)))]
    pub max_transient: u32,
    /// Attempts of one task without a sign of progress (a commit, an iteration that ended in good order, checks that passed, a person's word) before it is blocked for a person.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000)))]
    pub max_claims: u32,
    /// Failures of the checks in a row with the same output (timings and the like left out) before the task is blocked for a person; 0: no bound.
    #[cfg_attr(feature = "schema", schemars(range(max = 1000)))]
    pub max_same_failures: u32,
    pub on_damage: OnDamage,
    /// When the same tool call is a circle.
    pub loops: Loops,
}

/// Equal tool calls, one after the other or in a short circle, without a new commit between them; and iterations that
/// change nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Loops {
    /// Noted in the history after so many; 0 turns the watch off. After so many iterations in a row that changed nothing
    /// and did not say that the task is done, the next one is told, and after as many again the attempt is ended.
    #[cfg_attr(feature = "schema", schemars(range(max = 1000)))]
    pub note: u32,
    /// The iteration is ended after so many, and the next one begins with a word about it.
    #[cfg_attr(feature = "schema", schemars(range(min = 2, max = 10000)))]
    pub stop: u32,
}

/// What happens when a service says that the allowance is used up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Quota {
    pub scope: QuotaScope,
    /// Between two small questions whether it is back.
    pub probe_every: Span,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum QuotaScope {
    /// Nothing of the group is started; other groups go on.
    #[default]
    Group,
    /// Nothing at all is started.
    All,
}

/// What may be spent before a person is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Budget {
    /// By one task, over all its attempts.
    pub task: Bounds,
    /// By the swarm, since its plan was begun or the budget was last extended. When nothing is set: 50 million tokens, 100 dollars, 24 hours of work.
    pub session: Bounds,
}

/// Not set, or 0: no bound.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Bounds {
    /// Tokens in and out, without those from the service's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Dollars, as far as the program says what it costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dollars: Option<f64>,
    /// Time that agents worked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Span>,
}

/// Room on the disk of the repository, in MiB.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Disk {
    /// Below this nothing new is started.
    pub low: u64,
    /// Above this work goes on.
    pub enough: u64,
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            max_retries: 3,
            auto_reset_orphaned: true,
            inject_audit_log: true,
            backoff_max: Span::secs(300),
            max_crashes: 5,
            crash_window: Span::secs(30 * 60),
            stable: Span::secs(5 * 60),
            max_transient: 1000,
            max_claims: 12,
            max_same_failures: 3,
            on_damage: OnDamage::Quarantine,
            loops: Loops::default(),
        }
    }
}

/// Nobody should find out from a bill that a swarm ran over the weekend: a few days of one agent, then it asks.
impl Default for Budget {
    fn default() -> Self {
        let session =
            Bounds { tokens: Some(50_000_000), dollars: Some(100.0), time: Some(Span::secs(24 * 3600)) };
        Self { task: Bounds::default(), session }
    }
}

impl Default for Loops {
    fn default() -> Self {
        Self { note: 5, stop: 10 }
    }
}

impl Default for Quota {
    fn default() -> Self {
        Self { scope: QuotaScope::default(), probe_every: Span::secs(300) }
    }
}

impl Default for Disk {
    fn default() -> Self {
        Self { low: 1024, enough: 1536 }
    }
}

impl Bounds {
    /// `50 million tokens, $100, 24h of work`; none: there is no bound.
    pub fn describe(&self) -> Option<String> {
        let tokens = self.tokens.filter(|n| *n > 0).map(|n| match n % 1_000_000 {
            0 => format!("{} million tokens", n / 1_000_000),
            _ => format!("{n} tokens"),
        });
        let dollars = self.dollars.filter(|d| *d > 0.0).map(|d| format!("${d}"));
        let time = self.time.filter(|span| span.secs > 0).map(|span| match span.secs % 3600 {
            0 => format!("{} h of work", span.secs / 3600),
            _ => format!("{} min of work", span.secs.div_ceil(60)),
        });
        let all: Vec<String> = [tokens, dollars, time].into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    pub(super) fn allowance(&self) -> Allowance {
        // A budget of a hair above zero is a bound, not the absence of one.
        let micros = |dollars: f64| if dollars > 0.0 { ((dollars * 1e6) as u64).max(1) } else { 0 };
        Allowance {
            tokens: self.tokens.unwrap_or(0),
            cost_micros: self.dollars.map_or(0, micros),
            secs: self.time.map_or(0, |span| span.secs),
        }
    }
}

/// What the core must know of each profile; `agent` may be a bare program, which is a profile of that name.
pub(super) fn profile_rules(profiles: &Profiles, agent: &str) -> Vec<ProfileRule> {
    let bare = (!profiles.contains_key(agent)).then(|| ProfileRule {
        name: agent.into(),
        quota_group: agent.into(),
        program: agent.into(),
        ..ProfileRule::default()
    });
    let named = profiles.iter().map(|(name, profile)| ProfileRule {
        name: name.clone(),
        quota_group: profile.quota_group.clone().unwrap_or_else(|| match profile.program.as_str() {
            "" => name.clone(),
            program => program.into(),
        }),
        fallback: profile.fallback.clone(),
        broader: profile.broader.clone(),
        program: if profile.program.is_empty() { name.clone() } else { profile.program.clone() },
        model: profile.model.clone(),
    });
    bare.into_iter().chain(named).collect()
}
