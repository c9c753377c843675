//! What the box allows, as data: made by the daemon, carried out by the launcher before the program.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The walls around one program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxSpec {
    /// Where the program works. All of it may be written.
    pub worktree: PathBuf,
    /// What `git commit` in the worktree needs; none where the program is not to commit (verify).
    pub git: Option<GitRights>,
    /// The program's own TMPDIR.
    pub tmp: PathBuf,
    /// The program's own folders and files, and what the profile adds. What does not exist is left out.
    #[serde(default)]
    pub writable: Vec<PathBuf>,
    /// Folders that cannot even be read, as far as the kernel's rules can say it.
    #[serde(default)]
    pub hidden: Vec<PathBuf>,
    /// False: no TCP. (Other protocols are beyond what Landlock can say.)
    pub network: bool,
    /// True: a kernel that enforces less, or nothing, is put up with. False: the program is not started.
    pub best_effort: bool,
}

/// The parts of the repository that a commit in a linked worktree writes to. Trunk, the
/// configuration and the hooks are not among them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitRights {
    /// `.git` of the main checkout.
    pub common_dir: PathBuf,
    /// `.git/worktrees/ID`.
    pub admin_dir: PathBuf,
}

impl GitRights {
    /// The folders that must be writable.
    pub fn folders(&self) -> [PathBuf; 4] {
        let common: &Path = &self.common_dir;
        [
            self.admin_dir.clone(),
            common.join("objects"),
            common.join("refs/heads/swarm"),
            common.join("logs/refs/heads/swarm"),
        ]
    }
}
