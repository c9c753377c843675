//! Records of every kind, as version 1 writes them. Whatever changes, these stay readable.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use swarm_protocol::aftermath::{Aftermath, Counted, CrashRecord, SetupRecord};
use swarm_protocol::conflict::{Resolved, Way};
use swarm_protocol::council::Voice;
use swarm_protocol::event::{Event, Proof, SnapshotData};
use swarm_protocol::failure::{Failure, FailureClass, Usage};
use swarm_protocol::ids::{AgentId, CommandId, Oid, RunId, TaskId};
use swarm_protocol::operation::{
    Checkpoint, Fact, FactChange, Force, HookOutcome, Landed, Left, Plan, RefMove, Request, SavedStage,
    SavedTask, Says, TrunkHow, TrunkMove, WorktreeMove, WorktreeTo,
};
use swarm_protocol::outcome::{Ended, Gate, Mode, Next, PauseReason};
use swarm_protocol::plan::{
    BlockKind, ExecutionProfile, Extra, PhaseHead, Size, Status, TaskPatch, TaskSpec,
};
use swarm_protocol::policy::Policy;
use swarm_protocol::record::{Margin, body, event_of};
use swarm_protocol::review::ReviewNote;
use swarm_protocol::time::Timestamp;

fn oid(digit: char) -> Oid {
    Oid::new(digit.to_string().repeat(40)).expect("hex")
}

fn task() -> TaskId {
    TaskId::new("1.2").expect("an id")
}

fn run() -> RunId {
    RunId::nth(7)
}

fn proof() -> Proof {
    Proof::new("main", oid('c'), vec![oid('b'), oid('c')])
}

fn spec() -> TaskSpec {
    let mut spec = TaskSpec::new(task(), "Say \"hello\" – 你好");
    spec.description = "Two\nlines".into();
    spec.depends = vec![TaskId::new("1.1").expect("an id")];
    spec.acceptance = vec!["it greets".into()];
    spec.files = vec!["src/**".into()];
    spec.tags = vec!["ui".into()];
    spec.size = Some(Size::Small);
    spec.priority = Some(1);
    spec.extra = Extra::from([("estimate".into(), serde_json::json!({ "hours": 3 }))]);
    spec
}

fn plan_events() -> Vec<Event> {
    let phases = vec![PhaseHead { id: 1, name: "First".into(), extra: Extra::new() }];
    let hash = "ab".repeat(32);
    vec![
        Event::PlanCreated {
            phase: 1,
            ledger_id: "5eed".into(),
            format: 1,
            goal: "Greet".into(),
            phases: phases.clone(),
            extra: Extra::new(),
        },
        Event::PlanUpdated { goal: "Greet all".into(), phases, extra: Extra::new() },
        Event::TaskAdded { task: task(), phase: 1, after: None, spec: spec() },
        Event::TaskUpdated {
            task: task(),
            patch: TaskPatch { title: Some("Greet".into()), ..TaskPatch::default() },
        },
        Event::TaskStatusChanged {
            task: task(),
            status: Status::Blocked,
            why: Some("which colour?".into()),
            block: Some(BlockKind::Human),
            proof: None,
            was: None,
        },
        Event::TaskReordered { task: task(), after: Some(TaskId::new("1.1").expect("an id")), phase: 1 },
        Event::TaskRemoved { task: task() },
        Event::PhaseCompleted { phase: 1 },
        Event::Snapshot {
            data: SnapshotData { plan: None, file: Some(hash.clone()), payload_hash: hash.clone() },
        },
        Event::PlanRebuilt { source: ".swarm/SWARM_PLAN.json".into(), tasks: 3 },
        Event::PlanExported { path: ".swarm/SWARM_PLAN.json".into() },
        Event::PlanReset {},
        Event::ExecutionProfileSet {
            profile: ExecutionProfile { max_concurrent_tasks: 4, ..ExecutionProfile::default() },
        },
        Event::ExecutionProfileLocked {},
        Event::PlanApproved { structure_hash: hash.clone() },
        Event::PlanClosed { archive: "plan-2026-01-13T10-00-00".into() },
        Event::LedgerLoss {
            last_good_seq: 9,
            last_good_hash: hash.clone(),
            lost_hash: hash,
            quarantine: "plan-ledger.quarantine.1".into(),
        },
        Event::LedgerRepaired { from_seq: 4, to_seq: 5, quarantine: "plan-ledger.quarantine.2".into() },
        Event::LedgerCut { after_seq: 12, bytes: 311, quarantine: "plan-ledger.quarantine.3".into() },
        Event::LossAcknowledged { salvaged: 2 },
    ]
}

