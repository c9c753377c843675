//! How runs end and what becomes of their task then.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::plan::BlockKind;
use crate::time::Timestamp;

/// Why an attempt is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ended {
    /// The daemon was told to stop, or stopped itself after a drain.
    Stopped,
    /// The program ended with a failure that nobody asked for.
    Crashed { code: Option<i32>, signal: Option<i32>, text: String },
    /// The program ended without a result, for a reason that it told.
    Failed { failure: Failure },
    /// The daemon itself vanished without a last word, under our eyes.
    Lost { text: String },
    /// A coordinator that took over found the owner of the attempt dead.
    Orphaned { text: String },
    /// The last allowed iteration, or the time of the attempt, is over.
    Timeout { text: String },
    /// The agent says that it cannot do the task.
    CannotDo { text: String },
    /// The agent waits for a person.
    AsksHuman { text: String },
    /// The program could not be started at all.
    NotStarted { text: String },
    /// The worktree could not be prepared.
    NoWorkspace { text: String },
}

impl Ended {
    /// With every text put in other words: what outside programs say may hold secrets and places.
    pub fn with_texts(self, words: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Stopped => Self::Stopped,
            Self::Crashed { code, signal, text } => Self::Crashed { code, signal, text: words(text) },
            Self::Failed { failure } => Self::Failed { failure: failure.with_text(words) },
            Self::Lost { text } => Self::Lost { text: words(text) },
            Self::Orphaned { text } => Self::Orphaned { text: words(text) },
            Self::Timeout { text } => Self::Timeout { text: words(text) },
            Self::CannotDo { text } => Self::CannotDo { text: words(text) },
            Self::AsksHuman { text } => Self::AsksHuman { text: words(text) },
            Self::NotStarted { text } => Self::NotStarted { text: words(text) },
            Self::NoWorkspace { text } => Self::NoWorkspace { text: words(text) },
        }
    }

    /// One line for people.
    pub fn describe(&self) -> String {
        match self {
            Self::Stopped => "stopped".into(),
            Self::Crashed { code: Some(code), text, .. } => {
                join(&format!("crashed with exit code {code}"), text)
            }
            Self::Crashed { signal: Some(signal), text, .. } => {
                join(&format!("killed by signal {signal}"), text)
            }
            Self::Crashed { text, .. } => join("crashed", text),
            Self::Failed { failure } => failure.sentence(),
            Self::Lost { text } => join("its daemon vanished", text),
            Self::Orphaned { text } => join("its owner was found dead", text),
            Self::Timeout { text } => join("ran out of time", text),
            Self::CannotDo { text } => join("cannot do it", text),
            Self::AsksHuman { text } => join("asks a person", text),
            Self::NotStarted { text } => join("could not be started", text),
            Self::NoWorkspace { text } => join("no worktree", text),
        }
    }
}

fn join(head: &str, text: &str) -> String {
    if text.is_empty() { head.into() } else { format!("{head}: {text}") }
}

/// What becomes of a task after an attempt or a merge that brought no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "to", rename_all = "snake_case")]
pub enum Next {
    /// Back to the queue, not before this moment. `counts`: held against the retries of the task.
    Pending {
        not_before: Timestamp,
        counts: bool,
    },
    /// Stays with its agent, which begins again in the same worktree at this moment: its `restart`-th time.
    Restart {
        not_before: Timestamp,
        restart: u32,
    },
    Blocked {
        block: BlockKind,
        why: String,
    },
    Failed {
        why: String,
    },
    Timeout {
        why: String,
    },
    Deferred,
    Cancelled,
    /// Approved work whose merge is tried again later.
    Approved {
        not_before: Timestamp,
    },
    /// Submitted work whose review is tried again later.
    Review {
        not_before: Timestamp,
    },
}

impl Next {
    /// The status to write at the top level of the record.
    pub fn status(&self) -> crate::plan::Status {
        use crate::plan::Status;
        match self {
            Self::Pending { .. } => Status::Pending,
            Self::Restart { .. } => Status::Active,
            Self::Blocked { .. } => Status::Blocked,
            Self::Failed { .. } => Status::Failed,
            Self::Timeout { .. } => Status::Timeout,
            Self::Deferred => Status::Deferred,
            Self::Cancelled => Status::Cancelled,
            Self::Approved { .. } => Status::Merging,
            Self::Review { .. } => Status::Review,
        }
    }
}

/// A condition between a task and its completion that produces evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Gate {
    /// The check commands in the task's worktree.
    Check,
    /// The scan commands, after the check commands and in the same place.
    Scan,
    /// The review of the submitted work.
    Review,
    /// The verification commands on the merged tree.
    Verify,
}

impl Gate {
    pub const ALL: [Self; 4] = [Self::Check, Self::Scan, Self::Review, Self::Verify];

    pub fn word(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Scan => "scan",
            Self::Review => "review",
            Self::Verify => "verify",
        }
    }
}

/// Why the swarm starts nothing new. Several may hold at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PauseReason {
    User,
    Disk,
    /// Trunk itself fails its verification: nobody's work is to blame, and none can be judged.
    Trunk,
    /// Worktrees cannot be set up: several attempts in a row failed alike.
    Setup,
    /// The tokens, money or time that the swarm may spend are spent.
    Budget,
    /// Several agents were taken out of service shortly after one another.
    Errors,
    /// A person took the whole session back; what was merged waits to be tried again.
    Abort,
    /// The plan is being closed; lifted by itself when whoever closes it does not come to the end.
    Close,
    /// The check commands fail on the commit that tasks begin with: no agent can make them pass.
    Checks,
}

impl PauseReason {
    pub const ALL: [Self; 9] = [
        Self::User,
        Self::Disk,
        Self::Trunk,
        Self::Setup,
        Self::Budget,
        Self::Errors,
        Self::Abort,
        Self::Close,
        Self::Checks,
    ];

    /// The command that ends it.
    pub fn ended_by(self) -> String {
        match self {
            Self::User => "swarm resume".into(),
            Self::Budget => "swarm budget extend".into(),
            // The one that also runs, where nobody does.
            Self::Abort => "swarm run --retry".into(),
            other => format!("swarm resume --reason {}", other.word()),
        }
    }

    /// `user (`swarm resume`), trunk (`swarm resume --reason trunk`)`
    pub fn list(reasons: impl IntoIterator<Item = Self>) -> String {
        let one = |reason: Self| format!("{} (`{}`)", reason.word(), reason.ended_by());
        reasons.into_iter().map(one).collect::<Vec<_>>().join(", ")
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Disk => "disk",
            Self::Trunk => "trunk",
            Self::Setup => "setup",
            Self::Budget => "budget",
            Self::Errors => "errors",
            Self::Abort => "abort",
            Self::Close => "close",
            Self::Checks => "checks",
        }
    }
}

/// Whether ready tasks start by themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// A ready task waits for `swarm task start`.
    #[default]
    SemiAuto,
    Autopilot,
}

impl Mode {
    pub const ALL: [Self; 2] = [Self::SemiAuto, Self::Autopilot];

    pub fn word(self) -> &'static str {
        match self {
            Self::SemiAuto => "semi-auto",
            Self::Autopilot => "autopilot",
        }
    }
}
