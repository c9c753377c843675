//! Trunk moved: to a commit that exists, or to one that is built by taking commits back and bringing others. It is
//! published by the same code as a merge, so a person's checkout comes along or nothing moves.

use std::collections::BTreeSet;

use swarm_protocol::config::Regenerate;
use swarm_protocol::ids::{CommandId, Oid};
use swarm_protocol::operation::{Moved, Plan, TrunkHow, TrunkMove, local_ref};

use super::super::ref_word;
use super::rebuild::{Making, Rebuilt, Unmade, keep_made, rebuild};
use super::{ASK_AGAIN, MoveOutcome, Mover, Step, refused};
use crate::publish::{
    Aside, Intent, Publication, Saving, bring_back, in_the_way, publish, set_aside, settle_left,
};
use swarm_git::{Git, GitError, RefChange};

impl Mover<'_> {
    pub(super) async fn move_trunk(
        &self,
        trunk: &TrunkMove,
        moved: &mut Moved,
    ) -> Result<Step<()>, GitError> {
        let new = match self.new_trunk(trunk, moved).await? {
            Ok(new) => new,
            Err(stopped) => return Ok(Err(stopped)),
        };
        if new == trunk.old {
            moved.trunk = Some(new);
            self.bring_local_back(trunk).await?;
            return Ok(Ok(()));
        }
        // From here on nothing can be cleaned away: neither the new commits nor the old ones.
        let building = format!("refs/swarm/operation/{}", self.op);
        let kept = format!("refs/swarm/kept/trunk/{}", trunk.old);
        self.set_refs(&[(&building, &new), (&kept, &trunk.old)]).await?;
        self.git.make_durable().await?;
        let intent = Intent { trunk: trunk.branch.clone(), old: trunk.old.clone(), new: new.clone() };
        if let Err(stopped) = self.clear_checkouts(&intent, moved).await? {
            return Ok(Err(stopped));
        }
        let saved = moved.local.as_ref().map_or(String::new(), |name| {
            format!("; your local changes are kept in {name}: `git stash apply {name}` brings them back")
        });
        match publish(self.git, &intent).await? {
            Publication::Published => {}
            Publication::Waits(waits) => return refused(waits.sentence() + &saved, waits.command()),
            Publication::TrunkMoved { now } => {
                let at = now.map_or("gone".to_owned(), |oid| format!("at {}", oid.short()));
                return refused(
                    format!("{} is {at}, not where it was when this was planned{saved}", trunk.branch),
                    ASK_AGAIN,
                );
            }
        }
        moved.trunk = Some(new.clone());
        self.bring_local_back(trunk).await?;
        self.git.update_refs(&[RefChange::delete(&building, &new)], "swarm: published").await?;
        Ok(Ok(()))
    }

    /// What the operation that is taken back had put aside. What has been changed since stays on its ref.
    async fn bring_local_back(&self, trunk: &TrunkMove) -> Result<(), GitError> {
        if let Some(name) = &self.plan.local {
            bring_back(self.git, &trunk.branch, name).await?;
        }
        Ok(())
    }

    /// The commit that trunk shall be at; built where it does not exist yet.
    async fn new_trunk(&self, trunk: &TrunkMove, moved: &mut Moved) -> Result<Step<Oid>, GitError> {
        let (undone, brought) = match &trunk.how {
            TrunkHow::Set { new } => {
                return match self.git.resolve(new.as_str()).await? {
                    Some(_) => Ok(Ok(new.clone())),
                    None => refused(
                        format!("the commit {} is not in the repository any more", new.short()),
                        "swarm checkpoint list",
                    ),
                };
            }
            TrunkHow::Rebuild { revert, pick } => (revert, pick),
        };
        let all: Vec<Oid> = undone.iter().chain(brought).cloned().collect();
        if let Some(missing) = self.git.missing_commits(&all).await?.first() {
            return refused(
                format!("the commit {} is not in the repository any more", missing.short()),
                "swarm checkpoint list",
            );
        }
        let making = Making::Kept { rules: self.places.regenerate, word: &self.op };
        match as_planned(self.git, self.plan, &self.op, (&trunk.old, undone, brought), making).await? {
            Rebuilt::Built { tip, made, brought, resolved } => {
                moved.brought.extend(brought);
                moved.made.extend(made);
                moved.resolved = resolved;
                Ok(Ok(tip))
            }
            Rebuilt::Conflict { commit, paths, .. } => Ok(Err(MoveOutcome::Conflict { commit, paths })),
            // They are made before this begins; whoever asks without that has nobody to make them.
            Rebuilt::Unmade(unmade) => {
                let Unmade { commit, resolution, .. } = *unmade;
                let paths = resolution.generated.iter().map(|path| path.display().to_string()).collect();
                Ok(Err(MoveOutcome::Conflict { commit, paths }))
            }
        }
    }

    /// Checkpoints of other plans, or of long ago, had the same name: what was put aside then keeps its date as a name.
    async fn make_room(&self, name: &str) -> Result<(), GitError> {
        let Some(saved) = self.git.ref_value(name).await? else { return Ok(()) };
        let date = self.git.call(["log", "-1", "--format=%ct", saved.as_str()]).line().await?;
        if date.trim() == self.at_secs().to_string() {
            return Ok(()); // ours, of a call that died
        }
        let older =
            RefChange { name: format!("{name}.{}", date.trim()), old: None, new: Some(saved.clone()) };
        self.git.update_refs(&[older, RefChange::delete(name, &saved)], "swarm: kept").await?;
        Ok(())
    }

    /// Puts the person's local changes aside where the plan says so; only those that it names.
    async fn clear_checkouts(&self, intent: &Intent, moved: &mut Moved) -> Result<Step<()>, GitError> {
        let name = local_ref(&self.plan.checkpoint);
        let branch = format!("refs/heads/{}", intent.trunk);
        let not_moved_yet = self.git.ref_value(&branch).await?.as_ref() == Some(&intent.old);
        if !self.plan.save_local.is_empty() && not_moved_yet {
            // What a move that died has half written is not the person's.
            if let Some(waits) = settle_left(self.git).await? {
                return refused(waits.sentence(), waits.command());
            }
            self.make_room(&name).await?;
            let named: BTreeSet<&String> = self.plan.save_local.iter().collect();
            for checkout in in_the_way(self.git, intent).await? {
                let paths = checkout.paths();
                let strange = paths.iter().find(|path| !named.contains(&path.display().to_string()));
                if let Some(path) = strange {
                    return refused(
                        format!("{} has been changed since this was planned", path.display()),
                        ASK_AGAIN,
                    );
                }
            }
            let saving = Saving { ref_name: &name, at_secs: self.at_secs() };
            if let Aside::Cannot(waits) = set_aside(self.git, intent, &saving).await? {
                return refused(waits.sentence(), waits.command());
            }
        }
        // Also what an earlier call has put there.
        moved.local = self.git.ref_value(&name).await?.map(|_| name);
        Ok(Ok(()))
    }
}

