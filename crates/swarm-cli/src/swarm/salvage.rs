//! Records that were lost to damage: what the quarantine files still hold is asked for again, then the person has
//! seen it.

use serde::Serialize;
use swarm_engine::store::{SalvageItem, Store};
use swarm_protocol::command::{Answer, Command};
use swarm_protocol::config::OnDamage;
use swarm_protocol::refusal::Refusal;

use super::Swarm;
use crate::error::CliError;

/// One lost record and what becomes of it.
#[derive(Debug, Serialize)]
pub struct Lost {
    pub seq: u64,
    pub what: String,
    pub file: String,
    /// Why it cannot be brought back; none when it can.
    pub why_not: Option<String>,
}

impl Swarm {
    /// What the quarantine files hold that the ledger does not have.
    pub fn lost(&self) -> Result<Vec<Lost>, CliError> {
        Ok(self.salvageable()?.into_iter().map(|item| lost(&item)).collect())
    }

    /// Brings back what can be brought back, and records that the loss was seen.
    pub fn salvage(&self) -> Result<Answer, CliError> {
        self.refuse_without_a_plan()?;
        // Damage that waited for a person is moved aside now, which is what the person asks for with this.
        if let Some(store) = self.writer("plan salvage", OnDamage::Quarantine)? {
            let notices = store.finish()?;
            self.tell(&notices);
        }
        if self.state(None)?.loss.is_none() {
            return Err(Refusal::NothingToChange { what: "No records were lost".into() }.into());
        }
        let mut salvaged = 0;
        for item in self.salvageable()? {
            let Some(command) = item.command else { continue };
            match self.ask(command) {
                Ok(_) => salvaged += 1,
                // What came since is stronger than what was lost.
                Err(error) if error.exit == crate::exit::Exit::Refused => {}
                Err(error) => return Err(error),
            }
        }
        self.ask(Command::AcknowledgeLoss { salvaged })
    }

    fn salvageable(&self) -> Result<Vec<SalvageItem>, CliError> {
        Ok(Store::salvage(&self.paths, &self.options("read"))?.items)
    }
}

fn lost(item: &SalvageItem) -> Lost {
    let why_not = item.command.is_none().then(|| item.why_not.clone());
    Lost { seq: item.seq, what: item.what.clone(), file: item.file.clone(), why_not }
}
