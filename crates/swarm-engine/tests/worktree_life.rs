//! W2, W8, S1: the whole life of worktrees: many at once, the pool, the trash, copies and set-up, what is saved and
//! brought back, and nothing of what an agent plants is run.

use crate::git_scratch;
#[path = "worktree_life/broken_off.rs"]
mod broken_off;
#[path = "worktree_life/copies.rs"]
mod copies;
#[path = "worktree_life/damaged.rs"]
mod damaged;
#[path = "worktree_life/giving_up.rs"]
mod giving_up;
#[path = "worktree_life/integrity.rs"]
mod integrity;
#[path = "worktree_life/many.rs"]
mod many;
#[path = "worktree_life/merging.rs"]
mod merging;
#[path = "worktree_life/own.rs"]
mod own;
#[path = "worktree_life/own_killed.rs"]
mod own_killed;
#[path = "worktree_life/own_mended.rs"]
mod own_mended;
#[path = "worktree_life/planted.rs"]
mod planted;
#[path = "worktree_life/pooled.rs"]
mod pooled;
#[path = "worktree_life/restoring.rs"]
mod restoring;
#[path = "worktree_life/tips.rs"]
mod tips;

use std::path::Path;

use git_scratch::Scratch;
use swarm_git::Git;
use swarm_work::remove::{DISPOSABLE, GivingUp, Removal, give_up};
use swarm_work::worktree::copy::CopyRule;
use swarm_work::worktree::pool::PoolRule;
use swarm_work::worktree::{BaseRule, PrepareFailure, Prepared, Wanted, prepare_as};

pub fn trunk() -> BaseRule {
    BaseRule::Trunk("main".into())
}

/// A repository with ignore rules, and how its worktrees are made and given up.
pub struct Field {
    pub scratch: Scratch,
    pub git: Git,
    pub pool: Option<PoolRule>,
    pub copy: Option<CopyRule>,
    pub max_file_bytes: u64,
}

impl Field {
    pub async fn new() -> Self {
        let scratch = Scratch::new();
        scratch.write(".gitignore", ".swarm/\nignored/\n.env\ntarget/\nnode_modules/\n*.log\n");
        scratch.commit_all("ignore rules");
        let git = scratch.open().await;
        Self { scratch, git, pool: None, copy: None, max_file_bytes: 1 << 20 }
    }

    pub async fn with_pool(max: u32) -> Self {
        let field = Self::new().await;
        let pool = PoolRule {
            dir: field.scratch.worktrees(),
            max,
            plan: "plan-1".into(),
            disposable: DISPOSABLE.map(String::from).to_vec(),
            keep_caches: true,
        };
        Self { pool: Some(pool), ..field }
    }

    pub async fn try_prepare(&self, name: &str) -> Result<Prepared, PrepareFailure> {
        let (task, base, dir) = (git_scratch::task(name), trunk(), self.scratch.worktrees());
        let (pool, copy) = (self.pool.as_ref(), self.copy.as_ref());
        prepare_as(
            &self.git,
            &Wanted {
                task: &task,
                dir: &dir,
                base: &base,
                begins: None,
                takes_up: None,
                pool,
                copy,
                max_file_bytes: self.max_file_bytes,
            },
        )
        .await
    }

    pub async fn prepare(&self, name: &str) -> Prepared {
        self.try_prepare(name).await.unwrap_or_else(|failure| panic!("{name}: {failure}"))
    }

    pub async fn give_up(&self, name: &str) -> Removal {
        let (task, dir, disposable) =
            (git_scratch::task(name), self.scratch.worktrees(), DISPOSABLE.map(String::from));
        let up = GivingUp {
            task: &task,
            dir: &dir,
            disposable: &disposable,
            max_file_bytes: 1 << 20,
            pool: self.pool.as_ref(),
            only_look: false,
            remember: None,
            merged: None,
            force: false,
        };
        give_up(&self.git, &up).await.expect("git works")
    }
}

/// `## branch` and nothing else.
pub fn is_clean(path: &Path, branch: &str) {
    let status = git_scratch::git_in(path, ["status", "--porcelain", "--branch", "--ignored=no"]);
    assert_eq!(status, format!("## {branch}"));
}
