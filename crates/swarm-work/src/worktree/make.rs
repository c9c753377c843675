//! A worktree that is not there yet: a branch, a record, a folder from the pool or a new one, its files.

use std::path::Path;

use swarm_protocol::ids::{Oid, TaskId};

use super::pool::{self, PoolRule};
use super::{
    BaseRule, MarkerState, PrepareFailure, Prepared, Wanted, WorktreeMarker, checkouts_of_people,
    marker_path, setup,
};
use crate::publish::free_branch;
use crate::remove::move_to_trash;
use crate::take_up::take_up;
use swarm_git::{Git, GitError, Head, PrivateIndex, RefChange, RefOutcome, read_marker, tips, write_marker};

pub(super) async fn make(git: &Git, wanted: &Wanted<'_>, path: &Path) -> Result<Prepared, PrepareFailure> {
    let task = wanted.task;
    let branch = task.branch();
    let full = format!("refs/heads/{branch}");
    let elsewhere = checkouts_of_people(git).into_iter().find(|one| one.path != path && one.occupies(&full));
    if let Some(checkout) = elsewhere {
        let free = free_branch(&checkout);
        return Err(PrepareFailure::CheckedOutElsewhere { task: task.clone(), path: checkout.path, free });
    }
    let Start { base, tip, reattached } = start(git, wanted, &full).await?;
    let mut marker = WorktreeMarker {
        repo_id: git.repo_id()?,
        task: task.clone(),
        path: path.to_owned(),
        base,
        state: MarkerState::Making,
        record: None,
    };
    write_marker(&marker_path(git, task), &marker)?;
    if !reattached {
        create_branch(git, &full, &tip).await?;
    }
    // A git that was killed in the middle of a commit leaves the branch locked.
    git.clear_if_abandoned(&git.common_dir.join(format!("{full}.lock"))).await;
    tips::forget_ours(git, task);
    let (record, recycled) = folder_with_files(git, task, path, wanted.pool, &full, &tip).await?;
    if let Some(asked) = wanted.takes_up.filter(|asked| *asked.tip == tip)
        && !take_up(git, path, asked.tip, asked.saved).await?
    {
        let what = asked.saved.short();
        git.notice(
            Some(task),
            format!("what was not committed before could not be put there: `git show {what}`"),
        );
    }
    git.make_durable().await?;
    marker.state = MarkerState::Ready;
    marker.record = Some(record.clone());
    write_marker(&marker_path(git, task), &marker)?;
    let record = git.record_dir(&record);
    Ok(Prepared {
        path: path.to_owned(),
        branch,
        base: marker.base,
        tip,
        reattached,
        recycled,
        record,
        flaws: Vec::new(),
    })
}

struct Start {
    base: Oid,
    tip: Oid,
    reattached: bool,
}

async fn start(git: &Git, wanted: &Wanted<'_>, full: &str) -> Result<Start, PrepareFailure> {
    let task = wanted.task;
    if git.ref_value("refs/heads/swarm").await?.is_some() {
        return Err(PrepareFailure::BranchInTheWay { task: task.clone() });
    }
    let start = match wanted.base {
        BaseRule::At(oid) => oid.clone(),
        BaseRule::Trunk(name) => match git.ref_value(&format!("refs/heads/{name}")).await? {
            Some(tip) => tip,
            None => return Err(PrepareFailure::NoTrunk { branch: name.clone() }),
        },
    };
    let Some(tip) = git.ref_value(full).await? else {
        return Ok(Start { base: start.clone(), tip: start, reattached: false });
    };
    let known = read_marker::<WorktreeMarker>(&marker_path(git, task)).map(|marker| marker.base);
    let known_to_us = known.is_some();
    if let Some(base) = known
        && git.is_ancestor(&base, &tip).await?
    {
        return Ok(Start { base, tip, reattached: true });
    }
    // A branch that we have no note of is somebody's own, unless there is nothing on it yet; and of one
    // without common history nothing could ever be merged.
    let is_ours = known_to_us || tip == start;
    match git.merge_base(&start, &tip).await?.filter(|_| is_ours) {
        Some(base) => Ok(Start { base, tip, reattached: true }),
        None => Err(PrepareFailure::StrangersBranch { task: task.clone() }),
    }
}

async fn create_branch(git: &Git, full: &str, tip: &Oid) -> Result<(), GitError> {
    match git.update_refs(&[RefChange::create(full, tip)], "swarm: branch of a task").await? {
        RefOutcome::Changed => Ok(()),
        RefOutcome::Lost { name, now } => {
            let what = format!("{name} appeared at {now:?} meanwhile");
            Err(GitError::Unreadable { command: "update-ref".into(), what })
        }
    }
}

/// Answers with the name of git's record and whether the folder is a used one.
async fn folder_with_files(
    git: &Git,
    task: &TaskId,
    path: &Path,
    pool: Option<&PoolRule>,
    branch: &str,
    tip: &Oid,
) -> Result<(String, bool), GitError> {
    let index = PrivateIndex::take(git, task.as_str()).await?;
    // An empty folder is as good as none; one with something in it has been looked at before.
    let _ = std::fs::remove_dir(path);
    let head = Head::Branch(branch.to_owned());
    if let Some(rule) = pool
        && pool::take(git, rule, task, path, &index).await?
    {
        match index.fill(git, path, tip).await {
            Ok(()) => {
                let record = git.register(task.as_str(), path, &head, tip)?;
                git.install_index(&git.record_dir(&record), &index, path).await?;
                return Ok((record, true));
            }
            // A used one that does not work is not worth a failed attempt: a new one is made.
            Err(_) => drop(move_to_trash(git, task.as_str(), path)?),
        }
    }
    setup::forget(git, task.as_str());
    index.forget();
    std::fs::create_dir(path).map_err(GitError::io("make the folder", path))?;
    let record = git.register(task.as_str(), path, &head, tip)?;
    index.fill(git, path, tip).await?;
    git.install_index(&git.record_dir(&record), &index, path).await?;
    Ok((record, false))
}
