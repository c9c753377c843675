//! What an agent has made of its task's files, taken from the shared tree into the task's own worktree.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use swarm_protocol::ids::Oid;

use super::trees::{Part, brought_back, changed_files, joined, keep, keep_tree, named, read_in};
use super::{INDEX, Marker, Member, Visitor, marker_of, marker_path};
use crate::rescue::{RESCUE_FILE_MAX_BYTES, snapshot};
use swarm_git::{Git, GitError, PrivateIndex, write_marker};

/// What came of it.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Files of the task that are too large, or cannot be read.
    pub left_out: Vec<PathBuf>,
}

/// Takes the files of the task as they lie in the shared tree into its own worktree, uncommitted. Nothing of its agent may run
/// now; others may. Asked twice it finds nothing left to do.
pub async fn gather(git: &Git, visitor: &Visitor<'_>) -> Result<Gathered, GitError> {
    let index = PrivateIndex::take(git, INDEX).await?;
    let Some(mut marker) = marker_of(git)? else { return Ok(Gathered::default()) };
    if !is_here(&marker, visitor) {
        return Ok(Gathered::default());
    }
    gather_into(git, &index, &mut marker, visitor).await
}

/// The same for the last time: from then on its files in the shared tree are nobody's.
pub async fn leave(git: &Git, visitor: &Visitor<'_>) -> Result<(), GitError> {
    // Asked without the lock first: most runs were never there.
    if !marker_of(git)?.is_some_and(|marker| is_here(&marker, visitor)) {
        return Ok(());
    }
    let index = PrivateIndex::take(git, INDEX).await?;
    let Some(mut marker) = marker_of(git)?.filter(|marker| is_here(marker, visitor)) else { return Ok(()) };
    gather_into(git, &index, &mut marker, visitor).await?;
    marker.members.remove(visitor.task);
    write_marker(&marker_path(git), &marker)
}

fn is_here(marker: &Marker, visitor: &Visitor<'_>) -> bool {
    marker.members.get(visitor.task).is_some_and(|member| member.run == *visitor.run)
}

pub(super) async fn gather_into(
    git: &Git,
    index: &PrivateIndex,
    marker: &mut Marker,
    visitor: &Visitor<'_>,
) -> Result<Gathered, GitError> {
    let Some(mut member) = marker.members.get(visitor.task).filter(|member| member.laid_out).cloned() else {
        return Ok(Gathered::default());
    };
    let tip = visitor.tip(git).await?;
    let path = marker.path.clone();
    let changed = changed_files(git, index, &path, &marker.shows).await?;
    let others: Vec<&Member> =
        marker.members.iter().filter(|(task, _)| *task != visitor.task).map(|(_, other)| other).collect();
    let is_theirs = |file: &Path| others.iter().any(|other| other.has(file));
    let mut loose: BTreeSet<PathBuf> =
        changed.iter().filter(|file| !member.has(file) && !is_theirs(file)).cloned().collect();
    if marker.leads.is_some() && !loose.is_empty() {
        let lies = read_in(git, index, &path, &marker.shows, &loose, visitor.max_file_bytes).await?.tree;
        let ours = put_there(git, marker, &lies, &loose).await?;
        loose.retain(|file| !ours.contains(file));
    }
    let alone = others.is_empty();
    let unknown = unknown_strays(git, marker, &path, &loose).await?;
    // Who else could it have been? What was found before, with others there, is kept already.
    if alone {
        member.holds.extend(unknown.iter().map(|(file, _)| file.to_string_lossy().into_owned()));
    }
    let mine: BTreeSet<PathBuf> = changed.iter().filter(|file| member.has(file)).cloned().collect();
    let read = read_in(git, index, &path, &marker.shows, &mine, visitor.max_file_bytes).await?;
    let wanted = joined(git, index, &tip, &[Part { tree: &read.tree, of: &|file| member.has(file) }]).await?;
    land(git, visitor, &tip, &member.landed, &wanted).await?;
    member.landed = wanted;
    marker.shows = read.tree.clone();
    marker.members.insert(visitor.task.clone(), member);
    if !alone && !unknown.is_empty() {
        let files: BTreeSet<PathBuf> = unknown.iter().map(|(file, _)| file.clone()).collect();
        let with = read_in(git, index, &path, &read.tree, &files, visitor.max_file_bytes).await?.tree;
        let name = keep(git, index, visitor.task, &tip, &with, &files).await?;
        let text = format!(
            "changed in the shared tree, and reserved by nobody: {}. It belongs to no task and is kept; `{}` brings it into a checkout",
            named(&files),
            brought_back(&name)
        );
        git.notice(Some(visitor.task), text);
        marker.strays.extend(unknown);
    }
    write_marker(&marker_path(git), marker)?;
    Ok(Gathered { left_out: read.left_out })
}