fn swarm_events() -> Vec<Event> {
    let id = CommandId::new("01JCOMMAND").expect("an id");
    vec![
        Event::CoordinatorStarted {
            epoch: 3,
            version: "0.1.0".into(),
            host: "here".into(),
            trunk: "main".into(),
            policy: Policy::default(),
            explicit: None,
        },
        Event::CoordinatorStopped { epoch: 3 },
        Event::Paused { reason: PauseReason::User, why: "lunch".into() },
        Event::Resumed { reason: PauseReason::User },
        Event::Paused { reason: PauseReason::Trunk, why: "1 test failed".into() },
        Event::ModeChanged { mode: Mode::Autopilot },
        Event::TaskStarted { task: task() },
        Event::Overstep { task: task(), run: Some(run()), what: "moved another branch".into() },
        Event::OverstepsSeen { task: task(), oversteps: 2 },
        Event::DrainStarted { why: "Ctrl+C".into() },
        Event::Operation {
            id,
            kind: "task block".into(),
            subject: Some("1.2".into()),
            answer: "Task 1.2 is blocked".into(),
            by: Some("person:cli".into()),
            facts: Some(vec![fact()]),
            undoes: None,
            checkpoint: None,
        },
    ]
}

fn fact() -> FactChange {
    FactChange {
        fact: Fact::parse("task/1.2/stage"),
        before: Some(serde_json::json!({ "stage": "pending", "started": true })),
        after: Some(serde_json::json!({ "stage": "blocked", "block": "human", "why": "wait" })),
    }
}

fn saved_task() -> SavedTask {
    SavedTask {
        stage: SavedStage::Done { proof: Some(proof()), parts: vec![] },
        waived: BTreeSet::from([Gate::Check]),
        base: Some(oid('a')),
        worktree: true,
        left: Some(Left { base: oid('a'), tip: oid('b'), dirty: Some(oid('c')) }),
        wip: Some(oid('b')),
        session: Some("s-1".into()),
        last_agent: Some(AgentId::nth(1)),
        last_failure: Some("1 test failed".into()),
        retries: 1,
        review_rounds: 2,
        merge_rounds: 3,
        landed_before: vec![],
    }
}

/// Its stage has a base of its own.
fn approved_task() -> SavedTask {
    let stage = SavedStage::Approved { tip: oid('b'), tree: oid('c'), base: Some(oid('d')) };
    SavedTask { stage, ..saved_task() }
}

fn intent() -> Plan {
    let (branch, old) = ("main".into(), oid('a'));
    let how = TrunkHow::Rebuild { revert: vec![oid('b')], pick: vec![oid('c')] };
    let restored = WorktreeTo::Restored { base: Some(oid('a')), tip: oid('b'), dirty: Some(oid('c')) };
    Plan {
        checkpoint: "before-rollback".into(),
        trunk: Some(TrunkMove { branch, old, how }),
        refs: vec![RefMove { name: "refs/heads/swarm/1.2".into(), old: Some(oid('a')), new: None }],
        worktrees: vec![
            WorktreeMove { task: task(), to: restored },
            WorktreeMove { task: task(), to: WorktreeTo::Clean { tip: oid('b') } },
            WorktreeMove { task: task(), to: WorktreeTo::Gone },
        ],
        facts: vec![fact()],
        tasks: BTreeMap::from([
            (task(), saved_task()),
            (TaskId::new("1.3").expect("an id"), approved_task()),
        ]),
        save_local: vec!["src/a.rs".into()],
        local: None,
        says: Says { tasks: vec!["1.2: done → pending".into()], ..Says::default() },
        at: Timestamp(1_768_298_400_000),
    }
}

