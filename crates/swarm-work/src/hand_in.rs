//! What an agent has committed in its own repository comes onto the task's branch in the person's.
//!
//! One plain commit is taken, checked like a stranger's, and the branch is moved by compare-and-swap. Killed anywhere, the
//! next one finds either nothing done or all of it: objects first, then the ref, then the note that both agree.

use std::path::{Path, PathBuf};

use swarm_protocol::ids::{Oid, TaskId};

use crate::remove::keep_commit;
use crate::worktree::{marker_of, records_at};
use swarm_git::{
    Git, GitError, Heads, Limits, OwnRepository, PrivateIndex, RefChange, RefOutcome, Taken, tips,
};

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandedIn {
    /// There is nothing new.
    Nothing,
    Moved {
        tip: Oid,
    },
    /// The branch stays where it was. The commits stay in the agent's own repository.
    Refused {
        why: String,
    },
}

/// The task's worktree, seen from both repositories.
struct Sides<'a> {
    git: &'a Git,
    task: &'a TaskId,
    worktree: &'a Path,
    own: OwnRepository,
    record: PathBuf,
    /// None for a worktree that the swarm did not make.
    base: Option<Oid>,
    tip: Oid,
}

/// Hands in what the agent has committed. Nothing of the agent may run. Asked twice it finds nothing left to do.
pub async fn hand_in(
    git: &Git,
    task: &TaskId,
    worktree: &Path,
    file_max_bytes: u64,
) -> Result<HandedIn, GitError> {
    let own = OwnRepository::of(worktree, task);
    let Some(heads) = own.heads() else { return Ok(HandedIn::Nothing) };
    let Some(known) = Known::of(git, task, worktree)? else { return Ok(HandedIn::Nothing) };
    let Some(_held) = own.hold(git)? else { return Ok(HandedIn::Nothing) };
    // Whoever was killed may have left the worktree with the agent's repository.
    if own.is_pointed_at() {
        own.point_back(&known.record)?;
    }
    let Some(sides) = known.with(git, task, worktree, own).await? else { return Ok(HandedIn::Nothing) };
    let handed = sides.take(&heads, Limits::of_files(file_max_bytes)).await?;
    if let HandedIn::Refused { why } = &handed {
        git.notice(Some(task), format!("its commits were not taken: {why}"));
    }
    Ok(handed)
}

/// What keeps its last commits in the agent's own repository, from where they are taken another time. Where git itself fails it is
/// the repository, and no deed of the agent: whoever needs it next is told.
pub fn tell_not_taken(git: &Git, task: &TaskId, error: &GitError) {
    match error {
        GitError::Failed { .. } | GitError::Damaged { .. } => {
            tracing::warn!(%task, %error, "its last commits were not taken");
        }
        _ => git.notice(Some(task), format!("its last commits were not taken: {error}")),
    }
}

/// While the agent works: the commits that simply go on from what was handed in. Anything else, and what has to be
/// refused, is left to the next boundary. Whoever asks holds the repository and has lent it to the agent.
pub async fn hand_in_passing(
    git: &Git,
    task: &TaskId,
    worktree: &Path,
    file_max_bytes: u64,
) -> Result<HandedIn, GitError> {
    let own = OwnRepository::of(worktree, task);
    let Some(branch) = own.heads().and_then(|heads| heads.branch).filter(|_| own.under_way().is_none())
    else {
        return Ok(HandedIn::Nothing);
    };
    let Some(known) = Known::of(git, task, worktree)? else { return Ok(HandedIn::Nothing) };
    let Some(sides) = known.with(git, task, worktree, own).await? else { return Ok(HandedIn::Nothing) };
    let both_had = sides.own.agreed_tip(git);
    if branch == sides.tip || both_had.as_ref() != Some(&sides.tip) {
        return Ok(HandedIn::Nothing);
    }
    if let Taken::Refused { why } =
        sides.own.take(git, &[&branch], &[&sides.tip], Limits::of_files(file_max_bytes)).await?
    {
        return Ok(HandedIn::Refused { why });
    }
    if !git.is_ancestor(&sides.tip, &branch).await? {
        return Ok(HandedIn::Nothing);
    }
    sides.move_to(&branch).await
}

/// What the person's repository has noted of the worktree.
struct Known {
    record: PathBuf,
    base: Option<Oid>,
}

impl Known {
    /// None where the worktree is not one of this repository.
    fn of(git: &Git, task: &TaskId, worktree: &Path) -> Result<Option<Self>, GitError> {
        let marker = marker_of(git, task, worktree)?;
        let mut records = records_at(git, worktree, marker.as_ref());
        let one = records.pop().filter(|_| records.is_empty());
        Ok(one.map(|record| Self { record, base: marker.map(|marker| marker.base) }))
    }

    /// None where the task has no branch.
    async fn with<'a>(
        self,
        git: &'a Git,
        task: &'a TaskId,
        worktree: &'a Path,
        own: OwnRepository,
    ) -> Result<Option<Sides<'a>>, GitError> {
        let Self { record, base } = self;
        let tip = git.ref_value(&format!("refs/heads/{}", task.branch())).await?;
        Ok(tip.map(|tip| Sides { git, task, worktree, own, record, base, tip }))
    }
}

