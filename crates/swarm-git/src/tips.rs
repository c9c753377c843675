//! Whose commit is at the tip of a task's branch?
//!
//! Agents share `refs/heads/swarm`: one can move the branch of another. But git writes the log of a worktree's
//! HEAD only for what is done *in* that worktree. A branch that is not where its own worktree left it was put
//! there by somebody else; and where a step in that log does not start from where the one before had ended,
//! somebody else had cut in between.

mod head_log;
mod rebuild;
mod way;

use std::path::Path;

use swarm_protocol::ids::{Oid, TaskId};

use super::call::{Git, GitError};
use super::checkouts::Head;
use super::marker::{read_marker, write_marker};
use super::refs::{RefChange, RefOutcome};
use way::{SetByUs, way_of};

pub use way::CutIn;

/// What the log of a worktree's own HEAD says about the task's branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tip {
    /// The branch is where its own worktree has put it.
    Own { tip: Oid },
    /// The branch is not where its worktree left it. `own` is where that was.
    Foreign { now: Oid, own: Oid },
    /// Somebody else has moved the branch, and the worktree has gone on from there. `own` is the last that was
    /// its own before, `been_at` all that was.
    Astray { now: Option<Oid>, own: Oid, been_at: Vec<Oid>, cut_ins: Vec<CutIn> },
    /// The branch is gone.
    Missing { own: Option<Oid> },
    /// The worktree has no log to compare with (deleted by hand, or an older one).
    Unknown { now: Oid },
}

/// The last commit that the HEAD of this worktree was at, by its own log and what the swarm has added since.
/// `record` is the worktree's folder in `.git/worktrees`.
pub fn own_tip(git: &Git, record: &Path, task: &TaskId) -> Option<Oid> {
    Some(way_of(record, note(git, task).as_ref())?.last().clone())
}

/// Compares the branch of the task with the log of its own worktree.
pub async fn look(git: &Git, record: &Path, task: &TaskId) -> Result<Tip, GitError> {
    let full = format!("refs/heads/{}", task.branch());
    let now = git.ref_value(&full).await?;
    let note = note(git, task);
    let Some(way) = way_of(record, note.as_ref()) else {
        return Ok(now.map_or(Tip::Missing { own: None }, |now| Tip::Unknown { now }));
    };
    if !way.cut_ins.is_empty() {
        return Ok(Tip::Astray { now, own: way.own, been_at: way.been_at, cut_ins: way.cut_ins });
    }
    let Some(now) = now else { return Ok(Tip::Missing { own: Some(way.own) }) };
    // Away from its branch a worktree may move it, and its log says nothing about that.
    let away = git.head_in(record) != Head::Branch(full);
    // The swarm died before it had moved the branch to where it noted.
    let unfinished = way.rests_on_note && note.is_some_and(|note| note.from == now);
    let is_own = now == way.own || unfinished || (away && way.been_at.contains(&now));
    Ok(if is_own { Tip::Own { tip: now } } else { Tip::Foreign { now, own: way.own } })
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

/// Compares the branch with its own worktree and puts it right where somebody else has moved it. Nothing may run
/// in the worktree meanwhile.
pub async fn right(git: &Git, record: &Path, task: &TaskId) -> Result<Option<Righted>, GitError> {
    let branch = task.branch();
    match look(git, record, task).await? {
        Tip::Own { .. } | Tip::Unknown { .. } | Tip::Missing { own: None } => Ok(None),
        Tip::Missing { own: Some(own) } => {
            let own_short = own.short();
            let what =
                format!("the branch {branch} was deleted, nobody knows by whom; it is back at {own_short}");
            Ok(move_to(git, task, None, &own).await?.then_some(Righted { tip: own, what }))
        }
        Tip::Foreign { now: wrong, own } => {
            let (wrong_short, own_short) = (wrong.short(), own.short());
            let what = format!(
                "the branch {branch} was moved to {wrong_short}, nobody knows by whom; it is back at {own_short}"
            );
            Ok(move_to(git, task, Some(&wrong), &own).await?.then_some(Righted { tip: own, what }))
        }
        Tip::Astray { now, own, been_at, cut_ins } => {
            let rebuilt = rebuild::rebuilt(git, &own, &been_at, &cut_ins).await?;
            let what = told(&branch, &cut_ins, rebuilt.as_ref(), &own);
            let tip = rebuilt.unwrap_or(own);
            if now.as_ref() != Some(&tip) && !move_to(git, task, now.as_ref(), &tip).await? {
                return Ok(None);
            }
            // After the change: if we die before this, the same is built again and found in its place.
            let last = cut_ins.iter().rev().find_map(|cut| cut.then.last()).unwrap_or(&tip);
            note_ours(git, task, Some(record), last, &tip)?;
            Ok(Some(Righted { tip, what }))
        }
    }
}

fn told(branch: &str, cut_ins: &[CutIn], rebuilt: Option<&Oid>, own: &Oid) -> String {
    let foreign = cut_ins.iter().find_map(|cut| cut.foreign.as_ref());
    let done = foreign.map_or("deleted it".into(), |oid| format!("moved it to {}", oid.short()));
    let so = match rebuilt {
        Some(tip) => {
            format!("what was committed there since is built again upon its own work, at {}", tip.short())
        }
        None => format!(
            "it is back at {}, and what was done there since is kept under refs/swarm/rescue",
            own.short()
        ),
    };
    format!("the branch {branch} was not left to its own worktree, somebody else {done}; {so}")
}

async fn move_to(git: &Git, task: &TaskId, wrong: Option<&Oid>, right: &Oid) -> Result<bool, GitError> {
    let Some(wrong) = wrong else {
        let change = RefChange::create(format!("refs/heads/{}", task.branch()), right);
        let outcome = git.update_refs(&[change], "swarm: branch of a task restored").await?;
        git.make_durable().await?;
        return Ok(outcome == RefOutcome::Changed);
    };
    put_back(git, task, wrong, right).await
}

/// Remembers that the swarm moves the branch, before it does. `record` is the worktree's folder in git, if it has one.
pub fn note_ours(
    git: &Git,
    task: &TaskId,
    record: Option<&Path>,
    from: &Oid,
    to: &Oid,
) -> Result<(), GitError> {
    write_marker(&note_of(git, task), &SetByUs::now(record, from, to))
}

pub fn forget_ours(git: &Git, task: &TaskId) {
    let _ = std::fs::remove_file(note_of(git, task));
}

fn note(git: &Git, task: &TaskId) -> Option<SetByUs> {
    read_marker(&note_of(git, task))
}

fn note_of(git: &Git, task: &TaskId) -> std::path::PathBuf {
    git.swarm_dir().join("tips").join(format!("{task}.json"))
}

/// Every commit the HEAD of this worktree was at, oldest first, as far as its log goes back.
pub fn logged(record: &Path) -> Vec<Oid> {
    // Where a step began may be in no step before: what was handed in moves the branch, and no HEAD.
    let mut all: Vec<Oid> =
        head_log::steps(record).into_iter().flat_map(|step| step.old.into_iter().chain([step.new])).collect();
    all.dedup();
    all
}

impl Git {
    /// The object that a small file names, if it does.
    pub fn oid_in(&self, file: &Path) -> Option<Oid> {
        Oid::new(super::checkouts::small_text(file).trim()).ok()
    }
}
