//! The person's hooks, outside of a run.

use std::collections::BTreeMap;

use swarm_core::show;
use swarm_protocol::config;
use swarm_protocol::deed::{HookProgram, HookRan};
use swarm_protocol::oplog::HookView;
use swarm_work::hooks::{self, Found, Occasion};

use super::{ByHandError, Hands};
use crate::trust::Trust;

/// Variables that one run may be given, and bytes of each.
const VARIABLES_MAX: usize = 64;
const VARIABLE_BYTES_MAX: usize = 16 * 1024;

impl Hands {
    /// Every hook that there is, with its last end.
    pub fn hook_programs(&self) -> Result<Vec<HookProgram>, ByHandError> {
        // Without a plan nothing has run yet.
        let ran = show::hooks(&self.state()?);
        let found = hooks::list(&self.paths.root, &hooks::configured(&self.config.hooks));
        Ok(found.into_iter().filter_map(|(name, found)| program(name, found, &ran)).collect())
    }

    /// What running one would start.
    pub fn would_run(
        &self,
        name: &str,
        variables: &BTreeMap<String, String>,
    ) -> Result<Vec<String>, ByHandError> {
        bounded(variables)?;
        let mut lines = vec![match self.hook_named(name)? {
            Found::Hook(hook) => format!("{} is started", hook.shown),
            Found::Unfit { shown, why, .. } => format!("{shown} cannot be started: {why}"),
            Found::Nothing => return Ok(vec![]),
        }];
        lines.extend(variables.iter().map(|(name, value)| format!("with SWARM_{name}={value}")));
        Ok(lines)
    }

    /// Runs one to its end.
    pub async fn run_hook(
        &self,
        name: &str,
        variables: &BTreeMap<String, String>,
    ) -> Result<HookRan, ByHandError> {
        bounded(variables)?;
        self.trusted().await?;
        let found = self.hook_named(name)?;
        let nonce = format!("hook-by-hand-{}", ulid::Ulid::generate());
        let occasion = Occasion::new(name, variables);
        let ended = hooks::run(&self.paths.root, &found, &occasion, &nonce).await;
        Ok(HookRan { hook: name.into(), outcome: ended.outcome, output: ended.output })
    }

    /// Refused as long as something here would be executed that nobody has agreed to.
    async fn trusted(&self) -> Result<(), ByHandError> {
        match Trust::of(&self.paths).unknown(&self.git, &self.paths).await?.first() {
            None => Ok(()),
            Some(file) => Err(ByHandError::untrusted(format!(
                "{} came with the repository and is not trusted yet",
                file.path.display()
            ))
            .into()),
        }
    }

    fn hook_named(&self, name: &str) -> Result<Found, ByHandError> {
        if config::Hook::canonical(name).is_none() {
            let names = config::Hook::NAMES.join(", ");
            return Err(ByHandError::usage(format!("There is no hook {name:?}"))
                .say(format!("There are {names}"))
                .into());
        }
        Ok(hooks::find(&self.paths.root, name, &hooks::configured(&self.config.hooks)))
    }
}

fn bounded(variables: &BTreeMap<String, String>) -> Result<(), ByHandError> {
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    let fits = |value: &str| value.len() <= VARIABLE_BYTES_MAX && !value.contains('\0');
    if let Some((name, _)) = variables.iter().find(|(name, value)| !is_name(name) || !fits(value)) {
        return Err(ByHandError::usage(format!("The variable {name:?} cannot be set"))
            .say(format!("A name in capitals like TASK_ID, and at most {VARIABLE_BYTES_MAX} bytes"))
            .into());
    }
    if variables.len() > VARIABLES_MAX {
        return Err(ByHandError::usage(format!("More than {VARIABLES_MAX} variables")).into());
    }
    Ok(())
}

fn program(hook: &str, found: Found, ran: &[HookView]) -> Option<HookProgram> {
    let last = ran.iter().find(|view| view.hook == hook).cloned();
    let hook = hook.to_owned();
    match found {
        Found::Nothing => None,
        Found::Hook(of) => Some(HookProgram {
            hook,
            program: of.shown,
            timeout_secs: Some(of.timeout.as_secs()),
            blocking: of.blocking,
            unfit: None,
            last,
        }),
        Found::Unfit { shown, why, blocking } => {
            Some(HookProgram { hook, program: shown, timeout_secs: None, blocking, unfit: Some(why), last })
        }
    }
}
