//! What can go wrong, by name, and where the coordinator can be killed.

/// Something that goes wrong, or somebody who interferes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    AgentCrashes,
    AgentHangs,
    AgentGoesSilent,
    AgentAsksHuman,
    AgentCannot,
    ProgramMissing,
    DaemonDies,
    ChecksRed,
    VerifyRed,
    VerifyLost,
    CheckoutBusy,
    TrunkMoved,
    Conflict,
    Resolved,
    WorkspaceFails,
    ProgramFails,
    ReviewRed,
    ReviewLost,
    ReviewNonsense,
    TrunkRed,
    Overstep,
    ExecutorFails,
    AnswersLate,
    AnswersTwice,
    AnswersAfterCancel,
    OldReport,
    PersonIntervenes,
    CommandRepeated,
    OldCoordinator,
    QuotaUsedUp,
    QuotaLate,
    ProbeLost,
    ContextFull,
    ToolLoop,
    Denied,
    DiskLow,
    BudgetSpent,
    OrphanFound,
    ForeignReport,
    MessageSent,
    TaskSplit,
    OtherBranch,
    /// What an agent has not committed cannot be saved, however often it is tried.
    SaveFails,
}

impl Fault {
    pub const ALL: [Self; 43] = [
        Self::AgentCrashes,
        Self::AgentHangs,
        Self::AgentGoesSilent,
        Self::AgentAsksHuman,
        Self::AgentCannot,
        Self::ProgramMissing,
        Self::DaemonDies,
        Self::ChecksRed,
        Self::VerifyRed,
        Self::VerifyLost,
        Self::CheckoutBusy,
        Self::TrunkMoved,
        Self::Conflict,
        Self::Resolved,
        Self::WorkspaceFails,
        Self::ProgramFails,
        Self::ReviewRed,
        Self::ReviewLost,
        Self::ReviewNonsense,
        Self::TrunkRed,
        Self::Overstep,
        Self::ExecutorFails,
        Self::AnswersLate,
        Self::AnswersTwice,
        Self::AnswersAfterCancel,
        Self::OldReport,
        Self::PersonIntervenes,
        Self::CommandRepeated,
        Self::OldCoordinator,
        Self::QuotaUsedUp,
        Self::QuotaLate,
        Self::ProbeLost,
        Self::ContextFull,
        Self::ToolLoop,
        Self::Denied,
        Self::DiskLow,
        Self::BudgetSpent,
        Self::OrphanFound,
        Self::ForeignReport,
        Self::MessageSent,
        Self::TaskSplit,
        Self::OtherBranch,
        Self::SaveFails,
    ];

    /// As it stands in the table.
    pub fn describe(self) -> &'static str {
        match self {
            Self::AgentCrashes => "agent crashes",
            Self::AgentHangs => "agent hangs",
            Self::AgentGoesSilent => "agent goes silent",
            Self::AgentAsksHuman => "agent asks a person",
            Self::AgentCannot => "agent cannot do it",
            Self::ProgramMissing => "program missing",
            Self::DaemonDies => "daemon dies",
            Self::ChecksRed => "checks red",
            Self::VerifyRed => "verification red",
            Self::VerifyLost => "verification lost",
            Self::CheckoutBusy => "checkout busy",
            Self::TrunkMoved => "trunk moved by a person",
            Self::Conflict => "conflict",
            Self::Resolved => "conflict resolved by rule",
            Self::WorkspaceFails => "no worktree",
            Self::ProgramFails => "agent program fails",
            Self::ReviewRed => "review wants changes",
            Self::ReviewLost => "review lost",
            Self::ReviewNonsense => "review is no verdict",
            Self::TrunkRed => "trunk red",
            Self::Overstep => "agent oversteps",
            Self::ExecutorFails => "executor fails",
            Self::AnswersLate => "executor answers late",
            Self::AnswersTwice => "executor answers twice",
            Self::AnswersAfterCancel => "answer after cancel",
            Self::OldReport => "report of an old run",
            Self::PersonIntervenes => "person intervenes",
            Self::CommandRepeated => "command asked again",
            Self::OldCoordinator => "old coordinator wakes",
            Self::QuotaUsedUp => "quota used up",
            Self::QuotaLate => "late word about quota",
            Self::ProbeLost => "probe lost",
            Self::ContextFull => "context full",
            Self::ToolLoop => "agent goes in circles",
            Self::Denied => "sandbox denies",
            Self::DiskLow => "disk low",
            Self::BudgetSpent => "budget spent",
            Self::OrphanFound => "owner found dead",
            Self::ForeignReport => "report of a foreign run",
            Self::MessageSent => "person sends a message",
            Self::TaskSplit => "person splits a task",
            Self::OtherBranch => "another branch checked out",
            Self::SaveFails => "save fails for ever",
        }
    }
}

/// Where the coordinator is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seam {
    /// Decided, but the decision is not on disk.
    BeforeAppend,
    /// On disk, but nobody was answered and no executor was asked.
    AfterAppend,
    /// An executor has done its work, but nobody heard of it.
    AfterEffect,
}

impl Seam {
    pub const ALL: [Self; 3] = [Self::BeforeAppend, Self::AfterAppend, Self::AfterEffect];

    pub fn describe(self) -> &'static str {
        match self {
            Self::BeforeAppend => "killed before the append",
            Self::AfterAppend => "killed after the append, before any effect",
            Self::AfterEffect => "killed after an effect whose report is lost",
        }
    }
}
