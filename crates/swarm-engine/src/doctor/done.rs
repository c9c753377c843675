//! Tasks that are called done and whose work is not on trunk.

use swarm_core::show;

use super::finding::Found;
use super::patient::Patient;
use crate::present::as_on_trunk;

pub(super) async fn inspect(patient: &Patient) -> Vec<Found> {
    let state = as_on_trunk(&patient.git, patient.state.clone()).await;
    let mut found: Vec<Found> = Vec::new();
    if let Some(failed) = &state.proof_failed {
        found.push(Found::problem("done-on-trunk", format!("it cannot be looked up: {}", failed.why)));
    }
    for (task, why) in show::gone(&state) {
        let problem = Found::problem("done-on-trunk", format!("the work of task {task} has gone: {why}"));
        found.push(problem.about(task.as_str()).by_hand("swarm run --retry"));
    }
    if found.is_empty() {
        found.push(Found::ok("done-on-trunk", "all of it is on trunk"));
    }
    found
}
