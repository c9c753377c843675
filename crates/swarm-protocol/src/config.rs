//! `.swarm/config.json`: what a team may set, with the defaults. Only keys that do something.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::channel::CommandLine;
use crate::policy::Policy;

/// A length of time written as `90s`, `30m`, `2h`, `7d` or a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub secs: u64,
}

impl Span {
    pub const fn secs(secs: u64) -> Self {
        Self { secs }
    }

    pub fn parse(text: &str) -> Option<Self> {
        let (digits, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
            Some(at) => text.split_at(at),
            None => (text, "s"),
        };
        let number: u64 = digits.parse().ok()?;
        let factor = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            "d" => 86_400,
            _ => return None,
        };
        number.checked_mul(factor).filter(|secs| *secs <= 10 * 365 * 86_400).map(Self::secs)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.secs {
            0 => f.write_str("0s"),
            s if s % 86_400 == 0 => write!(f, "{}d", s / 86_400),
            s if s % 3600 == 0 => write!(f, "{}h", s / 3600),
            s if s % 60 == 0 => write!(f, "{}m", s / 60),
            s => write!(f, "{s}s"),
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Number(u64),
            Text(String),
        }
        let text = match Form::deserialize(d) {
            Ok(Form::Number(n)) => n.to_string(),
            Ok(Form::Text(text)) => text,
            Err(_) => {
                return Err(serde::de::Error::custom("a duration like \"30s\", \"30m\" or \"2h\" is wanted"));
            }
        };
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!("{text:?} is not a duration like \"30s\", \"30m\" or \"2h\""))
        })
    }
}

impl JsonSchema for Span {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "integer"], "pattern": "^[0-9]+[smhd]?$" })
    }
}

/// What happens when records are damaged and no second copy holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnDamage {
    /// Move the damaged rest aside, record the loss, go on.
    Quarantine,
    /// Open read-only until `swarm plan salvage`.
    Ask,
}

/// The configuration of a swarm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Config {
    /// The agent program of new attempts.
    pub agent: String,
    /// The longest an attempt may take.
    pub max_task_duration: Span,
    /// Iterations within one attempt.
    #[schemars(range(min = 1, max = 1000))]
    pub max_iterations: u32,
    pub check: Commands,
    /// Run on the merged tree before trunk moves; the check commands when not set.
    pub verify: Option<Commands>,
    pub recovery: Recovery,
    pub merge: Merge,
    pub stop: Stop,
    pub worktree: Worktree,
    pub ledger: Ledger,
    pub daemon: Daemon,
}

/// Commands that must all succeed, one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Commands {
    /// Each a text for `sh -c`, or a list of program and arguments.
    pub commands: Vec<CommandLine>,
    /// For all of them together.
    pub timeout: Span,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Recovery {
    /// Attempts that may end by crash, timeout or loss before the task is blocked for a person.
    #[schemars(range(max = 100))]
    pub max_retries: u32,
    /// Longest delay before a retry.
    pub backoff_max: Span,
    pub on_damage: OnDamage,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Merge {
    /// Red verifications of one task before it is blocked for a person.
    #[schemars(range(min = 1, max = 100))]
    pub rounds: u32,
    /// Lost races for trunk before the merge waits.
    #[schemars(range(min = 1, max = 100))]
    pub races: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Stop {
    /// Between TERM and KILL.
    pub grace: Span,
    /// How long agents have to reach their boundary at Ctrl+C.
    pub drain: Span,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Worktree {
    /// Where worktrees are made, from the repository's root.
    pub dir: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Ledger {
    /// Plan events between two snapshot events (more for plans of over ten times as many tasks).
    #[schemars(range(min = 1))]
    pub snapshot_every: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Daemon {
    /// A daemon that has heard nobody for so long saves its work and ends.
    pub alone: Span,
    /// Longest wait between two tries to reach the coordinator.
    pub reconnect_max: Span,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            agent: "script".into(),
            max_task_duration: Span::secs(30 * 60),
            max_iterations: 50,
            check: Commands::default(),
            verify: None,
            recovery: Recovery::default(),
            merge: Merge::default(),
            stop: Stop::default(),
            worktree: Worktree::default(),
            ledger: Ledger::default(),
            daemon: Daemon::default(),
        }
    }
}

impl Default for Commands {
    fn default() -> Self {
        Self { commands: vec![], timeout: Span::secs(600) }
    }
}

impl Default for Recovery {
    fn default() -> Self {
        Self { max_retries: 3, backoff_max: Span::secs(300), on_damage: OnDamage::Quarantine }
    }
}

impl Default for Merge {
    fn default() -> Self {
        Self { rounds: 3, races: 3 }
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self { grace: Span::secs(5), drain: Span::secs(5) }
    }
}

impl Default for Worktree {
    fn default() -> Self {
        Self { dir: ".swarm/worktrees".into() }
    }
}

impl Default for Ledger {
    fn default() -> Self {
        Self { snapshot_every: 50 }
    }
}

impl Default for Daemon {
    fn default() -> Self {
        Self { alone: Span::secs(600), reconnect_max: Span::secs(30) }
    }
}

impl Config {
    /// The commands run on the merged tree.
    pub fn verify_commands(&self) -> &Commands {
        self.verify.as_ref().unwrap_or(&self.check)
    }

    /// The numbers the core decides by.
    pub fn policy(&self) -> Policy {
        Policy {
            dispatch: true,
            max_retries: self.recovery.max_retries,
            max_iterations: self.max_iterations,
            max_task_secs: self.max_task_duration.secs,
            backoff_max_secs: self.recovery.backoff_max.secs,
            merge_rounds: self.merge.rounds,
            races_max: self.merge.races,
            snapshot_every: self.ledger.snapshot_every,
            checks: !self.check.commands.is_empty(),
            verifies: !self.verify_commands().commands.is_empty(),
        }
    }
}
