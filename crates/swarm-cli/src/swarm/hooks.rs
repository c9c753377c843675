//! The person's hooks, outside of a run.

use std::collections::BTreeMap;

use swarm_protocol::deed::{HookProgram, HookRan};

use super::Swarm;
use crate::error::CliError;

impl Swarm {
    /// Every hook that there is, with its last end.
    pub fn hook_programs(&self) -> Result<Vec<HookProgram>, CliError> {
        Ok(self.hands()?.hook_programs()?)
    }

    /// Files beside them that are never run, and were probably meant to be.
    pub fn misnamed_hooks(&self) -> Vec<String> {
        swarm_work::hooks::misnamed(self.root())
    }

    /// What running one would start.
    pub fn would_run(
        &self,
        name: &str,
        variables: &BTreeMap<String, String>,
    ) -> Result<Vec<String>, CliError> {
        Ok(self.hands()?.would_run(name, variables)?)
    }

    /// Runs one to its end.
    pub fn run_hook(&self, name: &str, variables: &BTreeMap<String, String>) -> Result<HookRan, CliError> {
        Ok(self.runtime.block_on(self.hands()?.run_hook(name, variables))?)
    }
}
