//! What happened: the one list of events that the ledger holds and the state is made of.
//!
//! Each event says which of its members stand at the top level of the record (those that the plan
//! format names there) and which stand inside `data`. Writing and reading are made from this one
//! list, so they cannot drift apart; a record is read without a generic value between.

#[macro_use]
mod form;
mod line;
mod members;
mod plan;

use std::collections::BTreeMap;

use crate::aftermath::Aftermath;
use crate::conflict::Resolved;
use crate::council::Voice;
use crate::failure::{FailureClass, GateCause, Usage};
use crate::ids::{AgentId, CommandId, Oid, RunId, TaskId};
use crate::operation::{
    Checkpoint, FactChange, HookOutcome, Landed, Left, Plan, Request, SavedStage, SavedTask,
};
use crate::outcome::{Ended, Gate, Mode, Next, PauseReason};
use crate::plan::{BlockKind, ExecutionProfile, Extra, PhaseHead, Status, TaskPatch, TaskSpec};
use crate::planning::Planning;
use crate::policy::Policy;
pub use crate::proof::{Proof, Standing};
use crate::proposal::{Proposal, ProposalEnd};
use crate::record::{RecordError, member};
use crate::review::ReviewNote;
use crate::time::Timestamp;
pub use line::{line, line_at, line_by, loss_words, paused};
use members::Members;
pub use plan::SnapshotData;

