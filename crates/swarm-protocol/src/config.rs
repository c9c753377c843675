//! `.swarm/config.json`: what a team may set, with the defaults. Only keys that do something.

mod agents;
mod limits;
mod merge;
mod operations;
mod policy;
mod prices;
mod recovery;
mod reservations;
mod review;
mod span;
mod telemetry;
mod worktree;

use std::collections::{BTreeMap, BTreeSet};

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use agents::{ContainmentKind, Profile, Profiles, SandboxKind, SessionKind, hidden_by_default};
pub use limits::Limits;
pub use merge::{Merge, Regenerate, Strategy};
pub use operations::{Checkpoints, Hook, HookDetails, Hooks, hook_rules};
pub use prices::{Price, Prices, Rates, check_prices};
pub use recovery::{Bounds, Budget, Disk, Loops, Quota, QuotaScope, Recovery};
pub use reservations::Reservations;
pub use review::{Council, Member, Review, check_members};
pub use span::Span;
pub use telemetry::{Collector, Telemetry};
pub use worktree::Worktree;

use crate::channel::CommandLine;
use crate::outcome::Mode;
use crate::reservation::Isolation;

/// What happens when records are damaged and no second copy holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OnDamage {
    /// Move the damaged rest aside, record the loss, go on.
    Quarantine,
    /// Open read-only until `swarm plan salvage`.
    Ask,
}

/// The configuration of a swarm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Config {
    /// The profile of new attempts, or just a program: claude, codex, gemini, opencode, script.
    pub agent: String,
    /// Profiles by name, for `agent` and for the tasks' `profile`.
    pub profiles: Profiles,
    /// Whether ready tasks start by themselves, in a swarm where nobody has said so yet.
    pub mode: Mode,
    pub session: SessionKind,
    /// Silence of an agent outside a running tool after which it is stopped; below 300s, where the programs begin again by themselves.
    pub stall: Span,
    /// Calls of the model within one iteration.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100000)))]
    pub max_steps: u32,
    /// Where tasks are worked on that do not say it themselves: each in a worktree of its own, or all in one tree, where each changes the files that it has reserved.
    pub isolation: Isolation,
    pub sandbox: SandboxKind,
    /// Whether the network is open to agents, checks, verification and set-up. When not set it is, but closed to commands where a profile closes it: they run what its agents wrote.
    pub network: Option<bool>,
    pub containment: ContainmentKind,
    /// Places that no program of a run can read, less what the program itself needs; `~/` is the home folder.
    pub hide: Vec<String>,
    /// How much of the machine one run may take.
    pub limits: Limits,
    /// Names of variables handed on to every agent, check and set-up.
    pub env: Vec<String>,
    /// The longest an attempt may take.
    pub max_task_duration: Span,
    /// Iterations within one attempt.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000)))]
    pub max_iterations: u32,
    pub check: Commands,
    /// A gate of its own after the checks, in the same worktree: a bug scanner, a secret scanner, a licence check.
    pub scan: Commands,
    /// Run on the merged tree before trunk moves; the check commands when not set.
    pub verify: Option<Commands>,
    pub review: Review,
    pub plan: Planning,
    pub recovery: Recovery,
    pub quota: Quota,
    pub budget: Budget,
    pub prices: Prices,
    pub disk: Disk,
    pub merge: Merge,
    pub reservations: Reservations,
    pub stop: Stop,
    pub worktree: Worktree,
    pub ledger: Ledger,
    pub daemon: Daemon,
    pub checkpoints: Checkpoints,
    pub web: Web,
    pub tui: Tui,
    pub mcp: Mcp,
    pub telemetry: Telemetry,
    /// Programs of yours that are run at certain moments, by name: pre-start, post-complete, pre-merge, post-merge, on-conflict, on-learning, on-pause, on-error.
    pub hooks: Hooks,
}

/// Commands that must all succeed, one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Commands {
    /// Each a text for `sh -c`, or a list of program and arguments.
    pub commands: Vec<CommandLine>,
    /// For all of them together.
    pub timeout: Span,
}

/// How a plan is made from a goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Planning {
    /// The profile or program of the agent that plans; without it `agent`. It reads the repository and cannot change it.
    pub profile: Option<String>,
    /// `auto`: the plan is taken as it comes, without a question.
    pub approve: PlanApproval,
    pub timeout: Span,
}

/// Who says that a plan is good.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PlanApproval {
    #[default]
    Ask,
    Auto,
}

