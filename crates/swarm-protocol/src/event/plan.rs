//! Which events change the plan, and the plan as one of them holds it.

use serde::{Deserialize, Serialize};

use super::Event;

/// The plan as a snapshot event holds it: inline, or a content-addressed file when it is large.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotData {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<serde_json::Value>,
    /// Name under `ledger-files/` when `plan` is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// SHA-256 of the plan's bytes as written.
    pub payload_hash: String,
}

impl Event {
    /// Whether the event changes the plan (and so carries `plan_hash_after`).
    pub fn is_plan_event(&self) -> bool {
        matches!(
            self,
            Self::PlanCreated { .. }
                | Self::PlanUpdated { .. }
                | Self::TaskAdded { .. }
                | Self::TaskUpdated { .. }
                | Self::TaskStatusChanged { .. }
                | Self::TaskRestored { .. }
                | Self::TaskReordered { .. }
                | Self::TaskRemoved { .. }
                | Self::PhaseCompleted { .. }
                | Self::PhaseReopened { .. }
                | Self::WorkGone { .. }
                | Self::WorkBack { .. }
                | Self::PlanRebuilt { .. }
                | Self::PlanReset { .. }
                | Self::ExecutionProfileSet { .. }
                | Self::ExecutionProfileLocked { .. }
        )
    }
}
