//! Work that a stop left where it is: what could not be saved lies in the worktree of its task.

use serde::Serialize;
use swarm_core::State;
use swarm_protocol::channel::RunKind;
use swarm_protocol::ids::TaskId;

use crate::paths::Paths;

/// Files of an agent that no commit holds, and where they lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unsaved {
    pub task: TaskId,
    /// From the root of the repository.
    pub worktree: String,
    pub why: String,
}

/// What nobody could save. `no_room`: nothing could be recorded either, so that whatever was at work counts.
pub fn unsaved(state: &State, paths: &Paths, no_room: bool) -> Vec<Unsaved> {
    let works = state.runs.values().filter(|run| run.kind == RunKind::Work);
    let left = works.filter(|run| no_room || (run.ended && run.stuck.is_some()));
    let lies = left.filter_map(|run| {
        let worktree = paths.worktrees.join(run.task.as_str());
        let why = run.stuck.as_ref().map_or_else(|| "there is no room on the disk".into(), |s| s.why.clone());
        let place = paths.shown(&worktree).to_string();
        worktree.is_dir().then(|| Unsaved { task: run.task.clone(), worktree: place, why })
    });
    lies.collect()
}
