//! Proofs that nothing of value goes with a worktree.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use swarm_protocol::ids::Oid;

use super::{Disposable, GivingUp, KeptWhy, keep_commit};
use crate::rescue::snapshot;
use crate::worktree::copy::is_our_copy;
use crate::worktree::made_by_setup;
use swarm_git::{Git, GitError, NewCommit, PrivateIndex, Untracked};

/// Folders inside folders that are looked through before one counts as of value.
const DEPTH_MAX: u32 = 64;

/// The first ignored file that is not on the list of what may go. Asked right after a snapshot: the index then
/// holds everything that git does not ignore.
async fn ignored_of_value(
    git: &Git,
    asked: &GivingUp<'_>,
    worktree: &Path,
) -> Result<Option<PathBuf>, GitError> {
    let name = asked.task.as_str();
    let index = PrivateIndex::take(git, name).await?;
    let may_go = Disposable::new(asked.disposable);
    let made = made_by_setup(git, name);
    let made_again = |path: &Path, meta: &Metadata| {
        made.covers(path, meta) || (meta.is_file() && is_our_copy(git, name, worktree, path))
    };
    for path in index.untracked(git, worktree, Untracked::Ignored).await? {
        if !may_go.covers(&path) && !may_all_go(worktree, &path, &may_go, &made_again, DEPTH_MAX) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Whether a file, or everything in a folder, is disposable, made by the set-up, or a copy of what the person has.
fn may_all_go(
    top: &Path,
    path: &Path,
    may_go: &Disposable,
    made_again: &impl Fn(&Path, &Metadata) -> bool,
    depth: u32,
) -> bool {
    let full = top.join(path);
    match std::fs::symlink_metadata(&full) {
        Ok(meta) if made_again(path, &meta) => true,
        Ok(meta) if meta.is_dir() && depth > 0 => {
            let Ok(entries) = std::fs::read_dir(&full) else { return false };
            entries.flatten().map(|entry| path.join(entry.file_name())).all(|path| {
                let name = path.file_name().map(Path::new);
                name.is_some_and(|name| may_go.covers_name(name))
                    || may_all_go(top, &path, may_go, made_again, depth - 1)
            })
        }
        Ok(_) => false,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Saves uncommitted files to a ref and reads them back. `Some` when that is not possible.
pub(super) async fn save_files(
    git: &Git,
    asked: &GivingUp<'_>,
    worktree: &Path,
    tip: &Oid,
) -> Result<Option<KeptWhy>, GitError> {
    let (task, max) = (asked.task, Some(asked.max_file_bytes));
    let shot = snapshot(git, worktree, task, tip, max).await?;
    if !asked.force
        && let Some(path) = shot.nested.first()
    {
        return Ok(Some(KeptWhy::NestedRepository { path: path.clone() }));
    }
    if !asked.force
        && let Some(path) = shot.left_out.first()
    {
        return Ok(Some(KeptWhy::LeftOut { path: path.clone() }));
    }
    if !asked.force
        && let Some(path) = ignored_of_value(git, asked, worktree).await?
    {
        return Ok(Some(KeptWhy::IgnoredFile { path }));
    }
    if !shot.differs || asked.only_look {
        return Ok(None);
    }
    let message = format!("swarm: files of {task} when its worktree was removed\n");
    // No clock in it, so that asking twice makes one commit and not two.
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
    let again = snapshot(git, worktree, task, tip, max).await?;
    let held = git.ref_value(&name).await?;
    let proven = held.as_ref() == Some(&commit) && git.tree_of(&commit).await? == again.tree;
    Ok((!proven).then_some(KeptWhy::NotSaved { name }))
}
