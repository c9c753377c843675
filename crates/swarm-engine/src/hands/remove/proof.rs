//! Proofs that nothing of value goes with a worktree.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};
use swarm_protocol::ids::{Oid, TaskId};

use super::{KeptWhy, keep_commit};
use crate::git::{Checkout, Git, GitError, Head, NewCommit, path_of};
use crate::hands::rescue::{RESCUE_FILE_MAX_BYTES, snapshot};

/// The first ignored file that is not on the list of what may go.
pub(super) async fn ignored_of_value(
    git: &Git,
    worktree: &Path,
    disposable: &[String],
) -> Result<Option<PathBuf>, GitError> {
    let empty = git.swarm_dir().join("index").join(".empty");
    let args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
    let listed = git.call(args).work_tree(worktree).index(&empty).long_list().ok().await?;
    let may_go = matcher(disposable);
    let names = listed.split(|b| *b == 0).filter(|name| !name.is_empty());
    for path in names.map(|name| path_of(name.strip_suffix(b"/").unwrap_or(name))) {
        let disposable = path.components().any(|part| may_go.is_match(Path::new(part.as_os_str())))
            || may_go.is_match(&path);
        if !disposable && !holds_only(&worktree.join(&path), &may_go) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Whether a folder holds nothing but disposable things; a file never does.
fn holds_only(folder: &Path, may_go: &GlobSet) -> bool {
    let is_folder = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    if !is_folder(folder) {
        return false;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).all(|path| {
        let name = path.file_name().map(Path::new);
        name.is_some_and(|name| may_go.is_match(name)) || holds_only(&path, may_go)
    })
}

fn matcher(disposable: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    // A pattern that is none matches nothing, so more is kept, never less.
    disposable.iter().filter_map(|glob| Glob::new(glob).ok()).for_each(|glob| {
        set.add(glob);
    });
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

/// Saves uncommitted files to a ref and reads them back. `Some` when that is not possible.
pub(super) async fn save_files(
    git: &Git,
    task: &TaskId,
    worktree: &Path,
    tip: &Oid,
) -> Result<Option<KeptWhy>, GitError> {
    let shot = snapshot(git, worktree, task, tip, Some(RESCUE_FILE_MAX_BYTES)).await?;
    if let Some(path) = shot.nested.first() {
        return Ok(Some(KeptWhy::NestedRepository { path: path.clone() }));
    }
    if let Some(path) = shot.too_large.first() {
        return Ok(Some(KeptWhy::TooLarge { path: path.clone() }));
    }
    if !shot.differs {
        return Ok(None);
    }
    let message = format!("swarm: files of {task} when its worktree was removed\n");
    // The date of the commit they stand on, so that asking twice makes one commit and not two.
    let commit = NewCommit {
        tree: &shot.tree,
        parents: std::slice::from_ref(tip),
        author: None,
        encoding: None,
        message: message.as_bytes(),
        at_secs: 0,
    };
    let commit = git.make_commit(commit).await?;
    let name = keep_commit(git, "rescue", task, &commit).await?;
    git.make_durable().await?;
    // Every object of it can be read, and the files have not changed meanwhile.
    git.call(["rev-list", "--objects", "--quiet", commit.as_str(), "--not", tip.as_str()]).ok().await?;
    let again = snapshot(git, worktree, task, tip, Some(RESCUE_FILE_MAX_BYTES)).await?;
    let held = git.ref_value(&name).await?;
    let proven = held.as_ref() == Some(&commit) && git.tree_of(&commit).await? == again.tree;
    Ok((!proven).then_some(KeptWhy::NotSaved { name }))
}

/// Holds what only this checkout's HEAD holds.
pub(super) async fn keep_head(git: &Git, task: &TaskId, checkout: &Checkout) -> Result<(), GitError> {
    if let Head::Detached(oid) = &checkout.head
        && git.resolve(oid.as_str()).await?.is_some()
    {
        keep_commit(git, "rescue", task, oid).await?;
    }
    Ok(())
}
