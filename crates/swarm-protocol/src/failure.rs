//! Why a run of an agent program brought no result: one closed set, whatever the program, and what
//! follows from each.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was wrong, as told by the program's own structured output first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Too many requests for the moment; the account has something left.
    Throttled,
    /// The service is overloaded or failing.
    Overloaded,
    /// The service could not be reached, or the connection broke.
    Network,
    /// The account's allowance is used up until a reset.
    Quota,
    /// Money: nothing comes back by itself.
    Billing,
    /// The key or the log-in is missing, wrong or not allowed.
    Key,
    /// The program or its configuration: not installed, unknown flag, unknown model, bad session.
    Configuration,
    /// The context window is full.
    Overflow,
    /// The answer was cut at the program's output limit.
    OutputCut,
    /// The service refused to answer.
    Refused,
    /// The program's own limit of turns or money, or ours of steps.
    OwnLimit,
    /// More memory, processes or disk than `limits` allows: it was ended.
    Limits,
    /// The machine had no files, processes or memory left for it.
    Shortage,
    /// No output for too long outside a running tool.
    Stalled,
    /// It does the same again and again, and nothing comes of it.
    Looping,
    /// The sandbox, or the program's own rules, did not allow what the work needs.
    Denied,
    /// Killed by a signal nobody of us sent, or gone without its final word.
    Crashed,
    /// Nothing above fits; shown as it is.
    Unknown,
}

/// What is done about a failure. The numbers are the core's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Consequence {
    /// Tried again after a while; no attempt is held against the task.
    Transient,
    /// Waits for the reset; no attempt is held against the task.
    Quota,
    /// Blocked for a person at once, with the command that helps; no retry is burned.
    Setup,
    /// Tried once more, then a person is asked.
    OnceMore,
    /// A fresh session with a handover.
    Overflow,
    /// The arc of an attempt that ran out of time.
    Timeout,
    /// Nudged once within the attempt, then the arc of an attempt that ran out of time.
    Loop,
    /// Nudged once within the attempt, then the arc of a crash.
    Silence,
    /// Handed to a profile with broader rights where there is one, else a person is asked.
    Denied,
    /// The arc of a crash.
    Crash,
}

impl FailureClass {
    pub const ALL: [Self; 18] = [
        Self::Throttled,
        Self::Overloaded,
        Self::Network,
        Self::Quota,
        Self::Billing,
        Self::Key,
        Self::Configuration,
        Self::Overflow,
        Self::OutputCut,
        Self::Refused,
        Self::OwnLimit,
        Self::Limits,
        Self::Shortage,
        Self::Stalled,
        Self::Looping,
        Self::Denied,
        Self::Crashed,
        Self::Unknown,
    ];

    pub fn consequence(self) -> Consequence {
        match self {
            Self::Throttled | Self::Overloaded | Self::Network | Self::Shortage => Consequence::Transient,
            Self::Quota => Consequence::Quota,
            Self::Billing | Self::Key | Self::Configuration => Consequence::Setup,
            Self::OutputCut | Self::Refused => Consequence::OnceMore,
            Self::Overflow => Consequence::Overflow,
            Self::OwnLimit | Self::Limits => Consequence::Timeout,
            Self::Stalled => Consequence::Silence,
            Self::Looping => Consequence::Loop,
            Self::Denied => Consequence::Denied,
            Self::Crashed | Self::Unknown => Consequence::Crash,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Throttled => "throttled",
            Self::Overloaded => "overloaded",
            Self::Network => "network",
            Self::Quota => "quota",
            Self::Billing => "billing",
            Self::Key => "key",
            Self::Configuration => "configuration",
            Self::Overflow => "overflow",
            Self::OutputCut => "output_cut",
            Self::Refused => "refused",
            Self::OwnLimit => "own_limit",
            Self::Limits => "limits",
            Self::Shortage => "shortage",
            Self::Stalled => "stalled",
            Self::Looping => "looping",
            Self::Denied => "denied",
            Self::Crashed => "crashed",
            Self::Unknown => "unknown",
        }
    }

    /// One line for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Throttled => "the service throttles requests",
            Self::Overloaded => "the service is overloaded",
            Self::Network => "the service cannot be reached",
            Self::Quota => "the quota is used up",
            Self::Billing => "the account has a billing problem",
            Self::Key => "the key or log-in is not accepted",
            Self::Configuration => "the agent program is not set up",
            Self::Overflow => "the context window is full",
            Self::OutputCut => "the answer was cut at the output limit",
            Self::Refused => "the service refused to answer",
            Self::OwnLimit => "a limit of steps was reached",
            Self::Limits => "it took more of the machine than `limits` allows",
            Self::Shortage => "the machine has no room left",
            Self::Stalled => "it went silent",
            Self::Looping => "it goes round in circles",
            Self::Denied => "the sandbox denied what it needs",
            Self::Crashed => "it crashed",
            Self::Unknown => "it failed for an unknown reason",
        }
    }
}

/// Why nothing is started under a group of profiles until somebody has asked again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GateCause {
    /// The allowance is used up.
    #[default]
    Quota,
    /// The service is overloaded or cannot be reached.
    Service,
    /// The key, the log-in or the purse: a person puts it right, and nobody has to say so.
    Key,
}

impl GateCause {
    pub fn is_quota(&self) -> bool {
        *self == Self::Quota
    }

    /// As it stands in a record: what there was first is not named.
    pub fn named(self) -> Option<Self> {
        (!self.is_quota()).then_some(self)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Quota => "quota",
            Self::Service => "service",
            Self::Key => "key",
        }
    }

    /// What is closed: `the quota of claude`.
    pub fn what(self, group: &str) -> String {
        match self {
            Self::Quota => format!("the quota of {group}"),
            Self::Service => format!("the service of {group}"),
            Self::Key => format!("the key or log-in of {group}"),
        }
    }

    /// How it is: `is used up`.
    pub fn is_how(self) -> &'static str {
        match self {
            Self::Quota => "is used up",
            Self::Service => "is not to be had",
            Self::Key => "is not accepted",
        }
    }

    /// One sentence for people, without its end.
    pub fn says(self, group: &str) -> String {
        format!("{} {}", self.what(group), self.is_how())
    }
}

/// A failure with what is known about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    pub class: FailureClass,
    /// What the program said, shortened.
    pub text: String,
    /// Seconds from now until the service said it would be back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_in_secs: Option<u64>,
    /// The command that helps, where one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Failure {
    pub fn new(class: FailureClass, text: impl Into<String>) -> Self {
        Self { class, text: text.into(), resets_in_secs: None, hint: None }
    }

    /// With what the program said put in other words.
    pub fn with_text(self, words: impl FnOnce(String) -> String) -> Self {
        Self { text: words(self.text), ..self }
    }

    /// One line for people.
    pub fn sentence(&self) -> String {
        if self.text.is_empty() {
            self.class.describe().into()
        } else {
            format!("{}: {}", self.class.describe(), self.text)
        }
    }
}

/// What a run has cost, as far as the program says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Input that came out of the service's cache; part of `input_tokens`.
    pub cached_tokens: u64,
    /// Millionths of a dollar.
    pub cost_micros: u64,
    /// So much of that was not told by a program, but computed from its tokens and the prices in the configuration.
    #[serde(skip_serializing_if = "is_zero")]
    pub estimated_micros: u64,
    /// Calls of the model.
    pub steps: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Usage {
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            cost_micros: self.cost_micros.saturating_add(other.cost_micros),
            estimated_micros: self.estimated_micros.saturating_add(other.estimated_micros),
            steps: self.steps.saturating_add(other.steps),
        }
    }
}
