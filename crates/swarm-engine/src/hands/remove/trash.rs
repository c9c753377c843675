//! Deleting is renaming: the folder goes to `.swarm/trash`, which is emptied later, off the hot path.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::git::{Checkout, Git, GitError};

pub fn trash_dir(git: &Git) -> PathBuf {
    git.main_checkout.join(".swarm").join("trash")
}

/// Renames the folder to `.swarm/trash/<name>-<time>`.
pub(crate) fn move_to_trash(git: &Git, name: &str, path: &Path) -> Result<PathBuf, GitError> {
    let dir = trash_dir(git);
    std::fs::create_dir_all(&dir).map_err(GitError::io("make the folder", &dir))?;
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S");
    // A second one within the same second gets a number.
    for n in 0..1000 {
        let target = dir.join(if n == 0 { format!("{name}-{now}") } else { format!("{name}-{now}-{n}") });
        if std::fs::symlink_metadata(&target).is_ok() {
            continue;
        }
        std::fs::rename(path, &target).map_err(GitError::io("move to the trash", path))?;
        return Ok(target);
    }
    Err(GitError::io("move to the trash", path)(std::io::Error::other("too many of the same name")))
}

/// Removes git's record of one worktree whose folder is gone: what `git worktree prune` does for all.
pub(crate) fn forget_registration(checkout: &Checkout) -> Result<(), GitError> {
    match std::fs::remove_dir_all(&checkout.git_dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(GitError::io("remove git's record", &checkout.git_dir)(error))
        }
        _ => Ok(()),
    }
}

/// Deletes what has lain in the trash for longer than `older_than`. Returns how many folders went.
pub async fn empty_trash(git: &Git, older_than: Duration) -> usize {
    let dir = trash_dir(git);
    let emptied = tokio::task::spawn_blocking(move || {
        let entries = std::fs::read_dir(&dir).into_iter().flatten().flatten();
        entries
            .filter(|entry| is_old(&entry.path(), older_than))
            .filter(|entry| std::fs::remove_dir_all(entry.path()).is_ok())
            .count()
    });
    emptied.await.unwrap_or(0)
}

fn is_old(path: &Path, older_than: Duration) -> bool {
    use std::os::unix::fs::MetadataExt;
    // A rename sets the change time: the moment it was put here.
    let Ok(meta) = std::fs::symlink_metadata(path) else { return false };
    let put_here = SystemTime::UNIX_EPOCH + Duration::from_secs(meta.ctime().max(0) as u64);
    SystemTime::now().duration_since(put_here).is_ok_and(|age| age > older_than)
}
