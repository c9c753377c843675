//! What conflicts, tried in other ways. The other order of putting the same commits together comes first, although it
//! is the second level: it decides nothing, so what was reviewed stays reviewed. Rules decide about lines.

use std::path::{Path, PathBuf};

use swarm_protocol::conflict::{Resolved, Way};

use super::{Joined, Line, Picks, Plan, Squashed, Tried, Unmade, message, picks};
use crate::resolve::{Resolution, resolve};
use swarm_git::{GitError, NewCommit};

/// The first way that leaves no conflict; else the conflict that the whole of the task has.
pub(super) async fn climb(plan: &Plan<'_>, paths: Vec<PathBuf>, tried: Tried) -> Result<Line, GitError> {
    let paths = match tried {
        // One commit is the whole of the task: there is no other way to put it together.
        Tried::Picks if plan.range.len() == 1 => paths,
        Tried::Picks => match plan.whole(Squashed::PicksConflict).await? {
            Line::Conflict { paths, .. } => paths,
            line => return Ok(resolved_as(line, &paths, Way::AsAWhole)),
        },
        Tried::Whole => match commit_by_commit(plan, &paths).await? {
            Some(line) => return Ok(line),
            None => paths,
        },
    };
    let (git, work) = (plan.git, plan.work);
    match resolve(git, &plan.common().await?, &work.trunk, &work.tip, &work.regenerate).await? {
        Some(resolution) if !resolution.generated.is_empty() => unmade(plan, resolution).await,
        Some(resolution) => decided(plan, resolution).await,
        None => Ok(Line::Conflict { paths, tried }),
    }
}

/// Everything is decided: onto the trunk with it, or to the branch to be reviewed.
pub(super) async fn decided(plan: &Plan<'_>, resolution: Resolution) -> Result<Line, GitError> {
    let (git, work) = (plan.git, plan.work);
    let trunk_tree = git.tree_of(&work.trunk).await?;
    let paths = || resolution.files.iter().map(|one| PathBuf::from(&one.path)).collect();
    match resolution {
        // Nothing of the task would be left of it: whether that is right is not for a rule to say.
        _ if resolution.tree == trunk_tree => Ok(Line::Conflict { paths: paths(), tried: Tried::Whole }),
        _ if work.reviewed => join(plan, resolution).await,
        Resolution { tree, files, .. } => {
            let (commit, squashed) = plan.as_one(&tree, Squashed::ByRule).await?;
            Ok(Line::Commits { commits: vec![commit], squashed, resolved: files })
        }
    }
}

/// A commit that shows what is merged so far, for the commands that make the rest.
async fn unmade(plan: &Plan<'_>, resolution: Resolution) -> Result<Line, GitError> {
    let (commit, _) = plan.as_one(&resolution.tree, Squashed::ByRule).await?;
    Ok(Line::Unmade(Unmade { commit, resolution }))
}

fn resolved_as(line: Line, paths: &[PathBuf], way: Way) -> Line {
    let shown = |path: &PathBuf| Resolved { path: shown(path), way };
    match line {
        // What is on the trunk already needs no telling how it got there.
        Line::Commits { commits, squashed, .. } if !commits.is_empty() => {
            Line::Commits { commits, squashed, resolved: paths.iter().map(shown).collect() }
        }
        other => other,
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The tree that the commits come to one after the other, in the way of the strategy.
async fn commit_by_commit(plan: &Plan<'_>, paths: &[PathBuf]) -> Result<Option<Line>, GitError> {
    let Picks::Commits { commits, tree } = picks(plan.git, plan.work, plan.range).await? else {
        return Ok(None);
    };
    if commits.is_empty() {
        return Ok(Some(Line::clean(commits, None)));
    }
    let (commit, squashed) = plan.as_one(&tree, Squashed::Asked).await?;
    Ok(Some(resolved_as(Line::clean(vec![commit], squashed), paths, Way::CommitByCommit)))
}

/// The trunk brought into the task's branch.
async fn join(plan: &Plan<'_>, resolution: Resolution) -> Result<Line, GitError> {
    let (work, Resolution { tree, files: resolved, .. }) = (plan.work, resolution);
    let message = message::of_join(&work.task, work.agent.as_ref(), &resolved);
    let commit = NewCommit {
        tree: &tree,
        parents: &[work.tip.clone(), work.trunk.clone()],
        author: None,
        encoding: None,
        message: &message,
        at_secs: work.at_secs,
    };
    let tip = plan.git.make_commit(commit).await?;
    Ok(Line::Joined(Joined { base_trunk: work.trunk.clone(), tip, tree, resolved }))
}
