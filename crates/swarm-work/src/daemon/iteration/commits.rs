//! Whether the agent has committed something since we last looked, for the price of one look at a file.

use std::path::{Path, PathBuf};

/// The log that git keeps of the worktree's own HEAD: it grows with every commit. The agent could write it itself, and
/// would only hide from us that it goes round in circles.
#[derive(Debug)]
pub struct CommitLog {
    file: Option<PathBuf>,
    length: u64,
}

impl CommitLog {
    /// `record`: git's record of the worktree; none where there is no worktree.
    pub fn of(record: Option<&Path>) -> Self {
        let mut log = Self { file: record.map(|record| record.join("logs/HEAD")), length: 0 };
        log.is_longer();
        log
    }

    /// True when something was added since the last call.
    pub fn is_longer(&mut self) -> bool {
        let Some(length) = self.file.as_ref().and_then(|file| std::fs::metadata(file).ok()).map(|m| m.len())
        else {
            return false;
        };
        std::mem::replace(&mut self.length, length) != length
    }
}