/// What trunk shall be where the plan takes commits back or brings some, made in the object database alone. The same each
/// time it is asked; none: the plan knows the commit. Files that the commands of these rules make again are asked for first.
pub async fn rebuilt(
    git: &Git,
    op: &CommandId,
    plan: &Plan,
    rules: &[Regenerate],
) -> Result<Option<Rebuilt>, GitError> {
    let Some(TrunkMove { old, how: TrunkHow::Rebuild { revert, pick }, .. }) = &plan.trunk else {
        return Ok(None);
    };
    let word = ref_word(op.as_str());
    let making = Making::Kept { rules, word: &word };
    as_planned(git, plan, &word, (old, revert, pick), making).await.map(Some)
}

/// What commands made of the files that [`rebuilt`] asked for, kept for the operation.
pub async fn made_again(
    git: &Git,
    op: &CommandId,
    unmade: Unmade,
    texts: Vec<Vec<u8>>,
) -> Result<(), GitError> {
    keep_made(git, &ref_word(op.as_str()), unmade, texts).await
}

async fn as_planned(
    git: &Git,
    plan: &Plan,
    op: &str,
    (old, revert, pick): (&Oid, &[Oid], &[Oid]),
    making: Making<'_>,
) -> Result<Rebuilt, GitError> {
    let at_secs = i64::try_from(plan.at.0 / 1000).unwrap_or(i64::MAX);
    rebuild(git, old, (revert, pick), at_secs, Some(format!("Swarm-Operation: {op}")), making).await
}
