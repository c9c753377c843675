//! The only writer of `State`. Total: whatever a ledger holds, it is taken in without failing;
//! whether it *should* have happened was decided before it was written.

mod audit;
mod checkpoint;
mod facts;
mod intervention;
mod legacy;
mod merge;
mod operation;
mod place;
mod plan;
mod proof;
mod proposal;
mod recovery;
mod reservation;
mod restore;
mod review;
mod run;
mod work;
mod spent;
mod swarm;
mod verification;
mod observe;
mod worktree;

use swarm_protocol::event::Event;
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::BlockKind;
use swarm_protocol::time::Timestamp;

use crate::stage::Stage;
use crate::state::{State, Task, saved};

impl State {
    /// Takes one record in. `at` is the record's time.
    pub fn apply(&mut self, event: &Event, at: Timestamp) {
        self.seq += 1;
        self.at = self.at.max(at);
        if event.is_plan_event() {
            self.plan_events_since_snapshot += 1;
        }
        self.flow.note(self.seq, event);
        self.note(event, at);
        self.count_claims(event);
        let before = observe::Before::of(self, event);
        let taken = self.taken_in(event, at);
        debug_assert!(taken, "{} is not taken in where it belongs", event.kind());
        self.watched(event, before, at);
        if let Some(task) = event.task() {
            self.reindex(&task.clone());
        }
    }

    /// Every event is taken in by one concern, and by which is said here alone.
    #[rustfmt::skip] // a table: a line for each event would be three screens
    fn taken_in(&mut self, event: &Event, at: Timestamp) -> bool {
        use Event as E;
        match event {
            E::CoordinatorStarted { .. } | E::CoordinatorStopped { .. } | E::TrunkChosen { .. }
            | E::Paused { .. } | E::Resumed { .. } | E::ModeChanged { .. } | E::DrainStarted { .. }
            | E::Operation { .. } | E::Signal { .. } | E::LedgerLoss { .. } | E::LossAcknowledged { .. }
            | E::LedgerRepaired { .. } | E::LedgerCut { .. } => self.apply_swarm(event, at),
            E::PlanCreated { .. } | E::PlanUpdated { .. } | E::TaskAdded { .. } | E::TaskUpdated { .. }
            | E::TaskStatusChanged { .. } | E::TaskReordered { .. } | E::TaskRemoved { .. }
            | E::PhaseCompleted { .. } | E::PhaseReopened { .. } | E::Snapshot { .. }
            | E::PlanRebuilt { .. } | E::PlanExported { .. } | E::PlanReset { .. }
            | E::ExecutionProfileSet { .. } | E::ExecutionProfileLocked { .. } | E::PlanApproved { .. }
            | E::PlanClosed { .. } | E::PlanReopened { .. } => self.apply_plan(event, at),
            E::TaskClaimed { .. } | E::WorkspaceReady { .. } | E::AgentSpawned { .. } | E::Iteration { .. }
            | E::WorkSubmitted { .. } | E::CheckingResumed { .. } | E::WorkReopened { .. }
            | E::ChecksFailed { .. } | E::ChecksPassed { .. } | E::GateWaived { .. }
            | E::TaskStarted { .. } | E::StartWithheld { .. } | E::Overstep { .. }
            | E::OverstepsSeen { .. } | E::TaskApproved { .. } | E::AgentCompleted { .. }
            | E::AgentFailed { .. } | E::AgentStopped { .. } | E::AttemptStopped { .. } => self.apply_run(event, at),
            E::BaseSuspected { .. } | E::BaseCheckStarted { .. } | E::BaseChecked { .. }
            | E::BaseCheckLost { .. } => self.apply_base(event, at),
            E::ReviewAsked { .. } | E::ReviewStarted { .. } | E::ReviewAnswered { .. }
            | E::CouncilSpoke { .. } | E::ReviewFailed { .. } | E::ChangesRequested { .. }
            | E::ReviewLost { .. } | E::ReviewInterrupted { .. } => self.apply_review(event, at),
            E::AgentNudged { .. } | E::AgentNoted { .. } | E::AgentDegraded { .. } | E::AgentRevived { .. }
            | E::ProfileAssigned { .. } | E::TaskSplit { .. } | E::MessageQueued { .. }
            | E::MessageLanded { .. } | E::MessageUndelivered { .. } | E::MessagesSeen { .. }
            | E::BudgetExtended { .. } => self.apply_recovery(event, at),
            E::QuotaExhausted { .. } | E::QuotaProbeStarted { .. } | E::QuotaProbeFailed { .. }
            | E::QuotaRestored { .. } | E::QuotaHeld { .. } => self.apply_quota(event, at),
            E::TrunkMoved { .. } | E::TrunkProven { .. } | E::ProofFailed { .. } | E::WorkGone { .. }
            | E::WorkBack { .. } | E::WorkRewritten { .. } | E::NothingChanged { .. } => self.apply_proof(event, at),
            E::OperationAsked { .. } | E::OperationQuiet { .. } | E::OperationPlanned { .. }
            | E::ResolverStarted { .. } | E::ResolverEnded { .. }
            | E::OperationStuck { .. } | E::OperationFinished { .. } | E::OperationFailed { .. }
            | E::TaskRestored { .. } | E::FactsSet { .. } | E::OperationSeen { .. } => self.apply_operation(event, at),
            E::ProposalMade { .. } | E::ProposalEnded { .. } => self.apply_proposal(event),
            E::CheckpointDue { .. } | E::HookDue { .. } | E::CheckpointMade { .. }
            | E::CheckpointFailed { .. } | E::CheckpointDeleted { .. } | E::CheckpointPurged { .. }
            | E::HookStarted { .. } | E::HookEnded { .. } => self.apply_checkpoint(event, at),
            E::AgentKilled { .. } | E::WorkHeld { .. } | E::WorktreeRewound { .. } | E::RewindFailed { .. }
            | E::AgentRedirected { .. } => self.apply_intervention(event),
            E::WorktreeRemoved { .. } | E::WorktreeAwaited { .. } | E::WorktreeRevived { .. }
            | E::RevivalFailed { .. } | E::WorktreeKept { .. } => self.apply_worktree(event, at),
            E::TrunkGranted { .. } | E::MergeBuilt { .. } | E::MergeResolved { .. }
            | E::ApprovalVoided { .. } | E::ProtectedTouched { .. } | E::PublishWaits { .. } | E::CheckoutChanged { .. }
            | E::RaceLost { .. } | E::MergeFailed { .. } | E::MergeInterrupted { .. }
            | E::TrunkReleased { .. } | E::MergeCompleted { .. } => self.apply_merge(event, at),
            E::ReservationGranted { .. } | E::ReservationReleased { .. } | E::MergeHeld { .. }
            | E::ReservationPassed { .. } => self.apply_reservation(event, at),
            E::VerificationStarted { .. } | E::VerificationPassed { .. } | E::VerificationFailed { .. }
            | E::VerificationRed { .. } | E::TrunkTrialStarted { .. } | E::TrunkJudged { .. } => self.apply_verification(event, at),
        }
    }

