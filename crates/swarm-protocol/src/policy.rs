//! The numbers the core decides by. Recorded when a coordinator starts, so that a replay on another
//! machine, with another configuration, comes to the same state.

use serde::{Deserialize, Serialize};

use crate::outcome::Mode;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// Whether this coordinator starts anything new; one that only brings things to rest does not.
    pub dispatch: bool,
    /// Attempts that may end by crash, timeout or loss before a person is asked.
    pub max_retries: u32,
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
    /// Transient failures of one task in a row before a person is asked.
    #[serde(default = "transient_max")]
    pub transient_max: u32,
    /// Rounds of review before a person is asked.
    #[serde(default = "review_rounds")]
    pub review_rounds: u32,
    /// Whether review commands are configured.
    #[serde(default)]
    pub reviews: bool,
    /// Whether the next attempt goes on with the program's session.
    #[serde(default)]
    pub resumes_sessions: bool,
    /// Whether ready tasks start by themselves, unless a person has said otherwise since.
    #[serde(default = "autopilot")]
    pub mode: Mode,
    /// Plan events between two snapshot events.
    pub snapshot_every: u64,
    /// Whether check commands are configured.
    pub checks: bool,
    /// Whether verification commands are configured.
    pub verifies: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            dispatch: true,
            max_retries: 3,
            max_iterations: 50,
            max_task_secs: 30 * 60,
            backoff_max_secs: 300,
            merge_rounds: 3,
            races_max: 3,
            transient_max: transient_max(),
            review_rounds: review_rounds(),
            reviews: false,
            resumes_sessions: true,
            mode: autopilot(),
            snapshot_every: 50,
            checks: true,
            verifies: true,
        }
    }
}

fn transient_max() -> u32 {
    10
}

fn review_rounds() -> u32 {
    3
}

/// Ledgers of a time without modes started every ready task.
fn autopilot() -> Mode {
    Mode::Autopilot
}
