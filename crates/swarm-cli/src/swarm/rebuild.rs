//! Everything that is made from the ledger, made anew.

use swarm_protocol::refusal::Refusal;

use super::Swarm;
use crate::error::CliError;

impl Swarm {
    /// What would be made, without a lock.
    pub fn would_rebuild(&self) -> Result<Vec<String>, CliError> {
        self.planned(None)?;
        if self.has_coordinator() {
            return Ok(vec![]);
        }
        let made = [&self.paths.plan_json, &self.paths.plan_md, &self.paths.snapshot];
        Ok(made.iter().map(|path| format!("{} is rebuilt", self.relative(path))).collect())
    }

    /// Names what was made. A coordinator that runs keeps it all fresh by itself.
    pub fn rebuild(&self) -> Result<Vec<String>, CliError> {
        self.refuse_without_a_plan()?;
        let on_damage = self.configuration()?.config.recovery.on_damage;
        let Some(mut store) = self.thorough_writer("plan rebuild", on_damage)? else {
            return Ok(vec!["The running coordinator keeps everything up to date".into()]);
        };
        if store.state().plan.is_none() {
            return Err(Refusal::NoPlan.into());
        }
        store.write_snapshot()?;
        let made = [&self.paths.plan_json, &self.paths.plan_md, &self.paths.snapshot];
        let made = made.iter().map(|path| format!("rebuilt {}", self.relative(path))).collect();
        let notices = store.finish()?;
        self.tell(&notices);
        Ok(made)
    }
}
