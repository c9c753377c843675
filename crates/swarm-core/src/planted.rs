//! Bugs that can be switched on at run time, to prove that the simulator would find them.
//!
//! Thread-local, so that tests side by side do not disturb each other; gone from release builds.

/// A rule that is broken on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// The trunk is given back when the stage changes, not when its executor has reported.
    TrunkReleasedOnStageChange,
    /// A slot counts as free as soon as the attempt has ended, not when its processes are gone.
    SlotGrantedBeforeStopped,
    /// A report of a run that is over is taken for news.
    OldReportBelieved,
    /// A task is granted that nobody started, in a mode where tasks wait for it.
    GrantedWithoutStart,
    /// A failure of a service is held against the task.
    TransientCounted,
    /// A verdict is believed whichever tip it was about.
    OldVerdictBelieved,
    /// A red merged tree is blamed on the task before trunk alone was looked at.
    RedTrunkBlamed,
    /// A second probe is started while one is under way.
    ProbedTwice,
    /// A run of before the gate was opened closes it again.
    LateQuotaBelieved,
    /// Used-up quota is held against the task.
    QuotaCounted,
    /// A task is started although the allowance of its group is used up.
    ClosedGatePassed,
    /// An agent that was taken out of service gets the next task.
    DegradedGranted,
    /// A restart counts as free what its agent still holds.
    RestartLosesSlot,
    /// A message counts as delivered although the prompt was written before it.
    MessageLandsUnread,
    /// An undo sets facts back that something else has changed since.
    UndoneOverLaterChange,
    /// A person's commits count as the swarm's own when trunk moves back.
    ForeignDropped,
    /// A checkpoint goes although an operation that can still be undone needs it.
    NeededCheckpointPurged,
    /// A task that was at work then is put back to work, without an agent.
    ActiveRestored,
    /// A hook that was interrupted is run again.
    HookRunTwice,
    /// Each coordinator takes for trunk what is checked out when it starts.
    TrunkFollowsCheckout,
    /// An effect begins although another one is at work in its lane.
    LaneShared,
    /// An effect that failed and is still owed is asked for again at once.
    FailedEffectNeverRests,
    /// A branch comes back and nobody says where its commits begin.
    BaseNotRestored,
    /// What is done is never looked up again.
    DoneNotAsked,
    /// A task whose agent a person stopped is ready at once, and an agent has it again a moment later.
    StoppedReadyAtOnce,
    /// Work that a person is to review goes to trunk without.
    ReviewSkipped,
    /// The conversation in which the work was done reviews it.
    AuthorReviews,
    /// A council decides as soon as one of it has spoken.
    OneVoiceIsEnough,
    /// What a rule made of reviewed work goes to trunk as if it had been reviewed.
    ApprovalKept,
    /// Nobody looks whether a branch was changed after it had been approved.
    ChangeUnseen,
    /// Work that changes protected files goes to trunk although no person has seen that.
    ProtectedUnseen,
    /// Files that somebody has reserved are given to another task as well.
    ReservationGrantedTwice,
    /// A retry skips work that was done once and is not on trunk any more.
    RetrySkips,
    /// A pause for want of room stays although there is room again.
    PauseNobodyEnds,
    /// An attempt may take as long as it likes.
    AttemptWithoutBound,
    /// Nobody is told of tasks that wait for a person.
    WaitingUnsaid,
    /// A task that was split is looked at as a whole when the first of its parts is done.
    WholeBeforeParts,
    /// A swarm that was told to stop waits for what fails for ever.
    StopWithoutBound,
    /// A swarm that was told to stop ends without what failed once.
    StopWithoutTrying,
}

#[cfg(debug_assertions)]
mod switch {
    use super::Bug;
    use std::cell::Cell;

    thread_local! {
        static PLANTED: Cell<Option<Bug>> = const { Cell::new(None) };
    }

    /// Breaks this rule on the present thread, or none.
    pub fn set(bug: Option<Bug>) {
        PLANTED.set(bug);
    }

    /// Whether this rule is broken now.
    pub fn is(bug: Bug) -> bool {
        PLANTED.get() == Some(bug)
    }
}

#[cfg(not(debug_assertions))]
mod switch {
    use super::Bug;

    /// Release builds have no planted bugs.
    pub fn set(_: Option<Bug>) {}

    pub fn is(_: Bug) -> bool {
        false
    }
}

pub use switch::{is, set};
