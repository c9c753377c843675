//! Where the ledger and what belongs to it lie.

use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerPaths {
    /// `.swarm/plan-ledger.jsonl`
    pub main: PathBuf,
    /// `<common git dir>/swarm/plan-ledger.jsonl`; none where there is no second place.
    pub copy: Option<PathBuf>,
}

impl LedgerPaths {
    pub fn standard(swarm_dir: &Path, common_git_dir: Option<&Path>) -> Self {
        const NAME: &str = "plan-ledger.jsonl";
        Self { main: swarm_dir.join(NAME), copy: common_git_dir.map(|dir| dir.join("swarm").join(NAME)) }
    }

    /// The directory of the main file, its quarantine files and its archive.
    pub fn dir(&self) -> &Path {
        parent(&self.main)
    }

    pub fn quarantine(&self, number: u64) -> PathBuf {
        self.dir().join(format!("plan-ledger.quarantine.{number}"))
    }

    pub fn archive_dir(&self) -> PathBuf {
        self.dir().join("archive")
    }

    pub fn payload_dir(&self) -> PathBuf {
        self.dir().join("ledger-files")
    }
}

pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    }
}
