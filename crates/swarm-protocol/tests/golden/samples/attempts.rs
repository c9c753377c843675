//! Recovery, and agents at work.

use swarm_protocol::event::Event;
use swarm_protocol::failure::{Failure, FailureClass, GateCause, Usage};
use swarm_protocol::ids::{AgentId, CommandId, TaskId};
use swarm_protocol::outcome::{Ended, Gate, Next};
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::time::Timestamp;

use super::{oid, run, task};

pub(super) fn recovery_events() -> Vec<Event> {
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
            cause: None,
        },
        Event::QuotaExhausted {
            task: task(),
            group: group.clone(),
            run: run(),
            why: "overloaded".into(),
            resets_at: None,
            next_probe: later,
            cause: Some(GateCause::Service),
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
            cause: None,
        },
        Event::QuotaRestored { group: group.clone(), by: "probe".into(), cause: None },
        Event::QuotaRestored { group: group.clone(), by: "probe".into(), cause: Some(GateCause::Key) },
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

pub(super) fn attempt_events() -> Vec<Event> {
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
            restart: None,
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
                estimated_micros: 0,
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
            gate: None,
        },
        Event::GateWaived { task: task(), gate: Gate::Check, reason: "flaky".into() },
        Event::TaskApproved {
            task: task(),
            status: Status::Merging,
            tip: oid('b'),
            tree: oid('d'),
            policy: "none".into(),
            base: None,
            left_out: None,
        },
        Event::TaskApproved {
            task: task(),
            status: Status::Merging,
            tip: oid('b'),
            tree: oid('d'),
            policy: "person".into(),
            base: Some(oid('a')),
            left_out: None,
        },
        Event::TaskApproved {
            task: task(),
            status: Status::Merging,
            tip: oid('b'),
            tree: oid('d'),
            policy: "human".into(),
            base: None,
            left_out: Some(oid('c')),
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
            goes_on: None,
        },
        Event::AttemptStopped { task: task(), run: run(), wip: Some(oid('e')), session: None },
        Event::AttemptStopped { task: task(), run: run(), wip: None, session: Some("s-1".into()) },
    ]
}
