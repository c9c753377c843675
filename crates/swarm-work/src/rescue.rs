//! Work that is not committed: saved to a ref, or committed at the end, through an index of our own.
//! The agent's index, its files and its git directory are not read for it: it may have planted things there.

mod exact;
mod rest;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use swarm_protocol::ids::{Oid, RunId, TaskId};

pub(crate) use exact::{Exact, snapshot_exact};
pub use rest::{Rest, commit_rest, message_of_rest};
use swarm_git::{
    Change, Git, GitError, NewCommit, PrivateIndex, RefChange, RefOutcome, is_refused_name, make_readable,
    path_of,
};
use swarm_process::Input;

use crate::remove::keep_commit;

/// A larger file is not put into the object database on our own account: it would stay there for good.
pub const RESCUE_FILE_MAX_BYTES: u64 = 100 * 1024 * 1024;

/// Files that are told one by one.
const TOLD_MAX: usize = 5;

/// The state of a worktree's files compared with a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// All tracked and untracked files that are not ignored.
    pub tree: Oid,
    /// True when `tree` differs from the commit's.
    pub differs: bool,
    /// Repositories inside the worktree: their files are not in `tree`.
    pub nested: Vec<PathBuf>,
    /// Changed or new files above the bound, that cannot be read, or of a name that git's checks refuse: not in `tree` as
    /// they are.
    pub left_out: Vec<PathBuf>,
}

pub fn wip_ref(task: &TaskId, run: &RunId) -> String {
    format!("refs/swarm/wip/{task}/{run}")
}

/// Reads the files of `worktree` into a tree. Writes objects and an index of our own, nothing else.
/// Changed files larger than `max_bytes` are left out and named.
pub async fn snapshot(
    git: &Git,
    worktree: &Path,
    task: &TaskId,
    tip: &Oid,
    max_bytes: Option<u64>,
) -> Result<Snapshot, GitError> {
    let reading = Reading { max_bytes, exact: false, only: None };
    snapshot_as(git, worktree, task, tip, reading).await
}

#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub max_bytes: Option<u64>,
    pub exact: bool,
    /// None: whatever has changed.
    pub only: Option<&'a BTreeSet<PathBuf>>,
}

async fn snapshot_as(
    git: &Git,
    worktree: &Path,
    task: &TaskId,
    tip: &Oid,
    reading: Reading<'_>,
) -> Result<Snapshot, GitError> {
    let index = PrivateIndex::take(git, task.as_str()).await?;
    let read = read_files(git, worktree, &index, tip, reading).await;
    match &read {
        Ok(shot) => tell_left_out(git, task, worktree, &shot.left_out),
        // What a failed step left half done must not be the start of the next one.
        Err(_) => index.forget(),
    }
    read
}

/// A person is told of what is left out, once: nobody else keeps it.
fn tell_left_out(git: &Git, task: &TaskId, worktree: &Path, paths: &[PathBuf]) {
    for path in paths.iter().take(TOLD_MAX) {
        let text = format!("{} is not saved: {}", path.display(), why_left_out(worktree, path));
        git.notice(Some(task), text);
    }
}

/// Whether git's checks, here or on a host, would refuse every commit that has this file.
fn is_refused(worktree: &Path, path: &Path) -> bool {
    let there = || std::fs::symlink_metadata(worktree.join(path));
    // What is gone may go.
    is_refused_name(path, true) && there().is_ok_and(|meta| is_refused_name(path, meta.is_symlink()))
}

/// Why a file is left out.
pub(crate) fn why_left_out(worktree: &Path, path: &Path) -> String {
    if is_refused(worktree, path) {
        return "git's checks refuse that name, which means git's own files on some machines".into();
    }
    if !make_readable(&worktree.join(path)) {
        return "it cannot be read, and it is not ours to change that".into();
    }
    let bytes = std::fs::symlink_metadata(worktree.join(path)).map_or(0, |meta| meta.len());
    format!("it has {} MB, which is more than `worktree.maxFile` allows", bytes >> 20)
}

/// How many files differ from the commit or are new. Reads, writes nothing but our own index.
pub(crate) async fn uncommitted(
    git: &Git,
    worktree: &Path,
    task: &TaskId,
    tip: &Oid,
) -> Result<usize, GitError> {
    let index = PrivateIndex::take(git, task.as_str()).await?;
    let (tracked, others) = changed(git, worktree, &index, tip).await?;
    Ok(tracked.len() + others.split(|b| *b == 0).filter(|name| !name.is_empty()).count())
}