fn operation_events() -> Vec<Event> {
    let id = || CommandId::new("01JCOMMAND").expect("an id");
    let force = Force { drop_foreign: true, save_local: false, set_aside: false };
    let request = Request::Rollback { to: "before-auth".into(), force };
    let checkpoint = Checkpoint {
        name: "before-auth".into(),
        at: Timestamp(1_768_298_400_000),
        seq: 12,
        auto: false,
        trigger: "person".into(),
        trunk: Some(oid('a')),
        branch: None,
        tips: BTreeMap::from([(task(), oid('b'))]),
        dirty: BTreeMap::from([(task(), oid('c'))]),
        moving: BTreeSet::from([task()]),
        full: true,
        deleted: None,
    };
    vec![
        Event::OperationAsked {
            id: id(),
            by: "person:cli".into(),
            kind: "rollback".into(),
            subject: Some("before-auth".into()),
            request,
            answer: "Rolling back".into(),
            expect: Some("ab12".into()),
        },
        Event::OperationQuiet { id: id() },
        Event::OperationPlanned { id: id(), plan: intent() },
        Event::OperationFinished {
            id: id(),
            text: "Rolled back to before-auth".into(),
            facts: vec![fact()],
            made: vec![oid('d')],
        },
        Event::OperationStuck { id: id(), why: "no space".into() },
        Event::OperationFailed {
            id: id(),
            why: "a revert does not apply".into(),
            hint: "swarm attention".into(),
            paths: vec!["src/a.rs".into()],
        },
        Event::OperationSeen { id: id() },
        Event::TaskRestored {
            task: task(),
            status: Status::Done,
            why: "rolled back".into(),
            stage: Some(SavedStage::Done { proof: Some(proof()), parts: vec![] }),
            waived: Some(vec![Gate::Check]),
            saved: Some(saved_task()),
        },
        Event::FactsSet { facts: vec![FactChange { fact: Fact::Budget(None), before: None, after: None }] },
        Event::CheckpointDue {
            name: "before-plan-reset".into(),
            trigger: "plan reset".into(),
            full: true,
            seq: None,
        },
        Event::CheckpointMade { checkpoint, op: Some(id()) },
        Event::CheckpointFailed { name: "before-merge-1.2".into(), why: "no space".into() },
        Event::CheckpointDeleted { name: "before-auth".into(), why: "deleted by a person".into() },
        Event::CheckpointPurged { name: "before-auth".into() },
        Event::HookStarted { hook: "pre-merge".into(), n: 7, subject: Some("1.2".into()) },
        Event::HookEnded {
            hook: "pre-merge".into(),
            n: 7,
            outcome: HookOutcome::Failed { code: Some(1) },
            output: "no".into(),
        },
        Event::AgentKilled { task: task(), run: run() },
        Event::WorkHeld { task: task(), agent: Some(AgentId::nth(1)) },
        Event::WorktreeRewound { task: task(), saved: Some(oid('c')) },
        Event::RewindFailed { task: task(), why: "git failed".into(), given_up: None },
        Event::WorktreeAwaited { task: task() },
        Event::WorktreeRevived { task: task(), base: Some(oid('b')) },
        Event::RevivalFailed { task: task(), why: "git failed".into(), given_up: None },
        Event::AgentRedirected { task: task(), agent: AgentId::nth(1), to: task(), same_worktree: true },
    ]
}

