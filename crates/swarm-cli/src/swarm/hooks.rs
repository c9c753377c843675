//! The person's hooks, outside of a run.

use std::collections::BTreeMap;

use swarm_protocol::config;
use swarm_protocol::operation::HookOutcome;
use swarm_work::hooks::{self, Found, Occasion};

use super::Swarm;
use crate::error::CliError;

impl Swarm {
    /// Every hook that there is, by its name.
    pub fn found_hooks(&self) -> Result<Vec<(&'static str, Found)>, CliError> {
        let configured = hooks::configured(&self.configuration()?.config.hooks);
        Ok(hooks::list(self.root(), &configured))
    }

    /// Files beside them that are never run, and were probably meant to be.
    pub fn misnamed_hooks(&self) -> Vec<String> {
        hooks::misnamed(self.root())
    }

    /// What running one would start.
    pub fn would_run(
        &self,
        name: &str,
        variables: &BTreeMap<String, String>,
    ) -> Result<Vec<String>, CliError> {
        let found = self.hook_named(name)?;
        let mut lines = vec![match &found {
            Found::Hook(hook) => format!("{} is started", hook.shown),
            Found::Unfit { shown, why, .. } => format!("{shown} cannot be started: {why}"),
            Found::Nothing => return Ok(vec![]),
        }];
        lines.extend(variables.iter().map(|(name, value)| format!("with SWARM_{name}={value}")));
        Ok(lines)
    }

    /// Runs one to its end.
    pub fn run_hook(
        &self,
        name: &str,
        variables: &BTreeMap<String, String>,
    ) -> Result<(HookOutcome, String), CliError> {
        self.trusted()?;
        let found = self.hook_named(name)?;
        let nonce = format!("hook-by-hand-{}", std::process::id());
        let occasion = Occasion::new(name, variables);
        let ended = self.runtime.block_on(hooks::run(self.root(), &found, &occasion, &nonce));
        Ok((ended.outcome, ended.output))
    }

    fn hook_named(&self, name: &str) -> Result<Found, CliError> {
        if config::Hook::canonical(name).is_none() {
            let names = config::Hook::NAMES.join(", ");
            return Err(
                CliError::usage(format!("There is no hook {name:?}")).say(format!("There are {names}"))
            );
        }
        Ok(hooks::find(self.root(), name, &hooks::configured(&self.configuration()?.config.hooks)))
    }
}
