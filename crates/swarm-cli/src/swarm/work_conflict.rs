//! Where the work of a task conflicts with trunk.

use swarm_engine::work_conflict::{Looked, WorkConflict, work_conflict};
use swarm_protocol::ids::TaskId;

use super::Swarm;
use crate::error::CliError;

impl Swarm {
    /// The conflict, and what trunk is called; refused where there is none.
    pub fn conflict_of(&self, id: &TaskId) -> Result<(WorkConflict, String), CliError> {
        let state = self.planned(None)?;
        if state.task(id).is_none() {
            return Err(super::read::unknown(&state, id));
        }
        let (looked, trunk) = self.runtime.block_on(async {
            let trunk = self.trunk_name().await?;
            Ok::<_, CliError>((work_conflict(&self.git, &trunk, &state, id).await?, trunk))
        })?;
        let none = |why: String, command: &str| {
            Err(CliError::refused_now(why).run_instead(format!("swarm task {command} {id}")))
        };
        match looked {
            Looked::Conflicts(conflict) => Ok((*conflict, trunk)),
            Looked::NoWork => none(format!("Task {id} has no work to show yet"), "show"),
            Looked::Merged => none(format!("Task {id} is on {trunk}: nothing of it conflicts"), "diff"),
            Looked::Fits => {
                none(format!("The work of task {id} does not conflict with {trunk} as it is now"), "diff")
            }
        }
    }
}