impl Sides<'_> {
    async fn take(&self, heads: &Heads, limits: Limits) -> Result<HandedIn, GitError> {
        let Some(branch) = &heads.branch else {
            let why = format!(
                "{} in the agent's own repository is no plain commit any more: `git update-ref` or \
                 `git branch -f` puts it back",
                self.task.branch()
            );
            return Ok(HandedIn::Refused { why });
        };
        let agreed = self.own.agreed_tip(self.git);
        // In the middle of a rebase HEAD is at a part of the work.
        let head = heads.head.as_ref().filter(|_| self.own.under_way().is_none());
        let mut new: Vec<&Oid> = vec![branch];
        new.extend(head.filter(|head| *head != branch));
        new.retain(|oid| **oid != self.tip && Some(*oid) != agreed.as_ref());
        if *branch == self.tip && !self.git.missing_objects(std::slice::from_ref(branch)).await?.is_empty() {
            // Somebody's `git gc --prune=now` ran between the objects and the ref that keeps them.
            let known: Vec<&Oid> = self.base.iter().collect();
            if let Taken::Refused { why } = self.own.take(self.git, &[branch], &known, limits).await? {
                return Ok(HandedIn::Refused { why });
            }
        }
        // Somebody has moved the branch since the agent was let in: their commit counts, and the agent's is kept.
        let stale = agreed.as_ref().is_some_and(|agreed| *agreed != self.tip);
        if new.is_empty() || (stale && self.all_handed_in(&new).await?) {
            // Killed after the branch was moved, to what was checked out or to the agent's branch.
            let arrived = *branch == self.tip || head == Some(&self.tip);
            if arrived && agreed.as_ref() != Some(&self.tip) {
                self.agree(&self.tip).await?;
            }
            return Ok(HandedIn::Nothing);
        }
        let known: Vec<&Oid> = self.base.iter().chain([&self.tip]).collect();
        if let Taken::Refused { why } = self.own.take(self.git, &new, &known, limits).await? {
            return Ok(HandedIn::Refused { why });
        }
        let stale = stale && !self.brought_it_there(agreed.as_ref(), branch).await?;
        let goal = self.goal(branch, head).await?;
        let descends = match &self.base {
            Some(base) => self.git.is_ancestor(base, goal).await?,
            None => true,
        };
        let mut kept = Vec::new();
        for other in new.iter().filter(|oid| **oid != goal || stale || !descends) {
            if !self.git.is_ancestor(other, goal).await? || stale || !descends {
                kept.push(keep_commit(self.git, "rescue", self.task, other).await?);
            }
        }
        let why = match (stale, descends) {
            (true, _) => "the branch was moved meanwhile".to_owned(),
            (_, false) => "they do not stand on its base".to_owned(),
            _ if *goal == self.tip && kept.is_empty() => return Ok(HandedIn::Nothing),
            _ if *goal == self.tip => format!("they are not on {}, nor go on from it", self.task.branch()),
            _ => return self.move_to(goal).await,
        };
        if kept.is_empty() {
            return Ok(HandedIn::Refused { why });
        }
        Ok(HandedIn::Refused { why: format!("{why}; they are kept: `git log {}`", kept.join(" ")) })
    }

    /// Whether nobody else has moved the branch: a daemon that was ended, or had no room, between the branch and the note of it.
    /// Its agent goes on from there.
    async fn brought_it_there(&self, agreed: Option<&Oid>, branch: &Oid) -> Result<bool, GitError> {
        let Some(agreed) = agreed else { return Ok(false) };
        Ok(self.git.is_ancestor(agreed, &self.tip).await? && self.git.is_ancestor(&self.tip, branch).await?)
    }

    /// Whether each of these commits is below the branch: it has been there, and nothing of it is new.
    async fn all_handed_in(&self, new: &[&Oid]) -> Result<bool, GitError> {
        let named: Vec<Oid> = new.iter().map(|oid| (*oid).clone()).collect();
        if !self.git.missing_objects(&named).await?.is_empty() {
            return Ok(false);
        }
        for one in &named {
            if !self.git.is_ancestor(one, &self.tip).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The commit that is handed in: what is checked out, if it goes on from the branch; else the branch.
    async fn goal<'b>(&self, branch: &'b Oid, head: Option<&'b Oid>) -> Result<&'b Oid, GitError> {
        match head {
            Some(head) if head != branch && self.git.is_ancestor(branch, head).await? => Ok(head),
            _ => Ok(branch),
        }
    }

    async fn move_to(&self, goal: &Oid) -> Result<HandedIn, GitError> {
        // The ref is synced when it is written; what it speaks of has to be there before.
        self.git.make_durable().await?;
        tips::note_ours(self.git, self.task, Some(&self.record), &self.tip, goal)?;
        let change = RefChange::modify(format!("refs/heads/{}", self.task.branch()), &self.tip, goal);
        if let RefOutcome::Lost { .. } = self.git.update_refs(&[change], "swarm: handed in").await? {
            keep_commit(self.git, "rescue", self.task, goal).await?;
            let why = format!("the branch {} moved meanwhile", self.task.branch());
            return Ok(HandedIn::Refused { why });
        }
        self.agree(goal).await?;
        Ok(HandedIn::Moved { tip: goal.clone() })
    }

    /// The person's view of the worktree follows; its files are as the agent left them.
    async fn agree(&self, goal: &Oid) -> Result<(), GitError> {
        let index = PrivateIndex::take(self.git, self.task.as_str()).await?;
        index.make_fit(self.git, self.worktree, goal).await?;
        index.show(self.git, self.worktree, goal).await?;
        self.git.install_index(&self.record, &index, self.worktree).await?;
        self.own.agree(self.git, goal)
    }
}
