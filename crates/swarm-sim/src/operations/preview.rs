//! What a preview says is what happens: the plan made beforehand against git and the plan afterwards.

use std::collections::BTreeSet;

use swarm_core::operation::{ask, plan, saved};
use swarm_core::requested;
use swarm_protocol::operation::{Plan, Request, TrunkHow, WorktreeTo};

use super::deeds::{Deed, Situation};
use super::git::Tree;
use super::seen::stage_words;
use super::world::OperationWorld;

/// Previews the operation, carries it out, and compares. None: there is nothing to preview, or it is refused.
pub fn as_previewed(deed: Deed, situation: Situation) -> Result<Option<()>, String> {
    let mut world = situation.world();
    let command = deed.command(&world);
    let Ok(Some(request)) = requested(&world.state, &command, world.now) else { return Ok(None) };
    let everybody = matches!(request, Request::Rollback { .. } | Request::Abort { .. });
    if matches!(request, Request::Checkpoint { .. }) || (situation == Situation::DuringMerge && !everybody) {
        return Ok(None); // it moves nothing; or another task's merge comes first, and is seen then
    }
    let asked = ask(&world.state, &request).map_err(|r| r.message())?;
    let before = world.seen();
    let survey = world.survey(&asked);
    let preview = plan(&world.state, &request, &survey, world.now);
    if before != world.seen() {
        return Err("a preview changed something".into());
    }
    let Ok(id) = world.ask(command) else { return Ok(None) };
    let trunk_before = world.git.tree(&world.git.trunk());
    world.drive_operation();
    let record = world.state.ops.record(&id).ok_or("it is not on record")?;
    match (preview, &record.failed) {
        (Err(_), Some(_)) => Ok(None),
        (Err(refusal), None) => Err(format!("the preview refused, the deed did not: {}", refusal.message())),
        (Ok(_), Some((why, _))) => Err(format!("the preview was fine, the deed failed: {why}")),
        (Ok(preview), None) => compare(&world, &preview, &trunk_before).map(Some),
    }
}

fn compare(world: &OperationWorld, preview: &Plan, trunk_before: &Tree) -> Result<(), String> {
    let now = world.git.tree(&world.git.trunk());
    let wanted = trunk_as_said(world, preview, trunk_before);
    if now != wanted {
        return Err(format!("trunk holds {now:?}, the preview said {wanted:?}"));
    }
    for (id, was) in &preview.tasks {
        let stage = world.state.task(id).map(|t| stage_words(&saved::stage(t)));
        if stage != Some(stage_words(&was.stage)) {
            return Err(format!("{id} is {stage:?}, the preview said {:?}", was.stage));
        }
    }
    for worktree in &preview.worktrees {
        let files = world.git.worktrees.get(&worktree.task);
        let wanted = match &worktree.to {
            WorktreeTo::Gone => None,
            WorktreeTo::Clean { .. } => Some(BTreeSet::new()),
            WorktreeTo::Restored { dirty, .. } => {
                Some(dirty.as_ref().map(|oid| world.git.brought(oid)).unwrap_or_default())
            }
        };
        if files != wanted.as_ref() {
            return Err(format!("{} holds {files:?}, the preview said {wanted:?}", worktree.task));
        }
    }
    Ok(())
}

fn trunk_as_said(world: &OperationWorld, preview: &Plan, before: &Tree) -> Tree {
    match preview.trunk.as_ref().map(|t| &t.how) {
        None => before.clone(),
        Some(TrunkHow::Set { new }) => world.git.tree(new),
        Some(TrunkHow::Rebuild { revert, pick }) => {
            let mut tree = before.clone();
            for oid in revert {
                let gone = world.git.brought(oid);
                tree.retain(|name| !gone.contains(name));
            }
            tree.extend(pick.iter().flat_map(|oid| world.git.brought(oid)));
            tree
        }
    }
}
