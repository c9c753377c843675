//! One event of every kind, with every member filled.

mod attempts;
mod merges;
mod operations;
mod plan;

use swarm_protocol::event::{Event, Proof};
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::plan::{Extra, Size, TaskSpec};

use attempts::{attempt_events, recovery_events};
use merges::{
    claim_events, decided_events, merge_events, proof_events, reopening_events, review_events, trunk_events,
};
use operations::operation_events;
pub use plan::plan_events;
use plan::swarm_events;

pub fn oid(digit: char) -> Oid {
    Oid::new(digit.to_string().repeat(40)).expect("hex")
}

pub fn task() -> TaskId {
    TaskId::new("1.2").expect("an id")
}

pub fn run() -> RunId {
    RunId::nth(7)
}

pub fn proof() -> Proof {
    Proof::new("main", oid('c'), vec![oid('b'), oid('c')])
}

pub fn spec() -> TaskSpec {
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

pub fn samples() -> Vec<Event> {
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
