//! The only writer of `State`. Total: whatever a ledger holds, it is taken in without failing;
//! whether it *should* have happened was decided before it was written.

mod audit;
mod facts;
mod legacy;
mod merge;
mod operation;
mod place;
mod plan;
mod proof;
mod recovery;
mod restore;
mod review;
mod run;
mod spent;
mod swarm;
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
        self.note(event, at);
        self.count_claims(event);
        let before = observe::Before::of(self, event);
        let taken = match event {
            Event::CoordinatorStarted { .. }
            | Event::CoordinatorStopped { .. }
            | Event::TrunkChosen { .. }
            | Event::Paused { .. }
            | Event::Resumed { .. }
            | Event::ModeChanged { .. }
            | Event::DrainStarted { .. }
            | Event::Operation { .. }
            | Event::Signal { .. }
            | Event::LedgerLoss { .. }
            | Event::LossAcknowledged { .. }
            | Event::LedgerRepaired { .. }
            | Event::LedgerCut { .. } => self.apply_swarm(event, at),
            Event::PlanCreated { .. }
            | Event::PlanUpdated { .. }
            | Event::TaskAdded { .. }
            | Event::TaskUpdated { .. }
            | Event::TaskStatusChanged { .. }
            | Event::TaskReordered { .. }
            | Event::TaskRemoved { .. }
            | Event::PhaseCompleted { .. }
            | Event::PhaseReopened { .. }
            | Event::Snapshot { .. }
            | Event::PlanRebuilt { .. }
            | Event::PlanExported { .. }
            | Event::PlanReset { .. }
            | Event::ExecutionProfileSet { .. }
            | Event::ExecutionProfileLocked { .. }
            | Event::PlanApproved { .. }
            | Event::PlanClosed { .. }
            | Event::PlanReopened { .. } => self.apply_plan(event, at),
            Event::TaskClaimed { .. }
            | Event::WorkspaceReady { .. }
            | Event::AgentSpawned { .. }
            | Event::Iteration { .. }
            | Event::WorkSubmitted { .. }
            | Event::CheckingResumed { .. }
            | Event::WorkReopened { .. }
            | Event::ChecksFailed { .. }
            | Event::ChecksPassed { .. }
            | Event::GateWaived { .. }
            | Event::TaskStarted { .. }
            | Event::StartWithheld { .. }
            | Event::Overstep { .. }
            | Event::OverstepsSeen { .. }
            | Event::TaskApproved { .. }
            | Event::AgentCompleted { .. }
            | Event::AgentFailed { .. }
            | Event::AgentStopped { .. }
            | Event::AttemptStopped { .. } => self.apply_run(event, at),
            Event::BaseSuspected { .. }
            | Event::BaseCheckStarted { .. }
            | Event::BaseChecked { .. }
            | Event::BaseCheckLost { .. } => self.apply_base(event, at),
            Event::ReviewAsked { .. }
            | Event::ReviewStarted { .. }
            | Event::ReviewAnswered { .. }
            | Event::CouncilSpoke { .. }
            | Event::ReviewFailed { .. }
            | Event::ChangesRequested { .. }
            | Event::ReviewLost { .. }
            | Event::ReviewInterrupted { .. } => self.apply_review(event, at),
            Event::AgentNudged { .. }
            | Event::AgentNoted { .. }
            | Event::AgentDegraded { .. }
            | Event::AgentRevived { .. }
            | Event::ProfileAssigned { .. }
            | Event::TaskSplit { .. }
            | Event::MessageQueued { .. }
            | Event::MessageLanded { .. }
            | Event::MessageUndelivered { .. }
            | Event::MessagesSeen { .. }
            | Event::BudgetExtended { .. } => self.apply_recovery(event, at),
            Event::QuotaExhausted { .. }
            | Event::QuotaProbeStarted { .. }
            | Event::QuotaProbeFailed { .. }
            | Event::QuotaRestored { .. }
            | Event::QuotaHeld { .. } => self.apply_quota(event, at),
            Event::TrunkMoved { .. }
            | Event::TrunkProven { .. }
            | Event::ProofFailed { .. }
            | Event::WorkGone { .. }
            | Event::WorkBack { .. }
            | Event::WorkRewritten { .. }
            | Event::NothingChanged { .. } => self.apply_proof(event, at),
            Event::OperationAsked { .. }
            | Event::OperationQuiet { .. }
            | Event::OperationPlanned { .. }
            | Event::OperationStuck { .. }
            | Event::OperationFinished { .. }
            | Event::OperationFailed { .. }
            | Event::TaskRestored { .. }
            | Event::FactsSet { .. }
            | Event::CheckpointDue { .. }
            | Event::HookDue { .. }
            | Event::CheckpointMade { .. }
            | Event::CheckpointFailed { .. }
            | Event::CheckpointDeleted { .. }
            | Event::CheckpointPurged { .. }
            | Event::HookStarted { .. }
            | Event::HookEnded { .. }
            | Event::AgentKilled { .. }
            | Event::WorkHeld { .. }
            | Event::WorktreeRewound { .. }
            | Event::RewindFailed { .. }
            | Event::OperationSeen { .. }
            | Event::AgentRedirected { .. } => self.apply_operation(event, at),
            Event::WorktreeRemoved { .. }
            | Event::WorktreeAwaited { .. }
            | Event::WorktreeRevived { .. }
            | Event::RevivalFailed { .. }
            | Event::WorktreeKept { .. } => self.apply_worktree(event),
            Event::TrunkGranted { .. }
            | Event::MergeBuilt { .. }
            | Event::MergeResolved { .. }
            | Event::ProtectedTouched { .. }
            | Event::VerificationStarted { .. }
            | Event::VerificationPassed { .. }
            | Event::VerificationFailed { .. }
            | Event::VerificationRed { .. }
            | Event::TrunkTrialStarted { .. }
            | Event::TrunkJudged { .. }
            | Event::PublishWaits { .. }
            | Event::CheckoutChanged { .. }
            | Event::RaceLost { .. }
            | Event::MergeFailed { .. }
            | Event::MergeInterrupted { .. }
            | Event::TrunkReleased { .. }
            | Event::MergeCompleted { .. } => self.apply_merge(event, at),
        };
        debug_assert!(taken, "{} is not taken in where it belongs", event.kind());
        self.watched(event, before, at);
        if let Some(task) = event.task() {
            self.reindex(&task.clone());
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
