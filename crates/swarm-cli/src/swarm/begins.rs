//! A repository without a swarm: what is refused there leaves nothing behind, not even the folder with the locks.

use swarm_engine::preview::NoPreview;
use swarm_process::caller::am_i_inside;
use swarm_protocol::command::Command;

use super::Swarm;
use crate::error::CliError;

impl Swarm {
    /// Refuses before anything is made what would be refused under the lock. Whatever else goes wrong is told by the command
    /// itself.
    pub(super) fn refuse_where_nothing_is(&self, command: &Command) -> Result<(), CliError> {
        if self.is_something_here() {
            return Ok(());
        }
        match self.looked_at(command) {
            Ok(Err(NoPreview::Refused(refusal))) => Err(refusal.into()),
            _ => Ok(()),
        }
    }

    /// The same for what works on a plan that is there.
    pub fn refuse_without_a_plan(&self) -> Result<(), CliError> {
        if self.is_something_here() { Ok(()) } else { self.planned(None).map(drop) }
    }

    /// The walls of an agent may hide it.
    fn is_something_here(&self) -> bool {
        std::fs::symlink_metadata(&self.paths.swarm).is_ok() || am_i_inside().is_some()
    }
}