/// Files that differ from the commit, and the names of new ones, each ended by a NUL; the index then shows the commit.
pub(crate) async fn changed(
    git: &Git,
    worktree: &Path,
    index: &PrivateIndex,
    tip: &Oid,
) -> Result<(Vec<Change>, Vec<u8>), GitError> {
    index.make_fit(git, worktree, tip).await?;
    index.show(git, worktree, tip).await?;
    // Not `git add -A`: that would run git inside nested repositories, whose configuration may be planted.
    // Each of the two looks at every file or folder, so both at once.
    let (tracked, others) =
        tokio::try_join!(index.differences(git, worktree), other_names(git, worktree, index))?;
    Ok((tracked.changes, others))
}

/// Whether a link or a file stands where the path has a folder: what is behind it is not the worktree's, and git
/// refuses to be asked about it.
fn is_behind(worktree: &Path, path: &Path) -> bool {
    let is_no_folder =
        |part: &Path| std::fs::symlink_metadata(worktree.join(part)).is_ok_and(|meta| !meta.is_dir());
    path.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty()).any(is_no_folder)
}

/// Whether a pipe, a socket or a device stands there, which git refuses to be asked about.
fn is_no_file(worktree: &Path, path: &Path) -> bool {
    let is_some = |meta: std::fs::Metadata| meta.is_file() || meta.is_dir() || meta.is_symlink();
    std::fs::symlink_metadata(worktree.join(path)).is_ok_and(|meta| !is_some(meta))
}

/// Files that the index does not know and git does not ignore; of another repository only its folder.
async fn other_names(git: &Git, worktree: &Path, index: &PrivateIndex) -> Result<Vec<u8>, GitError> {
    index.call(git, worktree, &["ls-files", "-z", "--others", "--exclude-standard"]).long_list().ok().await
}

pub(crate) async fn read_files(
    git: &Git,
    worktree: &Path,
    index: &PrivateIndex,
    tip: &Oid,
    reading: Reading<'_>,
) -> Result<Snapshot, GitError> {
    let Reading { max_bytes, exact, only } = reading;
    let is_asked = |path: &Path| only.is_none_or(|only| only.contains(path));
    let call = |args: &[&str]| index.draft(git, worktree, args);
    let (mut tracked, mut listed) = changed(git, worktree, index, tip).await?;
    tracked.retain(|change| is_asked(&change.path));
    let is_unseen = |path: &Path| is_behind(worktree, path) || is_no_file(worktree, path);
    let (behind, tracked): (Vec<_>, Vec<_>) =
        tracked.into_iter().partition(|change| change.new.is_none() && is_unseen(&change.path));
    index.enter(git, worktree, &behind).await?;
    // First what the index knows: a file may have become a folder.
    let known =
        tracked.iter().flat_map(|change| [change.path.as_os_str().as_encoded_bytes(), b"\0"].concat());
    listed.splice(..0, known.collect::<Vec<u8>>());
    let (mut nested, mut left_out, mut input) = (Vec::new(), Vec::new(), Vec::new());
    for name in listed.split(|b| *b == 0).filter(|name| !name.is_empty()) {
        let path = path_of(name);
        let size = || std::fs::symlink_metadata(worktree.join(&path)).map_or(0, |meta| meta.len());
        if !is_asked(&path) {
            continue;
        }
        if name.ends_with(b"/") {
            nested.push(path);
        } else if max_bytes.is_some_and(|max| size() > max)
            || !make_readable(&worktree.join(&path))
            || is_refused(worktree, &path)
        {
            left_out.push(path);
        } else {
            input.extend_from_slice(name);
            input.push(0);
        }
    }
    nested.extend(populated_submodules(git, worktree, tip).await?);
    if input.is_empty() && behind.is_empty() {
        // The index shows the commit, and there is nothing to add to it.
        return Ok(Snapshot { tree: git.tree_of(tip).await?, differs: false, nested, left_out });
    }
    let update = call(&["update-index", "--add", "--remove", "--replace", "-z", "--stdin"]);
    let update = if exact { git.exactly(update, tip) } else { update };
    update.stdin(Input::Bytes(input)).ok().await?;
    let tree = call(&["write-tree"]).line().await?;
    let unreadable = |what: String| GitError::Unreadable { command: "write-tree".into(), what };
    let tree = Oid::new(&tree).map_err(|error| unreadable(error.to_string()))?;
    index.note_shown(&tree);
    let differs = tree != git.tree_of(tip).await?;
    Ok(Snapshot { tree, differs, nested, left_out })
}

