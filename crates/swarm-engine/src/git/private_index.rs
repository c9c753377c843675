//! An index of our own for each worktree, in the common git directory where no agent can write.
//!
//! What it says of files (sizes, times, inodes) is what we have seen ourselves. It makes the second look at a
//! worktree cheap, and it is why a look can be believed: an agent's own index may call changed files unchanged.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use swarm_protocol::ids::Oid;

use super::call::{Git, GitCall, GitError};
use super::marker::lock_within;
use crate::process::Input;

/// The daemon and the supervisor may both want to save the same worktree, and a git of one that died may
/// still write: one waits for the other.
const INDEX_WAIT: Duration = Duration::from_secs(60);

/// One per worktree, kept between calls; locked while used, so that two do not share it.
#[derive(Debug)]
pub(crate) struct PrivateIndex {
    pub file: PathBuf,
    lock: File,
}

/// Times of files are believed only with the change time, which cannot be set by a program, whatever the
/// person has configured for the own checkout.
const WATCHFUL: [&str; 2] = ["core.trustctime=true", "core.checkStat=default"];

impl PrivateIndex {
    pub async fn take(git: &Git, name: &str) -> Result<Self, GitError> {
        let dir = git.swarm_dir().join("index");
        std::fs::create_dir_all(&dir).map_err(GitError::io("make the folder", &dir))?;
        let file = dir.join(name);
        let lock_path = dir.join(format!("{name}.held"));
        let Some(lock) = lock_within(&lock_path, "", INDEX_WAIT).await? else {
            let busy = std::io::Error::other("another git command on this worktree does not end");
            return Err(GitError::io("take", &lock_path)(busy));
        };
        // Nobody else uses it now, so a lock of git's on it was left by one that was killed.
        let _ = std::fs::remove_file(dir.join(format!("{name}.lock")));
        Ok(Self { file, lock })
    }

    /// Something for a git process to keep open: as long as it lives nobody else takes this index.
    pub fn sign_of_life(&self) -> Result<Input, GitError> {
        Ok(Input::File(self.lock.try_clone().map_err(GitError::io("duplicate a handle of", &self.file))?))
    }

    /// A call on the files of `worktree` through this index and the repository's own configuration.
    pub fn call(&self, git: &Git, worktree: &Path, args: &[&str]) -> GitCall {
        let call = git.call(args).work_tree(worktree).index(&self.file);
        WATCHFUL.iter().fold(call, |call, switch| call.global("-c").global(switch))
    }

    /// Makes the tracked files of `worktree` those of the commit. Only files that differ from what was last
    /// seen are written, so a worktree that shows a commit near it costs little.
    pub async fn fill(&self, git: &Git, worktree: &Path, commit: &Oid) -> Result<(), GitError> {
        let _few_at_once = git.shared.filling.acquire().await;
        let fill = self.call(git, worktree, &["read-tree", "--reset", "-u", commit.as_str()]);
        fill.stdin(self.sign_of_life()?).ok().await.map(drop)
    }

    /// For a worktree that is gone: nothing of it stays. Whoever waits for it makes it anew.
    pub fn discard(self) {
        self.forget();
        let mut held = self.file.clone().into_os_string();
        held.push(".held");
        let _ = std::fs::remove_file(held);
    }

    /// Forgets everything that was seen.
    pub fn forget(&self) {
        let _ = std::fs::remove_file(&self.file);
    }
}
