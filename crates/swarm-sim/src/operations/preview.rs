//! What a preview says is what happens: the plan made beforehand against git and the plan afterwards.

use std::collections::BTreeSet;

use swarm_core::operation::{ask, plan, saved};
use swarm_core::requested;
use swarm_protocol::operation::{Plan, Request, TrunkHow, WorktreeTo};

use super::deeds::{Deed, Situation};
use super::desk::Desk;
use super::git::Tree;
use super::seen::stage_words;

/// Previews the operation, carries it out, and compares. None: there is nothing to preview, or it is refused.
pub fn as_previewed(deed: Deed, situation: Situation) -> Result<Option<()>, String> {
    let mut desk = situation.desk();
    let command = deed.command(&desk);
    let Ok(Some(request)) = requested(&desk.state, &command, desk.now) else { return Ok(None) };
    let everybody = matches!(request, Request::Rollback { .. } | Request::Abort { .. });
    if matches!(request, Request::Checkpoint { .. }) || (situation == Situation::DuringMerge && !everybody) {
        return Ok(None); // it moves nothing; or another task's merge comes first, and is seen then
    }
    let asked = ask(&desk.state, &request).map_err(|r| r.message())?;
    let before = desk.seen();
    let survey = desk.survey(&asked);
    let preview = plan(&desk.state, &request, &survey, desk.now);
    if before != desk.seen() {
        return Err("a preview changed something".into());
    }
    let Ok(id) = desk.ask(command) else { return Ok(None) };
    let trunk_before = desk.git.tree(&desk.git.trunk());
    desk.drive_operation();
    let record = desk.state.ops.record(&id).ok_or("it is not on record")?;
    match (preview, &record.failed) {
        (Err(_), Some(_)) => Ok(None),
        (Err(refusal), None) => Err(format!("the preview refused, the deed did not: {}", refusal.message())),
        (Ok(_), Some((why, _))) => Err(format!("the preview was fine, the deed failed: {why}")),
        (Ok(preview), None) => compare(&desk, &preview, &trunk_before).map(Some),
    }
}

fn compare(desk: &Desk, preview: &Plan, trunk_before: &Tree) -> Result<(), String> {
    let now = desk.git.tree(&desk.git.trunk());
    let wanted = trunk_as_said(desk, preview, trunk_before);
    if now != wanted {
        return Err(format!("trunk holds {now:?}, the preview said {wanted:?}"));
    }
    for (id, was) in &preview.tasks {
        let stage = desk.state.task(id).map(|t| stage_words(&saved::stage(t)));
        if stage != Some(stage_words(&was.stage)) {
            return Err(format!("{id} is {stage:?}, the preview said {:?}", was.stage));
        }
    }
    for worktree in &preview.worktrees {
        let files = desk.git.worktrees.get(&worktree.task);
        let wanted = match &worktree.to {
            WorktreeTo::Gone => None,
            WorktreeTo::Clean { .. } => Some(BTreeSet::new()),
            WorktreeTo::Restored { dirty, .. } => {
                Some(dirty.as_ref().map(|oid| desk.git.brought(oid)).unwrap_or_default())
            }
        };
        if files != wanted.as_ref() {
            return Err(format!("{} holds {files:?}, the preview said {wanted:?}", worktree.task));
        }
    }
    Ok(())
}

fn trunk_as_said(desk: &Desk, preview: &Plan, before: &Tree) -> Tree {
    match preview.trunk.as_ref().map(|t| &t.how) {
        None => before.clone(),
        Some(TrunkHow::Set { new }) => desk.git.tree(new),
        Some(TrunkHow::Rebuild { revert, pick }) => {
            let mut tree = before.clone();
            for oid in revert {
                let gone = desk.git.brought(oid);
                tree.retain(|name| !gone.contains(name));
            }
            tree.extend(pick.iter().flat_map(|oid| desk.git.brought(oid)));
            tree
        }
    }
}
