//! The files of a task's worktree led from one tree to another. Only paths that differ are touched; ignored
//! files stay, and what stands in the way of a file goes to the trash, not away.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use swarm_protocol::ids::{Oid, TaskId};

use crate::git::{Change, Git, GitError, MODE_GITLINK, PrivateIndex};
use crate::hands::remove::move_to_trash;
use crate::process::Input;

/// Trees of one worktree.
pub(super) struct Way<'a> {
    /// What files and index show now.
    pub from: &'a Oid,
    /// What of it is on a ref. A file that was ignored where the worktree came from may be known where it goes to:
    /// then it is in `from` and not in this one.
    pub saved: &'a Oid,
    /// What they shall show.
    pub target: &'a Oid,
    /// The tree of the tip. Where the target differs from it, it holds the very bytes of the file.
    pub tip: &'a Oid,
}

/// Makes the files those of the target.
pub(super) async fn lead(
    git: &Git,
    task: &TaskId,
    index: &PrivateIndex,
    worktree: &Path,
    way: &Way<'_>,
) -> Result<(), GitError> {
    let Way { from, saved, target, tip } = way;
    let changes = git.changes(from, target).await?;
    if changes.is_empty() {
        return Ok(());
    }
    // Another repository's commit is only a note in the tree; its folder is not ours to empty or fill.
    let of_files = |side: &Option<crate::git::Entry>| side.as_ref().is_some_and(|e| e.mode != MODE_GITLINK);
    let unsaved: BTreeSet<PathBuf> = git.changed_paths(saved, from).await?.into_iter().collect();
    for change in changes.iter().filter(|c| of_files(&c.old) && unsaved.contains(&c.path)) {
        if above(worktree, &change.path, |meta| !meta.is_dir()).is_none() {
            put_aside(git, task, &worktree.join(&change.path))?;
        }
    }
    // First what goes, so that the way is free for what comes.
    for change in changes.iter().filter(|change| of_files(&change.old) && change.new.is_none()) {
        remove_file(worktree, &change.path)?;
    }
    let exact: BTreeSet<PathBuf> = git.changed_paths(tip, target).await?.into_iter().collect();
    let mut names = [Vec::new(), Vec::new()];
    for change in changes.iter().filter(|change| of_files(&change.new)) {
        clear_the_way(git, task, worktree, change)?;
        let names = &mut names[usize::from(exact.contains(&change.path))];
        names.extend_from_slice(change.path.as_os_str().as_encoded_bytes());
        names.push(0);
    }
    index.enter(git, worktree, &changes).await?;
    for (exact, names) in [false, true].into_iter().zip(names).filter(|(_, names)| !names.is_empty()) {
        let write = index.call(git, worktree, &["checkout-index", "--force", "--index", "-z", "--stdin"]);
        let write = if exact { git.exactly(write, tip) } else { write };
        write.stdin(Input::Bytes(names)).ok().await?;
    }
    index.note_shown(target);
    Ok(())
}

fn remove_file(top: &Path, path: &Path) -> Result<(), GitError> {
    // Behind a link lies somebody else's.
    if above(top, path, |meta| !meta.is_dir()).is_some() {
        return Ok(());
    }
    let full = top.join(path);
    match std::fs::remove_file(&full) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(GitError::io("remove", &full)(error)),
    }
    for folder in path.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty()) {
        if std::fs::remove_dir(top.join(folder)).is_err() {
            break;
        }
    }
    Ok(())
}

/// A file or link that stands for a folder, a folder that stands for a file, a file that nobody has saved because
/// git ignores it: to the trash.
fn clear_the_way(git: &Git, task: &TaskId, top: &Path, change: &Change) -> Result<(), GitError> {
    if let Some(obstacle) = above(top, &change.path, |meta| !meta.is_dir()) {
        put_aside(git, task, &top.join(obstacle))?;
    }
    let full = top.join(&change.path);
    let Ok(meta) = std::fs::symlink_metadata(&full) else { return Ok(()) };
    let unsaved =
        meta.is_dir() && std::fs::remove_dir(&full).is_err() || !meta.is_dir() && change.old.is_none();
    if unsaved { put_aside(git, task, &full) } else { Ok(()) }
}

fn put_aside(git: &Git, task: &TaskId, full: &Path) -> Result<(), GitError> {
    if std::fs::symlink_metadata(full).is_err() {
        return Ok(());
    }
    move_to_trash(git, &format!("{task}-in-the-way"), full).map(drop)
}

/// The first part of the way to `path` that is there and of this kind.
fn above(top: &Path, path: &Path, is: impl Fn(&std::fs::Metadata) -> bool) -> Option<PathBuf> {
    let mut parts: Vec<&Path> =
        path.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty()).collect();
    parts.reverse();
    let found =
        parts.into_iter().find(|part| std::fs::symlink_metadata(top.join(part)).is_ok_and(|m| is(&m)));
    found.map(Path::to_owned)
}
