//! The tree that tasks of the isolation `reservation` share: one folder, in which each agent changes the files that its task
//! has reserved, and commits nothing.
//!
//! Every task has a worktree of its own besides, with its branch; there its work is saved, checked, committed, rolled back, as
//! that of any other task. Before an agent begins, the files of its task go from there into the shared tree, and everything
//! that nobody works on is brought to trunk (`enter`). At each boundary and at the end they come back (`gather`, `leave`).
//!
//! What lies in the shared tree is told from what was put there by an index of ours. Its lock is the lock of the tree.

mod gather;
mod trees;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use swarm_protocol::globs::means;
use swarm_protocol::ids::{Oid, RunId, TaskId};

use crate::remove::{move_to_trash, trash_record};
use crate::rescue::snapshot;
use crate::worktree::setup;
pub use gather::{Gathered, gather, leave};
use swarm_git::{Git, GitError, Head, PrivateIndex, read_marker, remove_marker, write_marker};
use trees::{Part, changed_files, joined, keep, read_in};

/// The name under which its set-up and its copies are known. No task can have it.
pub const NAME: &str = "shared";

/// The name of its index.
const INDEX: &str = ".shared";

/// Says that the folder is ours, what we have put there, and who works in it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Marker {
    repo_id: String,
    path: PathBuf,
    record: Option<String>,
    /// The tree that was put there, with what has been taken from there since.
    shows: Oid,
    /// The tree that is being put there: whoever finds it here was broken off, and files of it are ours.
    #[serde(default)]
    leads: Option<Oid>,
    #[serde(default)]
    members: BTreeMap<TaskId, Member>,
    /// Files that nobody has reserved and that were found changed: the content that was kept and told. Empty: it was gone.
    #[serde(default)]
    strays: BTreeMap<PathBuf, String>,
}

/// A task whose agent works in the tree.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Member {
    run: RunId,
    /// Globs of the files that it changes.
    holds: Vec<String>,
    /// Its files lie in the tree, as the agent has made them since. Before that nothing there is its.
    laid_out: bool,
    /// The tree of its own worktree when we last looked.
    landed: Oid,
}

impl Member {
    fn has(&self, path: &Path) -> bool {
        let path = path.to_string_lossy();
        self.holds.iter().any(|glob| means(glob, &path))
    }
}

/// A run that works in the tree.
#[derive(Debug, Clone, Copy)]
pub struct Visitor<'a> {
    pub task: &'a TaskId,
    pub run: &'a RunId,
    /// The worktree that the task has for itself.
    pub worktree: &'a Path,
    /// A larger file is not taken.
    pub max_file_bytes: u64,
}

impl Visitor<'_> {
    async fn tip(&self, git: &Git) -> Result<Oid, GitError> {
        let branch = self.task.branch();
        let gone = || GitError::Unreadable { command: "rev-parse".into(), what: format!("{branch} is gone") };
        git.ref_value(&format!("refs/heads/{branch}")).await?.ok_or_else(gone)
    }
}

fn marker_path(git: &Git) -> PathBuf {
    git.swarm_dir().join("shared-tree.json")
}

fn marker_of(git: &Git) -> Result<Option<Marker>, GitError> {
    let repo_id = git.repo_id()?;
    let found: Option<Marker> = read_marker(&marker_path(git));
    Ok(found.filter(|marker| marker.repo_id == repo_id && marker.path.is_dir()))
}

/// Git's record of it.
pub(crate) fn record_name(git: &Git) -> Option<String> {
    read_marker::<Marker>(&marker_path(git))?.record
}

/// Where the run works, if that is the shared tree.
pub fn place_of(git: &Git, task: &TaskId, run: &RunId) -> Option<PathBuf> {
    let marker = marker_of(git).ok()??;
    let here = marker.members.get(task).is_some_and(|member| member.run == *run && member.laid_out);
    here.then_some(marker.path)
}

/// Where it is, and who works in it.
pub(crate) fn seen(git: &Git) -> Option<(PathBuf, Vec<TaskId>)> {
    let marker = marker_of(git).ok()??;
    Some((marker.path, marker.members.into_keys().collect()))
}

/// Whether somebody else works there too.
pub fn is_alone(git: &Git, task: &TaskId) -> bool {
    let Ok(Some(marker)) = marker_of(git) else { return true };
    marker.members.keys().all(|member| member == task)
}

/// Lays the files of the task out in the tree for its agent. Everything there that nobody works on becomes what trunk has.
/// Asked twice, or after a death anywhere, it does the same.
pub async fn enter(
    git: &Git,
    path: &Path,
    visitor: &Visitor<'_>,
    holds: &[String],
    trunk: &Oid,
) -> Result<(), GitError> {
    let index = PrivateIndex::take(git, INDEX).await?;
    let mut marker = match marker_of(git)?.filter(|marker| marker.path == path) {
        Some(marker) => marker,
        None => make(git, &index, path, trunk).await?,
    };
    // Its last agent was killed, and nobody has fetched what it left.
    if marker.members.get(visitor.task).is_some_and(|member| member.laid_out) {
        gather::gather_into(git, &index, &mut marker, visitor).await?;
    }
    let tip = visitor.tip(git).await?;
    let own = snapshot(git, visitor.worktree, visitor.task, &tip, Some(visitor.max_file_bytes)).await?.tree;
    let member =
        Member { run: visitor.run.clone(), holds: holds.to_vec(), laid_out: false, landed: own.clone() };
    marker.members.insert(visitor.task.clone(), member.clone());
    write_marker(&marker_path(git), &marker)?;
    lay_out(git, &index, &mut marker, visitor, &member, &own, trunk).await?;
    point_at(git, &mut marker, trunk)?;
    if let Some(member) = marker.members.get_mut(visitor.task) {
        member.laid_out = true;
    }
    write_marker(&marker_path(git), &marker)?;
    match &marker.record {
        Some(record) => git.install_index(&git.record_dir(record), &index, path).await,
        None => Ok(()),
    }
}

