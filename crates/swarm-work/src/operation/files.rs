//! The files of a task's worktree led from one tree to another. Only paths that differ are touched; ignored
//! files stay, and what stands in the way of a file goes to the trash, not away.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use swarm_protocol::ids::{Oid, TaskId};

use crate::remove::move_to_trash;
use crate::rescue::Exact;
use swarm_git::{Change, Entry, Git, GitError, MODE_GITLINK, PrivateIndex};
use swarm_process::Input;

/// From what lies in a worktree to what shall lie there.
pub(super) struct Way<'a> {
    /// All of it is on a ref, but for files that were too large.
    pub seen: &'a Exact,
    /// The tree that the files shall show.
    pub target: &'a Oid,
    /// The tree of the tip. Where the target differs from it, it holds the very bytes of the file.
    pub tip: &'a Oid,
}

/// Clocks of file systems go in steps: a file may be younger by so much than it says.
const CLOCK_STEP: Duration = Duration::from_millis(20);

/// Makes the files, and the index, those of the target.
pub(super) async fn lead(
    git: &Git,
    task: &TaskId,
    index: &PrivateIndex,
    worktree: &Path,
    way: &Way<'_>,
) -> Result<(), GitError> {
    let Way { seen, target, tip } = way;
    let from_tip = git.changes(&seen.tip, target).await?;
    // Another repository's commit is only a note in the tree; its folder is not ours to empty or fill.
    let of_files = |side: &Option<Entry>| side.as_ref().is_some_and(|e| e.mode != MODE_GITLINK);
    let mut changes = composed(&seen.changes, &from_tip);
    // What nobody has saved stays where it lies, and shows as changed.
    changes.retain(|change| !seen.shot.left_out.contains(&change.path));
    for change in changes.iter().filter(|change| of_files(&change.old)) {
        if is_younger(worktree, &change.path, seen.since) {
            put_aside(git, task, &worktree.join(&change.path))?;
        }
    }
    // First what goes, so that the way is free for what comes.
    for change in changes.iter().filter(|change| of_files(&change.old) && change.new.is_none()) {
        remove_file(worktree, &change.path)?;
    }
    let exact: BTreeSet<PathBuf> = match target == tip {
        true => BTreeSet::new(),
        false => git.changed_paths(tip, target).await?.into_iter().collect(),
    };
    let mut names = [Vec::new(), Vec::new()];
    for change in changes.iter().filter(|change| of_files(&change.new)) {
        clear_the_way(git, task, worktree, change)?;
        let names = &mut names[usize::from(exact.contains(&change.path))];
        names.extend_from_slice(change.path.as_os_str().as_encoded_bytes());
        names.push(0);
    }
    match index.noted() {
        Some(shows) if shows == seen.tip => index.enter(git, worktree, &from_tip).await?,
        // It was led elsewhere, or forgotten, since the files were looked at.
        _ => index.show(git, worktree, target).await?,
    }
    for (exact, names) in [false, true].into_iter().zip(names).filter(|(_, names)| !names.is_empty()) {
        let write = index.call(git, worktree, &["checkout-index", "--force", "--index", "-z", "--stdin"]);
        let write = if exact { git.exactly(write, tip) } else { write };
        write.stdin(Input::Bytes(names)).ok().await?;
    }
    index.note_shown(target);
    Ok(())
}

/// From one end to the other, of two ways that begin at the same tree.
fn composed(to_here: &[Change], to_there: &[Change]) -> Vec<Change> {
    let mut sides: BTreeMap<&Path, (&Option<Entry>, &Option<Entry>)> = BTreeMap::new();
    for Change { path, old, new } in to_here {
        // Where the other way does not pass, it ends with what was there at the beginning.
        sides.insert(path, (new, old));
    }
    for Change { path, old, new } in to_there {
        sides.entry(path).and_modify(|sides| sides.1 = new).or_insert((old, new));
    }
    let change = |(path, (old, new)): (&Path, (&Option<Entry>, &Option<Entry>))| Change {
        path: path.to_owned(),
        old: old.clone(),
        new: new.clone(),
    };
    sides.into_iter().filter(|(_, (old, new))| old != new).map(change).collect()
}

/// Whether the file was changed after the files were looked at: then what it holds may be saved nowhere. The time
/// is that of the change of the inode, which no program can set.
fn is_younger(top: &Path, path: &Path, than: SystemTime) -> bool {
    if above(top, path, |meta| !meta.is_dir()).is_some() {
        return false;
    }
    let Ok(meta) = std::fs::symlink_metadata(top.join(path)) else { return false };
    let nanos = u32::try_from(meta.ctime_nsec()).unwrap_or_default();
    let changed = u64::try_from(meta.ctime()).map(|secs| SystemTime::UNIX_EPOCH + Duration::new(secs, nanos));
    changed.map_or(true, |changed| changed + CLOCK_STEP >= than)
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
