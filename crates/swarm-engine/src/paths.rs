//! Where everything of a swarm lies. State lives in the main checkout, also when a command is run
//! inside a worktree; the second copy of the ledger lies in the common git directory, out of reach
//! of `git clean`.

mod ours;

use std::path::{Path, PathBuf};

pub use ours::NotOurs;
use swarm_ledger::LedgerPaths;

/// The places of one swarm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The main checkout.
    pub root: PathBuf,
    /// `.swarm`
    pub swarm: PathBuf,
    pub config: PathBuf,
    /// The ledger: the only truth.
    pub ledger: PathBuf,
    pub second_copy: PathBuf,
    pub ledger_files: PathBuf,
    pub archive: PathBuf,
    /// Projections: derived, made again at any time.
    pub plan_json: PathBuf,
    pub plan_md: PathBuf,
    pub export_json: PathBuf,
    pub export_md: PathBuf,
    /// What each gate of a task rests on, a file each. Projections too.
    pub evidence: PathBuf,
    /// An export at the root of the repository, as older tools left it. Read, never written.
    pub root_export_json: PathBuf,
    pub state: PathBuf,
    pub snapshot: PathBuf,
    pub snapshot_prev: PathBuf,
    /// Locks, socket, daemon records.
    pub run: PathBuf,
    pub door: PathBuf,
    pub owner: PathBuf,
    pub socket: PathBuf,
    pub daemons: PathBuf,
    pub worktrees: PathBuf,
    pub agents: PathBuf,
    pub trash: PathBuf,
}

impl Paths {
    /// `root` is the main checkout, `common_git_dir` what `git rev-parse --git-common-dir` names.
    pub fn new(root: &Path, common_git_dir: &Path) -> Self {
        let swarm = root.join(".swarm");
        let (state, run) = (swarm.join("state"), swarm.join("run"));
        Self {
            root: root.to_path_buf(),
            config: swarm.join("config.json"),
            ledger: swarm.join("plan-ledger.jsonl"),
            second_copy: common_git_dir.join("swarm").join("plan-ledger.jsonl"),
            ledger_files: swarm.join("ledger-files"),
            archive: swarm.join("archive"),
            plan_json: swarm.join("plan.json"),
            plan_md: swarm.join("plan.md"),
            export_json: swarm.join("SWARM_PLAN.json"),
            export_md: swarm.join("SWARM_PLAN.md"),
            evidence: swarm.join("evidence"),
            root_export_json: root.join("SWARM_PLAN.json"),
            snapshot: state.join("snapshot.json"),
            snapshot_prev: state.join("snapshot.prev.json"),
            state,
            door: run.join("door.lock"),
            owner: run.join("owner.lock"),
            socket: run.join("coordinator.sock"),
            daemons: run.join("daemons"),
            run,
            worktrees: swarm.join("worktrees"),
            agents: swarm.join("agents"),
            trash: swarm.join("trash"),
            swarm,
        }
    }

    /// The ledger's own view of its places.
    pub fn ledger_paths(&self) -> LedgerPaths {
        LedgerPaths { main: self.ledger.clone(), copy: Some(self.second_copy.clone()) }
    }

    /// Worktrees where `worktree.dir` says so, from the root.
    pub fn with_worktrees(mut self, dir: &str) -> Self {
        self.worktrees = self.root.join(dir);
        self
    }

    /// A path as people see it: from the root.
    pub fn shown<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }
}