fn recovery_events() -> Vec<Event> {
    let (group, id) = (String::from("claude"), CommandId::new("c1").expect("an id"));
    let later = Timestamp(1_768_298_700_000);
    vec![
        Event::AgentNudged {
            task: task(),
            run: run(),
            iteration: 3,
            class: FailureClass::Looping,
            why: "read_file src/a.rs 10 times".into(),
        },
        Event::AgentNoted { task: task(), run: run(), what: "read_file src/a.rs 5 times".into() },
        Event::AgentDegraded { agent: AgentId::nth(1), why: "6 crashes in 3 minutes".into() },
        Event::AgentRevived { agent: AgentId::nth(1) },
        Event::ProfileAssigned { task: task(), profile: "broad".into(), why: "denied: write /etc".into() },
        Event::QuotaExhausted {
            task: task(),
            group: group.clone(),
            run: run(),
            why: "limit reached".into(),
            resets_at: Some(later),
            next_probe: later,
        },
        Event::QuotaProbeStarted {
            task: task(),
            group: group.clone(),
            run: run(),
            nonce: "n1".into(),
            profile: "claude".into(),
        },
        Event::QuotaProbeFailed {
            task: task(),
            group: group.clone(),
            run: run(),
            why: "limit reached".into(),
            resets_at: None,
            next_probe: later,
        },
        Event::QuotaRestored { group: group.clone(), by: "probe".into() },
        Event::QuotaHeld { group },
        Event::TaskSplit {
            task: task(),
            status: Status::Active,
            parts: vec![TaskId::new("1.2-1").expect("an id")],
            why: "the context window is full".into(),
        },
        Event::MessageQueued {
            task: task(),
            id: id.clone(),
            by: "person:cli".into(),
            text: "Look at b".into(),
        },
        Event::MessageLanded { task: task(), id, run: run(), iteration: 2 },
        Event::BudgetExtended { task: None },
        Event::ReservationGranted {
            task: Some(task()),
            number: 3,
            by: None,
            files: vec!["src/**".into()],
            shared: vec!["docs/**".into()],
            secs: 3600,
            reason: None,
            beside: vec![],
        },
        Event::ReservationReleased { task: None, number: 3, why: "its time is over".into() },
        Event::MergeHeld {
            task: task(),
            status: Status::Merging,
            reservations: vec![3],
            paths: vec!["src/a.rs".into()],
            why: "src/a.rs is reserved by task 1.1 (reservation 3)".into(),
        },
        Event::ReservationPassed { task: task(), reservations: vec![3], paths: vec!["src/a.rs".into()] },
    ]
}

fn attempt_events() -> Vec<Event> {
    let agent = AgentId::nth(1);
    let crashed = Ended::Crashed { code: Some(42), signal: None, text: "boom".into() };
    let again = Next::Pending { not_before: Timestamp(1_768_298_400_000), counts: true };
    vec![
        Event::TaskClaimed {
            task: task(),
            status: Status::Active,
            run: run(),
            agent: agent.clone(),
            attempt: 1,
            nonce: "n0".into(),
            profile: Some("careful".into()),
        },
        Event::WorkspaceReady {
            task: task(),
            run: run(),
            branch: "swarm/1.2".into(),
            base: oid('a'),
            tip: oid('a'),
        },
        Event::AgentSpawned { task: task(), run: run(), agent: agent.clone(), host: "here".into() },
        Event::Iteration {
            task: task(),
            run: run(),
            iteration: 1,
            tip: Some(oid('b')),
            note: None,
            usage: None,
            session: None,
            class: None,
        },
        Event::Iteration {
            task: task(),
            run: run(),
            iteration: 2,
            tip: None,
            note: Some("half done".into()),
            usage: Some(Usage {
                input_tokens: 1200,
                output_tokens: 80,
                cached_tokens: 1000,
                cost_micros: 4200,
                steps: 3,
            }),
            session: Some("0b5e".into()),
            class: Some(FailureClass::Overloaded),
        },
        Event::Signal { task: task(), run: run(), signal: "COMPLETE".into(), text: String::new() },
        Event::WorkSubmitted {
            task: task(),
            status: Status::Active,
            run: run(),
            iteration: 1,
            tip: oid('b'),
        },
        Event::ChecksPassed { task: task(), run: run(), tip: oid('b'), tree: oid('d') },
        Event::ChecksFailed {
            task: task(),
            status: Status::Active,
            run: run(),
            iteration: 1,
            output: "1 failed".into(),
            digest: None,
        },
        Event::GateWaived { task: task(), gate: Gate::Check, reason: "flaky".into() },
        Event::TaskApproved {
            task: task(),
            status: Status::Merging,
            tip: oid('b'),
            tree: oid('d'),
            policy: "none".into(),
            base: None,
        },
        Event::TaskApproved {
            task: task(),
            status: Status::Merging,
            tip: oid('b'),
            tree: oid('d'),
            policy: "person".into(),
            base: Some(oid('a')),
        },
        Event::AgentCompleted { task: task(), run: run(), agent: agent.clone() },
        Event::AgentFailed {
            task: task(),
            status: Status::Pending,
            run: run(),
            agent: agent.clone(),
            how: crashed,
            next: again.clone(),
            after: None,
        },
        Event::AgentFailed {
            task: task(),
            status: Status::Blocked,
            run: run(),
            agent: agent.clone(),
            how: Ended::Failed {
                failure: Failure {
                    class: FailureClass::Key,
                    text: "401".into(),
                    resets_in_secs: None,
                    hint: Some("claude login".into()),
                },
            },
            next: Next::Blocked { block: BlockKind::Setup, why: "log in".into() },
            after: None,
        },
        Event::AgentStopped {
            task: task(),
            status: Status::Pending,
            run: run(),
            agent,
            why: "asked".into(),
            next: again,
        },
        Event::AttemptStopped { task: task(), run: run(), wip: Some(oid('e')) },
    ]
}