async fn lay_out(
    git: &Git,
    index: &PrivateIndex,
    marker: &mut Marker,
    visitor: &Visitor<'_>,
    member: &Member,
    own: &Oid,
    trunk: &Oid,
) -> Result<(), GitError> {
    let path = marker.path.clone();
    let others: Vec<&Member> =
        marker.members.iter().filter(|(task, _)| *task != visitor.task).map(|(_, other)| other).collect();
    let mine = |file: &Path| member.has(file);
    let theirs = |file: &Path| !mine(file) && others.iter().any(|other| other.has(file));
    let changed = changed_files(git, index, &path, &marker.shows).await?;
    // What others may have made by mistake is not taken away under their hands.
    let free: BTreeSet<PathBuf> =
        changed.iter().filter(|file| mine(file) || others.is_empty()).cloned().collect();
    let left = |file: &Path| theirs(file) || changed.contains(file) && !free.contains(file);
    let found = read_in(git, index, &path, &marker.shows, &free, visitor.max_file_bytes).await?.tree;
    let target =
        joined(git, index, trunk, &[Part { tree: &found, of: &left }, Part { tree: own, of: &mine }]).await?;
    let differs = git.changed_paths(&target, &found).await?;
    let ours = gather::put_there(git, marker, &found, &free).await?;
    let is_stray = |file: &PathBuf| free.contains(file) && !ours.contains(file);
    let strays: BTreeSet<PathBuf> = differs.into_iter().filter(is_stray).collect();
    // What was found before is kept and told already.
    let unknown = gather::unknown_strays(git, marker, &path, &strays).await?;
    let strays: BTreeSet<PathBuf> = unknown.into_iter().map(|(file, _)| file).collect();
    if !strays.is_empty() {
        let name = keep(git, index, visitor.task, trunk, &found, &strays).await?;
        let names = trees::named(&strays);
        git.notice(
            Some(visitor.task),
            format!(
                "the shared tree held changes that belong to no task ({names}): they are taken out and kept; `{}` brings them into a checkout",
                trees::brought_back(&name)
            ),
        );
    }
    marker.strays.retain(|file, _| !free.contains(file));
    marker.leads = Some(target.clone());
    write_marker(&marker_path(git), marker)?;
    index.lead(git, &path, &found, &target).await?;
    (marker.shows, marker.leads) = (target, None);
    Ok(())
}

async fn make(git: &Git, index: &PrivateIndex, path: &Path, trunk: &Oid) -> Result<Marker, GitError> {
    if std::fs::symlink_metadata(path).is_ok() {
        // Not known to be ours, so it is only moved aside.
        move_to_trash(git, NAME, path)?;
    }
    forget_record(git, record_name(git))?;
    index.forget();
    setup::forget(git, NAME);
    std::fs::create_dir_all(path).map_err(GitError::io("make the folder", path))?;
    let record = git.register("swarm-shared", path, &Head::Detached(trunk.clone()), trunk)?;
    index.fill(git, path, trunk).await?;
    let marker = Marker {
        repo_id: git.repo_id()?,
        path: path.to_owned(),
        record: Some(record),
        shows: git.tree_of(trunk).await?,
        leads: None,
        members: BTreeMap::new(),
        strays: BTreeMap::new(),
    };
    write_marker(&marker_path(git), &marker)?;
    Ok(marker)
}

/// The agents' git sees the tree as a checkout of trunk. The pointer is written only where somebody has changed it: others look
/// at it through a view of their own, which a new file would take away.
fn point_at(git: &Git, marker: &mut Marker, trunk: &Oid) -> Result<(), GitError> {
    let record = marker.record.as_ref().map(|name| git.record_dir(name)).filter(|record| record.is_dir());
    match record.filter(|record| git.points_right(record, &marker.path)) {
        Some(record) => git.detach_head(&record, trunk),
        None => {
            forget_record(git, marker.record.take())?;
            let dot_git = marker.path.join(".git");
            if std::fs::symlink_metadata(&dot_git).is_ok_and(|meta| meta.is_dir()) {
                move_to_trash(git, NAME, &dot_git)?;
            }
            let head = Head::Detached(trunk.clone());
            marker.record = Some(git.register("swarm-shared", &marker.path, &head, trunk)?);
            Ok(())
        }
    }
}

/// Takes the tree away when nobody works in it any more. What belongs to no task goes to the trash with it.
pub async fn discard(git: &Git) -> Result<(), GitError> {
    let index = PrivateIndex::take(git, INDEX).await?;
    let Some(marker) = marker_of(git)?.filter(|marker| marker.members.is_empty()) else { return Ok(()) };
    move_to_trash(git, NAME, &marker.path)?;
    forget_record(git, marker.record)?;
    index.forget();
    setup::forget(git, NAME);
    remove_marker(&marker_path(git))
}

/// Nothing in it is of value: HEAD was always a commit of trunk.
fn forget_record(git: &Git, name: Option<String>) -> Result<(), GitError> {
    let Some(record) = name.map(|name| git.record_dir(&name)) else { return Ok(()) };
    match std::fs::remove_dir_all(&record) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => trash_record(git, NAME, &record),
        _ => Ok(()),
    }
}
