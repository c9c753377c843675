//! Views that only a running coordinator can give.

use std::path::Path;

use serde::de::DeserializeOwned;
use swarm_protocol::api::Seen;
use swarm_protocol::outcome::Mode;
use swarm_server::client::Client;

use super::Swarm;
use crate::error::CliError;

impl Swarm {
    /// A view of the coordinator; none where nobody answers.
    pub fn view_of_coordinator<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let client = Client::new(&self.paths.socket);
        let asked = client.view::<T>(name, None);
        let seen: Seen<T> = self.runtime.block_on(asked).ok()?;
        Some(seen.view)
    }

    /// Whether ready tasks start by themselves: as recorded, else as configured.
    pub fn mode(&self) -> Result<Mode, CliError> {
        let configured = self.configuration()?.config.mode;
        Ok(self.state(None)?.mode.unwrap_or(configured))
    }

    /// Locks, socket, what a coordinator in the background says.
    pub fn run_folder(&self) -> &Path {
        &self.paths.run
    }

    /// The process that coordinates, if one answers.
    pub fn coordinator_pid(&self) -> Option<u32> {
        if !self.has_coordinator() {
            return None;
        }
        let owner: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&self.paths.owner).ok()?).ok()?;
        u32::try_from(owner["pid"].as_u64()?).ok()
    }
}