events! {
    // --- the plan -------------------------------------------------------------------------------
    /// First record of every ledger.
    PlanCreated "plan_created" [phase "phase": u32]
        { ledger_id "ledgerId": String, format "format": u32, goal "goal": String, phases "phases": Vec<PhaseHead>, extra "extra": Extra }
    /// Goal, phases or unknown members changed.
    PlanUpdated "plan_updated" [] { goal "goal": String, phases "phases": Vec<PhaseHead>, extra "extra": Extra }
    TaskAdded "task_added" [task "taskId": TaskId, phase "phase": u32, after "afterTaskId": Option<TaskId>, spec "data": TaskSpec] {}
    TaskUpdated "task_updated" [task "taskId": TaskId, patch "data": TaskPatch] {}
    /// A person, an import or a tool set the status; also the last step to done. `was`: comes back when its plan is opened again.
    TaskStatusChanged "task_status_changed" [task "taskId": TaskId, status "status": Status]
        { why "why": Option<String>, block "block": Option<BlockKind>, proof "proof": Option<Proof>, was "was": Option<SavedStage> }
    /// The task now stands after another one of the phase, or first.
    TaskReordered "task_reordered" [task "taskId": TaskId, after "afterTaskId": Option<TaskId>, phase "phase": u32] {}
    TaskRemoved "task_removed" [task "taskId": TaskId] {}
    PhaseCompleted "phase_completed" [phase "phase": u32] {}
    /// A task of a complete phase is open again.
    PhaseReopened "phase_reopened" [phase "phase": u32] {}
    /// The whole plan, for readers that start here; a replay checks it.
    Snapshot "snapshot" [data "data": SnapshotData] {}
    PlanRebuilt "plan_rebuilt" [] { source "source": String, tasks "tasks": u64 }
    PlanExported "plan_exported" [path "path": String] {}
    /// Every status back to pending; lifts the lock of the execution profile.
    PlanReset "plan_reset" [] {}
    ExecutionProfileSet "execution_profile_set" [] { profile "execution_profile": ExecutionProfile }
    ExecutionProfileLocked "execution_profile_locked" [] {}
    PlanApproved "plan_approved" [] { structure_hash "structureHash": String }
    /// Last record of a ledger; what follows is only the renaming of files.
    PlanClosed "plan_closed" [] { archive "archive": String }
    /// The ledger was brought back out of the archive.
    PlanReopened "plan_reopened" [] { archive "archive": String }
    // --- the ledger itself ----------------------------------------------------------------------
    /// Records were damaged or cut off and no second copy held them; what is left of them lies in the quarantine files.
    LedgerLoss "ledger_loss" []
        { last_good_seq "lastGoodSeq": u64, last_good_hash "lastGoodHash": String, lost_hash "lostHash": String, quarantine "quarantine": String, known_seq "knownSeq": Option<u64>, known_by "knownBy": Option<String> }
    /// Damaged bytes were replaced by the same bytes of the second copy.
    LedgerRepaired "ledger_repaired" [] { from_seq "fromSeq": u64, to_seq "toSeq": u64, quarantine "quarantine": String }
    /// A torn last batch, never acknowledged, was cut off.
    LedgerCut "ledger_cut" [] { after_seq "afterSeq": u64, bytes "bytes": u64, quarantine "quarantine": String }
    /// A person has seen the loss.
    LossAcknowledged "loss_acknowledged" [] { salvaged "salvaged": u64 }

    // --- the swarm ------------------------------------------------------------------------------
    /// A coordinator took over under a new epoch. `explicit`: checkpoints and hooks that fall due are events of
    /// their own from here on; older ledgers left that to whoever replays them.
    CoordinatorStarted "coordinator_started" []
        { epoch "epoch": u64, version "version": String, host "host": String, trunk "trunk": String, policy "policy": Policy, explicit "explicit": Option<bool> }
    /// Finished work goes to this branch from here on. What is done has to be looked up there.
    TrunkChosen "trunk_chosen" [] { branch "branch": String }
    /// A coordinator left in good order.
    CoordinatorStopped "coordinator_stopped" [] { epoch "epoch": u64 }
    Paused "paused" [] { reason "reason": PauseReason, why "why": String }
    Resumed "resumed" [] { reason "reason": PauseReason }
    /// Whether ready tasks start by themselves, from now on.
    ModeChanged "mode_changed" [] { mode "mode": Mode }
    /// No new work; agents go to their boundary and end.
    DrainStarted "drain_started" [] { why "why": String }
    /// An intervention of a person, with the answer it was given and every fact that it changed. `undoes`: it
    /// set the facts of another one back. `checkpoint`: its facts were too many; this is the state before it. `planning`: what
    /// it took an agent to propose it.
    Operation "operation" []
        { id "id": CommandId, kind "kind": String, subject "subject": Option<String>, answer "answer": String, by "by": Option<String>, facts "facts": Option<Vec<FactChange>>, undoes "undoes": Option<CommandId>, checkpoint "checkpoint": Option<String>, planning "planning": Option<Planning> }
    /// An intervention that moves git as well: nothing new is started until it has finished or failed.
    OperationAsked "operation_asked" []
        { id "id": CommandId, by "by": String, kind "kind": String, subject "subject": Option<String>, request "request": Request, answer "answer": String, expect "expect": Option<String> }
    /// Every agent that it concerns has stopped, and the trunk is free.
    OperationQuiet "operation_quiet" [] { id "id": CommandId }
    /// The intent: from here on it is finished, whatever happens.
    OperationPlanned "operation_planned" [] { id "id": CommandId, plan "plan": Plan }
    /// Git and plan have moved.
    OperationFinished "operation_finished" []
        { id "id": CommandId, text "text": String, facts "facts": Vec<FactChange>, made "made": Vec<Oid> }
    /// An agent is asked about reverts that conflict. `why`: what it made of them last cannot be used.
    ResolverStarted "resolver_started" [task "taskId": TaskId] { id "id": CommandId, profile "profile": String, round "round": u32, paths "paths": Vec<String>, why "why": Option<String> }
    /// It has answered, or cannot (`why`); what follows from it is recorded next.
    ResolverEnded "resolver_ended" [task "taskId": TaskId] { id "id": CommandId, usage "usage": Option<Usage>, why "why": Option<String> }
    /// A step was not possible just now; it is tried again.
    OperationStuck "operation_stuck" [] { id "id": CommandId, why "why": String }
    /// Not possible: nothing was changed.
    OperationFailed "operation_failed" [] { id "id": CommandId, why "why": String, hint "hint": String, paths "paths": Vec<String> }
    /// A person has seen that it failed.
    OperationSeen "operation_seen" [] { id "id": CommandId }
    /// A program wants something that a person has to agree to.
    ProposalMade "proposal_made" [] { proposal "proposal": Proposal }
    ProposalEnded "proposal_ended" [] { number "number": u64, end "end": ProposalEnd }
    /// A task is as it was. What is absent stays as it is.
    TaskRestored "task_restored" [task "taskId": TaskId, status "status": Status]
        { why "why": String, stage "stage": Option<SavedStage>, waived "waived": Option<Vec<Gate>>, saved "saved": Option<SavedTask> }
    /// Facts that no event of their own kind sets back.
    FactsSet "facts_set" [] { facts "facts": Vec<FactChange> }
    /// The state is to be saved under this name, as it was at `seq`; without one, before this record.
    CheckpointDue "checkpoint_due" [] { name "name": String, trigger "trigger": String, full "full": bool, seq "seq": Option<u64> }
    CheckpointMade "checkpoint_made" [] { checkpoint "checkpoint": Checkpoint, op "op": Option<CommandId> }
    CheckpointFailed "checkpoint_failed" [] { name "name": String, why "why": String }
    /// Off the list. Its refs stay until no undo can want them back.
    CheckpointDeleted "checkpoint_deleted" [] { name "name": String, why "why": String }
    /// Its refs and its file are gone.
    CheckpointPurged "checkpoint_purged" [] { name "name": String }
    /// A hook of the user's is to run, once: it has the next number.
    HookDue "hook_due" []
        { hook "hook": String, n "n": u64, subject "subject": Option<String>, run "run": Option<RunId>, variables "variables": BTreeMap<String, String>, blocking "blocking": bool }
    /// About to run. Found without an end by a later coordinator it was interrupted.
    HookStarted "hook_started" [] { hook "hook": String, n "n": u64, subject "subject": Option<String> }
    HookEnded "hook_ended" [] { hook "hook": String, n "n": u64, outcome "outcome": HookOutcome, output "output": String }
    /// A person let this task start, in a mode where tasks wait for it.
    TaskStarted "task_started" [task "taskId": TaskId] {}
    /// A person stopped its agent: it starts again when a person says so, in every mode.
    StartWithheld "start_withheld" [task "taskId": TaskId] { why "why": String }
    /// An agent tried what is not its to do; it was refused or put right. `anybody`: nobody saw who, it may have been a person.
    Overstep "overstep" [task "taskId": TaskId] { run "run": Option<RunId>, what "what": String, anybody "anybody": Option<bool> }
    /// A person has seen the first `oversteps` of them.
    OverstepsSeen "oversteps_seen" [task "taskId": TaskId] { oversteps "oversteps": u32 }

    // --- an attempt -----------------------------------------------------------------------------
    /// A slot was granted: the task is the agent's. `restart`: how many starts of the same attempt came before, where it goes on with one.
    TaskClaimed "task_claimed" [task "taskId": TaskId, status "status": Status]
        { run "run": RunId, agent "agent": AgentId, attempt "attempt": u32, nonce "nonce": String, profile "profile": Option<String>, restart "restart": Option<u32> }
    WorkspaceReady "workspace_ready" [task "taskId": TaskId]
        { run "run": RunId, branch "branch": String, base "base": Oid, tip "tip": Oid }
    AgentSpawned "agent_spawned" [task "taskId": TaskId] { run "run": RunId, agent "agent": AgentId, host "host": String }
    /// An iteration ended and the daemon stands at its boundary. `class`: it failed, in this way.
    Iteration "iteration" [task "taskId": TaskId]
        { run "run": RunId, iteration "iteration": u32, tip "tip": Option<Oid>, note "note": Option<String>, usage "usage": Option<Usage>, session "session": Option<String>, class "class": Option<FailureClass> }
    /// What the agent said in a tag.
    Signal "signal" [task "taskId": TaskId] { run "run": RunId, signal "signal": String, text "text": String }
    WorkSubmitted "work_submitted" [task "taskId": TaskId, status "status": Status]
        { run "run": RunId, iteration "iteration": u32, tip "tip": Oid }
    ChecksPassed "checks_passed" [task "taskId": TaskId] { run "run": RunId, tip "tip": Oid, tree "tree": Oid }
    ChecksFailed "checks_failed" [task "taskId": TaskId, status "status": Status]
        { run "run": RunId, iteration "iteration": u32, output "output": String, digest "digest": Option<String>, gate "gate": Option<Gate> }
    /// Work that was handed in before is checked again, in a new attempt: the checks of the last one had no verdict.
    CheckingResumed "checking_resumed" [task "taskId": TaskId, status "status": Status]
        { run "run": RunId, iteration "iteration": u32, tip "tip": Oid }
    /// Work that was handed in goes back for one more iteration: a person has said something since. Without a run it
    /// waits for its next attempt.
    WorkReopened "work_reopened" [task "taskId": TaskId, status "status": Status]
        { run "run": Option<RunId>, iteration "iteration": u32, why "why": String }
    /// The checks of a task failed, and whether they pass on the commit that it began with is not known.
    BaseSuspected "base_suspected" [task "taskId": TaskId] { commit "commit": Oid }
    /// The checks are tried on that commit alone.
    BaseCheckStarted "base_check_started" [task "taskId": TaskId] { run "run": RunId, nonce "nonce": String, commit "commit": Oid }
    BaseChecked "base_checked" [task "taskId": TaskId] { run "run": RunId, commit "commit": Oid, green "green": bool, output "output": String }
    /// The trial had no verdict. `unknown`: that happened too often, and it is not tried again.
    BaseCheckLost "base_check_lost" [task "taskId": TaskId]
        { run "run": RunId, commit "commit": Oid, why "why": String, unknown "unknown": bool }
    GateWaived "gate_waived" [task "taskId": TaskId] { gate "gate": Gate, reason "reason": String }
    /// Nothing stands between the task and trunk any more but its turn. `base`: where the work of a person starts. `left_out`:
    /// its branch was there already, and whoever approved it wanted the earlier commit merged and the rest not.
    TaskApproved "task_approved" [task "taskId": TaskId, status "status": Status]
        { tip "tip": Oid, tree "tree": Oid, policy "policy": String, base "base": Option<Oid>, left_out "leftOut": Option<Oid> }
    /// The checks passed; the work waits for its review.
    ReviewAsked "review_asked" [task "taskId": TaskId, status "status": Status] { tip "tip": Oid, tree "tree": Oid }
    /// The submitted work is being reviewed.
    ReviewStarted "review_started" [task "taskId": TaskId, status "status": Status]
        { run "run": RunId, nonce "nonce": String, tip "tip": Oid, round "round": u32, profile "profile": Option<String>, member "member": Option<String> }
    /// The agent that reviews has spoken; what follows from it is recorded next.
    ReviewAnswered "review_answered" [task "taskId": TaskId]
        { run "run": RunId, said "said": String, usage "usage": Option<Usage>, session "session": Option<String> }
    /// A member of the council has a verdict about this tree, or cannot have one. What the council decides is recorded next.
    CouncilSpoke "council_spoke" [task "taskId": TaskId]
        { run "run": RunId, member "member": String, tree "tree": Oid, round "round": u32, voice "voice": Voice, said "said": String,
          notes "notes": Vec<ReviewNote> }
    /// The review wants changes.
    ReviewFailed "review_failed" [task "taskId": TaskId, status "status": Status]
        { run "run": RunId, output "output": String, next "next": Next }
    /// A person wants changes, or the agent of this run.
    ChangesRequested "changes_requested" [task "taskId": TaskId, status "status": Status]
        { tip "tip": Oid, round "round": u32, notes "notes": Vec<ReviewNote>, next "next": Next, run "run": Option<RunId> }
    /// The review broke before it had a verdict: no round is held against the task. `counts`: it takes a try (none: it does).
    ReviewLost "review_lost" [task "taskId": TaskId, status "status": Status]
        { run "run": RunId, why "why": String, next "next": Next, counts "counts": Option<bool> }
    /// The review was broken off; it is begun again later.
    ReviewInterrupted "review_interrupted" [task "taskId": TaskId, status "status": Status] { why "why": String }
    AgentCompleted "agent_completed" [task "taskId": TaskId] { run "run": RunId, agent "agent": AgentId }
    /// The attempt ended without a result; `next` says what becomes of the task.
    AgentFailed "agent_failed" [task "taskId": TaskId, status "status": Status]
        { run "run": RunId, agent "agent": AgentId, how "how": Ended, next "next": Next, after "after": Option<Aftermath> }
    /// A person or the end of the session stopped the attempt; no penalty.
    AgentStopped "agent_stopped" [task "taskId": TaskId, status "status": Status]
        { run "run": RunId, agent "agent": AgentId, why "why": String, next "next": Next, goes_on "goesOn": Option<bool> }
    /// The run's process tree is proven gone and its uncommitted work saved: its slot is free.
    AttemptStopped "attempt_stopped" [task "taskId": TaskId] { run "run": RunId, wip "wip": Option<Oid>, session "session": Option<String> }
    /// The attempt was killed in the middle of an iteration, whose changes are to go.
    AgentKilled "agent_killed" [task "taskId": TaskId] { run "run": RunId }
    /// Goes on before everything else when work does: same task, same agent.
    WorkHeld "work_held" [task "taskId": TaskId] { agent "agent": Option<AgentId> }
    /// The worktree is where the killed iteration began; its changes are kept.
    WorktreeRewound "worktree_rewound" [task "taskId": TaskId] { saved "saved": Option<Oid> }
    /// The worktree could not be taken back; after a few tries it stays as it is.
    RewindFailed "rewind_failed" [task "taskId": TaskId] { why "why": String, given_up "givenUp": Option<bool> }
    /// The agent of `task` is to take up another one next. `same_worktree`: that one begins with this one's work.
    AgentRedirected "agent_redirected" [task "taskId": TaskId]
        { agent "agent": AgentId, to "to": TaskId, same_worktree "sameWorktree": bool }

    // --- recovery -------------------------------------------------------------------------------
    /// The agent goes round in circles or is silent: its next iteration begins with a word about it.
    AgentNudged "agent_nudged" [task "taskId": TaskId] { run "run": RunId, iteration "iteration": u32, class "class": FailureClass, why "why": String }
    /// Something worth a line in the history, before anything is done about it.
    AgentNoted "agent_noted" [task "taskId": TaskId] { run "run": RunId, what "what": String }
    /// Too many crashes in too short a time: the agent gets no more work until a person revives it.
    AgentDegraded "agent_degraded" [] { agent "agent": AgentId, why "why": String }
    AgentRevived "agent_revived" [] { agent "agent": AgentId }
    /// From now on the task is worked on under this profile.
    ProfileAssigned "profile_assigned" [task "taskId": TaskId] { profile "profile": String, why "why": String }
    /// The allowance of a group of profiles is used up: nothing of it is started until it is back. Other causes are named:
    /// a service that is not to be had, a key that is not accepted.
    QuotaExhausted "quota_exhausted" [task "taskId": TaskId]
        { group "group": String, run "run": RunId, why "why": String, resets_at "resetsAt": Option<Timestamp>, next_probe "nextProbe": Timestamp, cause "cause": Option<GateCause> }
    /// One small question to the service, in place of the work that waits.
    QuotaProbeStarted "quota_probe_started" [task "taskId": TaskId]
        { group "group": String, run "run": RunId, nonce "nonce": String, profile "profile": String }
    /// Not back yet, or the probe had no answer.
    QuotaProbeFailed "quota_probe_failed" [task "taskId": TaskId]
        { group "group": String, run "run": RunId, why "why": String, resets_at "resetsAt": Option<Timestamp>, next_probe "nextProbe": Timestamp, cause "cause": Option<GateCause> }
    /// What waits for this group goes back to the front of the queue, once.
    QuotaRestored "quota_restored" [] { group "group": String, by "by": String, cause "cause": Option<GateCause> }
    /// A person has taken the waiting off the clock: nothing is probed or resumed until they say so.
    QuotaHeld "quota_held" [] { group "group": String }
    /// The task was too large; its parts stand in the plan and it waits for them.
    TaskSplit "task_split" [task "taskId": TaskId, status "status": Status] { parts "parts": Vec<TaskId>, why "why": String }
    /// A word of a person for whoever works on the task.
    MessageQueued "message_queued" [task "taskId": TaskId] { id "id": CommandId, by "by": String, text "text": String }
    /// The iteration that was given the message has ended.
    MessageLanded "message_landed" [task "taskId": TaskId] { id "id": CommandId, run "run": RunId, iteration "iteration": u32 }
    /// It never reached an agent, and will not.
    MessageUndelivered "message_undelivered" [task "taskId": TaskId] { id "id": CommandId, why "why": String }
    /// A person has seen that messages of the task were not delivered.
    MessagesSeen "messages_seen" [task "taskId": TaskId] {}
    /// A person lets the swarm (or the task) spend as much again.
    BudgetExtended "budget_extended" [] { task "task": Option<TaskId> }

    // --- merging --------------------------------------------------------------------------------
    /// `joins`: its worktree is gone, and what rules decide about its reviewed work may bring one into being again.
    TrunkGranted "trunk_granted" [task "taskId": TaskId, status "status": Status, joins "joins": Option<bool>] {}
    /// The merged commits exist in the object database. Also the intent to publish: it names the paths. `level` and
    /// `resolved`: the work conflicted with trunk in these files, and how that was resolved. `found`: commits that have work
    /// of the task which trunk had already.
    MergeBuilt "merge_built" [task "taskId": TaskId]
        { base "base": Oid, result "result": Oid, commits "commits": Vec<Oid>, squashed "squashed": bool, level "level": Option<u32>, resolved "resolved": Option<Vec<Resolved>>, found "found": Option<Vec<Oid>> }
    /// Rules decided what conflicted with trunk at `base`, and nobody has reviewed that: the branch of the task is at
    /// `tip` with it, and the approval of what was there before is void.
    MergeResolved "merge_resolved" [task "taskId": TaskId, status "status": Status]
        { base "base": Oid, tip "tip": Oid, tree "tree": Oid, level "level": u32, resolved "resolved": Vec<Resolved> }
    /// The branch was changed after `approved` had been: that waits for a review, and no round counts. `base`: rebased onto it.
    ApprovalVoided "approval_voided" [task "taskId": TaskId, status "status": Status]
        { approved "approved": Oid, tip "tip": Oid, tree "tree": Oid, next "next": Next, base "base": Option<Oid> }
    /// What would be merged changes protected files, and no person has seen that: it waits for one.
    ProtectedTouched "protected_touched" [task "taskId": TaskId, status "status": Status] { tip "tip": Oid, paths "paths": Vec<String> }
    VerificationStarted "verification_started" [task "taskId": TaskId] { run "run": RunId, nonce "nonce": String }
    VerificationPassed "verification_passed" [task "taskId": TaskId] { run "run": Option<RunId>, commit "commit": Oid }
    /// Red on the merged tree: the task goes back to work with the output.
    VerificationFailed "verification_failed" [task "taskId": TaskId, status "status": Status]
        { run "run": RunId, output "output": String, next "next": Next }
    /// The merged tree is red, and whether trunk alone is red too is not known yet.
    VerificationRed "verification_red" [task "taskId": TaskId] { run "run": RunId, base "base": Oid, output "output": String }
    /// Trunk alone is verified.
    TrunkTrialStarted "trunk_trial_started" [task "taskId": TaskId] { run "run": RunId, nonce "nonce": String, commit "commit": Oid }
    /// Trunk alone was verified; each of its commits once.
    TrunkJudged "trunk_judged" [task "taskId": TaskId] { run "run": RunId, commit "commit": Oid, green "green": bool, output "output": String }
    /// The person's checkout cannot follow now: the result is kept, the trunk released. Tried again then at the latest.
    PublishWaits "publish_waits" [task "taskId": TaskId]
        { why "why": String, paths "paths": Vec<String>, hint "hint": String, again_at "againAt": Option<Timestamp> }
    CheckoutChanged "checkout_changed" [task "taskId": TaskId] {}
    /// Trunk moved meanwhile: built and verified again.
    RaceLost "race_lost" [task "taskId": TaskId] { trunk_now "trunkNow": Oid }
    /// The merge did not succeed; `next` says what becomes of the task. `was`: where it goes on once a person lets it.
    MergeFailed "merge_failed" [task "taskId": TaskId, status "status": Status]
        { why "why": String, paths "paths": Vec<String>, next "next": Next, was "was": Option<SavedStage> }
    /// The merge was broken off before anything moved; the work keeps its approval.
    MergeInterrupted "merge_interrupted" [task "taskId": TaskId, status "status": Status] { why "why": String }
    /// No executor of this task is at the trunk any more.
    TrunkReleased "trunk_released" [task "taskId": TaskId] {}
    /// Trunk holds the work, proven and durable.
    MergeCompleted "merge_completed" [task "taskId": TaskId] { proof "proof": Proof }
    /// The agent said that it is complete, and its branch changes nothing; `next` says what becomes of the task.
    NothingChanged "nothing_changed" [task "taskId": TaskId, status "status": Status] { why "why": String, next "next": Next }

    // --- reservations -----------------------------------------------------------------------------
    /// Files belong to a task, or to whoever asked, until they are released. `beside`: others that were in the way.
    ReservationGranted "reservation_granted" []
        { task "task": Option<TaskId>, number "number": u64, by "by": Option<String>, files "files": Vec<String>, shared "shared": Vec<String>, secs "secs": u64,
          reason "reason": Option<String>, beside "beside": Vec<u64> }
    ReservationReleased "reservation_released" [] { task "task": Option<TaskId>, number "number": u64, why "why": String }
    /// What would be merged changes files that somebody has reserved: it waits until these reservations are released.
    MergeHeld "merge_held" [task "taskId": TaskId, status "status": Status]
        { reservations "reservations": Vec<u64>, paths "paths": Vec<String>, why "why": String }
    /// What is merged changes files that somebody has reserved, and the configuration lets that pass.
    ReservationPassed "reservation_passed" [task "taskId": TaskId] { reservations "reservations": Vec<u64>, paths "paths": Vec<String> }

    // --- what is done, asked again ----------------------------------------------------------------
    /// Trunk is not where it was left: whatever is done has to be looked up again.
    TrunkMoved "trunk_moved" [] { from "from": Oid, to "to": Oid }
    /// Everything that is done was looked up on trunk at this commit.
    TrunkProven "trunk_proven" [] { commit "commit": Oid }
    /// It could not be looked up; asked again.
    ProofFailed "proof_failed" [] { why "why": String }
    /// The work of a task that was done is not on trunk any more. `work`: where it lies, to be merged again.
    WorkGone "work_gone" [task "taskId": TaskId, status "status": Status]
        { proof "proof": Proof, why "why": String, work "work": Option<Landed> }
    /// The work of a task that was gone is on trunk.
    WorkBack "work_back" [task "taskId": TaskId, status "status": Status] { proof "proof": Proof }
    /// The work of a task that is done stands on trunk under other names: somebody rewrote its commits.
    WorkRewritten "work_rewritten" [task "taskId": TaskId] { proof "proof": Proof }
    /// Gone by proof. `left`: what was in it that is on no trunk.
    WorktreeRemoved "worktree_removed" [task "taskId": TaskId] { left "left": Option<Left> }
    /// The cancelled task is open again while its worktree goes: that is waited for, and what lay there comes back.
    WorktreeAwaited "worktree_awaited" [task "taskId": TaskId] {}
    /// What was given up with its worktree lies there again; no base: there was nothing.
    WorktreeRevived "worktree_revived" [task "taskId": TaskId] { base "base": Option<Oid> }
    /// What was given up could not be brought back; after `tries` a person is told, and it is tried on. None: it was let go.
    RevivalFailed "revival_failed" [task "taskId": TaskId]
        { why "why": String, given_up "givenUp": Option<bool>, tries "tries": Option<u32>, hint "hint": Option<String> }
    /// The worktree could not be proven disposable; it stays and is shown.
    WorktreeKept "worktree_kept" [task "taskId": TaskId] { why "why": String }
}
