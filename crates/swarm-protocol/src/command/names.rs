//! What a command is called in the record, and what it is about.

use super::{Command, SaveKind};
use crate::review::Verdict;

impl Command {
    /// The same command, and only as long as it does what was shown.
    pub fn expecting(mut self, seen: Option<String>) -> Self {
        match &mut self {
            Self::Rollback { expect, .. }
            | Self::RollbackTask { expect, .. }
            | Self::Abort { expect, .. }
            | Self::Undo { expect, .. }
            | Self::Redo { expect, .. }
            | Self::SetTrunk { expect, .. } => *expect = seen,
            _ => {}
        }
        self
    }

    /// The word under which it is recorded.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::SavePlan { kind: SaveKind::Save, .. } => "plan save",
            Self::SavePlan { kind: SaveKind::Import, .. } => "plan import",
            Self::SavePlan { kind: SaveKind::Migrate, .. } => "plan migrate",
            Self::ResetPlan => "plan reset",
            Self::ApprovePlan => "plan approve",
            Self::SetProfile { .. } => "plan profile set",
            Self::LockProfile => "plan profile lock",
            Self::RecordExport { .. } => "plan export",
            Self::CompletePhase { .. } => "phase complete",
            Self::ClosePlan { .. } => "close",
            Self::ReopenPlan => "plan reopen",
            Self::AddTask { .. } => "task add",
            Self::EditTask { .. } => "task edit",
            Self::RemoveTask { .. } => "task remove",
            Self::MoveTask { .. } => "task move",
            Self::BlockTask { .. } => "task block",
            Self::UnblockTask { .. } => "task unblock",
            Self::AcceptTask { .. } => "task accept",
            Self::Retry => "run --retry",
            Self::DeferTask { .. } => "task defer",
            Self::CancelTask { .. } => "task cancel",
            Self::Review { verdict: Verdict::Approve { .. }, .. } => "review approve",
            Self::Review { verdict: Verdict::NeedsChanges { .. }, .. } => "review needs-changes",
            Self::WaiveGate { .. } => "task waive",
            Self::Pause { .. } => "pause",
            Self::Resume { .. } => "resume",
            Self::SetMode { .. } => "mode",
            Self::StartTasks { .. } => "task start",
            Self::SubmitWork { .. } => "worktree merge",
            Self::RecordRemoval { .. } => "worktree cleanup",
            Self::StopAgent { .. } => "agent stop",
            Self::KillAgent { .. } => "agent kill",
            Self::Redirect { .. } => "agent redirect",
            Self::MakeCheckpoint { .. } => "checkpoint create",
            Self::DeleteCheckpoint { .. } => "checkpoint delete",
            Self::Rollback { .. } => "rollback",
            Self::RollbackTask { .. } => "task rollback",
            Self::Abort { .. } => "abort",
            Self::Undo { .. } => "undo",
            Self::Redo { .. } => "redo",
            Self::SetTrunk { .. } => "run --trunk",
            Self::MessageAgent { .. } => "agent message",
            Self::ReviveAgent { .. } => "agent revive",
            Self::SplitTask { .. } => "task split",
            Self::OpenQuota { .. } => "quota open",
            Self::HoldQuota { .. } => "quota hold",
            Self::ExtendBudget { .. } => "budget extend",
            Self::Reserve { .. } => "reservations add",
            Self::ReleaseReservation { .. } => "reservations release",
            Self::Drain { .. } => "drain",
            Self::CheckpointAndDrain { .. } => "stop --checkpoint",
            Self::AcknowledgeAttention { .. } => "attention --seen",
            Self::Propose { .. } => "propose",
            Self::AcceptProposal { .. } => "attention --accept",
            Self::DeclineProposal { .. } => "attention --decline",
            Self::AcknowledgeLoss { .. } => "plan salvage",
        }
    }

    /// The task it is about, for the record.
    pub fn subject(&self) -> Option<String> {
        match self {
            Self::AddTask { task, .. } => Some(task.id.to_string()),
            Self::EditTask { task, .. }
            | Self::RemoveTask { task }
            | Self::MoveTask { task, .. }
            | Self::BlockTask { task, .. }
            | Self::UnblockTask { task }
            | Self::AcceptTask { task, .. }
            | Self::DeferTask { task }
            | Self::CancelTask { task }
            | Self::Review { task, .. }
            | Self::WaiveGate { task, .. }
            | Self::SubmitWork { task, .. }
            | Self::RecordRemoval { task, .. }
            | Self::MessageAgent { task, .. }
            | Self::SplitTask { task, .. }
            | Self::ExtendBudget { task: Some(task) }
            | Self::KillAgent { task }
            | Self::Redirect { task, .. }
            | Self::RollbackTask { task, .. }
            | Self::StopAgent { task } => Some(task.to_string()),
            Self::MakeCheckpoint { name } | Self::Rollback { to: name, .. } => name.clone(),
            Self::DeleteCheckpoint { name } | Self::SetTrunk { branch: name, .. } => Some(name.clone()),
            Self::Undo { operation, .. } | Self::Redo { operation, .. } => {
                operation.as_ref().map(|id| id.as_str().into())
            }
            Self::ReviveAgent { agent } => Some(agent.to_string()),
            Self::OpenQuota { group } | Self::HoldQuota { group } => Some(group.clone()),
            Self::StartTasks { tasks } => tasks.first().map(ToString::to_string),
            Self::SetMode { mode } => Some(mode.word().into()),
            Self::AcknowledgeAttention { entry } => Some(entry.chars().take(100).collect()),
            Self::CompletePhase { phase } => Some(phase.to_string()),
            Self::Reserve { files, .. } => files.first().cloned(),
            Self::ReleaseReservation { number }
            | Self::AcceptProposal { number }
            | Self::DeclineProposal { number, .. } => Some(number.to_string()),
            Self::Propose { command, .. } => Some(command.kind().into()),
            Self::ClosePlan { archive } => Some(archive.clone()),
            _ => None,
        }
    }
}
