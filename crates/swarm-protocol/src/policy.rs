//! The numbers the core decides by. Recorded when a coordinator starts, so that a replay on another
//! machine, with another configuration, comes to the same state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::council::CouncilRules;
use crate::operation::HookRule;
use crate::outcome::Mode;
use crate::reservation::Overlap;
use crate::review::Reviewer;

/// What the core must know of a profile to choose one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProfileRule {
    pub name: String,
    /// Profiles of one group share an allowance.
    pub quota_group: String,
    /// Taken instead while the allowance is used up, in this order.
    pub fallback: Vec<String>,
    /// Takes over what this profile was not allowed to do.
    pub broader: Option<String>,
    /// What runs, for those who read the ledger: no rule depends on it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub program: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// What may be spent; zero: no bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Allowance {
    pub tokens: u64,
    /// Millionths of a dollar.
    pub cost_micros: u64,
    pub secs: u64,
}

/// When checkpoints are made by themselves, and how many stay. A ledger that says nothing has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckpointRules {
    pub session_start: bool,
    pub before_autopilot: bool,
    pub before_merge: bool,
    /// Before a reset, an import over a live plan, and whatever changes too much to be told fact by fact.
    pub before_risky: bool,
    /// After so many finished tasks; 0: never.
    pub periodic: u32,
    /// Automatic ones kept; 0: all.
    pub keep: u32,
    /// Seconds automatic ones are kept; 0: for ever.
    pub keep_secs: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// Whether this coordinator starts anything new; one that only brings things to rest does not.
    pub dispatch: bool,
    /// Attempts that may end by crash, timeout or loss before a person is asked.
    pub max_retries: u32,
    /// Whether a task whose agent was found dead waits for a person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub orphans_wait: bool,
    /// Iterations within one attempt.
    pub max_iterations: u32,
    /// Seconds one attempt may take.
    pub max_task_secs: u64,
    /// Longest delay before a retry, in seconds; the first is 2, then doubled.
    pub backoff_max_secs: u64,
    /// Red verifications of one task before a person is asked.
    pub merge_rounds: u32,
    /// Lost races for the trunk before a merge goes back to the queue with a delay.
    pub races_max: u32,
    /// Conflicts of one task that an agent is asked to resolve before a person is.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resolve_max: u32,
    /// Transient failures of one task in a row before a person is asked.
    #[serde(default = "transient_max")]
    pub transient_max: u32,
    /// Rounds of review before a person is asked.
    #[serde(default = "review_rounds")]
    pub review_rounds: u32,
    /// Whether work is reviewed by the configured commands where nothing else is said.
    #[serde(default)]
    pub reviews: bool,
    /// Who reviews instead. Ledgers of a time when nobody did unless it was said have none here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<Reviewer>,
    /// A person chose it with `swarm run --review`, and the next run begins with it too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reviewer_chosen: bool,
    /// The profile of the agent that reviews.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_profile: Option<String>,
    /// Several agents that review, each for itself.
    #[serde(default, skip_serializing_if = "CouncilRules::is_none")]
    pub council: CouncilRules,
    /// Who reviews tasks with these tags.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub review_tags: BTreeMap<String, Reviewer>,
    /// Whether there are commands that a task can ask for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub review_commands: bool,
    /// Whether the next attempt goes on with the program's session.
    #[serde(default)]
    pub resumes_sessions: bool,
    /// Whether ready tasks start by themselves, unless a person has said otherwise since.
    #[serde(default = "autopilot")]
    pub mode: Mode,
    /// The profile of new attempts, and what is known of the others.
    #[serde(default)]
    pub profile: String,
    /// A person chose it with `swarm run --agent`, and the next run begins with it too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub profile_chosen: bool,
    #[serde(default)]
    pub profiles: Vec<ProfileRule>,
    /// One used-up group stops every promotion, also of others.
    #[serde(default)]
    pub quota_stops_all: bool,
    /// Seconds between two probes of a used-up allowance.
    #[serde(default = "probe_secs")]
    pub probe_secs: u64,
    /// Crashes of one agent within `crash_window_secs` after which it gets no more work.
    #[serde(default = "crashes_max")]
    pub crashes_max: u32,
    #[serde(default = "crash_window_secs")]
    pub crash_window_secs: u64,
    /// An agent that ran for so long without a crash starts counting anew.
    #[serde(default = "stable_secs")]
    pub stable_secs: u64,
    /// Claims of one task without a sign of progress in between before a person is asked; 0: no bound.
    #[serde(default = "claims_max")]
    pub claims_max: u32,
    #[serde(default)]
    pub task_budget: Allowance,
    #[serde(default)]
    pub budget: Allowance,
    /// Hooks that exist.
    #[serde(default)]
    pub hooks: Vec<HookRule>,
    #[serde(default)]
    pub checkpoints: CheckpointRules,
    /// Failures of the checks in a row with the same output before a person is asked; 0: no bound.
    #[serde(default)]
    pub same_failures_max: u32,
    /// Whether checks that fail are tried on the commit that the task began with.
    #[serde(default)]
    pub check_bases: bool,
    /// Plan events between two snapshot events.
    pub snapshot_every: u64,
    /// What becomes of work in files that somebody else has reserved.
    #[serde(default, skip_serializing_if = "Overlap::is_default")]
    pub overlap: Overlap,
    /// Seconds that a reservation lasts when nobody works under it.
    #[serde(default = "reservation_secs", skip_serializing_if = "is_an_hour")]
    pub reservation_secs: u64,
    /// A task that reserves nothing reserves the files that it names.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reserve_files: bool,
    /// Tasks that do not say where they are worked on share one tree.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared_tree: bool,
    /// Whether check commands are configured.
    pub checks: bool,
    /// Whether verification commands are configured.
    pub verifies: bool,
    /// Where on this machine the swarm lies, in a word that a copy of it does not have. None: written before this was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            dispatch: true,
            max_retries: 3,
            orphans_wait: false,
            max_iterations: 50,
            max_task_secs: 30 * 60,
            backoff_max_secs: 300,
            merge_rounds: 3,
            races_max: 3,
            transient_max: transient_max(),
            review_rounds: review_rounds(),
            resolve_max: 0,
            reviews: false,
            reviewer: None,
            reviewer_chosen: false,
            review_profile: None,
            council: CouncilRules::default(),
            review_tags: BTreeMap::new(),
            review_commands: false,
            resumes_sessions: true,
            mode: autopilot(),
            profile: String::new(),
            profile_chosen: false,
            profiles: vec![],
            quota_stops_all: false,
            probe_secs: probe_secs(),
            crashes_max: crashes_max(),
            crash_window_secs: crash_window_secs(),
            stable_secs: stable_secs(),
            claims_max: claims_max(),
            task_budget: Allowance::default(),
            budget: Allowance::default(),
            hooks: vec![],
            checkpoints: CheckpointRules::default(),
            same_failures_max: 0,
            check_bases: false,
            snapshot_every: 50,
            overlap: Overlap::default(),
            reservation_secs: reservation_secs(),
            reserve_files: false,
            shared_tree: false,
            checks: true,
            verifies: true,
            place: None,
        }
    }
}

fn transient_max() -> u32 {
    10
}

fn probe_secs() -> u64 {
    300
}

fn crashes_max() -> u32 {
    5
}

fn crash_window_secs() -> u64 {
    30 * 60
}

fn stable_secs() -> u64 {
    5 * 60
}

/// One more than transient failures are waited out, so that each of these ends in its own words.
fn claims_max() -> u32 {
    12
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

fn reservation_secs() -> u64 {
    3600
}

fn is_an_hour(secs: &u64) -> bool {
    *secs == reservation_secs()
}

fn review_rounds() -> u32 {
    3
}

/// Ledgers of a time without modes started every ready task.
fn autopilot() -> Mode {
    Mode::Autopilot
}
