//! Records that were lost to damage: what the quarantine files still hold is asked for again, then the person has
//! seen it.

use serde::Serialize;
use swarm_engine::store::{Notice, Salvage, SalvageItem, Store};
use swarm_protocol::command::{Answer, Command};
use swarm_protocol::config::OnDamage;
use swarm_protocol::refusal::Refusal;

use super::Swarm;
use crate::error::CliError;

/// Records of one reason that are named one by one.
const NAMED_MAX: usize = 20;

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
        Ok(self.salvageable()?.items.iter().map(lost).collect())
    }

    /// Brings back what can be brought back, says what stays lost, and records that the loss was seen.
    pub fn salvage(&self) -> Result<Answer, CliError> {
        self.refuse_without_a_plan()?;
        // Damage that waited for a person is moved aside now, which is what the person asks for with this.
        if let Some(store) = self.thorough_writer("plan salvage", OnDamage::Quarantine)? {
            let mut notices = store.finish()?;
            // Who is told to run this command is running it.
            for notice in notices.iter_mut().filter(|notice| notice.hint == "swarm plan salvage") {
                notice.hint.clear();
            }
            self.tell(&notices);
        }
        if self.state(None)?.loss.is_none() {
            return Err(Refusal::NothingToChange { what: "No records were lost".into() }.into());
        }
        let mut salvaged = 0;
        let found = self.salvageable()?;
        let mut left: Vec<(u64, String, String)> = Vec::new();
        for item in found.items {
            let Some(command) = item.command else {
                left.push((item.seq, item.what, item.why_not));
                continue;
            };
            match self.ask(command) {
                Ok(_) => salvaged += 1,
                // What came since is stronger than what was lost.
                Err(error) if error.exit == crate::exit::Exit::Refused => {
                    left.push((item.seq, item.what, error.message));
                }
                Err(error) => return Err(error),
            }
        }
        let answer = self.ask(Command::AcknowledgeLoss { salvaged })?;
        self.tell(&not_brought_back(left, &found.gaps));
        Ok(answer)
    }

    /// Looks through the quarantine files, and says of which that was not possible.
    fn salvageable(&self) -> Result<Salvage, CliError> {
        let found = Store::salvage(&self.paths, &self.options("read"))?;
        let failed = found.files.iter().filter_map(|file| {
            let (path, why) = (self.paths.shown(&file.path), file.failed.as_ref()?);
            Some(Notice::new(format!("{path} could not be looked through to its end: {why}"), ""))
        });
        self.tell(&failed.collect::<Vec<_>>());
        Ok(found)
    }
}

/// What stays lost, one line for each reason.
fn not_brought_back(left: Vec<(u64, String, String)>, gaps: &[(u64, u64)]) -> Vec<Notice> {
    let mut by_reason: Vec<(String, Vec<String>)> = Vec::new();
    for (seq, what, why) in left {
        let record = format!("{seq} {what}");
        match by_reason.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, records)) => records.push(record),
            None => by_reason.push((why, vec![record])),
        }
    }
    let mut notices: Vec<Notice> = Vec::new();
    for (why, mut records) in by_reason {
        let more = records.len().saturating_sub(NAMED_MAX);
        let word = if records.len() == 1 { "record" } else { "records" };
        records.truncate(NAMED_MAX);
        let records = records.join(", ");
        notices.push(match more {
            0 => Notice::new(format!("Not brought back: {word} {records}: {why}"), ""),
            more => Notice::new(
                format!("Not brought back: {word} {records} and {more} more: {why}"),
                "swarm plan salvage --dry-run",
            ),
        });
    }
    let words = |(first, last): &(u64, u64)| match last - first {
        0 => format!("record {first}"),
        _ => format!("records {first} to {last}"),
    };
    if !gaps.is_empty() {
        let gaps = gaps.iter().map(words).collect::<Vec<_>>().join(", ");
        let text = format!("Not brought back: {gaps}: nothing of them can be read any more");
        notices.push(Notice::new(text, ""));
    }
    notices
}

fn lost(item: &SalvageItem) -> Lost {
    let why_not = item.command.is_none().then(|| item.why_not.clone());
    Lost { seq: item.seq, what: item.what.clone(), file: item.file.clone(), why_not }
}