fn review_events() -> Vec<Event> {
    vec![
        Event::ChangesRequested {
            task: task(),
            status: Status::Pending,
            tip: oid('b'),
            round: 1,
            notes: vec![
                ReviewNote { file: Some("src/a.rs".into()), line: Some(12), text: "off by one".into() },
                ReviewNote { text: "add a test".into(), ..ReviewNote::default() },
            ],
            next: Next::Pending { not_before: Timestamp::ZERO, counts: false },
            run: None,
        },
        Event::ReviewAnswered {
            task: task(),
            run: run(),
            said: "wants 1 thing changed".into(),
            usage: Some(Usage { input_tokens: 10, ..Usage::default() }),
            session: Some("s1".into()),
        },
        Event::ReviewAsked { task: task(), status: Status::Review, tip: oid('b'), tree: oid('d') },
        Event::ReviewStarted {
            task: task(),
            status: Status::Review,
            run: run(),
            nonce: "n2".into(),
            tip: oid('b'),
            round: 1,
            profile: None,
            member: None,
        },
        Event::ReviewFailed {
            task: task(),
            status: Status::Pending,
            run: run(),
            output: "no tests".into(),
            next: Next::Pending { not_before: Timestamp::ZERO, counts: false },
        },
        Event::ReviewLost {
            task: task(),
            status: Status::Review,
            run: run(),
            why: "killed".into(),
            next: Next::Review { not_before: Timestamp(1_768_298_400_000) },
        },
        Event::CouncilSpoke {
            task: task(),
            run: run(),
            member: "security".into(),
            tree: oid('d'),
            round: 1,
            voice: Voice::Concerns,
            said: "approved; remarks: slow".into(),
            notes: vec![ReviewNote { text: "slow".into(), ..ReviewNote::default() }],
        },
        Event::ReviewInterrupted { task: task(), status: Status::Review, why: "Ctrl+C".into() },
    ]
}

