//! The end of a running swarm, asked for from outside.

use std::time::Duration;

use serde::Serialize;
use swarm_protocol::command::Command;

use super::Swarm;
use crate::error::CliError;
use crate::watch::Watch;

/// Agents have their time to the boundary, their grace, and the saving of their work; what takes longer hangs.
const END_WITHIN: Duration = Duration::from_secs(180);

#[derive(Debug, Serialize)]
pub struct Stopped {
    /// False when it was only asked.
    pub ended: bool,
    pub text: String,
}

impl Swarm {
    /// Asks the coordinator to drain, and waits until it is gone.
    pub fn stop(&self, wait: bool) -> Result<Stopped, CliError> {
        // Watched before it is asked, so that a quick end is not missed.
        let watch = Watch::folder(&self.paths.run);
        if !self.has_coordinator() {
            return Err(CliError::no_coordinator("No swarm is running here").run_instead("swarm status"));
        }
        match self.ask(Command::Drain { why: "swarm stop".into() }) {
            // It stops already; all that is left is to wait.
            Err(error) if error.kind == "draining" => {}
            asked => drop(asked?),
        }
        if !wait {
            return Ok(Stopped {
                ended: false,
                text: "Asked to stop; `swarm status` shows how far it is".into(),
            });
        }
        let gone = watch.until(END_WITHIN, || !self.has_coordinator());
        if !gone {
            return Err(CliError::environment("The swarm was asked to stop and has not ended")
                .because(format!("waited {} s", END_WITHIN.as_secs()))
                .run_instead("swarm agent list"));
        }
        Ok(Stopped { ended: true, text: "Stopped in good order; `swarm run` goes on from here".into() })
    }
}
