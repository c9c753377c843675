//! What a power cut leaves of files that were never synced: their names, and no bytes.
//!
//! An object without bytes is worse than none: git finds that it has the object and does not write it again, so the next
//! commit with the same content is broken. A ref or an index without bytes stops git altogether. None of them holds
//! anything, and nothing recorded as done is among them: that was synced before it was recorded.

use std::fs;
use std::path::{Path, PathBuf};

use super::call::Git;

impl Git {
    /// Removes such files of the swarm's making and gives their number. For the owner of the ledger, before anybody works in
    /// the repository, and only after a coordinator that did not leave in good order: it looks at every loose object.
    pub fn clear_torn(&self) -> usize {
        let objects = folders(&self.common_dir.join("objects"))
            .into_iter()
            .filter(|dir| dir.file_name().is_some_and(|name| name.len() == 2))
            .flat_map(|dir| files(&dir))
            .filter(|file| is_empty(file));
        let refs = ["refs/swarm", "refs/heads/swarm"]
            .into_iter()
            .flat_map(|dir| files_below(&self.common_dir.join(dir)))
            .filter(|file| holds_nothing(file));
        let indexes = folders(&self.common_dir.join("worktrees"))
            .into_iter()
            .map(|dir| dir.join("index"))
            .filter(|file| holds_nothing(file));
        objects.chain(refs).chain(indexes).filter(|file| fs::remove_file(file).is_ok()).count()
    }
}

fn is_empty(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok_and(|meta| meta.is_file() && meta.len() == 0)
}

/// No bytes, or NUL bytes, with which neither a ref nor an index begins. Locks are empty while they are held.
fn holds_nothing(file: &Path) -> bool {
    let is_lock = file.extension().is_some_and(|end| end == "lock");
    !is_lock && fs::read(file).is_ok_and(|bytes| bytes.first().is_none_or(|first| *first == 0))
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    entries(dir).into_iter().filter(|path| path.is_dir()).collect()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    entries(dir).into_iter().filter(|path| path.is_file()).collect()
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let below = folders(dir).into_iter().flat_map(|folder| files_below(&folder));
    files(dir).into_iter().chain(below.collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn files_without_bytes_are_removed_and_all_others_stay() {
        let dir = tempfile::tempdir().expect("a folder");
        let git = |args: &[&str]| crate::git::GitCall::by_hand(dir.path()).args(args).ok();
        git(&["init", "--quiet", "--initial-branch=main"]).await.expect("a repository");
        let person = ["-c", "user.name=A", "-c", "user.email=a@b"];
        let commit = [&person[..], &["commit", "--quiet", "--allow-empty", "--message=start"]].concat();
        git(&commit).await.expect("a commit");
        let open = Git::discover(dir.path()).await.expect("fit");
        for (file, text) in [
            ("objects/00/11223344", ""),
            ("refs/swarm/wip/1.1/r1", ""),
            ("refs/swarm/kept/1.1/a", "\0\0\0"),
            ("worktrees/1.1/index", ""),
        ] {
            let file = open.common_dir.join(file);
            fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            fs::write(file, text).expect("written");
        }
        assert_eq!((open.clear_torn(), open.clear_torn()), (4, 0));
        git(&["fsck", "--strict"]).await.expect("whole");
        git(&["rev-parse", "--verify", "main"]).await.expect("still there");
    }
}
