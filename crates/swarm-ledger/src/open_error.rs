//! Why a ledger could not be opened: each cause with its own way out. Nothing has been changed.

use std::io;
use std::path::PathBuf;

use crate::finding::Witness;

/// Something that shows there was a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trace {
    SecondCopy(PathBuf),
    Archive(PathBuf),
    Quarantine(PathBuf),
    Witness(Witness),
}

impl std::fmt::Display for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::SecondCopy(path) => write!(f, "second copy {}", path.display()),
            Self::Archive(path) => write!(f, "closed plan {}", path.display()),
            Self::Quarantine(path) => write!(f, "quarantine file {}", path.display()),
            Self::Witness(witness) => write!(f, "{} knows of record {}", witness.source, witness.seq),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("There is no ledger at {}", .0.display())]
    NoLedger(PathBuf),
    #[error("The ledger {} is missing, but there was one: {}", path.display(), list(found))]
    Missing { path: PathBuf, found: Vec<Trace> },
    #[error("The ledger {} is empty", .0.display())]
    Empty(PathBuf),
    #[error("The first batch of {} is damaged, and the second copy does not have it intact: no record can be \
        verified", .0.display())]
    NothingValid(PathBuf),
    #[error("{} is ledger {here}, but {other_source} belongs to ledger {other}", path.display())]
    AnotherLedger { path: PathBuf, here: String, other: String, other_source: String },
    #[error("{} is written in format {format}; this program knows formats up to {known}", path.display())]
    NewerFormat { path: PathBuf, format: u32, known: u32 },
    #[error("Cannot write to {}: {source}", path.display())]
    ReadOnly { path: PathBuf, source: io::Error },
    #[error("A ledger already exists: {}", .0.display())]
    Exists(PathBuf),
    #[error("The first batch of a ledger is wrong: {0}")]
    BadFirstBatch(String),
    #[error("The ledger {} was opened for reading only; run `swarm plan salvage`", .0.display())]
    ReadOnlyUntilSalvage(PathBuf),
    #[error("Cannot make {} durable: {source}", path.display())]
    SyncFailed { path: PathBuf, source: io::Error },
    #[error("The disk returns other bytes of {} than the cache: run the command again", .0.display())]
    Unstable(PathBuf),
    #[error("Cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
}

impl OpenError {
    pub(crate) fn io(doing: &'static str, path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_path_buf(), source }
    }
}

fn list(found: &[Trace]) -> String {
    const SHOWN: usize = 5;
    let mut text = found.iter().take(SHOWN).map(Trace::to_string).collect::<Vec<_>>().join("; ");
    if found.len() > SHOWN {
        text.push_str(&format!("; {} more", found.len() - SHOWN));
    }
    text
}
