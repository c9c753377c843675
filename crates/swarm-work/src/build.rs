//! A task's work built onto the trunk, in the object database: no checkout is touched, and a conflict
//! on the last commit leaves everything as it was.
//!
//! The same question gives the same commits: dates come from the caller, not from the clock.

mod begins;
mod join;
mod ladder;
mod message;
mod whole;

use std::path::PathBuf;

use swarm_protocol::config::{Regenerate, Strategy};
use swarm_protocol::conflict::Resolved;
use swarm_protocol::ids::{AgentId, Oid, TaskId};

use crate::prove;
use crate::resolve::Resolution;
use begins::begun;
pub(crate) use join::is_ours;
pub use join::{BranchJoined, join_branch};
use message::with_trailers;
use swarm_git::{Git, GitError, Merged, NewCommit, RefChange, RefOutcome};

/// What is to be built.
#[derive(Debug, Clone)]
pub struct Work {
    pub task: TaskId,
    /// None: a person did it.
    pub agent: Option<AgentId>,
    /// The task's commits are `base..tip` along the first parents.
    pub base: Oid,
    pub tip: Oid,
    /// The trunk commit to build on.
    pub trunk: Oid,
    /// Date of the new commits (committer), seconds since 1970: taken from the record that asks.
    pub at_secs: i64,
    /// Somebody has reviewed it: what a rule decides goes to the task's branch, to be looked at, instead of to the trunk.
    pub reviewed: bool,
    /// Files that commands make again where they conflict.
    pub regenerate: Vec<Regenerate>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    pub base_trunk: Oid,
    /// The commit the trunk shall become. Kept alive by `refs/swarm/merged/<task>`.
    pub result: Oid,
    /// What lies between along the first parents, oldest first; the last is `result`.
    pub commits: Vec<Oid>,
    /// Why it is one commit instead of the task's own, if so.
    pub squashed: Option<Squashed>,
    /// What conflicted and was resolved.
    pub resolved: Vec<Resolved>,
    /// Commits of the trunk that had some of the work already.
    pub found: Vec<Oid>,
}

/// The trunk merged into the task's branch, with the conflicts decided by rules. Kept alive as `Built::result` is; the
/// branch has not moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    pub base_trunk: Oid,
    pub tip: Oid,
    pub tree: Oid,
    pub resolved: Vec<Resolved>,
}

/// A merge that lacks files which commands make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmade {
    /// Shows what is merged so far. Kept alive as `Built::result` is.
    pub commit: Oid,
    pub resolution: Resolution,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Squashed {
    MergeInRange,
    PicksConflict,
    /// The configuration says so.
    Asked,
    /// Rules decided what conflicted, in the whole of it.
    ByRule,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildOutcome {
    Built(Built),
    /// Everything the task did is in the trunk already: these commits. None where it did nothing.
    Nothing {
        found: Vec<Oid>,
    },
    /// Rules decided, and the work had been reviewed.
    Joined(Joined),
    /// Rules decided about the rest: some files are to be made again. [`build_made`] goes on.
    Unmade(Unmade),
    Conflict {
        paths: Vec<PathBuf>,
    },
}

pub fn merged_ref(task: &TaskId) -> String {
    format!("refs/swarm/merged/{task}")
}

/// Builds `work` onto its trunk commit, commit by commit, and keeps the result under `refs/swarm/merged/<task>`.
pub async fn build(git: &Git, work: &Work) -> Result<BuildOutcome, GitError> {
    build_as(git, work, Strategy::Commits).await
}

/// As [`build`], in the way the configuration says.
///
/// - `commits`: each of the task's commits; one squash commit where its branch contains a merge, or where the
///   commits conflict one by one though not as a whole.
/// - `squash`: one commit.
/// - `merge`: a merge commit whose second parent is the task's own tip, so its commits come as they are.
///
/// What conflicts climbs the ladder (`ladder.rs`): first the other way to put the same commits together, since that
/// decides nothing, then the rules.
pub async fn build_as(git: &Git, work: &Work, strategy: Strategy) -> Result<BuildOutcome, GitError> {
    let work = &begun(git, work).await?;
    let range = git.first_parent_range(&work.base, &work.tip).await?;
    let plan = Plan { git, work, range: &range, strategy };
    let line = match strategy {
        Strategy::Commits => plan.pick_all().await?,
        Strategy::Squash => plan.whole(Squashed::Asked).await?,
        Strategy::Merge => plan.join().await?,
    };
    let line = match line {
        Line::Conflict { paths, tried } => ladder::climb(&plan, paths, tried).await?,
        clean => clean,
    };
    plan.outcome(line).await
}

/// Goes on where [`build_as`] left files to be made: `texts` are these, in their order.
pub async fn build_made(
    git: &Git,
    work: &Work,
    strategy: Strategy,
    unmade: Unmade,
    texts: Vec<Vec<u8>>,
) -> Result<BuildOutcome, GitError> {
    let work = &begun(git, work).await?;
    let range = git.first_parent_range(&work.base, &work.tip).await?;
    let plan = Plan { git, work, range: &range, strategy };
    let line = ladder::decided(&plan, unmade.resolution.made(git, texts).await?).await?;
    plan.outcome(line).await
}

/// What is built, and how.
struct Plan<'a> {
    git: &'a Git,
    work: &'a Work,
    /// The task's own commits.
    range: &'a [Oid],
    strategy: Strategy,
}