impl Default for Planning {
    fn default() -> Self {
        Self { profile: None, approve: PlanApproval::default(), timeout: Span::secs(900) }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Stop {
    /// Between TERM and KILL.
    pub grace: Span,
    /// How long agents have to reach their boundary at Ctrl+C.
    pub drain: Span,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Ledger {
    /// Plan events between two snapshot events (more for plans of over ten times as many tasks).
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub snapshot_every: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Daemon {
    /// A daemon that has heard nobody for so long saves its work and ends.
    pub alone: Span,
    /// Longest wait between two tries to reach the coordinator.
    pub reconnect_max: Span,
}

/// The web UI.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Web {
    /// `swarm run` serves it too, on 127.0.0.1, and prints its link.
    pub enabled: bool,
}

/// The terminal UI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Tui {
    /// Whether the mouse is for it, and not for the terminal.
    pub mouse: bool,
    /// Other keys, by what they do: names of keys with blanks between them, none to have no key for it.
    pub keys: BTreeMap<String, String>,
}

/// For clients of the Model Context Protocol.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Mcp {
    pub confirm: Confirm,
}

/// Who says yes to the preview of what takes something back, when a model asks for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Confirm {
    /// A person, by the command that the refusal names.
    #[default]
    Person,
    /// The model, by the `expect` of the preview.
    Model,
    /// Nobody: it is not done over MCP.
    Never,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            agent: "claude".into(),
            profiles: Profiles::new(),
            mode: Mode::default(),
            session: SessionKind::default(),
            stall: Span::secs(120),
            max_steps: 200,
            isolation: Isolation::default(),
            sandbox: SandboxKind::default(),
            network: None,
            containment: ContainmentKind::default(),
            hide: hidden_by_default(),
            limits: Limits::default(),
            env: vec![],
            max_task_duration: Span::secs(30 * 60),
            max_iterations: 50,
            check: Commands::default(),
            scan: Commands::default(),
            verify: None,
            review: Review::default(),
            plan: Planning::default(),
            recovery: Recovery::default(),
            quota: Quota::default(),
            budget: Budget::default(),
            prices: Prices::default(),
            disk: Disk::default(),
            merge: Merge::default(),
            reservations: Reservations::default(),
            stop: Stop::default(),
            worktree: Worktree::default(),
            ledger: Ledger::default(),
            daemon: Daemon::default(),
            checkpoints: Checkpoints::default(),
            web: Web::default(),
            tui: Tui::default(),
            mcp: Mcp::default(),
            telemetry: Telemetry::default(),
            hooks: Hooks::new(),
        }
    }
}

impl Default for Commands {
    fn default() -> Self {
        Self { commands: vec![], timeout: Span::secs(600) }
    }
}

impl Default for Tui {
    fn default() -> Self {
        Self { mouse: true, keys: BTreeMap::new() }
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self { grace: Span::secs(5), drain: Span::secs(5) }
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
    /// Profiles, and the program that is used without one, whose agents run without walls.
    pub fn without_walls(&self) -> Vec<String> {
        let own = |name: &String| self.profiles.get(name).and_then(|profile| profile.sandbox);
        let all: BTreeSet<&String> = self.profiles.keys().chain([&self.agent]).collect();
        let is_bare = |name: &&String| own(name).unwrap_or(self.sandbox) == SandboxKind::None;
        all.into_iter().filter(is_bare).cloned().collect()
    }

    /// Whether commands have the network: they run what agents wrote, also those that have none.
    pub fn network_of_commands(&self) -> bool {
        let closed = || self.profiles.values().any(|profile| profile.network == Some(false));
        self.network.unwrap_or_else(|| !closed())
    }

    /// The commands run on the merged tree.
    pub fn verify_commands(&self) -> &Commands {
        self.verify.as_ref().unwrap_or(&self.check)
    }

    /// What submitted work must pass in its own worktree: checks, then scans, as far as they are wanted.
    pub fn commands_at_submission(&self, checks: bool, scans: bool) -> Commands {
        let wanted = [(checks, &self.check), (scans, &self.scan)];
        let parts = wanted.into_iter().filter(|(wanted, part)| *wanted && !part.commands.is_empty());
        let parts: Vec<&Commands> = parts.map(|(_, part)| part).collect();
        Commands {
            commands: parts.iter().flat_map(|part| part.commands.clone()).collect(),
            timeout: Span::secs(parts.iter().map(|part| part.timeout.secs).sum()),
        }
    }
}
