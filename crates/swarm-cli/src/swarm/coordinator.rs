//! Views that only a running coordinator can give.

use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use serde::de::DeserializeOwned;
use swarm_ledger::OwnerInfo;
use swarm_process::{ProcessIdentity, is_stopped, open_verified};
use swarm_protocol::api::Seen;
use swarm_protocol::outcome::Mode;
use swarm_server::client::{Client, ClientError};

use super::Swarm;
use crate::error::CliError;

/// A coordinator that takes longer for the simplest answer hangs: its longest turn waits for a disk.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(10);

impl Swarm {
    /// A view of the coordinator; none where nobody answers.
    pub fn view_of_coordinator<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let client = Client::new(&self.paths.socket);
        let asked = client.view::<T>(name, None);
        let heard = async { tokio::time::timeout(ANSWER_WITHIN, asked).await };
        let seen: Seen<T> = self.runtime.block_on(heard).ok()?.ok()?;
        Some(seen.view)
    }

    /// Whether whoever is there answers what only its loop can answer. True where nobody is there, or no more.
    pub fn is_answered(&self) -> bool {
        let client = Client::new(&self.paths.socket);
        let asked = client.view::<serde_json::Value>("status", None);
        let heard = async { tokio::time::timeout(ANSWER_WITHIN, asked).await };
        !matches!(self.runtime.block_on(heard), Err(_) | Ok(Err(ClientError::Silent(_))))
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

    /// Lets the coordinator go on where a signal has stopped it: it could not be asked for anything.
    pub fn wake_coordinator(&self) {
        let Ok(Some(owner)) =
            std::fs::read(&self.paths.owner).map(|bytes| serde_json::from_slice(&bytes).ok())
        else {
            return;
        };
        let OwnerInfo { pid, start_time, boot_id, .. } = owner;
        let process = ProcessIdentity { boot_id, pid, start_time, nonce: String::new() };
        if let Some(process) = open_verified(&process).filter(|process| is_stopped(process.pid)) {
            process.signal(Signal::CONT);
        }
    }

    /// The process that coordinates, if one answers.
    pub fn coordinator_pid(&self) -> Option<u32> {
        if self.has_coordinator() { self.last_coordinator_pid() } else { None }
    }

    /// The process that was the last to coordinate, whether or not it still does.
    pub fn last_coordinator_pid(&self) -> Option<u32> {
        let owner: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&self.paths.owner).ok()?).ok()?;
        u32::try_from(owner["pid"].as_u64()?).ok()
    }
}