/// Submodules that are checked out here: git's record of the worktree holds their repositories.
async fn populated_submodules(git: &Git, worktree: &Path, tip: &Oid) -> Result<Vec<PathBuf>, GitError> {
    if !worktree.join(".gitmodules").exists() {
        return Ok(Vec::new());
    }
    let listed = git.call(["ls-tree", "-r", "-z", tip.as_str()]).long_list().ok().await?;
    let links = listed.split(|b| *b == 0).filter(|line| line.starts_with(b"160000 "));
    let paths = links.filter_map(|line| Some(path_of(&line[line.iter().position(|b| *b == b'\t')? + 1..])));
    Ok(paths.filter(|path| worktree.join(path).join(".git").exists()).collect())
}

/// Saves uncommitted work as a commit under `refs/swarm/wip/<task>/<run>`; `None` when there is none.
/// `tip` is the commit the work stands on. Asked twice it keeps the ref it has made.
pub async fn save_wip(
    git: &Git,
    worktree: &Path,
    task: &TaskId,
    run: &RunId,
    tip: &Oid,
) -> Result<Option<Oid>, GitError> {
    save_as(git, worktree, task, &wip_ref(task, run), tip).await
}

/// The same under another name.
pub(crate) async fn save_as(
    git: &Git,
    worktree: &Path,
    task: &TaskId,
    name: &str,
    tip: &Oid,
) -> Result<Option<Oid>, GitError> {
    if !worktree.is_dir() {
        return Ok(None);
    }
    let shot = snapshot(git, worktree, task, tip, Some(RESCUE_FILE_MAX_BYTES)).await?;
    if !shot.differs {
        return Ok(None);
    }
    let (name, kept) = usable_name(git, name).await?;
    if let Some(kept) = &kept
        && git.tree_of(kept).await? == shot.tree
    {
        git.make_durable().await?;
        return Ok(Some(kept.clone()));
    }
    let message =
        format!("swarm: unfinished work of {task} in {}\n", name.rsplit('/').next().unwrap_or(&name));
    let commit = NewCommit {
        tree: &shot.tree,
        parents: std::slice::from_ref(tip),
        author: None,
        encoding: None,
        message: message.as_bytes(),
        at_secs: now_secs(),
    };
    let commit = git.make_commit(commit).await?;
    // Runs are counted anew by each plan: what an earlier one has saved under this name stays.
    if let Some(earlier) = &kept {
        keep_commit(git, "kept", task, earlier).await?;
    }
    let change = RefChange { name, old: kept, new: Some(commit.clone()) };
    match git.update_refs(&[change], "swarm: unfinished work saved").await? {
        RefOutcome::Changed => git.make_durable().await?,
        RefOutcome::Lost { name, .. } => {
            return Err(GitError::Unreadable {
                command: "update-ref".into(),
                what: format!("{name} was changed meanwhile"),
            });
        }
    }
    Ok(Some(commit))
}

/// Names tried when the first ones name what cannot be read.
const NAMES_MAX: u32 = 20;

/// The name with what it keeps; another one like it where that names an object which git does not have. It is left as it
/// is: somebody may yet bring the object back.
async fn usable_name(git: &Git, name: &str) -> Result<(String, Option<Oid>), GitError> {
    for n in 1..NAMES_MAX {
        let candidate = if n == 1 { name.to_owned() } else { format!("{name}-{n}") };
        match git.ref_value(&candidate).await {
            Ok(None) => return Ok((candidate, None)),
            Ok(Some(kept)) if git.tree_of(&kept).await.is_ok() => return Ok((candidate, Some(kept))),
            _ => {}
        }
    }
    let what = format!("{name} and {} like it name what cannot be read", NAMES_MAX - 2);
    Err(GitError::Unreadable { command: "rev-parse".into(), what })
}

fn now_secs() -> i64 {
    jiff::Timestamp::now().as_second()
}