fn merge_events() -> Vec<Event> {
    let blocked = Next::Blocked { block: BlockKind::Conflict, why: "src/a.rs".into() };
    vec![
        Event::TrunkGranted { task: task(), status: Status::Merging, joins: None },
        Event::TrunkGranted { task: task(), status: Status::Merging, joins: Some(true) },
        Event::MergeBuilt {
            task: task(),
            base: oid('a'),
            result: oid('c'),
            commits: vec![oid('c')],
            squashed: false,
            level: None,
            resolved: None,
            found: None,
        },
        Event::MergeBuilt {
            task: task(),
            base: oid('a'),
            result: oid('c'),
            commits: vec![oid('c')],
            squashed: true,
            level: Some(1),
            resolved: Some(vec![Resolved { path: "src/a.rs".into(), way: Way::Imports }]),
            found: Some(vec![oid('b')]),
        },
        Event::MergeResolved {
            task: task(),
            status: Status::Review,
            base: oid('a'),
            tip: oid('c'),
            tree: oid('d'),
            level: 1,
            resolved: vec![Resolved { path: "b.txt".into(), way: Way::Whitespace }],
        },
        Event::ProtectedTouched {
            task: task(),
            status: Status::Review,
            tip: oid('c'),
            paths: vec![".swarm/config.json".into()],
        },
        Event::VerificationStarted { task: task(), run: run(), nonce: "n1".into() },
        Event::VerificationPassed { task: task(), run: Some(run()), commit: oid('c') },
        Event::VerificationFailed {
            task: task(),
            status: Status::Pending,
            run: run(),
            output: "red".into(),
            next: Next::Pending { not_before: Timestamp::ZERO, counts: false },
        },
        Event::VerificationRed { task: task(), run: run(), base: oid('a'), output: "red".into() },
        Event::TrunkTrialStarted { task: task(), run: run(), nonce: "n3".into(), commit: oid('a') },
        Event::TrunkJudged {
            task: task(),
            run: run(),
            commit: oid('a'),
            green: false,
            output: "red too".into(),
        },
        Event::PublishWaits {
            task: task(),
            why: "src/a.rs is changed".into(),
            paths: vec!["src/a.rs".into()],
            hint: "git stash push -- src/a.rs".into(),
            again_at: None,
        },
        Event::CheckoutChanged { task: task() },
        Event::RaceLost { task: task(), trunk_now: oid('f') },
        Event::MergeFailed {
            task: task(),
            status: Status::Blocked,
            why: "conflict".into(),
            paths: vec!["src/a.rs".into()],
            next: blocked,
        },
        Event::MergeInterrupted { task: task(), status: Status::Merging, why: "Ctrl+C".into() },
        Event::TrunkReleased { task: task() },
        Event::MergeCompleted { task: task(), proof: proof() },
        Event::WorktreeRemoved {
            task: task(),
            left: Some(Left { base: oid('a'), tip: oid('b'), dirty: None }),
        },
        Event::WorktreeKept { task: task(), why: ".env is ignored by git".into() },
    ]
}

fn trunk_events() -> Vec<Event> {
    vec![Event::TrunkChosen { branch: "integration".into() }]
}

fn proof_events() -> Vec<Event> {
    let landed = Landed { base: oid('a'), tip: oid('c'), tree: oid('d'), stands: vec![oid('b')] };
    let accepted = Proof { found: vec![oid('b')], accepted: Some("done by hand".into()), ..proof() };
    vec![
        Event::NothingChanged {
            task: task(),
            status: Status::Pending,
            why: "the branch changes nothing".into(),
            next: Next::Pending { not_before: Timestamp::ZERO, counts: false },
        },
        Event::TrunkMoved { from: oid('a'), to: oid('b') },
        Event::TrunkProven { commit: oid('b') },
        Event::ProofFailed { why: "the branch main is gone".into() },
        Event::WorkGone {
            task: task(),
            status: Status::Gone,
            proof: proof(),
            why: "its commits are not on main".into(),
            work: Some(landed),
        },
        Event::WorkBack { task: task(), status: Status::Done, proof: accepted },
        Event::PhaseReopened { phase: 1 },
        Event::WorkRewritten {
            task: task(),
            proof: Proof { made: vec![oid('a')], commits: vec![oid('b')], ..proof() },
        },
    ]
}

/// What keeps a task from being worked on again and again.
fn claim_events() -> Vec<Event> {
    let id = CommandId::new("c-9").expect("an id");
    let (status, commit) = (Status::Active, oid('a'));
    vec![
        Event::StartWithheld { task: task(), why: "a person stopped its agent".into() },
        Event::ChecksFailed {
            task: task(),
            status,
            run: run(),
            iteration: 2,
            output: "1 failed".into(),
            digest: Some("00112233aabbccdd".into()),
        },
        Event::CheckingResumed { task: task(), status, run: run(), iteration: 0, tip: oid('b') },
        Event::WorkReopened {
            task: task(),
            status,
            run: Some(run()),
            iteration: 2,
            why: "a message came while its work was checked".into(),
        },
        Event::BaseSuspected { task: task(), commit: commit.clone() },
        Event::BaseCheckStarted { task: task(), run: run(), nonce: "n4".into(), commit: commit.clone() },
        Event::BaseChecked {
            task: task(),
            run: run(),
            commit: commit.clone(),
            green: false,
            output: "1 failed".into(),
        },
        Event::BaseCheckLost { task: task(), run: run(), commit, why: "killed".into(), unknown: false },
        Event::MessageUndelivered { task: task(), id, why: "the task is done".into() },
        Event::MessagesSeen { task: task() },
    ]
}

