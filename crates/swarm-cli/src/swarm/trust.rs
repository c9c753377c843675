//! What came with the repository and would be executed.

use std::path::Path;

use swarm_engine::trust::{Steering, Trust};

use super::Swarm;
use crate::error::CliError;

impl Swarm {
    /// Refused as long as something here would be executed that nobody has agreed to.
    pub(super) fn trusted(&self) -> Result<(), CliError> {
        let trust = Trust::of(&self.paths);
        match self.runtime.block_on(trust.unknown(&self.git, &self.paths))?.first() {
            None => Ok(()),
            Some(file) => Err(CliError::untrusted(format!(
                "{} came with the repository and is not trusted yet",
                file.path.display()
            ))),
        }
    }

    /// What the person has here by now is the person's own, and stays so when it is committed.
    pub fn remember_own(&self) {
        if let Err(error) = self.trusted() {
            tracing::info!(%error, "not everything here is the person's own");
        }
    }

    /// Everything that steers a run, and whether it was agreed to.
    pub fn steering(&self) -> Result<Vec<Steering>, CliError> {
        Ok(self.runtime.block_on(Trust::of(&self.paths).look(&self.git, &self.paths))?)
    }

    pub fn agree_to(&self, files: &[Steering]) -> Result<(), CliError> {
        Trust::of(&self.paths).agree(files).map_err(|error| cannot("remember it", error))
    }

    pub fn agree_to_nothing(&self) -> Result<(), CliError> {
        Trust::of(&self.paths).forget().map_err(|error| cannot("forget it", error))
    }

    /// What a person agrees to: the file itself, to its end.
    pub fn lines_of(&self, path: &Path) -> Vec<String> {
        match std::fs::read(self.paths.root.join(path)) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect(),
            Err(error) => vec![format!("(cannot be read: {error})")],
        }
    }
}

fn cannot(what: &str, error: std::io::Error) -> CliError {
    CliError::environment(format!("Cannot {what}")).because(error)
}
