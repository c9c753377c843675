//! A task's work built onto the trunk, in the object database: no checkout is touched, and a conflict
//! on the last commit leaves everything as it was.
//!
//! The same question gives the same commits: dates come from the caller, not from the clock.

mod message;

use std::path::PathBuf;

use swarm_protocol::config::Strategy;
use swarm_protocol::ids::{AgentId, Oid, TaskId};

use message::with_trailers;
use swarm_git::{Git, GitError, Merged, NewCommit, RefChange, RefOutcome, Signature};

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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Squashed {
    MergeInRange,
    PicksConflict,
    /// The configuration says so.
    Asked,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildOutcome {
    Built(Built),
    /// Everything the task did is in the trunk already: these commits. None where it did nothing.
    Nothing {
        found: Vec<Oid>,
    },
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
pub async fn build_as(git: &Git, work: &Work, strategy: Strategy) -> Result<BuildOutcome, GitError> {
    let range = git.first_parent_range(&work.base, &work.tip).await?;
    let (line, squashed) = match strategy {
        Strategy::Commits => match pick_all(git, work, &range).await? {
            Picks::Line(line) => (line, None),
            Picks::HasMerge => whole(git, work, &range, Squashed::MergeInRange).await?,
            Picks::Conflict => whole(git, work, &range, Squashed::PicksConflict).await?,
        },
        Strategy::Squash => whole(git, work, &range, Squashed::Asked).await?,
        Strategy::Merge => (join(git, work, &range).await?, None),
    };
    let commits = match line {
        Line::Commits(commits) => commits,
        Line::Conflict(paths) => return Ok(BuildOutcome::Conflict { paths }),
    };
    let Some(result) = commits.last().cloned() else {
        let changes = git.tree_of(&work.base).await? != git.tree_of(&work.tip).await?;
        return Ok(BuildOutcome::Nothing { found: if changes { range } else { Vec::new() } });
    };
    keep(git, &work.task, &result).await?;
    Ok(BuildOutcome::Built(Built { base_trunk: work.trunk.clone(), result, commits, squashed }))
}

async fn whole(
    git: &Git,
    work: &Work,
    range: &[Oid],
    why: Squashed,
) -> Result<(Line, Option<Squashed>), GitError> {
    Ok((squash(git, work, range, why).await?, Some(why)))
}

enum Line {
    Commits(Vec<Oid>),
    Conflict(Vec<PathBuf>),
}

enum Picks {
    Line(Line),
    HasMerge,
    Conflict,
}

async fn pick_all(git: &Git, work: &Work, range: &[Oid]) -> Result<Picks, GitError> {
    let mut onto = work.trunk.clone();
    let mut onto_tree = git.tree_of(&onto).await?;
    let mut commits = Vec::new();
    for commit in range {
        let parts = git.commit_parts(commit).await?;
        let [parent] = &parts.parents[..] else { return Ok(Picks::HasMerge) };
        let tree = match git.merge_commits(parent, &onto, commit).await? {
            Merged::Clean { tree } => tree,
            Merged::Conflict { paths } if range.len() == 1 => return Ok(Picks::Line(Line::Conflict(paths))),
            Merged::Conflict { .. } => return Ok(Picks::Conflict),
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
    Ok(Picks::Line(Line::Commits(commits)))
}

/// The trunk with the whole of the task in it, as a tree. `None`: it is in the trunk already.
async fn merged_whole(
    git: &Git,
    work: &Work,
    range: &[Oid],
) -> Result<Result<Option<Oid>, Vec<PathBuf>>, GitError> {
    // A task that merged the trunk into itself has a newer common ancestor than its base; one whose earlier work
    // came to the trunk as other commits has an older one. One of its own commits is none: what it brought may have been
    // taken back since, and counts as a change all the same.
    let base = match git.merge_base(&work.trunk, &work.tip).await? {
        Some(common) if !range.contains(&common) && !git.is_ancestor(&common, &work.base).await? => common,
        _ => work.base.clone(),
    };
    let tree = match git.merge_commits(&base, &work.trunk, &work.tip).await? {
        Merged::Clean { tree } => tree,
        Merged::Conflict { paths } => return Ok(Err(paths)),
    };
    let nothing_new = tree == git.tree_of(&work.trunk).await?;
    Ok(Ok((!nothing_new).then_some(tree)))
}

/// Subjects of the task's commits, oldest first, and the last one's author.
async fn story_of(git: &Git, range: &[Oid]) -> Result<(Vec<Vec<u8>>, Option<Signature>), GitError> {
    let (mut subjects, mut author) = (Vec::new(), None);
    for commit in range {
        let parts = git.commit_parts(commit).await?;
        subjects.push(message::subject(&parts.message));
        author = Some(parts.author);
    }
    Ok((subjects, author))
}

/// The whole of the task as one commit, whose message says what it replaces and why.
async fn squash(git: &Git, work: &Work, range: &[Oid], why: Squashed) -> Result<Line, GitError> {
    let tree = match merged_whole(git, work, range).await? {
        Ok(Some(tree)) => tree,
        Ok(None) => return Ok(Line::Commits(Vec::new())),
        Err(paths) => return Ok(Line::Conflict(paths)),
    };
    let (subjects, author) = story_of(git, range).await?;
    let message = message::of_squash(&work.task, work.agent.as_ref(), &subjects, why);
    let commit = NewCommit {
        tree: &tree,
        parents: std::slice::from_ref(&work.trunk),
        author: author.as_ref(),
        encoding: None,
        message: &message,
        at_secs: work.at_secs,
    };
    Ok(Line::Commits(vec![git.make_commit(commit).await?]))
}

/// A merge commit, also where the trunk has not moved: it is the one commit that says "this task".
async fn join(git: &Git, work: &Work, range: &[Oid]) -> Result<Line, GitError> {
    let tree = match merged_whole(git, work, range).await? {
        Ok(Some(tree)) => tree,
        Ok(None) => return Ok(Line::Commits(Vec::new())),
        Err(paths) => return Ok(Line::Conflict(paths)),
    };
    let (subjects, _) = story_of(git, range).await?;
    let message = message::of_merge(&work.task, work.agent.as_ref(), &subjects);
    let commit = NewCommit {
        tree: &tree,
        parents: &[work.trunk.clone(), work.tip.clone()],
        author: None,
        encoding: None,
        message: &message,
        at_secs: work.at_secs,
    };
    Ok(Line::Commits(vec![git.make_commit(commit).await?]))
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
