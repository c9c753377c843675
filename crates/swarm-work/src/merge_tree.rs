//! The worktree in which merged trees are verified: one, kept, detached, shown the commit in question.
//!
//! Files that git ignores stay (they are caches of builds, only ever written by verifications); everything else
//! is made to be the commit, since what an earlier verification left lying must not decide over this one.
//! The programs that verify can write git's record of it, so it is written anew each time.

use std::path::Path;

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::Oid;

use crate::remove::{move_to_trash, trash_record};
use crate::worktree::setup;
use swarm_git::{Git, GitError, Head, PrivateIndex, read_marker, remove_marker, write_marker};

/// The name of its index.
const INDEX: &str = ".merge";

/// The name under which its set-up and its copies are known. No task can have it.
pub const NAME: &str = "merge";

/// Says that the folder is ours to clean.
#[derive(Debug, Serialize, Deserialize)]
struct MergeMarker {
    repo_id: String,
    path: std::path::PathBuf,
    record: Option<String>,
}

fn marker_path(git: &Git) -> std::path::PathBuf {
    git.swarm_dir().join("merge-worktree.json")
}

fn marker_of(git: &Git, path: &Path) -> Result<Option<MergeMarker>, GitError> {
    let repo_id = git.repo_id()?;
    let found: Option<MergeMarker> = read_marker(&marker_path(git));
    Ok(found.filter(|marker| marker.repo_id == repo_id && marker.path == path))
}

/// Git's record of it: what that says about HEAD is the word of whatever ran there last.
pub(crate) fn record_name(git: &Git) -> Option<String> {
    read_marker::<MergeMarker>(&marker_path(git))?.record
}

/// Makes the worktree show exactly this commit. Asked twice, or after a death anywhere, it does the same.
pub async fn show(git: &Git, path: &Path, commit: &Oid) -> Result<(), GitError> {
    let index = PrivateIndex::take(git, INDEX).await?;
    let marker = marker_of(git, path)?;
    if marker.is_none() || !path.is_dir() {
        if std::fs::symlink_metadata(path).is_ok() {
            // Not known to be ours, so it is only moved aside.
            move_to_trash(git, "merge", path)?;
        }
        index.forget();
        setup::forget(git, NAME);
    }
    let old_record = marker.and_then(|marker| marker.record);
    let mut marker = MergeMarker { repo_id: git.repo_id()?, path: path.to_owned(), record: old_record };
    write_marker(&marker_path(git), &marker)?;
    std::fs::create_dir_all(path).map_err(GitError::io("make the folder", path))?;
    let record = register(git, path, commit, &mut marker)?;
    index.fill(git, path, commit).await?;
    index.call(git, path, &["clean", "--quiet", "-ffd"]).ok().await?;
    git.install_index(&git.record_dir(&record), &index, path).await
}

/// A fresh record, since programs of the last verification could write the old one.
fn register(git: &Git, path: &Path, commit: &Oid, marker: &mut MergeMarker) -> Result<String, GitError> {
    forget_record(git, path, marker.record.take())?;
    let dot_git = path.join(".git");
    if std::fs::symlink_metadata(&dot_git).is_ok_and(|meta| meta.is_dir()) {
        move_to_trash(git, "merge", &dot_git)?;
    }
    let name = git.register("swarm-merge", path, &Head::Detached(commit.clone()), commit)?;
    marker.record = Some(name.clone());
    write_marker(&marker_path(git), marker)?;
    Ok(name)
}

fn forget_record(git: &Git, path: &Path, name: Option<String>) -> Result<(), GitError> {
    let named = name.map(|name| git.record_dir(&name));
    let said = git.linked_checkouts().into_iter().filter(|linked| linked.path == path).map(|one| one.git_dir);
    let of_tasks = crate::worktree::records_of_tasks(git);
    for record in named.into_iter().chain(said) {
        let is_a_tasks = record.file_name().and_then(|n| n.to_str()).is_some_and(|n| of_tasks.contains(n));
        if !is_a_tasks {
            trash_or_remove(git, &record)?;
        }
    }
    Ok(())
}

/// Nothing in it is of value: HEAD was always a commit that a ref keeps.
fn trash_or_remove(git: &Git, record: &Path) -> Result<(), GitError> {
    match std::fs::remove_dir_all(record) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => trash_record(git, "merge", record),
        _ => Ok(()),
    }
}

/// Takes the worktree away when nothing is left to verify. Never the only copy of anything.
pub async fn discard(git: &Git, path: &Path) -> Result<(), GitError> {
    let index = PrivateIndex::take(git, INDEX).await?;
    let Some(marker) = marker_of(git, path)? else { return Ok(()) };
    if std::fs::symlink_metadata(path).is_ok() {
        move_to_trash(git, "merge", path)?;
    }
    forget_record(git, path, marker.record)?;
    index.forget();
    setup::forget(git, NAME);
    remove_marker(&marker_path(git))
}
