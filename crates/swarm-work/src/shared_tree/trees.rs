//! Trees put together from parts of others, and what lies in the shared folder read into one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use swarm_protocol::ids::{Oid, TaskId};

use crate::remove::keep_commit;
use crate::rescue::{self, Reading, Snapshot, read_files};
use swarm_git::{Git, GitError, NewCommit, PrivateIndex, path_of};

/// Files that are named to a person.
const NAMED_MAX: usize = 5;

/// Some files of a tree.
pub struct Part<'a> {
    pub tree: &'a Oid,
    pub of: &'a (dyn Fn(&Path) -> bool + Sync),
}

/// The tree of `base` with the files of each part in place of its own.
pub async fn joined(
    git: &Git,
    index: &PrivateIndex,
    base: &Oid,
    parts: &[Part<'_>],
) -> Result<Oid, GitError> {
    let scratch = index.empty_one()?;
    let made = join_in(git, &scratch, base, parts).await;
    scratch.forget();
    made
}

async fn join_in(git: &Git, scratch: &PrivateIndex, base: &Oid, parts: &[Part<'_>]) -> Result<Oid, GitError> {
    // No file is looked at: any folder will do.
    let nowhere = git.common_dir.clone();
    scratch.draft(git, &nowhere, &["read-tree", base.as_str()]).ok().await?;
    for part in parts {
        let mut changes = git.changes(base, part.tree).await?;
        changes.retain(|change| (part.of)(&change.path));
        scratch.enter(git, &nowhere, &changes).await?;
    }
    let tree = scratch.draft(git, &nowhere, &["write-tree"]).line().await?;
    Oid::new(&tree)
        .map_err(|error| GitError::Unreadable { command: "write-tree".into(), what: error.to_string() })
}

/// Files that are not as the index would have them, or new and not ignored. The index then shows `shows`.
pub async fn changed_files(
    git: &Git,
    index: &PrivateIndex,
    path: &Path,
    shows: &Oid,
) -> Result<BTreeSet<PathBuf>, GitError> {
    let (tracked, others) = rescue::changed(git, path, index, shows).await?;
    // Of another repository only its folder is named: what is in it is nobody's file.
    let others = others.split(|b| *b == 0).filter(|name| !name.is_empty() && !name.ends_with(b"/"));
    Ok(tracked.into_iter().map(|change| change.path).chain(others.map(path_of)).collect())
}

/// The tree that the index shows, with these files as they lie in the folder.
pub async fn read_in(
    git: &Git,
    index: &PrivateIndex,
    path: &Path,
    shows: &Oid,
    only: &BTreeSet<PathBuf>,
    max_bytes: u64,
) -> Result<Snapshot, GitError> {
    let reading = Reading { max_bytes: Some(max_bytes), exact: false, only: Some(only) };
    let read = read_files(git, path, index, shows, reading).await;
    if read.is_err() {
        // What a failed step left half done must not be the start of the next one.
        index.forget();
    }
    read
}

/// Keeps these files of a tree on a ref of their own, as a change of `onto`.
pub async fn keep(
    git: &Git,
    index: &PrivateIndex,
    task: &TaskId,
    onto: &Oid,
    tree: &Oid,
    files: &BTreeSet<PathBuf>,
) -> Result<String, GitError> {
    let tree = joined(git, index, onto, &[Part { tree, of: &|file| files.contains(file) }]).await?;
    keep_tree(git, task, onto, &tree, "swarm: changes in the shared tree that belong to no task\n").await
}

/// Keeps a tree on a ref of its own.
pub async fn keep_tree(
    git: &Git,
    task: &TaskId,
    onto: &Oid,
    tree: &Oid,
    message: &str,
) -> Result<String, GitError> {
    let commit = NewCommit {
        tree,
        parents: std::slice::from_ref(onto),
        author: None,
        encoding: None,
        message: message.as_bytes(),
        at_secs: jiff::Timestamp::now().as_second(),
    };
    let commit = git.make_commit(commit).await?;
    let name = keep_commit(git, "rescue", task, &commit).await?;
    git.make_durable().await?;
    Ok(name)
}

/// For a sentence.
pub fn named(files: &BTreeSet<PathBuf>) -> String {
    let mut names: Vec<String> =
        files.iter().take(NAMED_MAX).map(|file| file.display().to_string()).collect();
    if files.len() > NAMED_MAX {
        names.push(format!("and {} more", files.len() - NAMED_MAX));
    }
    names.join(", ")
}

/// The command that brings what is kept into the checkout that somebody stands in.
pub fn brought_back(name: &str) -> String {
    format!("git cherry-pick --no-commit {name}")
}
