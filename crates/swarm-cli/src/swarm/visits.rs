//! How far a person has seen each ledger, in their own folder for state. Nothing depends on it: what cannot be read or
//! written is as if they had never been there.

use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use swarm_engine::trust::state_folder;
use swarm_protocol::time::Timestamp;
use swarm_tui::visit::Visit;

/// Ledgers that are remembered; the one that was left longest ago is forgotten first.
const LEDGERS_MAX: usize = 200;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    record: u64,
    at: Timestamp,
}

type All = BTreeMap<String, Seen>;

fn file() -> Option<PathBuf> {
    state_folder().map(|state| state.join("swarm/seen.json"))
}

/// Record 0 where they have not been.
pub fn last(ledger: String) -> Visit {
    last_in(file().as_deref(), ledger)
}

pub fn note(visit: &Visit) {
    let noted = file().map(|file| note_in(&file, visit));
    if let Some(Err(error)) = noted {
        tracing::info!(%error, "how far the person has seen the ledger is not remembered");
    }
}

fn read(file: &Path) -> All {
    std::fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

fn last_in(file: Option<&Path>, ledger: String) -> Visit {
    let seen = file.and_then(|file| read(file).get(&ledger).copied()).unwrap_or_default();
    Visit { ledger, record: seen.record, at: seen.at }
}

fn note_in(file: &Path, visit: &Visit) -> std::io::Result<()> {
    let mut all = read(file);
    all.insert(visit.ledger.clone(), Seen { record: visit.record, at: visit.at });
    while all.len() > LEDGERS_MAX {
        let oldest = all.iter().min_by_key(|(_, seen)| seen.at).map(|(ledger, _)| ledger.clone());
        if let Some(ledger) = oldest {
            all.remove(&ledger);
        }
    }
    let folder = file.parent().unwrap_or(Path::new("/"));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // Whole or not at all: two screens may end at once.
    let part = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer_pretty(&part, &all)?;
    part.persist(file).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(ledger: &str, record: u64) -> Visit {
        Visit { ledger: ledger.into(), record, at: Timestamp(record) }
    }

    #[test]
    fn each_ledger_has_its_own_place_and_what_is_damaged_is_as_if_nobody_had_been_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("swarm/seen.json");
        assert_eq!(last_in(Some(&file), "one".into()).record, 0);
        for seen in [visit("one", 7), visit("two", 3), visit("one", 9)] {
            note_in(&file, &seen).expect("it can be written");
        }
        assert_eq!(last_in(Some(&file), "one".into()), visit("one", 9));
        assert_eq!(last_in(Some(&file), "two".into()), visit("two", 3));
        assert_eq!(last_in(None, "one".into()).record, 0);
        std::fs::write(&file, "{").expect("it can be written");
        assert_eq!(last_in(Some(&file), "one".into()).record, 0);
        note_in(&file, &visit("one", 1)).expect("it can be written again");
        assert_eq!(last_in(Some(&file), "one".into()).record, 1);
    }

    #[test]
    fn the_ledger_that_was_left_longest_ago_is_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("seen.json");
        for n in 1..=LEDGERS_MAX as u64 + 2 {
            note_in(&file, &visit(&format!("ledger {n}"), n)).expect("it can be written");
        }
        assert_eq!(read(&file).len(), LEDGERS_MAX);
        assert_eq!(last_in(Some(&file), "ledger 1".into()).record, 0);
        assert_eq!(last_in(Some(&file), "ledger 3".into()).record, 3);
    }
}
