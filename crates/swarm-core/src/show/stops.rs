//! Whom a command would stop.

use swarm_protocol::oplog::StopView;

use crate::state::State;

/// Runs that are at work before and have nothing more to do after it. What they leave behind, git knows.
pub fn stops(before: &State, after: &State) -> Vec<StopView> {
    let over = |run| after.runs.get(run).is_none_or(|run| run.ended);
    let stopped = before.runs.iter().filter(|(id, run)| !run.ended && over(*id));
    let view = stopped.map(|(id, run)| StopView {
        run: id.clone(),
        task: run.task.clone(),
        kind: run.kind,
        agent: run.agent.clone(),
        saved_to: None,
        files: vec![],
        files_in_all: 0,
    });
    view.collect()
}
