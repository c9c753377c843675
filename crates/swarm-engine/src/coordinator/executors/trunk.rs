//! Executors at trunk: it is watched, a merge is built for it, the result is put on it.

use std::path::PathBuf;
use std::sync::PoisonError;
use std::time::Duration;

use swarm_core::input::Report;
use swarm_git::GitError;
use swarm_protocol::config::Strategy;
use swarm_protocol::event::Proof;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_work::approval::{Approval, Changed, changed_since};
use swarm_work::build::{BranchJoined, BuildOutcome, Joined, Work, build_as, build_made, join_branch};
use swarm_work::checkout_watch::CheckoutWatch;
use swarm_work::publish::{Intent, Publication, WaitReason, Waits, publish, publish_approved};
use swarm_work::{hooks, protected, prove};
use tokio_util::sync::CancellationToken;

use super::{describe, shown};
use crate::coordinator::world::World;

/// Between two looks at trunk that nothing has told us to take.
const TRUNK_LOOK_EVERY: Duration = Duration::from_secs(60);

/// Watches of all checkouts of the trunk, for a change that may let a result through.
fn armed(
    world: &World,
    paths: &[PathBuf],
    arm: impl Fn(&Waits) -> Result<CheckoutWatch, GitError>,
) -> Result<Vec<CheckoutWatch>, GitError> {
    let branch = format!("refs/heads/{}", world.trunk());
    let occupied = world.git.checkouts().into_iter().filter(|checkout| checkout.occupies(&branch));
    let watched = occupied.map(|checkout| {
        let reason = WaitReason::Changed { paths: paths.to_vec() };
        arm(&Waits { checkout: checkout.path, reason })
    });
    watched.collect()
}

/// Waits for such a change, also for one that came right after the merge was tried.
pub(super) async fn a_checkout_changes(
    world: &World,
    task: &TaskId,
    paths: Vec<String>,
) -> Result<(), String> {
    let paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
    let before = world.armed.lock().unwrap_or_else(PoisonError::into_inner).remove(task);
    let now = armed(world, &paths, |waits| CheckoutWatch::arm(&world.git, waits)).map_err(describe)?;
    if before.is_none() && paths.is_empty() {
        // Another coordinator has tried it: what was in the way may have gone since, and leaves no trace.
        return Ok(());
    }
    let mut watches = tokio::task::JoinSet::new();
    for mut watch in before.into_iter().flatten().chain(now) {
        watches.spawn(async move { watch.changed().await });
    }
    match watches.join_next().await {
        Some(changed) => changed.map_err(describe)?.map_err(describe),
        // Nobody has the trunk checked out any more: that is the change.
        None => Ok(()),
    }
}

/// Waits until trunk is somewhere else. The kernel tells of it; now and then we look all the same, since a network disk
/// tells nothing.
pub(super) async fn trunk_leaves(world: &World, commit: &Oid) -> Result<Oid, String> {
    loop {
        let mut watch = CheckoutWatch::of_branch(&world.git, &world.trunk()).map_err(describe)?;
        let now = trunk_tip(world).await?;
        if now != *commit {
            return Ok(now);
        }
        if let Ok(changed) = tokio::time::timeout(TRUNK_LOOK_EVERY, watch.changed()).await {
            changed.map_err(describe)?;
        }
    }
}

pub(in crate::coordinator) async fn trunk_tip(world: &World) -> Result<Oid, String> {
    let name = format!("refs/heads/{}", world.trunk());
    world
        .git
        .ref_value(&name)
        .await
        .map_err(describe)?
        .ok_or_else(|| format!("the branch {} is gone", world.trunk()))
}

/// Nothing is built of a branch that is not what was approved.
pub(super) async fn build_approved(
    world: &World,
    work: Work,
    approval: Option<Approval>,
    written_under: &str,
    cancel: &CancellationToken,
) -> Result<Report, String> {
    if let Some(approval) = approval
        && let Some(changed) = changed_since(&world.git, &approval, &world.trunk()).await.map_err(describe)?
    {
        return Ok(branch_changed(work.task, changed));
    }
    build_merge(world, work, written_under, cancel).await
}

fn branch_changed(task: TaskId, Changed { tip, tree, base }: Changed) -> Report {
    Report::BranchChanged { task, tip, tree, base }
}

