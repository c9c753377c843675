//! How far a collector has everything.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A file that may be lost or damaged: then everything is sent again, under the same ids.
#[derive(Debug, Clone)]
pub struct Mark {
    file: PathBuf,
    at: At,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct At {
    ledger: String,
    /// Every span that this record or one before it ended has been taken.
    seq: u64,
}

impl Mark {
    pub fn at(file: PathBuf) -> Self {
        let read = std::fs::read(&file).ok();
        let at = read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        Self { file, at }
    }

    /// 0 for a ledger of which nothing was sent.
    pub fn of(&self, ledger: &str) -> u64 {
        if self.at.ledger == ledger { self.at.seq } else { 0 }
    }

    /// Not synced: a power cut costs no more than sending again. Renamed, so that it is whole or the one before.
    pub fn set(&mut self, ledger: &str, seq: u64) {
        self.at = At { ledger: ledger.to_owned(), seq };
        let beside = self.file.with_extension("json.tmp");
        let bytes = serde_json::to_vec(&self.at).unwrap_or_default();
        let written = std::fs::write(&beside, bytes).and_then(|()| std::fs::rename(&beside, &self.file));
        if let Err(error) = written {
            tracing::warn!(%error, "cannot note what the collector has");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_of_one_ledger_and_a_damaged_one_says_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("telemetry.json");
        let mut mark = Mark::at(file.clone());
        assert_eq!(mark.of("a"), 0);
        mark.set("a", 7);
        assert_eq!((Mark::at(file.clone()).of("a"), Mark::at(file.clone()).of("b")), (7, 0));
        std::fs::write(&file, "{\"ledger\":\"a\",\"se").expect("written");
        assert_eq!(Mark::at(file).of("a"), 0);
    }
}
