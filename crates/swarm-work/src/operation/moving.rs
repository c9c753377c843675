//! The plan of an operation carried out: trunk first, because only there a person can be in the way, then the
//! branches and worktrees of tasks. Every step looks first: a thing that is where it shall be is left, one that is
//! where it was is moved, anything else stops the move before it has begun.

pub mod rebuild;
pub mod resolver;
mod trunk;

use std::collections::BTreeSet;
use std::path::Path;

use swarm_protocol::config::Regenerate;
use swarm_protocol::ids::{CommandId, Oid, TaskId};
use swarm_protocol::operation::{Moved, Plan, RefMove, WorktreeMove, WorktreeTo};

pub use trunk::{made_again, rebuilt};

use super::ref_word;
use super::restore_tree::{Restore, Restored, look, restore};
use crate::remove::{GivingUp, Removal, give_up};
use crate::worktree::all_markers;
use swarm_git::{Git, GitError, RefChange, RefOutcome};

/// Where worktrees are, and what may go with one.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    pub worktrees: &'a Path,
    pub disposable: &'a [String],
    pub max_file_bytes: u64,
    /// Files that commands make again where reverts conflict in them.
    pub regenerate: &'a [Regenerate],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MoveOutcome {
    Moved(Moved),
    /// A revert or a pick does not apply. Nothing was changed.
    Conflict {
        commit: Oid,
        paths: Vec<String>,
    },
    /// Something is not as the plan expects. Nothing was moved.
    Refused {
        why: String,
        hint: String,
    },
}

/// The hint wherever the world has moved on.
const ASK_AGAIN: &str = "ask for it again: the preview shows what is so now";

fn refused<T>(why: impl Into<String>, hint: impl Into<String>) -> Result<Step<T>, GitError> {
    Ok(Err(MoveOutcome::Refused { why: why.into(), hint: hint.into() }))
}

/// Either the step is done or the whole move ends here.
type Step<T> = Result<T, MoveOutcome>;

/// Carries the plan out. Safe to ask again after death at any point.
pub async fn carry_out(
    git: &Git,
    op: &CommandId,
    plan: &Plan,
    places: &Places<'_>,
) -> Result<MoveOutcome, GitError> {
    let mover = Mover { git, op: ref_word(op.as_str()), plan, places };
    Ok(match mover.go().await? {
        Ok(moved) => MoveOutcome::Moved(moved),
        Err(stopped) => stopped,
    })
}

struct Mover<'a> {
    git: &'a Git,
    op: String,
    plan: &'a Plan,
    places: &'a Places<'a>,
}

