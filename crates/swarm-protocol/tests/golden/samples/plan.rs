//! The plan and the swarm.

use swarm_protocol::event::{Event, SnapshotData};
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::outcome::{Mode, PauseReason};
use swarm_protocol::plan::{BlockKind, ExecutionProfile, Extra, PhaseHead, Status, TaskPatch};
use swarm_protocol::planning::Planning;
use swarm_protocol::policy::Policy;
use swarm_protocol::time::Timestamp;

use super::operations::fact;
use super::{run, spec, task};

pub fn plan_events() -> Vec<Event> {
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
            known_seq: Some(12),
            known_by: Some("the second copy".into()),
        },
        Event::LedgerRepaired { from_seq: 4, to_seq: 5, quarantine: "plan-ledger.quarantine.2".into() },
        Event::LedgerCut { after_seq: 12, bytes: 311, quarantine: "plan-ledger.quarantine.3".into() },
        Event::LossAcknowledged { salvaged: 2 },
    ]
}

pub(super) fn swarm_events() -> Vec<Event> {
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
        Event::Overstep {
            task: task(),
            run: Some(run()),
            what: "moved another branch".into(),
            anybody: None,
        },
        Event::Overstep {
            task: task(),
            run: None,
            what: "the branch was deleted".into(),
            anybody: Some(true),
        },
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
            planning: None,
        },
        Event::Operation {
            id: CommandId::new("01J8Z3K4M5N6P7Q8R9S0T1V2W4").expect("an id"),
            kind: "plan save".into(),
            subject: None,
            answer: "1 task added".into(),
            by: Some("person:cli".into()),
            facts: None,
            undoes: None,
            checkpoint: None,
            planning: Some(Planning {
                profile: "claude".into(),
                program: "claude".into(),
                model: Some("opus".into()),
                began: Timestamp(1_700_000_000_000),
                ended: Timestamp(1_700_000_060_000),
                asked: 2,
                session: Some("s-1".into()),
                usage: Usage { input_tokens: 10, output_tokens: 2, ..Usage::default() },
            }),
        },
    ]
}
