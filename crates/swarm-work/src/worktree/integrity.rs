//! What may be wrong with a worktree before an agent is let into it again. Looks and changes nothing.
//!
//! | found | what is done about it |
//! |---|---|
//! | the folder is gone | made again from the branch |
//! | git has forgotten it | registered again, files and branch as they are |
//! | somebody else's folder in its place | left alone, the attempt does not begin |
//! | pointers or configuration that lead elsewhere, a repository planted in place of `.git` | written anew, the repository to the trash |
//! | the repository was moved or copied: record and pointer name the old place | written anew |
//! | HEAD on another branch, or on none | put on the branch; commits that only HEAD holds get a ref |
//! | HEAD unreadable | put on the branch |
//! | a lock whose git is gone | removed |
//! | a merge, rebase, cherry-pick, revert or bisect under way | left as it is and told |
//! | no index, or one that git cannot read | the old one to the trash, a new one from the tip |
//! | the branch is gone | made again at its last known commit |
//! | commits or files of the branch cannot be read | damaged objects to the trash, the branch to the newest commit that can |
//! | files that are not committed | kept; saved to a ref before anything else is put right |

use std::path::{Path, PathBuf};

use swarm_protocol::ids::{Oid, TaskId};

use super::moved::{names_folder, names_record};
use super::{Files, MarkerState, WorktreeMarker, marker_of, records_at, rotten};
use crate::rescue;
use swarm_git::{Checkout, Git, GitCall, GitError, Head, MidWay, OwnRepository, READ_BYTES_MAX};
use swarm_process::ProcessError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    Gone,
    Foreign,
    HalfMade,
    Forgotten,
    Planted { what: String },
    Moved,
    Lent,
    Astray { on: String },
    Headless,
    Locked { file: PathBuf },
    MidWay(MidWay),
    NoIndex,
    BrokenIndex,
    BranchGone,
    TipUnreadable { tip: Oid },
    Uncommitted { files: usize },
}

impl Flaw {
    /// One line for people: what was found and what is done about it.
    pub fn describe(&self, task: &TaskId) -> String {
        let branch = task.branch();
        match self {
            Self::Gone => format!("its folder is gone: made again from {branch}"),
            Self::Foreign => "a folder that is not its worktree stands in its place: left alone".into(),
            Self::HalfMade => "it was never finished: put into the trash and made again".into(),
            Self::Forgotten => "git has forgotten it: registered again, files as they are".into(),
            Self::Moved => "git's records name the place the repository had before: written anew".into(),
            Self::Lent => {
                "git in it works in the agent's own repository, and the agent is gone: given back".into()
            }
            Self::Planted { what } => format!("{what} led elsewhere: written anew"),
            Self::Astray { on } => format!("it was on {on}: back on {branch}, files as they are"),
            Self::Headless => format!("its HEAD could not be read: back on {branch}"),
            Self::Locked { file } => {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                format!("{name} was left by a git that is gone: removed")
            }
            Self::MidWay(what) => format!("{} is under way in it: left as it is", what.describe().0),
            Self::NoIndex => "it had no index: a new one was made, files as they are".into(),
            Self::BrokenIndex => "its index could not be read: a new one was made, files as they are".into(),
            Self::BranchGone => format!("{branch} was gone: made again at its last known commit"),
            Self::TipUnreadable { tip } => {
                format!("{} of {branch} cannot be read: back to the newest commit that can", tip.short())
            }
            Self::Uncommitted { files: 1 } => "1 file is not committed: kept".into(),
            Self::Uncommitted { files } => format!("{files} files are not committed: kept"),
        }
    }

    /// Whether something has to be put right.
    pub fn is_disorder(&self) -> bool {
        !matches!(self, Self::Uncommitted { .. } | Self::MidWay(_))
    }
}

/// Everything that is wrong with the task's worktree in this folder. Nothing where there never was one.
pub async fn examine(git: &Git, task: &TaskId, dir: &Path) -> Result<Vec<Flaw>, GitError> {
    let dir = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let path = dir.join(task.as_str());
    let marker = marker_of(git, task, &path)?;
    let records = records_at(git, &path, marker.as_ref());
    let there = std::fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_some());
    match (marker, &records[..]) {
        (None, _) if there => Ok(vec![Flaw::Foreign]),
        (None, _) => Ok(vec![]),
        (Some(marker), _) if marker.state == MarkerState::Making => Ok(vec![Flaw::HalfMade]),
        (Some(_), _) if !there => Ok(vec![Flaw::Gone]),
        (Some(marker), [record]) => inside(git, task, record, &marker, Files::Unknown).await,
        (Some(marker), _) => {
            let mut flaws = vec![Flaw::Forgotten];
            flaws.extend(of_branch(git, task, &marker).await?);
            Ok(flaws)
        }
    }
}

