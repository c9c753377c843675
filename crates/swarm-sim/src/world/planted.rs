//! Bugs planted on purpose, to prove that a story would notice them.

use swarm_core::planted::Bug;

/// A rule broken in the core, or in the driver around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    Core(Bug),
    /// An executor that is told to stop stops, and says nothing.
    CancelledNeverReported,
    /// Effects are started by the decision that made them owed; a new coordinator does not ask.
    EffectReturnedNotOwed,
    /// The log and the daemons obey a coordinator that was replaced.
    EpochNotChecked,
    /// People are answered before their command is durable.
    AnsweredBeforeSync,
    /// A coordinator that takes over takes every daemon for dead.
    OrphanOfLiving,
    /// A daemon sends again what was acknowledged, as news.
    OutboxFlushedTwice,
}

impl Planted {
    pub const ALL: [Self; 39] = [
        Self::Core(Bug::TrunkReleasedOnStageChange),
        Self::Core(Bug::SlotGrantedBeforeStopped),
        Self::Core(Bug::OldReportBelieved),
        Self::Core(Bug::GrantedWithoutStart),
        Self::Core(Bug::TransientCounted),
        Self::Core(Bug::OldVerdictBelieved),
        Self::Core(Bug::RedTrunkBlamed),
        Self::Core(Bug::ProbedTwice),
        Self::Core(Bug::LateQuotaBelieved),
        Self::Core(Bug::QuotaCounted),
        Self::Core(Bug::ClosedGatePassed),
        Self::Core(Bug::DegradedGranted),
        Self::Core(Bug::RestartLosesSlot),
        Self::Core(Bug::MessageLandsUnread),
        Self::Core(Bug::TrunkFollowsCheckout),
        Self::Core(Bug::LaneShared),
        Self::Core(Bug::FailedEffectNeverRests),
        Self::Core(Bug::DoneNotAsked),
        Self::Core(Bug::StoppedReadyAtOnce),
        Self::Core(Bug::ReviewSkipped),
        Self::Core(Bug::AuthorReviews),
        Self::Core(Bug::ApprovalKept),
        Self::Core(Bug::ChangeUnseen),
        Self::Core(Bug::OneVoiceIsEnough),
        Self::Core(Bug::ProtectedUnseen),
        Self::Core(Bug::ReservationGrantedTwice),
        Self::Core(Bug::WholeBeforeParts),
        Self::Core(Bug::RetrySkips),
        Self::Core(Bug::PauseNobodyEnds),
        Self::Core(Bug::AttemptWithoutBound),
        Self::Core(Bug::WaitingUnsaid),
        Self::Core(Bug::StopWithoutBound),
        Self::Core(Bug::StopWithoutTrying),
        Self::CancelledNeverReported,
        Self::EffectReturnedNotOwed,
        Self::EpochNotChecked,
        Self::AnsweredBeforeSync,
        Self::OrphanOfLiving,
        Self::OutboxFlushedTwice,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Core(Bug::TrunkReleasedOnStageChange) => "trunk-released-on-stage-change",
            Self::Core(Bug::SlotGrantedBeforeStopped) => "slot-granted-before-stopped",
            Self::Core(Bug::OldReportBelieved) => "old-report-believed",
            Self::Core(Bug::GrantedWithoutStart) => "granted-without-start",
            Self::Core(Bug::TransientCounted) => "transient-counted",
            Self::Core(Bug::OldVerdictBelieved) => "old-verdict-believed",
            Self::Core(Bug::RedTrunkBlamed) => "red-trunk-blamed",
            Self::Core(Bug::ProbedTwice) => "probed-twice",
            Self::Core(Bug::LateQuotaBelieved) => "late-quota-believed",
            Self::Core(Bug::QuotaCounted) => "quota-counted",
            Self::Core(Bug::ClosedGatePassed) => "closed-gate-passed",
            Self::Core(Bug::DegradedGranted) => "degraded-granted",
            Self::Core(Bug::RestartLosesSlot) => "restart-loses-slot",
            Self::Core(Bug::MessageLandsUnread) => "message-lands-unread",
            Self::Core(Bug::TrunkFollowsCheckout) => "trunk-follows-checkout",
            Self::Core(Bug::LaneShared) => "lane-shared",
            Self::Core(Bug::FailedEffectNeverRests) => "failed-effect-never-rests",
            Self::Core(Bug::StoppedReadyAtOnce) => "stopped-ready-at-once",
            Self::Core(Bug::ReviewSkipped) => "review-skipped",
            Self::Core(Bug::AuthorReviews) => "author-reviews",
            Self::Core(Bug::ApprovalKept) => "approval-kept",
            Self::Core(Bug::ChangeUnseen) => "change-unseen",
            Self::Core(Bug::OneVoiceIsEnough) => "one-voice-is-enough",
            Self::Core(Bug::ProtectedUnseen) => "protected-unseen",
            Self::Core(Bug::ReservationGrantedTwice) => "reservation-granted-twice",
            Self::Core(Bug::WholeBeforeParts) => "whole-before-parts",
            Self::Core(Bug::RetrySkips) => "retry-skips",
            Self::Core(Bug::PauseNobodyEnds) => "pause-nobody-ends",
            Self::Core(Bug::AttemptWithoutBound) => "attempt-without-bound",
            Self::Core(Bug::WaitingUnsaid) => "waiting-unsaid",
            Self::Core(Bug::StopWithoutBound) => "stop-without-bound",
            Self::Core(Bug::StopWithoutTrying) => "stop-without-trying",
            Self::OrphanOfLiving => "orphan-of-living-requeued",
            Self::OutboxFlushedTwice => "outbox-flushed-twice",
            // Found by `operations`, not by stories.
            Self::Core(Bug::UndoneOverLaterChange) => "undone-over-later-change",
            Self::Core(Bug::ForeignDropped) => "foreign-dropped",
            Self::Core(Bug::NeededCheckpointPurged) => "needed-checkpoint-purged",
            Self::Core(Bug::ActiveRestored) => "active-restored",
            Self::Core(Bug::HookRunTwice) => "hook-run-twice",
            Self::Core(Bug::BaseNotRestored) => "base-not-restored",
            Self::Core(Bug::DoneNotAsked) => "done-not-asked",
            Self::CancelledNeverReported => "cancelled-never-reported",
            Self::EffectReturnedNotOwed => "effect-returned-not-owed",
            Self::EpochNotChecked => "epoch-not-checked",
            Self::AnsweredBeforeSync => "answered-before-sync",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|bug| bug.name() == name)
    }

    /// Switches the core's part on for the present thread.
    pub fn set(bug: Option<Self>) {
        swarm_core::planted::set(match bug {
            Some(Self::Core(bug)) => Some(bug),
            _ => None,
        });
    }
}
