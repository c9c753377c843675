//! Lock files that a killed git has left. One is removed only when nobody can be behind it any more.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::call::Git;
use super::refs::RefChange;
use swarm_process::age_of;

/// git holds a ref's lock for milliseconds and itself waits 100 ms for one. A lock that has not
/// changed for this long, in a repository in which no git runs, has no owner.
const STILL_FOR: Duration = Duration::from_millis(700);

impl Git {
    /// Clears the locks of refs we want to change. True when trying again makes sense.
    pub async fn clear_abandoned_ref_locks(&self, git_dir: &Path, changes: &[RefChange]) -> bool {
        let mut locks: Vec<PathBuf> =
            changes.iter().map(|change| self.common_dir.join(format!("{}.lock", change.name))).collect();
        locks.push(git_dir.join("HEAD.lock"));
        if changes.iter().any(|change| change.new.is_none()) {
            locks.push(self.common_dir.join("packed-refs.lock"));
        }
        let mut retry = false;
        for lock in locks {
            retry |= self.clear_if_abandoned(&lock).await;
        }
        retry
    }

    /// Removes locks of the swarm's own refs that nobody holds. A git that was killed together with us has left them, and
    /// whoever comes next may have other refs to change.
    pub async fn clear_own_ref_locks(&self) -> usize {
        let dirs = ["refs/swarm", "refs/heads/swarm"].map(|dir| self.common_dir.join(dir));
        let files = dirs.iter().flat_map(|dir| super::torn::files_below(dir));
        let locks = files.filter(|file| file.extension().is_some_and(|end| end == "lock"));
        let locks: Vec<_> = locks.filter_map(|lock| face_of(&lock).map(|face| (lock, face))).collect();
        if locks.is_empty() {
            return 0;
        }
        tokio::time::sleep(STILL_FOR).await;
        let abandoned = locks
            .iter()
            .filter(|(lock, before)| face_of(lock) == Some(*before) && !self.someone_may_hold(lock));
        abandoned.filter(|(lock, _)| std::fs::remove_file(lock).is_ok()).count()
    }

    /// Removes `lock` if it is there, has been still for a while, and no git works in this repository.
    /// True when it is gone, by us or by its owner.
    pub async fn clear_if_abandoned(&self, lock: &Path) -> bool {
        let Some(before) = face_of(lock) else { return false };
        tokio::time::sleep(STILL_FOR).await;
        match face_of(lock) {
            None => true,
            Some(now) if now != before => false,
            Some(_) if self.someone_may_hold(lock) => false,
            Some(_) => std::fs::remove_file(lock).is_ok(),
        }
    }

    /// Whether a process that calls itself git, works in this repository or one of its worktrees, and is
    /// old enough to have made this lock, is alive.
    pub fn someone_may_hold(&self, lock: &Path) -> bool {
        let made = std::fs::symlink_metadata(lock).and_then(|meta| meta.modified());
        let lock_age = made.ok().and_then(|made| made.elapsed().ok()).unwrap_or_default();
        let mut places = vec![self.common_dir.clone(), self.main_checkout.clone()];
        places.extend(self.linked_checkouts().into_iter().map(|linked| linked.path));
        let pids = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter(|pid| is_git(*pid)).any(|pid| {
            // A second of slack: the clocks of files and processes differ a little.
            let old_enough = age_of(pid).is_none_or(|age| age + Duration::from_secs(1) >= lock_age);
            let Ok(cwd) = std::fs::read_link(format!("/proc/{pid}/cwd")) else { return false };
            old_enough && places.iter().any(|place| cwd.starts_with(place))
        })
    }
}

fn is_git(pid: u32) -> bool {
    // A zombie holds nothing, though it keeps its name until it is reaped; its cwd cannot be read.
    std::fs::read(format!("/proc/{pid}/comm")).is_ok_and(|name| name.starts_with(b"git"))
}

fn face_of(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    Some((meta.ino(), meta.size(), meta.mtime(), meta.mtime_nsec()))
}
