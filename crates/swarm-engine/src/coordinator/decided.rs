//! Commits that do not fit when they are taken back, and what was decided about them: made, and judged, before trunk moves.

use swarm_core::input::Report;
use swarm_protocol::conflict::{self, Way};
use swarm_protocol::ids::CommandId;
use swarm_protocol::operation::Plan;

use super::executors::{describe, shown};
use super::world::World;
use swarm_work::operation::moving::rebuild::Rebuilt;
use swarm_work::operation::moving::{self, resolver};

/// What was decided about commits that did not fit when they were taken back has to pass what a merge has to, before trunk
/// moves. None: it does, or there is nothing to ask about.
pub(super) async fn refuted(world: &World, op: &CommandId, plan: &Plan) -> Result<Option<Report>, String> {
    let Some(trunk) = &plan.trunk else { return Ok(None) };
    let name = format!("refs/heads/{}", trunk.branch);
    // A call that died after it had moved trunk had asked before.
    if world.git.ref_value(&name).await.map_err(describe)?.as_ref() != Some(&trunk.old) {
        return Ok(None);
    }
    let built = match with_made(world, op, plan).await? {
        Ok(built) => built,
        Err(report) => return Ok(Some(report)),
    };
    if let Some(Rebuilt::Conflict { paths, open: Some(open), .. }) = &built {
        let asks = open.shown(&world.git).await.map_err(describe)?.is_some();
        return Ok(Some(Report::MoveConflict { op: op.clone(), paths: paths.clone(), why: None, asks }));
    }
    let Some(Rebuilt::Built { tip, resolved, .. }) = built.filter(was_decided) else { return Ok(None) };
    let Err(why) = world.verified(&tip, op.as_str()).await? else { return Ok(None) };
    let files = conflict::shown(&resolved);
    let why = format!("the resolution of {files} fails the verification: {}", world.without_root(&why));
    // What a rule made and is red is a person's, as of merges; an agent hears what it overlooked.
    let asks = resolved.iter().any(|one| one.way == Way::ByAgent);
    if asks {
        resolver::forget(&world.git, op).await.map_err(describe)?;
    }
    let mut paths: Vec<String> = resolved.into_iter().map(|one| one.path).collect();
    paths.dedup();
    Ok(Some(Report::MoveConflict { op: op.clone(), paths, why: Some(why), asks }))
}

/// What trunk shall be, as far as rules and what is kept decide it. The inner error ends the operation: a file could not be
/// made again.
pub(super) async fn with_made(
    world: &World,
    op: &CommandId,
    plan: &Plan,
) -> Result<Result<Option<Rebuilt>, Report>, String> {
    let rules = &world.config.merge.regenerate;
    // Each turn makes the files of one more stretch of commits.
    loop {
        match moving::rebuilt(&world.git, op, plan, rules).await.map_err(describe)? {
            Some(Rebuilt::Unmade(unmade)) => match world.make_for_revert(op, &unmade).await? {
                Ok(texts) => {
                    moving::made_again(&world.git, op, *unmade, texts).await.map_err(describe)?;
                }
                Err(why) => {
                    let (op, paths) = (op.clone(), shown(&unmade.resolution.generated));
                    let why = Some(format!("a file could not be regenerated: {}", world.without_root(&why)));
                    return Ok(Err(Report::MoveConflict { op, paths, why, asks: false }));
                }
            },
            built => return Ok(Ok(built)),
        }
    }
}

fn was_decided(built: &Rebuilt) -> bool {
    matches!(built, Rebuilt::Built { resolved, .. } if !resolved.is_empty())
}