async fn build_merge(
    world: &World,
    work: Work,
    written_under: &str,
    cancel: &CancellationToken,
) -> Result<Report, String> {
    let strategy = world.config.merge.strategy;
    let mut built = build_as(&world.git, &work, strategy).await.map_err(describe)?;
    if let BuildOutcome::Unmade(unmade) = built {
        let paths = shown(&unmade.resolution.generated);
        // Commands take their time; git's own steps are short and are not broken off.
        let made = tokio::select! {
            made = world.make_again(&work, &unmade, written_under) => made?,
            () = cancel.cancelled() => return Ok(Report::Cancelled { task: work.task }),
        };
        let texts = match made {
            Ok(texts) => texts,
            Err(why) => {
                let why = Some(world.without_root(&why));
                return Ok(Report::BuildConflict { task: work.task, paths, why });
            }
        };
        built = build_made(&world.git, &work, strategy, unmade, texts).await.map_err(describe)?;
    }
    if let BuildOutcome::Joined(joined) = built {
        return join(world, work, joined).await;
    }
    let (protected, changed) = match &built {
        BuildOutcome::Built(built) => {
            let (git, from, to) = (&world.git, &built.base_trunk, &built.result);
            let changed = git.changed_paths(from, to).await.map_err(describe)?;
            let mut protected = only_by_a_person(world, to, &changed).await?;
            protected.extend(world.secrets_in(from, to, false).await.map_err(describe)?);
            if built.commits.len() > 1 || strategy == Strategy::Merge {
                let mut more = on_the_way(world, from, to, &changed).await?;
                more.retain(|one| !protected.contains(one));
                protected.extend(more);
            }
            (protected, shown(&changed))
        }
        _ => (vec![], vec![]),
    };
    let task = work.task;
    Ok(match built {
        BuildOutcome::Built(built) => Report::Built {
            protected,
            changed,
            task,
            base: built.base_trunk,
            result: built.result,
            commits: built.commits,
            squashed: built.squashed.is_some(),
            resolved: built.resolved,
            found: built.found,
        },
        BuildOutcome::Nothing { found } => {
            let trunk = world.trunk();
            let there = prove::there(&world.git, &trunk, &work.trunk, &found).await.map_err(describe)?;
            // The commit that has the last of it proves it; whatever came later is somebody else's.
            let last = found.last().and_then(|last| there.get(last)?.clone());
            let commit = last.unwrap_or(work.trunk);
            Report::BuildEmpty { task, trunk, commit, found }
        }
        BuildOutcome::Conflict { paths } => Report::BuildConflict { task, paths: shown(&paths), why: None },
        BuildOutcome::Joined(_) | BuildOutcome::Unmade(_) => return Err("a merge was resolved twice".into()),
    })
}

/// What only a person lets through of the commits on the way: what one brings and another takes away is in trunk's history
/// for ever. `changed` has been looked at.
async fn on_the_way(world: &World, from: &Oid, to: &Oid, changed: &[PathBuf]) -> Result<Vec<String>, String> {
    let mut touched = world.git.touched_paths(from, to).await.map_err(describe)?;
    for path in changed {
        touched.remove(path);
    }
    let mut found = only_by_a_person(world, to, &Vec::from_iter(touched)).await?;
    found.extend(world.secrets_in(from, to, true).await.map_err(describe)?);
    Ok(found)
}

/// The changed files that are protected. What hooks and the person's git run is outside the walls, as what lies in
/// `.swarm` is.
async fn only_by_a_person(world: &World, result: &Oid, changed: &[PathBuf]) -> Result<Vec<String>, String> {
    let of_hooks = hooks::files(&world.paths.root, &hooks::configured(&world.config.hooks));
    let run: Vec<PathBuf> = changed.iter().filter(|path| of_hooks.contains(*path)).cloned().collect();
    let mut all = protected::among(changed, &world.config.merge.protected);
    all.extend(shown(&run));
    all.extend(shown(&protected::by_git(&world.git, result, changed).await.map_err(describe)?));
    all.sort();
    all.dedup();
    Ok(all)
}

/// The task's branch gets what rules made of it, so that it can be reviewed there. Where something of a person's is in the
/// way, the conflict is the person's too.
async fn join(world: &World, work: Work, joined: Joined) -> Result<Report, String> {
    let moved = join_branch(&world.git, &world.paths.worktrees, &work, &joined).await.map_err(describe)?;
    let (task, Joined { base_trunk: base, tip, tree, resolved }) = (work.task, joined);
    Ok(match moved {
        BranchJoined::Done => Report::BuildJoined { task, base, tip, tree, resolved },
        BranchJoined::InTheWay => {
            let paths = resolved.into_iter().map(|one| one.path).collect();
            Report::BuildConflict { task, paths, why: None }
        }
    })
}

/// Each try looks at what was approved: between two of them the branch may have been changed.
async fn tried(
    world: &World,
    intent: &Intent,
    approval: Option<&Approval>,
) -> Result<Result<Publication, Changed>, String> {
    match approval {
        None => publish(&world.git, intent).await.map(Ok),
        Some(approval) => publish_approved(&world.git, intent, approval).await,
    }
    .map_err(describe)
}

pub(super) async fn publish_merge(
    world: &World,
    task: TaskId,
    intent: &Intent,
    proof: Proof,
    approval: Option<Approval>,
) -> Result<Report, String> {
    world.armed.lock().unwrap_or_else(PoisonError::into_inner).remove(&task);
    let mut publication = match tried(world, intent, approval.as_ref()).await? {
        Ok(publication) => publication,
        Err(changed) => return Ok(branch_changed(task, changed)),
    };
    if let Publication::Waits(waits) = &publication {
        // What is put right between a try and the watch nobody would see: so the last try comes after it.
        let watches = armed(world, waits.reason.paths(), |waits| CheckoutWatch::of_files(&world.git, waits));
        let watches = watches.map_err(describe)?;
        publication = match tried(world, intent, approval.as_ref()).await? {
            Ok(publication) => publication,
            Err(changed) => return Ok(branch_changed(task, changed)),
        };
        if matches!(publication, Publication::Waits(_)) {
            world.armed.lock().unwrap_or_else(PoisonError::into_inner).insert(task.clone(), watches);
        }
    }
    Ok(match publication {
        Publication::Published => Report::Published { task, proof },
        Publication::Waits(waits) => Report::PublishWaits {
            task,
            why: world.without_root(&waits.reason.sentence()),
            paths: shown(waits.reason.paths()),
            hint: world.without_root(&waits.command()),
        },
        Publication::TrunkMoved { now: Some(now) } => Report::TrunkMoved { task, now },
        Publication::TrunkMoved { now: None } => return Err(format!("the branch {} is gone", world.trunk())),
    })
}