    /// Changes a task if it exists; a ledger that names others is taken in all the same.
    fn change(&mut self, id: &TaskId, how: impl FnOnce(&mut Task)) {
        if let Some(task) = self.tasks.get_mut(id) {
            how(task);
        }
    }

    /// Puts a task into another stage and lets go of what only the old stage used.
    fn enter(&mut self, id: &TaskId, stage: Stage) {
        let seq = self.seq;
        let Some(task) = self.tasks.get_mut(id) else { return };
        task.leaving &= !stage.is_closed();
        if stage == Stage::Cancelled {
            task.cancelled = seq;
        }
        if !matches!(stage, Stage::Blocked { .. } | Stage::Deferred | Stage::Cancelled) {
            task.was = None; // it is open and goes on
        }
        let waits = matches!(stage, Stage::Blocked { .. } | Stage::Deferred);
        task.bare &= waits || matches!(stage, Stage::Approved { .. } | Stage::Merging { .. });
        let old = std::mem::replace(&mut task.stage, stage);
        let still = task.stage.run() == old.run();
        let still_judging: Vec<RunId> = task.stage.judging_runs().cloned().collect();
        for run in old.run().filter(|_| !still).into_iter().chain(old.judging_runs()) {
            if !still_judging.contains(run)
                && let Some(run) = self.runs.get_mut(run)
            {
                run.ended = true;
            }
        }
        if let Some(proof) = old.proof()
            && !matches!(self.tasks.get(id).map(|t| &t.stage), Some(Stage::Done { .. }))
        {
            self.ops.made.extend(proof.own().iter().cloned());
        }
    }

    fn follow(&mut self, id: &TaskId, next: &Next, at: Timestamp) {
        let stage = match next {
            Next::Pending { not_before, counts } => {
                if *counts {
                    self.change(id, |task| task.retries += 1);
                }
                Stage::Pending { since: at, not_before: *not_before }
            }
            // Who begins again, and after which run, is known to the event only.
            Next::Restart { not_before, .. } => Stage::Pending { since: at, not_before: *not_before },
            Next::Blocked { block, why } => Stage::Blocked { block: *block, why: why.clone(), since: at },
            Next::Failed { why } => Stage::Failed { why: why.clone(), since: at },
            Next::Timeout { why } => Stage::Timeout { why: why.clone(), since: at },
            Next::Deferred => Stage::Deferred,
            Next::Cancelled => Stage::Cancelled,
            Next::Approved { not_before } => return self.approve_again(id, *not_before, None),
            Next::Review { not_before } => match self.tasks.get(id).map(|t| &t.stage) {
                // Others of the council may be speaking.
                Some(Stage::Review { tip, tree, since, run, beside, .. }) => Stage::Review {
                    tip: tip.clone(),
                    tree: tree.clone(),
                    since: *since,
                    not_before: *not_before,
                    run: run.clone(),
                    beside: beside.clone(),
                },
                _ => return,
            },
        };
        if matches!(stage, Stage::Blocked { block: BlockKind::Review, .. }) {
            // The work is still there for whoever decides in the reviewer's place.
            self.change(id, |task| task.was = task.submitted().is_some().then(|| saved::stage(task)));
        }
        self.enter(id, stage);
    }
}

/// Appends to a list that keeps only the newest.
fn keep<T>(list: &mut std::collections::VecDeque<T>, most: usize, item: T) {
    if list.len() >= most {
        list.pop_front();
    }
    list.push_back(item);
}
