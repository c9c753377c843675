//! Events of a merge: the trunk granted, built, published, given back.

use swarm_protocol::event::{Event, Proof};
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::outcome::Next;
use swarm_protocol::time::Timestamp;

use super::legacy;
use crate::stage::{MergeStep, Stage, Waits};
use crate::state::State;
use crate::text::tail;

impl State {
    pub(super) fn apply_merge(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::TrunkGranted { task, joins, .. } => self.grant_trunk(task, *joins == Some(true)),
            Event::MergeBuilt { task, base, result, commits, resolved, found, .. } => {
                let (base, result, commits) = (base.clone(), result.clone(), commits.clone());
                self.change(task, |t| {
                    t.effect_failures = 0;
                    t.held_by.clear();
                    t.found = found.clone().unwrap_or_default();
                    // What was joined to the branch stays resolved there, however cleanly it is built now.
                    if resolved.is_some() || !t.joined {
                        t.resolved = resolved.clone().unwrap_or_default();
                        t.joined = false;
                    }
                });
                self.set_step(task, MergeStep::Publishing { base, result, commits });
            }
            Event::ApprovalVoided { task, approved, tip, tree, next, base, .. } => {
                self.release(task);
                self.change(task, |t| {
                    (t.void, t.void_by_rule) = (Some(approved.clone()), false);
                    t.voids += 1;
                    if base.is_some() {
                        t.base.clone_from(base);
                    }
                });
                self.review_of(task, tip, tree, at);
                self.follow(task, next, at);
            }
            Event::MergeResolved { task, tip, tree, resolved, .. } => {
                self.release(task);
                self.change(task, |t| {
                    t.effect_failures = 0;
                    (t.void, t.void_by_rule) = (t.handed_in.clone(), true);
                    // A task that is merged again may have had none any more.
                    (t.resolved, t.joined, t.worktree) = (resolved.clone(), true, true);
                });
                self.review_of(task, tip, tree, at);
            }
            Event::ProtectedTouched { task, paths, .. } => self.wait_for_a_person(task, paths, at),
            Event::PublishWaits { task, why, paths, hint, again_at } => {
                self.release(task);
                let waits = Waits { why: why.clone(), paths: paths.clone(), hint: hint.clone() };
                self.approve_again(
                    task,
                    again_at.unwrap_or_else(|| legacy::checkout_again_at(at)),
                    Some(waits),
                );
            }
            Event::CheckoutChanged { task } => self.change(task, |t| {
                if let Stage::Approved { not_before, waits, .. } = &mut t.stage {
                    *not_before = Timestamp::ZERO;
                    *waits = None;
                }
            }),
            Event::RaceLost { task, .. } => self.lose_race(task),
            Event::MergeFailed { task, why, paths, next, was, .. } => {
                self.fail_merge(task, why, paths, next, at);
                if was.is_some() {
                    self.change(task, |t| t.was.clone_from(was));
                }
            }
            Event::MergeInterrupted { task, .. } => self.approve_again(task, Timestamp::ZERO, None),
            Event::TrunkReleased { task } => self.release(task),
            Event::MergeCompleted { task, proof } => {
                self.proven = self.proven_after(task, proof);
                self.release(task);
                self.change(task, |t| {
                    t.put_off = None;
                    (t.conflicts, t.voids) = (0, 0);
                    t.landed_before.clear();
                });
                self.enter(task, Stage::Done { proof: Some(proof.clone()) });
            }
            _ => return false,
        }
        true
    }

    /// Somebody else was at trunk first: it is built on what is there now.
    fn lose_race(&mut self, task: &TaskId) {
        self.proven = None;
        self.change(task, |t| {
            if let Stage::Merging { races, step, .. } = &mut t.stage {
                *races += 1;
                *step = MergeStep::Building;
            }
        });
    }

    fn grant_trunk(&mut self, task: &TaskId, joins: bool) {
        self.trunk_held_by = Some(task.clone());
        if joins {
            self.change(task, |t| (t.worktree, t.bare) = (true, true));
        }
        let granted = match self.tasks.get(task).map(|t| &t.stage) {
            Some(Stage::Approved { tip, tree, since, .. }) => Some((tip.clone(), tree.clone(), *since)),
            // All parts are on trunk; where the last one came to stands for the whole.
            Some(Stage::Split { parts, since, .. }) => {
                self.last_commit(parts).map(|tip| (tip.clone(), tip, *since))
            }
            _ => None,
        };
        if let Some((tip, tree, since)) = granted {
            let step = MergeStep::Building;
            self.enter(task, Stage::Merging { tip, tree, since, races: 0, step });
        }
    }

    fn fail_merge(&mut self, task: &TaskId, why: &str, paths: &[String], next: &Next, at: Timestamp) {
        self.change(task, |t| {
            match next {
                Next::Pending { .. } => {
                    t.conflicts += 1;
                    t.conflicts_in = paths.to_vec();
                }
                _ => t.effect_failures += 1,
            }
            match next {
                Next::Approved { .. } => t.put_off = Some(why.to_owned()),
                // Whoever takes it up again should know.
                _ => t.last_failure = Some(tail(why)),
            }
        });
        self.release(task);
        self.follow(task, next, at);
    }

    /// Our own merge takes nothing away from trunk: what was there before it still is.
    fn proven_after(&self, task: &TaskId, proof: &Proof) -> Option<Oid> {
        if !self.has_provable() {
            return Some(proof.commit.clone()); // the first of all: there was nothing that could have gone
        }
        let known = self.proven.as_ref()?;
        let base = match self.tasks.get(task).map(|t| &t.stage) {
            Some(Stage::Merging { step: MergeStep::Publishing { base, .. }, .. }) => base,
            _ => &proof.commit,
        };
        (known == base).then(|| proof.commit.clone())
    }

    pub(super) fn release(&mut self, task: &TaskId) {
        if self.trunk_held_by.as_ref() == Some(task) {
            self.trunk_held_by = None;
        }
    }

    pub(super) fn set_step(&mut self, task: &TaskId, new: MergeStep) {
        self.change(task, |t| {
            if let Stage::Merging { step, .. } = &mut t.stage {
                *step = new;
            }
        });
    }

    /// Back from the trunk with the approval kept.
    pub(super) fn approve_again(&mut self, task: &TaskId, not_before: Timestamp, waits: Option<Waits>) {
        let Some(found) = self.tasks.get(task) else { return };
        if let Stage::Merging { tip, tree, since, .. } = found.stage.clone() {
            let stage = match found.parts.is_empty() {
                true => Stage::Approved { tip, tree, since, not_before, waits },
                false => Stage::Split { parts: found.parts.clone(), since, not_before },
            };
            self.enter(task, stage);
        }
    }

    /// The trunk commit that the last of these parts came to.
    fn last_commit(&self, parts: &[TaskId]) -> Option<Oid> {
        parts.iter().rev().find_map(|part| match &self.tasks.get(part)?.stage {
            Stage::Done { proof } => proof.as_ref().map(|proof| proof.commit.clone()),
            _ => None,
        })
    }

    /// Its work is as it was; who is to say that it is good has changed.
    fn wait_for_a_person(&mut self, task: &TaskId, paths: &[String], at: Timestamp) {
        self.release(task);
        let merging = self.tasks.get(task).map(|t| t.stage.clone());
        let Some(Stage::Merging { tip, tree, .. }) = merging else { return };
        self.change(task, |t| {
            let new = paths.iter().filter(|path| !t.protected.contains(path)).cloned().collect::<Vec<_>>();
            t.protected.extend(new);
        });
        self.review_of(task, &tip, &tree, at);
    }

    /// It waits for a review of this.
    fn review_of(&mut self, task: &TaskId, tip: &Oid, tree: &Oid, at: Timestamp) {
        let (tip, tree, not_before) = (tip.clone(), tree.clone(), Timestamp::ZERO);
        self.enter(task, Stage::Review { tip, tree, since: at, not_before, run: None, beside: vec![] });
    }
}
