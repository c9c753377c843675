//! Interventions, with what they set back.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::command::Command;
use swarm_protocol::event::Event;
use swarm_protocol::ids::{AgentId, CommandId, TaskId};
use swarm_protocol::operation::{
    Checkpoint, Fact, FactChange, Force, HookOutcome, Left, Plan, RefMove, Request, SavedStage, SavedTask,
    Says, TrunkHow, TrunkMove, WorktreeMove, WorktreeTo,
};
use swarm_protocol::outcome::Gate;
use swarm_protocol::plan::Status;
use swarm_protocol::proposal::{Proposal, ProposalEnd};
use swarm_protocol::time::Timestamp;

use super::{oid, proof, run, task};

pub(super) fn fact() -> FactChange {
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

pub(super) fn operation_events() -> Vec<Event> {
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
        Event::ResolverStarted {
            task: task(),
            id: id(),
            profile: "claude".into(),
            round: 2,
            paths: vec!["src/a.rs".into()],
            why: Some("it fails its verification".into()),
        },
        Event::ResolverEnded { task: task(), id: id(), usage: None, why: Some("no answer".into()) },
        Event::OperationStuck { id: id(), why: "no space".into() },
        Event::OperationFailed {
            id: id(),
            why: "a revert does not apply".into(),
            hint: "swarm attention".into(),
            paths: vec!["src/a.rs".into()],
        },
        Event::OperationSeen { id: id() },
        Event::ProposalMade {
            proposal: Proposal {
                number: 1,
                id: id(),
                by: "person:mcp".into(),
                since: Timestamp::ZERO,
                until: Timestamp::ZERO.plus_secs(3_600),
                command: Command::Rollback { to: None, force: Force::default(), expect: Some("ab12".into()) },
                says: vec!["task 1.2: done → pending".into()],
                facts: None,
            },
        },
        Event::ProposalEnded {
            number: 1,
            end: ProposalEnd::Accepted { by: "person:cli".into(), operation: id() },
        },
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
        Event::RevivalFailed {
            task: task(),
            why: "git failed".into(),
            given_up: None,
            tries: None,
            hint: None,
        },
        Event::AgentRedirected { task: task(), agent: AgentId::nth(1), to: task(), same_worktree: true },
    ]
}