/// A closed plan that is opened again.
fn reopening_events() -> Vec<Event> {
    vec![
        Event::TaskStatusChanged {
            task: task(),
            status: Status::Cancelled,
            why: Some("the plan was closed; it was pending".into()),
            block: None,
            proof: None,
            was: Some(SavedStage::Pending { started: true, withheld: false }),
        },
        Event::PlanReopened { archive: "plan-2026-01-13T10-00-00".into() },
    ]
}

/// Records that say what older ones left to be decided by whoever replays them.
fn decided_events() -> Vec<Event> {
    let again = Next::Pending { not_before: Timestamp(1_768_298_400_000), counts: false };
    let how = Ended::Failed { failure: Failure::new(FailureClass::Overflow, "too much") };
    let after = Aftermath {
        crash: Some(CrashRecord { in_a_row: 2, remembered: 3 }),
        task_crashes: 2,
        counts: Some(Counted::Overflow),
        fresh_session: true,
        quota: Some("claude".into()),
        denied: Some("careful".into()),
        setup: Some(SetupRecord { text: "npm ci failed".into(), count: 2, commands: false }),
    };
    vec![
        Event::CoordinatorStarted {
            epoch: 4,
            version: "0.1.0".into(),
            host: "here".into(),
            trunk: "main".into(),
            policy: Policy::default(),
            explicit: Some(true),
        },
        Event::CheckpointDue {
            name: "before-merge-1.2".into(),
            trigger: "merge".into(),
            full: false,
            seq: Some(41),
        },
        Event::HookDue {
            hook: "pre-start".into(),
            n: 8,
            subject: Some("1.2".into()),
            run: Some(run()),
            variables: [("AGENT".to_string(), "ed-001".to_string())].into(),
            blocking: true,
        },
        Event::AgentFailed {
            task: task(),
            status: Status::Pending,
            run: run(),
            agent: AgentId::nth(1),
            how,
            next: again,
            after: Some(after),
        },
        Event::PublishWaits {
            task: task(),
            why: "src/a.rs is changed".into(),
            paths: vec!["src/a.rs".into()],
            hint: "git stash push -- src/a.rs".into(),
            again_at: Some(Timestamp(1_768_298_460_000)),
        },
        Event::RewindFailed { task: task(), why: "git failed".into(), given_up: Some(true) },
        Event::RevivalFailed { task: task(), why: "git failed".into(), given_up: Some(false) },
    ]
}

fn samples() -> Vec<Event> {
    [
        plan_events(),
        swarm_events(),
        operation_events(),
        attempt_events(),
        recovery_events(),
        review_events(),
        merge_events(),
        trunk_events(),
        proof_events(),
        claim_events(),
        reopening_events(),
        decided_events(),
    ]
    .concat()
}

