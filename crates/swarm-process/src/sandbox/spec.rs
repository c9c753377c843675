//! What the box allows, as data: made by the daemon, carried out by the launcher before the program.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::limits::Limits;

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
    /// Folders that cannot even be read, as far as the kernel's rules can say it. Sockets in them can be reached.
    #[serde(default)]
    pub hidden: Vec<PathBuf>,
    /// Folders of which the names are read, also of what is hidden in them: somebody works there and looks around.
    #[serde(default)]
    pub listed: Vec<PathBuf>,
    /// Places of the person that cannot be read. In a view of its own they are empty.
    #[serde(default)]
    pub masked: Vec<PathBuf>,
    /// Folders of ours that are there and stay. In a view of its own they are empty: whoever can open a file can hold its
    /// lock. Not said by the kernel's other rules, which would take the folders around them away as well.
    #[serde(default)]
    pub covered: Vec<PathBuf>,
    /// Places that must be seen also where they lie below a folder that is covered (`/tmp`, `/run`).
    #[serde(default)]
    pub visible: Vec<PathBuf>,
    /// Folders of which the program may change what it likes, and nobody outside sees it. Without a view of its own they
    /// can only be read.
    #[serde(default)]
    pub caches: Vec<PathBuf>,
    /// What is shown elsewhere than it lies. Only in a view of its own: ask [`crate::Containment::can_bind`] before.
    #[serde(default)]
    pub binds: Vec<Bind>,
    /// False: no network at all, but for servers of its own.
    pub network: bool,
    /// How much of the machine it may take.
    #[serde(default)]
    pub limits: Limits,
    /// True: a machine that cannot put up one of the walls does not start the program.
    #[serde(default)]
    pub strict: bool,
    /// True: a kernel that enforces less, or nothing, is put up with. False: the program is not started.
    pub best_effort: bool,
}

/// The most places that are bound for one program.
pub const BINDS_MAX: usize = 64;

/// One file or folder that the program sees at another place, over whatever lies there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bind {
    /// A file or a folder that is there.
    pub source: PathBuf,
    /// What is there already, and of the same kind.
    pub target: PathBuf,
    pub read_only: bool,
}

impl SandboxSpec {
    /// Walls around nothing, to see whether they can be put up.
    pub(crate) fn of_a_trial(tmp: PathBuf) -> Self {
        Self {
            worktree: tmp.clone(),
            git: None,
            tmp,
            writable: vec![],
            hidden: vec![],
            masked: vec![],
            covered: vec![],
            visible: vec![],
            caches: vec![],
            binds: vec![],
            network: true,
            limits: Limits::default(),
            strict: false,
            listed: vec![],
            best_effort: true,
        }
    }

    /// What may be written, but for the caches.
    pub(super) fn writable_places(&self) -> Vec<PathBuf> {
        let git = self.git.iter().flat_map(GitRights::folders);
        let own = [self.worktree.clone(), self.tmp.clone()];
        own.into_iter().chain(git).chain(self.writable.iter().cloned()).collect()
    }

    /// What must be seen wherever it lies: what the caller says, where we stand, programs, and how names become addresses.
    pub(super) fn visible_places(&self) -> Vec<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let programs = std::env::split_paths(&path).filter(|place| place.is_absolute());
        let git = self.git.iter().map(|git| git.common_dir.clone());
        let other = [std::env::current_dir().ok(), Some("/etc/resolv.conf".into())];
        programs.chain(git).chain(other.into_iter().flatten()).chain(self.visible.iter().cloned()).collect()
    }
}

/// Where the program's git reads and writes. Nothing of the person's git directory is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitRights {
    /// `.git` of the main checkout: its objects are read.
    pub common_dir: PathBuf,
    /// The repository that the agent has for itself.
    pub own: PathBuf,
}

impl GitRights {
    /// The folders that must be writable.
    pub fn folders(&self) -> [PathBuf; 1] {
        [self.own.clone()]
    }
}