/// How far one way came.
enum Line {
    Commits { commits: Vec<Oid>, squashed: Option<Squashed>, resolved: Vec<Resolved> },
    Conflict { paths: Vec<PathBuf>, tried: Tried },
    Joined(Joined),
    Unmade(Unmade),
}

/// The way that met the conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tried {
    Picks,
    Whole,
}

impl Line {
    fn clean(commits: Vec<Oid>, squashed: Option<Squashed>) -> Self {
        Self::Commits { commits, squashed, resolved: Vec::new() }
    }
}

impl Plan<'_> {
    async fn outcome(&self, line: Line) -> Result<BuildOutcome, GitError> {
        let (git, work) = (self.git, self.work);
        let (commits, squashed, resolved) = match line {
            Line::Commits { commits, squashed, resolved } => (commits, squashed, resolved),
            Line::Conflict { paths, .. } => return Ok(BuildOutcome::Conflict { paths }),
            Line::Unmade(unmade) => {
                keep(git, &work.task, &unmade.commit).await?;
                return Ok(BuildOutcome::Unmade(unmade));
            }
            Line::Joined(joined) => {
                keep(git, &work.task, &joined.tip).await?;
                return Ok(BuildOutcome::Joined(joined));
            }
        };
        let Some(result) = commits.last().cloned() else {
            let changes = git.tree_of(&work.base).await? != git.tree_of(&work.tip).await?;
            return Ok(BuildOutcome::Nothing {
                found: if changes { self.range.to_vec() } else { Vec::new() },
            });
        };
        keep(git, &work.task, &result).await?;
        let found = match self.strategy {
            // Each commit that brings something has one of its own.
            Strategy::Commits if squashed.is_none() && commits.len() == self.range.len() => vec![],
            _ if work.trunk == work.base => vec![],
            _ => self.on_trunk_already().await?,
        };
        let base_trunk = work.trunk.clone();
        Ok(BuildOutcome::Built(Built { base_trunk, result, commits, squashed, resolved, found }))
    }

    /// Work of the task that somebody has picked, or that was merged before: where it stands on the trunk.
    async fn on_trunk_already(&self) -> Result<Vec<Oid>, GitError> {
        let mut changing = Vec::new();
        for oid in self.range {
            let parts = self.git.commit_parts(oid).await?;
            if let [parent] = &parts.parents[..]
                && self.git.tree_of(parent).await? != self.git.tree_of(oid).await?
            {
                changing.push(oid.clone());
            }
        }
        let there = prove::there(self.git, "trunk", &self.work.trunk, &changing).await?;
        let place = |oid: &Oid| Some(there.get(oid)?.clone().unwrap_or_else(|| oid.clone()));
        Ok(changing.iter().filter_map(place).collect())
    }

    /// Each commit as it is; as a whole where the branch contains a merge.
    async fn pick_all(&self) -> Result<Line, GitError> {
        Ok(match picks(self.git, self.work, self.range).await? {
            Picks::Commits { commits, .. } => Line::clean(commits, None),
            Picks::HasMerge => self.whole(Squashed::MergeInRange).await?,
            Picks::Conflict { paths } => Line::Conflict { paths, tried: Tried::Picks },
        })
    }
}

enum Picks {
    /// The tree of the last is that of all of them on the trunk.
    Commits {
        commits: Vec<Oid>,
        tree: Oid,
    },
    HasMerge,
    Conflict {
        paths: Vec<PathBuf>,
    },
}

async fn picks(git: &Git, work: &Work, range: &[Oid]) -> Result<Picks, GitError> {
    let mut onto = work.trunk.clone();
    let mut onto_tree = git.tree_of(&onto).await?;
    let mut commits = Vec::new();
    let mut each = Vec::new();
    for commit in range {
        each.push((commit, git.commit_parts(commit).await?));
    }
    if each.iter().any(|(_, parts)| parts.parents.len() != 1) {
        return Ok(Picks::HasMerge);
    }
    for (commit, parts) in each {
        let [parent] = &parts.parents[..] else { return Ok(Picks::HasMerge) };
        let tree = match git.merge_commits(parent, &onto, commit).await? {
            Merged::Clean { tree } => tree,
            Merged::Conflict { paths } => return Ok(Picks::Conflict { paths }),
        };
        // In the trunk already: an empty commit would say nothing.
        if tree == onto_tree {
            continue;
        }
        let message = with_trailers(&parts.message, &work.task, work.agent.as_ref());
        onto = git
            .make_commit(NewCommit {
                tree: &tree,
                parents: &[onto],
                author: Some(&parts.author),
                encoding: parts.encoding.as_deref(),
                message: &message,
                at_secs: work.at_secs,
            })
            .await?;
        onto_tree = tree;
        commits.push(onto.clone());
    }
    Ok(Picks::Commits { commits, tree: onto_tree })
}

/// Only from here on may anything refer to the result: git's clean-up could otherwise take it away.
async fn keep(git: &Git, task: &TaskId, result: &Oid) -> Result<(), GitError> {
    let name = merged_ref(task);
    // Only we write this ref, one build at a time for a task; a lost race is asked again.
    for _ in 0..3 {
        let change = match git.ref_value(&name).await? {
            Some(old) if old == *result => return git.make_durable().await,
            Some(old) => RefChange::modify(&name, &old, result),
            None => RefChange::create(&name, result),
        };
        if git.update_refs(&[change], "swarm: built onto the trunk").await? == RefOutcome::Changed {
            return git.make_durable().await;
        }
    }
    Err(GitError::Unreadable { command: "update-ref".into(), what: format!("{name} does not hold still") })
}