fn golden(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// The record as far as this crate makes it.
fn line(event: &Event) -> String {
    format!("{{{}}}", body(event, "person:cli", event.is_plan_event().then_some("aa")))
}

/// The line without its braces.
fn inner(line: &str) -> &[u8] {
    &line.as_bytes()[1..line.len() - 1]
}

#[test]
fn there_is_a_sample_of_every_kind_of_event() {
    let have: BTreeSet<&str> = samples().iter().map(Event::kind).collect();
    let all: BTreeSet<&str> = Event::KINDS.iter().copied().collect();
    assert_eq!(have, all);
}

#[test]
fn every_event_is_read_back_as_it_was_written() {
    for event in samples() {
        let line = line(&event);
        assert_eq!(event_of(inner(&line)).as_ref(), Ok(&event), "{line}");
        let margin = Margin::read(line.as_bytes()).expect("the margin");
        assert_eq!((margin.kind.as_ref(), margin.by.as_ref()), (event.kind(), "person:cli"));
    }
}

/// As whoever reads the ledger without us would find them.
#[test]
fn the_task_and_the_run_of_an_event_are_those_of_its_record() {
    let runs = samples().iter().filter(|event| event.run().is_some()).count();
    assert!(runs > 30, "{runs}");
    for event in samples() {
        let record: serde_json::Value = serde_json::from_str(&line(&event)).expect("JSON");
        assert_eq!(event.task().map(TaskId::as_str), record["taskId"].as_str(), "{record}");
        assert_eq!(event.run().map(RunId::as_str), record["data"]["run"].as_str(), "{record}");
    }
}

#[test]
fn printed_golden_records_are_written_as_ever() {
    let file = golden("records.jsonl");
    let text: String = samples().iter().map(|event| line(event) + "\n").collect();
    if std::env::var_os("SWARM_GEN").is_some() {
        std::fs::write(&file, &text).expect("the golden file");
    }
    let golden = std::fs::read_to_string(&file).expect("the golden file");
    assert_eq!(
        golden, text,
        "a record would be written differently: its old form must stay readable, see the files of earlier versions"
    );
    for (line, event) in golden.lines().zip(samples()) {
        assert_eq!(event_of(inner(line)), Ok(event));
    }
}

/// Files of earlier versions are never written again, only read.
#[test]
fn records_of_earlier_versions_stay_readable() {
    let text = std::fs::read_to_string(golden("records-v1.jsonl")).expect("the golden file");
    for line in text.lines() {
        let event = event_of(inner(line)).unwrap_or_else(|e| panic!("{e}: {line}"));
        let margin = Margin::read(line.as_bytes()).expect("the margin");
        assert_eq!(margin.kind.as_ref(), event.kind());
    }
    assert!(text.lines().count() >= 53, "records are missing");
}

#[test]
fn a_ledger_of_a_time_without_modes_goes_on_by_itself() {
    let text = std::fs::read_to_string(golden("records-v1.jsonl")).expect("the golden file");
    let line = text.lines().find(|line| line.contains("coordinator_started")).expect("there is one");
    let Ok(Event::CoordinatorStarted { policy, .. }) = event_of(inner(line)) else { panic!("{line}") };
    assert_eq!((policy.mode, policy.reviews), (Mode::Autopilot, false));
}

#[test]
fn the_plan_format_finds_its_members_where_it_wants_them() {
    let check = |event: &Event, wanted: &str| assert!(line(event).starts_with(wanted), "{}", line(event));
    check(&plan_events()[4], r#"{"type":"task_status_changed","taskId":"1.2","status":"blocked","data":{"#);
    check(&plan_events()[5], r#"{"type":"task_reordered","taskId":"1.2","afterTaskId":"1.1","#);
    check(&plan_events()[7], r#"{"type":"phase_completed","phase":1,"#);
    check(&plan_events()[10], r#"{"type":"plan_exported","path":".swarm/SWARM_PLAN.json","#);
    check(&plan_events()[12], r#"{"type":"execution_profile_set","data":{"execution_profile":{"#);
}

#[test]
fn statuses_are_read_in_the_words_of_other_tools() {
    let words = [
        ("todo", Status::Pending),
        ("open", Status::Pending),
        ("doing", Status::Active),
        ("in_progress", Status::Active),
        ("completed", Status::Done),
        ("complete", Status::Done),
        ("stuck", Status::Blocked),
        ("later", Status::Deferred),
    ];
    for (word, status) in words {
        assert_eq!(serde_json::from_value::<Status>(word.into()).ok(), Some(status), "{word}");
    }
}

#[test]
fn a_record_of_an_unknown_kind_or_without_its_members_is_an_error_and_not_a_guess() {
    for bad in [
        r#"{"type":"task_teleported","taskId":"1.1"}"#,
        r#"{"type":"task_removed"}"#,
        r#"{"type":"paused"}"#,
        "{}",
    ] {
        assert!(event_of(inner(bad)).is_err(), "{bad}");
    }
}

#[test]
fn names_that_git_or_a_file_system_would_refuse_are_refused() {
    for bad in
        ["", "../x", "a/b", "A", "-a", "a..b", "a.lock", "a.", "a b", "é", "shared", "merge", &"x".repeat(65)]
    {
        assert!(TaskId::new(bad).is_err(), "{bad:?}");
    }
    for good in ["1.2", "add-login", "a", "0", "v1.2.3_x"] {
        assert!(TaskId::new(good).is_ok(), "{good:?}");
    }
}
