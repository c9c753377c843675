//! What recovery found becomes records, before anything else is written.

use std::path::{Path, PathBuf};

use swarm_core::input::Input;
use swarm_ledger::{Finding, Loss, Recovered};
use swarm_protocol::event::Event;

use super::error::StoreError;
use super::snapshot::LossKey;
use super::ticket::Ticket;
use super::writer::Store;
use crate::projection;

impl Store {
    /// Records cuts, repairs and losses; also losses that a process noted and died before recording.
    pub(super) fn record_findings(&mut self, recovered: &Recovered) -> Result<(), StoreError> {
        let mut events: Vec<Event> = recovered.findings.iter().filter_map(event_of).collect();
        for loss in recovered.notes.iter().map(|note| &note.loss) {
            if self.losses.insert(key_of(loss)) {
                events.push(lost(loss));
                let (last, ledger_id) = (recovered.head.seq, &recovered.ledger_id);
                self.notices.extend(projection::keep_ahead(&self.paths, last, ledger_id));
                // A snapshot of what was lost is of no use any more.
                self.upkeep.snapshot_lies();
            }
        }
        for event in events {
            let (ticket, resolve) = Ticket::open();
            self.decide(Input::Found(event), self.clock.now(), "swarm:recovery", resolve)?;
            ticket.wait().map_err(StoreError::from_append)?;
        }
        Ok(())
    }
}

/// Losses are not here: each has a note, and the notes are what is recorded.
fn event_of(finding: &Finding) -> Option<Event> {
    match finding {
        Finding::TornTail { after, bytes, quarantine } => {
            Some(Event::LedgerCut { after_seq: after.seq, bytes: *bytes, quarantine: name_of(quarantine) })
        }
        Finding::Repaired { first_seq, last_seq, quarantine, .. } => Some(Event::LedgerRepaired {
            from_seq: *first_seq,
            to_seq: *last_seq,
            quarantine: quarantine.as_deref().map(name_of).unwrap_or_default(),
        }),
        Finding::RestoredFromCopy { last } => {
            Some(Event::LedgerRepaired { from_seq: 1, to_seq: last.seq, quarantine: String::new() })
        }
        _ => None,
    }
}

fn lost(loss: &Loss) -> Event {
    let LossKey { last_good_seq, last_good_hash, quarantine } = key_of(loss);
    let lost_hash = loss.last_valid.map(|mark| mark.hash).or(loss.quarantine_hash);
    let lost_hash = lost_hash.map(|hash| hash.to_string()).unwrap_or_default();
    let (known_seq, known_by) = (Some(loss.last_seq()), Some(loss.known_by.clone()));
    Event::LedgerLoss { last_good_seq, last_good_hash, lost_hash, quarantine, known_seq, known_by }
}

fn key_of(loss: &Loss) -> LossKey {
    LossKey {
        last_good_seq: loss.last_good.seq,
        last_good_hash: loss.last_good.hash.to_string(),
        quarantine: loss.quarantine.iter().map(|path: &PathBuf| name_of(path)).collect::<Vec<_>>().join(", "),
    }
}

/// A record holds no path of this machine.
fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
