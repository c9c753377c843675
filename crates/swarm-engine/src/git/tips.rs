//! Whose commit is at the tip of a task's branch?
//!
//! Agents share `refs/heads/swarm`: one can move the branch of another. But git writes the log of a worktree's
//! HEAD only for what is done *in* that worktree. A tip that its own worktree has never been at was put
//! there by somebody else.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::{Oid, TaskId};

use super::call::{Git, GitError};
use super::marker::{read_marker, write_marker};
use super::refs::{RefChange, RefOutcome};

/// Of a log that an agent can write, no more than this is read: its end.
const LOG_TAIL_BYTES: u64 = 1024 * 1024;

/// What the log of a worktree's own HEAD says about the task's branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tip {
    /// The branch is where its own worktree has put it.
    Own { tip: Oid },
    /// The branch is at a commit that its worktree has never been at. `own` is where it was last.
    Foreign { now: Oid, own: Oid },
    /// The branch is gone.
    Missing { own: Option<Oid> },
    /// The worktree has no log to compare with (deleted by hand, or an older one).
    Unknown { now: Oid },
}

/// A tip that the swarm itself has set; the worktree's own log does not know of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SetByUs {
    from: Oid,
    to: Oid,
}

/// The last commit that the HEAD of this worktree was at, by its own log and what the swarm has added since.
/// `record` is the worktree's folder in `.git/worktrees`.
pub fn own_tip(git: &Git, record: &Path, task: &TaskId) -> Option<Oid> {
    let last = logged(record).pop()?;
    Some(match read_marker::<SetByUs>(&note_of(git, task)) {
        Some(set) if set.from == last => set.to,
        _ => last,
    })
}

/// Compares the branch of the task with the log of its own worktree.
pub async fn look(git: &Git, record: &Path, task: &TaskId) -> Result<Tip, GitError> {
    let now = git.ref_value(&format!("refs/heads/{}", task.branch())).await?;
    let own = own_tip(git, record, task);
    Ok(match (now, own) {
        (None, own) => Tip::Missing { own },
        (Some(now), None) => Tip::Unknown { now },
        (Some(now), Some(own)) if now == own || was_here(git, record, task, &now) => Tip::Own { tip: now },
        (Some(now), Some(own)) => Tip::Foreign { now, own },
    })
}

/// Whether the worktree has ever been at this commit: then it may well be its own `git branch -f`.
fn was_here(git: &Git, record: &Path, task: &TaskId, commit: &Oid) -> bool {
    let set = read_marker::<SetByUs>(&note_of(git, task));
    logged(record).contains(commit) || set.is_some_and(|set| set.to == *commit)
}

/// Puts the branch of the task back from `wrong` to `right`. The wrong commit is kept under
/// `refs/swarm/rescue/<task>/` first. False when the branch is not at `wrong` any more.
pub async fn put_back(git: &Git, task: &TaskId, wrong: &Oid, right: &Oid) -> Result<bool, GitError> {
    let kept = format!("refs/swarm/rescue/{task}/{}", wrong.short());
    git.update_refs(&[RefChange::create(&kept, wrong)], "swarm: moved by somebody else").await?;
    let branch = format!("refs/heads/{}", task.branch());
    let change = RefChange::modify(branch, wrong, right);
    let outcome = git.update_refs(&[change], "swarm: put back to its own worktree's commit").await?;
    git.make_durable().await?;
    Ok(outcome == RefOutcome::Changed)
}

/// A branch that was somebody else's doing and is right again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Righted {
    pub tip: Oid,
    /// For people: what was found, and what was done about it.
    pub what: String,
}

/// Compares the branch with its own worktree and puts it back where somebody else has moved it.
pub async fn right(git: &Git, record: &Path, task: &TaskId) -> Result<Option<Righted>, GitError> {
    let Tip::Foreign { now: wrong, own } = look(git, record, task).await? else { return Ok(None) };
    if !put_back(git, task, &wrong, &own).await? {
        return Ok(None);
    }
    let (branch, wrong, right) = (task.branch(), wrong.short(), own.short());
    let what = format!("somebody else moved the branch {branch} to {wrong}; it is back at {right}");
    Ok(Some(Righted { tip: own, what }))
}

/// Remembers that the swarm moves the branch, before it does.
pub(crate) fn note_ours(git: &Git, task: &TaskId, from: &Oid, to: &Oid) -> Result<(), GitError> {
    write_marker(&note_of(git, task), &SetByUs { from: from.clone(), to: to.clone() })
}

pub(crate) fn forget_ours(git: &Git, task: &TaskId) {
    let _ = std::fs::remove_file(note_of(git, task));
}

fn note_of(git: &Git, task: &TaskId) -> std::path::PathBuf {
    git.swarm_dir().join("tips").join(format!("{task}.json"))
}

/// Every commit the HEAD of this worktree was at, oldest first, as far as its log goes back.
pub(crate) fn logged(record: &Path) -> Vec<Oid> {
    let text = log_tail(&record.join("logs").join("HEAD")).unwrap_or_default();
    text.split(|b| *b == b'\n').filter_map(new_value).collect()
}

impl Git {
    /// The object that a small file names, if it does.
    pub(crate) fn oid_in(&self, file: &Path) -> Option<Oid> {
        Oid::new(super::checkouts::small_text(file).trim()).ok()
    }
}

fn new_value(line: &[u8]) -> Option<Oid> {
    let new = line.split(|b| *b == b' ').nth(1)?;
    let oid = Oid::new(std::str::from_utf8(new).ok()?).ok()?;
    oid.as_str().bytes().any(|b| b != b'0').then_some(oid)
}

fn log_tail(path: &Path) -> std::io::Result<Vec<u8>> {
    use rustix::fs::{Mode, OFlags};
    // An agent may have put a link or a pipe there: neither is followed, neither makes us wait.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = std::fs::File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Ok(Vec::new());
    }
    let start = meta.len().saturating_sub(LOG_TAIL_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut text = Vec::new();
    file.take(LOG_TAIL_BYTES).read_to_end(&mut text)?;
    if start > 0 {
        let cut = text.iter().position(|b| *b == b'\n').map_or(text.len(), |at| at + 1);
        text.drain(..cut);
    }
    Ok(text)
}