impl Mover<'_> {
    async fn go(&self) -> Result<Step<Moved>, GitError> {
        if let Err(stopped) = self.refs_are_as_planned().await? {
            return Ok(Err(stopped));
        }
        if let Err(stopped) = self.worktrees_can_follow().await? {
            return Ok(Err(stopped));
        }
        let mut moved = Moved::default();
        if let Some(trunk) = &self.plan.trunk
            && let Err(stopped) = self.move_trunk(trunk, &mut moved).await?
        {
            return Ok(Err(stopped));
        }
        for worktree in &self.plan.worktrees {
            self.move_worktree(worktree, &mut moved).await?;
        }
        self.move_other_refs().await?;
        self.git.make_durable().await?;
        Ok(Ok(moved))
    }

    fn at_secs(&self) -> i64 {
        i64::try_from(self.plan.at.0 / 1000).unwrap_or(i64::MAX)
    }

    /// Before anything moves: is every branch where it was, or where it shall be?
    async fn refs_are_as_planned(&self) -> Result<Step<()>, GitError> {
        let given_up: BTreeSet<String> = self.gone().map(branch_ref).collect();
        for RefMove { name, old, new } in &self.plan.refs {
            let now = self.git.ref_value(name).await?;
            // One whose worktree could not be removed went back to its base instead.
            if now == *old || now == *new || given_up.contains(name) {
                continue;
            }
            let short = name.trim_start_matches("refs/heads/");
            let at = now.map_or("gone".to_owned(), |oid| format!("at {}", oid.short()));
            return refused(
                format!("the branch {short} is {at}, not where it was when this was planned"),
                ASK_AGAIN,
            );
        }
        Ok(Ok(()))
    }

    fn gone(&self) -> impl Iterator<Item = &TaskId> {
        self.plan.worktrees.iter().filter(|one| one.to == WorktreeTo::Gone).map(|one| &one.task)
    }

    /// Before anything moves: can every worktree follow?
    async fn worktrees_can_follow(&self) -> Result<Step<()>, GitError> {
        for worktree in &self.plan.worktrees {
            let Some(asked) = self.restoring(worktree) else { continue };
            let task = asked.task;
            match look(self.git, &asked).await? {
                None | Some(Restored::Done { .. }) => {}
                Some(Restored::BranchMoved { now }) => {
                    let at = now.map_or("gone".to_owned(), |oid| format!("at {}", oid.short()));
                    let why = format!(
                        "the branch {} is {at}, not where it was when this was planned",
                        task.branch()
                    );
                    return refused(why, ASK_AGAIN);
                }
                Some(Restored::InTheWay { why, hint }) => return refused(why, hint),
            }
        }
        Ok(Ok(()))
    }

    /// None for one that is to be gone.
    fn restoring<'b>(&'b self, worktree: &'b WorktreeMove) -> Option<Restore<'b>> {
        let (base, tip, dirty) = match &worktree.to {
            WorktreeTo::Gone => return None,
            WorktreeTo::Clean { tip } => (None, tip, None),
            WorktreeTo::Restored { base, tip, dirty } => (base.as_ref(), tip, dirty.as_ref()),
        };
        let name = branch_ref(&worktree.task);
        let planned = self.plan.refs.iter().find(|planned| planned.name == name);
        let old = planned.map_or(Some(tip), |planned| planned.old.as_ref());
        let (task, dir) = (&worktree.task, self.places.worktrees);
        Some(Restore { task, dir, old, tip, base, dirty, save_as: None })
    }

    async fn move_worktree(&self, worktree: &WorktreeMove, moved: &mut Moved) -> Result<(), GitError> {
        match self.restoring(worktree) {
            Some(asked) => self.restore(&asked, moved).await,
            None => self.give_up(&worktree.task, moved).await,
        }
    }

    /// Trunk may have moved already: what is in the way only now is a failure, to be tried again, not a refusal.
    async fn restore(&self, asked: &Restore<'_>, moved: &mut Moved) -> Result<(), GitError> {
        let why = match restore(self.git, asked).await? {
            Restored::Done { uncommitted, .. } => {
                moved.dirty.extend(uncommitted.map(|commit| (asked.task.clone(), commit)));
                return Ok(());
            }
            Restored::BranchMoved { now } => format!("its branch is at {now:?}"),
            Restored::InTheWay { why, .. } => why,
        };
        let what = format!("the worktree of {} cannot be set back: {why}", asked.task);
        Err(GitError::Unreadable { command: "worktree".into(), what })
    }

    /// Removed by proof. What cannot be proven stays, at the base of its task.
    async fn give_up(&self, task: &TaskId, moved: &mut Moved) -> Result<(), GitError> {
        let (dir, disposable) = (self.places.worktrees, self.places.disposable);
        let max_file_bytes = self.places.max_file_bytes;
        let (pool, only_look, remember, merged, force) = (None, false, None, None, false);
        let asked =
            GivingUp { task, dir, disposable, max_file_bytes, pool, only_look, remember, merged, force };
        if give_up(self.git, &asked).await? == Removal::Removed {
            return Ok(());
        }
        let marker = all_markers(self.git).into_iter().find(|marker| marker.task == *task);
        let Some(base) = marker.map(|marker| marker.base) else { return Ok(()) };
        let now = self.git.ref_value(&branch_ref(task)).await?;
        let old = now.as_ref();
        let to_base = Restore { task, dir, old, tip: &base, base: Some(&base), dirty: None, save_as: None };
        self.restore(&to_base, moved).await
    }

    /// Branches without a worktree that the plan speaks of, in one transaction.
    async fn move_other_refs(&self) -> Result<(), GitError> {
        let with_worktree: BTreeSet<String> =
            self.plan.worktrees.iter().map(|one| branch_ref(&one.task)).collect();
        let mut changes = Vec::new();
        for planned in self.plan.refs.iter().filter(|planned| !with_worktree.contains(&planned.name)) {
            let RefMove { name, old, new } = planned.clone();
            if self.git.ref_value(&name).await? == new {
                continue;
            }
            if let Some(old) = &old {
                let word = ref_word(name.trim_start_matches("refs/heads/"));
                self.set_refs(&[(&format!("refs/swarm/kept/{word}/{old}"), old)]).await?;
            }
            changes.push(RefChange { name, old, new });
        }
        if changes.is_empty() {
            return Ok(());
        }
        self.git.make_durable().await?;
        match self.git.update_refs(&changes, "swarm: set back").await? {
            RefOutcome::Changed => Ok(()),
            RefOutcome::Lost { name, .. } => {
                let what = format!("{name} was moved meanwhile");
                Err(GitError::Unreadable { command: "update-ref".into(), what })
            }
        }
    }

    /// Refs of ours that hold something alive.
    async fn set_refs(&self, wanted: &[(&str, &Oid)]) -> Result<(), GitError> {
        let mut changes = Vec::new();
        for (name, oid) in wanted {
            let old = self.git.ref_value(name).await?;
            if old.as_ref() != Some(oid) {
                changes.push(RefChange { name: (*name).to_owned(), old, new: Some((*oid).clone()) });
            }
        }
        if changes.is_empty() {
            return Ok(());
        }
        match self.git.update_refs(&changes, "swarm: kept").await? {
            RefOutcome::Changed => Ok(()),
            RefOutcome::Lost { name, .. } => {
                let what = format!("{name} does not hold still");
                Err(GitError::Unreadable { command: "update-ref".into(), what })
            }
        }
    }
}

fn branch_ref(task: &TaskId) -> String {
    format!("refs/heads/{}", task.branch())
}
