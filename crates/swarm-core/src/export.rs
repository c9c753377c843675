//! The plan as a file again: with statuses for exports, without them for approval.

use serde_json::Value;
use swarm_protocol::plan::{PhaseFile, PlanFile, TaskFile};

use crate::state::State;

/// The whole plan with the statuses of its tasks.
pub fn plan_file(state: &State) -> PlanFile {
    build(state, true)
}

/// What a person approves: everything but the statuses.
pub fn structure(state: &State) -> Value {
    serde_json::to_value(build(state, false)).unwrap_or(Value::Null)
}

fn build(state: &State, statuses: bool) -> PlanFile {
    let Some(plan) = &state.plan else { return PlanFile::default() };
    let phases = plan.phases.iter().map(|phase| PhaseFile {
        id: phase.id,
        name: phase.name.clone(),
        tasks: phase
            .tasks
            .iter()
            .filter_map(|id| state.task(id))
            .map(|task| {
                let mut file = TaskFile::from(task.spec.clone());
                // A closed plan shows what its tasks were: that they are not worked on any more says the closing.
                let was = task.was.as_ref().filter(|_| plan.closed);
                file.status = statuses.then(|| was.map_or(task.stage.status(), |was| was.status()));
                file
            })
            .collect(),
        extra: phase.extra.clone(),
    });
    PlanFile {
        goal: plan.goal.clone(),
        phases: phases.collect(),
        execution_profile: Some(plan.profile),
        extra: plan.extra.clone(),
    }
}