pub(super) async fn inside(
    git: &Git,
    task: &TaskId,
    record: &Path,
    marker: &WorktreeMarker,
    files: Files,
) -> Result<Vec<Flaw>, GitError> {
    let full = format!("refs/heads/{}", task.branch());
    let mut flaws = planted(git, task, record, &marker.path)?;
    let mid_way = Checkout {
        path: marker.path.clone(),
        git_dir: record.to_owned(),
        is_main: false,
        head: Head::Unreadable,
    }
    .mid_way();
    flaws.extend(mid_way.map(Flaw::MidWay));
    match git.head_in(record) {
        Head::Branch(name) if name != full => {
            let on = name.strip_prefix("refs/heads/").unwrap_or(&name).to_owned();
            flaws.push(Flaw::Astray { on });
        }
        // A rebase is detached by its nature.
        Head::Detached(oid) if mid_way.is_none() => {
            flaws.push(Flaw::Astray { on: format!("no branch, at {}", oid.short()) });
        }
        Head::Unreadable => flaws.push(Flaw::Headless),
        _ => {}
    }
    let branch_lock = git.common_dir.join(format!("{full}.lock"));
    let locks = [record.join("index.lock"), record.join("HEAD.lock"), branch_lock];
    let abandoned = |lock: &PathBuf| std::fs::symlink_metadata(lock).is_ok() && !git.someone_may_hold(lock);
    flaws.extend(locks.into_iter().filter(abandoned).map(|file| Flaw::Locked { file }));
    flaws.extend(of_index(git, record).await?);
    flaws.extend(of_branch(git, task, marker).await?);
    if files == Files::Unknown
        && let Some(tip) = git.ref_value(&full).await?.filter(|_| !has_no_tip(&flaws))
    {
        let files = rescue::uncommitted(git, &marker.path, task, &tip).await?;
        if files > 0 {
            flaws.push(Flaw::Uncommitted { files });
        }
    }
    Ok(flaws)
}

fn has_no_tip(flaws: &[Flaw]) -> bool {
    flaws.iter().any(|flaw| matches!(flaw, Flaw::TipUnreadable { .. } | Flaw::BranchGone))
}

/// Whatever of its git files points somewhere else than it must.
fn planted(git: &Git, task: &TaskId, record: &Path, path: &Path) -> Result<Vec<Flaw>, GitError> {
    let mut found = Vec::new();
    let dot_git = path.join(".git");
    let mut flaws = Vec::new();
    if std::fs::symlink_metadata(&dot_git).is_ok_and(|meta| meta.is_dir()) {
        found.push("a repository in place of .git");
    } else if is_moved(record, path) {
        flaws.push(Flaw::Moved);
    } else if git.points_to_own(path) {
        // Only as long as a program of the agent runs.
        let is_held = OwnRepository::of(path, task).hold(git)?.is_none();
        flaws.extend((!is_held).then_some(Flaw::Lent));
    } else if !git.points_right(record, path) {
        found.push("its .git file or git's record of it");
    }
    if std::fs::symlink_metadata(record.join("config.worktree")).is_ok() {
        found.push("configuration of its own");
    }
    flaws.extend(found.into_iter().map(|what| Flaw::Planted { what: what.to_owned() }));
    Ok(flaws)
}

/// Whether pointer and record still agree about each other, at a place where the repository is not.
fn is_moved(record: &Path, path: &Path) -> bool {
    let Some(name) = record.file_name().and_then(|name| name.to_str()) else { return false };
    if !names_record(path, name) || !names_folder(record, path) {
        return false;
    }
    let pointer = std::fs::read_to_string(path.join(".git")).unwrap_or_default();
    !pointer.trim_end().ends_with(&*record.to_string_lossy())
}

async fn of_index(git: &Git, record: &Path) -> Result<Option<Flaw>, GitError> {
    let index = record.join("index");
    let is_one = |meta: std::fs::Metadata| meta.is_file() && meta.len() <= READ_BYTES_MAX;
    if !std::fs::symlink_metadata(&index).is_ok_and(is_one) {
        return Ok(Some(Flaw::NoIndex));
    }
    // Read as data, through our own git directory and without the files: nothing that the worktree configures is run, and
    // nothing that lies there stands in the way. All of it is read, little is told.
    let read = git.call(["ls-files", "-z", "--unmerged"]).index(&index).long_list();
    let can_be_read = match reads_well(read).await {
        // No git made an index that has so much to tell.
        Err(GitError::Process(ProcessError::TooMuchOutput { .. })) => false,
        answer => answer?,
    };
    Ok((!can_be_read).then_some(Flaw::BrokenIndex))
}

pub(super) async fn of_branch(
    git: &Git,
    task: &TaskId,
    marker: &WorktreeMarker,
) -> Result<Option<Flaw>, GitError> {
    let Some(tip) = git.ref_value(&format!("refs/heads/{}", task.branch())).await? else {
        return Ok(Some(Flaw::BranchGone));
    };
    Ok((!is_whole(git, &marker.base, &tip).await?).then_some(Flaw::TipUnreadable { tip }))
}

/// Whether every commit, folder and file that the task has added can be read and is what its name says.
pub(super) async fn is_whole(git: &Git, base: &Oid, tip: &Oid) -> Result<bool, GitError> {
    match rotten::walk(git, base, tip).judged().await {
        // Of some files git only says that it cannot read them.
        Ok((is_sound, said)) => Ok(is_sound && !rotten::is_named_in(&said)),
        // It waits for a pipe in the place of an object.
        Err(GitError::Process(ProcessError::Stuck { .. })) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether this is a commit, or leads to one.
pub(super) async fn is_commit(git: &Git, oid: &Oid) -> Result<bool, GitError> {
    reads_well(git.call(["cat-file", "-e", &format!("{oid}^{{commit}}")])).await
}

/// A git that did not come to its end has said nothing of what it was to read: nobody's branch goes back for that, and
/// nobody's index is put away.
async fn reads_well(asked: GitCall) -> Result<bool, GitError> {
    match asked.is_sound().await {
        // It waits for a pipe in the place of an object.
        Err(GitError::Process(ProcessError::Stuck { .. })) => Ok(false),
        answer => answer,
    }
}