/// Those of the files that we have put there ourselves, when the next tree was laid out and that was broken off. `lies`: the
/// tree with the files as they lie there.
pub(super) async fn put_there(
    git: &Git,
    marker: &Marker,
    lies: &Oid,
    files: &BTreeSet<PathBuf>,
) -> Result<BTreeSet<PathBuf>, GitError> {
    let Some(leads) = &marker.leads else { return Ok(BTreeSet::new()) };
    // Nobody holds that tree: whatever cannot be compared any more is told.
    if git.tree_of(leads).await.is_err() {
        return Ok(BTreeSet::new());
    }
    let differ = git.changed_paths(lies, leads).await?;
    let mut ours = files.clone();
    ours.retain(|file| !differ.contains(file));
    Ok(ours)
}

/// Those whose content has not been found before, with it.
pub(super) async fn unknown_strays(
    git: &Git,
    marker: &Marker,
    path: &Path,
    loose: &BTreeSet<PathBuf>,
) -> Result<Vec<(PathBuf, String)>, GitError> {
    let mut unknown = Vec::new();
    for file in loose {
        let content = content_of(git, path, file).await?;
        if marker.strays.get(file) != Some(&content) {
            unknown.push((file.clone(), content));
        }
    }
    Ok(unknown)
}

/// What the file holds, in one word; empty where there is no plain file.
async fn content_of(git: &Git, path: &Path, file: &Path) -> Result<String, GitError> {
    let full = path.join(file);
    match std::fs::symlink_metadata(&full) {
        Ok(meta) if meta.len() > RESCUE_FILE_MAX_BYTES => Ok(format!("{} bytes", meta.len())),
        Ok(meta) if meta.is_file() => match std::fs::read(&full) {
            Ok(bytes) => Ok(git.hash_bytes(bytes).await?.as_str().to_owned()),
            Err(_) => Ok(String::new()),
        },
        _ => Ok(String::new()),
    }
}

/// Makes the files of the task's own worktree those of `wanted`. What somebody else has changed there meanwhile is kept.
async fn land(
    git: &Git,
    visitor: &Visitor<'_>,
    tip: &Oid,
    landed: &Oid,
    wanted: &Oid,
) -> Result<(), GitError> {
    let Visitor { task, worktree, max_file_bytes, .. } = visitor;
    let there = snapshot(git, worktree, task, tip, Some(*max_file_bytes)).await?.tree;
    if there == *wanted {
        return Ok(());
    }
    if there != *landed && there != git.tree_of(tip).await? {
        let words = format!("swarm: what lay in the worktree of {task} while its agent worked elsewhere\n");
        let name = keep_tree(git, task, tip, &there, &words).await?;
        git.notice(
            Some(task),
            format!("its worktree was changed while its agent worked in the shared tree: that is kept: `git show {name}`"),
        );
    }
    let index = PrivateIndex::take(git, task.as_str()).await?;
    index.lead(git, worktree, &there, wanted).await
}
