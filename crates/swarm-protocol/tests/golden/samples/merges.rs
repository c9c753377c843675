//! Review, merge, proof, and what people decided.

use swarm_protocol::aftermath::{Aftermath, Counted, CrashRecord, SetupRecord};
use swarm_protocol::conflict::{Resolved, Way};
use swarm_protocol::council::Voice;
use swarm_protocol::event::{Event, Proof};
use swarm_protocol::failure::{Failure, FailureClass, Usage};
use swarm_protocol::ids::{AgentId, CommandId};
use swarm_protocol::operation::{Landed, Left, SavedStage};
use swarm_protocol::outcome::{Ended, Gate, Next};
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::policy::Policy;
use swarm_protocol::review::ReviewNote;
use swarm_protocol::time::Timestamp;

use super::{oid, proof, run, task};

pub(super) fn review_events() -> Vec<Event> {
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
            counts: None,
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

pub(super) fn merge_events() -> Vec<Event> {
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
        Event::ApprovalVoided {
            task: task(),
            status: Status::Review,
            approved: oid('b'),
            tip: oid('c'),
            tree: oid('d'),
            next: Next::Review { not_before: Timestamp::ZERO },
            base: None,
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
            was: None,
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

pub(super) fn trunk_events() -> Vec<Event> {
    vec![Event::TrunkChosen { branch: "integration".into() }]
}

pub(super) fn proof_events() -> Vec<Event> {
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
pub(super) fn claim_events() -> Vec<Event> {
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
            gate: None,
        },
        Event::ChecksFailed {
            task: task(),
            status,
            run: run(),
            iteration: 3,
            output: "a secret".into(),
            digest: Some("00112233aabbccdd".into()),
            gate: Some(Gate::Scan),
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
pub(super) fn reopening_events() -> Vec<Event> {
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
pub(super) fn decided_events() -> Vec<Event> {
    let again = Next::Pending { not_before: Timestamp(1_768_298_400_000), counts: false };
    let how = Ended::Failed { failure: Failure::new(FailureClass::Overflow, "too much") };
    let after = Aftermath {
        crash: Some(CrashRecord { in_a_row: 2, remembered: 3 }),
        task_crashes: 2,
        counts: Some(Counted::Overflow),
        goes_on: false,
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
        Event::RevivalFailed {
            task: task(),
            why: "git failed".into(),
            given_up: Some(false),
            tries: None,
            hint: None,
        },
        Event::RevivalFailed {
            task: task(),
            why: "the branch swarm/1.2 is checked out at ../place".into(),
            given_up: Some(true),
            tries: Some(5),
            hint: Some("git -C ../place switch --detach".into()),
        },
    ]
}
