//! The door that browsers come in by, opened for this swarm or asked if it is open.

use std::sync::Arc;

use swarm_server::client::ClientError;
use swarm_web::control::{Control, Revoked, SessionView};
use swarm_web::door::{Door, DoorError, Opening};

use super::Swarm;
use super::inside::refuse_agents;
use super::screen::Editor;
use crate::error::CliError;

impl Swarm {
    /// Whether this process may serve pages here.
    pub fn may_open_door(&self) -> Result<(), CliError> {
        refuse_agents("web")?;
        if !self.paths.swarm.is_dir() {
            return Err(CliError::refused_now("There is no swarm here yet").run_instead("swarm init"));
        }
        let made = std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700)
            .recursive(true)
            .create(&self.paths.run);
        made.map_err(|error| {
            CliError::environment(format!("Cannot make {}", self.relative(&self.paths.run))).because(error)
        })
    }

    pub async fn open_door(self: &Arc<Self>, port: Option<u16>) -> Result<Door, DoorError> {
        // An editor is opened where the person sits, and that is not here.
        let elsewhere: Editor = |_, _| Err(CliError::refused_now("The browser cannot open an editor"));
        let ledger = Arc::new(self.screen(elsewhere));
        let swarm = Arc::clone(self);
        let trunk = move || swarm.runtime.block_on(swarm.trunk_name()).ok();
        let opening = Opening {
            port,
            trunk: Arc::new(trunk),
            mcp: Some(self.speaks_mcp()),
            ..Opening::new(&self.paths, ledger, self.place())
        };
        opening.open().await
    }

    pub fn door_control(&self) -> Control {
        Control::new(&self.paths.run)
    }

    pub fn door_sessions(&self) -> Result<Vec<SessionView>, CliError> {
        self.runtime.block_on(self.door_control().sessions()).map_err(unanswered)
    }

    pub fn revoke_sessions(&self, id: Option<String>) -> Result<Revoked, CliError> {
        self.runtime.block_on(self.door_control().revoke(id)).map_err(unanswered)
    }

    /// Whether `swarm run` is to serve the pages too.
    pub fn wants_door(&self) -> bool {
        self.configuration().is_ok_and(|settings| settings.config.web.enabled)
    }
}

fn unanswered(error: ClientError) -> CliError {
    match error {
        ClientError::Nobody => CliError::refused_now("The web UI is not open").run_instead("swarm web"),
        ClientError::Denied { error, .. } => CliError::not_allowed(error.message).say(error.hint),
        error => CliError::environment("Cannot ask the web UI").because(error).run_instead("swarm web"),
    }
}
