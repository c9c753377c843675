//! Events of a merge: the trunk granted, built, verified, published, given back.

use swarm_protocol::channel::RunKind;
use swarm_protocol::event::{Event, Proof};
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::outcome::Next;
use swarm_protocol::time::Timestamp;

use super::{keep, legacy};
use crate::limits::GREEN_KEPT;
use crate::stage::{MergeStep, Stage, Waits};
use crate::state::{RedTrunk, State};
use crate::text::tail;

impl State {
    pub(super) fn apply_merge(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::TrunkGranted { task, joins, .. } => {
                self.trunk_held_by = Some(task.clone());
                if *joins == Some(true) {
                    self.change(task, |t| (t.worktree, t.bare) = (true, true));
                }
                let granted = match self.tasks.get(task).map(|t| &t.stage) {
                    Some(Stage::Approved { tip, tree, since, .. }) => {
                        Some((tip.clone(), tree.clone(), *since))
                    }
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
            Event::MergeBuilt { task, base, result, commits, resolved, found, .. } => {
                let (base, result, commits) = (base.clone(), result.clone(), commits.clone());
                self.change(task, |t| {
                    t.effect_failures = 0;
                    t.found = found.clone().unwrap_or_default();
                    // What was joined to the branch stays resolved there, however cleanly it is built now.
                    if resolved.is_some() || !t.joined {
                        t.resolved = resolved.clone().unwrap_or_default();
                        t.joined = false;
                    }
                });
                self.set_step(task, MergeStep::Publishing { base, result, commits });
            }
            Event::MergeResolved { task, tip, tree, resolved, .. } => {
                self.release(task);
                self.change(task, |t| {
                    t.effect_failures = 0;
                    // A task that is merged again may have had none any more.
                    (t.resolved, t.joined, t.worktree) = (resolved.clone(), true, true);
                });
                let (tip, tree, not_before) = (tip.clone(), tree.clone(), Timestamp::ZERO);
                self.enter(
                    task,
                    Stage::Review { tip, tree, since: at, not_before, run: None, beside: vec![] },
                );
            }
            Event::ProtectedTouched { task, paths, .. } => self.wait_for_a_person(task, paths, at),
            Event::VerificationStarted { task, run, nonce } => self.start_verification(task, run, nonce, at),
            Event::VerificationPassed { task, run, commit } => {
                self.end_verification(task, run.as_ref());
                if run.is_some() {
                    self.found_green(commit);
                }
                self.change(task, |t| t.verified = Some(commit.clone()));
            }
            Event::VerificationFailed { task, run, output, next, .. } => {
                self.end_verification(task, Some(run));
                self.change(task, |t| {
                    t.merge_rounds += 1;
                    t.last_failure = Some(tail(output));
                });
                self.release(task);
                self.follow(task, next, at);
            }
            Event::VerificationRed { task, run, base, output } => {
                self.end(run);
                self.set_step(task, MergeStep::Suspect { base: base.clone(), output: tail(output) });
            }
            Event::TrunkTrialStarted { task, run, nonce, .. } => self.start_trial(task, run, nonce, at),
            Event::TrunkJudged { task, run, commit, green, .. } => {
                self.end(run);
                if *green {
                    self.found_green(commit);
                } else {
                    self.red_trunk = Some(RedTrunk { commit: commit.clone(), task: task.clone() });
                }
            }
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
            Event::RaceLost { task, .. } => {
                self.proven = None;
                self.change(task, |t| {
                    if let Stage::Merging { races, step, .. } = &mut t.stage {
                        *races += 1;
                        *step = MergeStep::Building;
                    }
                });
            }
            Event::MergeFailed { task, why, paths, next, .. } => {
                self.change(task, |t| {
                    match next {
                        Next::Pending { .. } => {
                            t.conflicts += 1;
                            t.conflicts_in.clone_from(paths);
                        }
                        _ => t.effect_failures += 1,
                    }
                    match next {
                        Next::Approved { .. } => t.put_off = Some(why.clone()),
                        // Whoever takes it up again should know.
                        _ => t.last_failure = Some(tail(why)),
                    }
                });
                self.release(task);
                self.follow(task, next, at);
            }
            Event::MergeInterrupted { task, .. } => self.approve_again(task, Timestamp::ZERO, None),
            Event::TrunkReleased { task } => self.release(task),
            Event::MergeCompleted { task, proof } => {
                self.proven = self.proven_after(task, proof);
                self.release(task);
                self.change(task, |t| {
                    t.put_off = None;
                    t.conflicts = 0;
                    t.landed_before.clear();
                });
                self.enter(task, Stage::Done { proof: Some(proof.clone()) });
            }
            _ => return false,
        }
        true
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

    fn set_step(&mut self, task: &TaskId, new: MergeStep) {
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
        let not_before = Timestamp::ZERO;
        self.enter(task, Stage::Review { tip, tree, since: at, not_before, run: None, beside: vec![] });
    }

    fn start_verification(&mut self, task: &TaskId, run: &RunId, nonce: &str, at: Timestamp) {
        self.claim_run(RunKind::Verify, task, run, nonce, at);
        self.change(task, |t| {
            if let Stage::Merging { step, .. } = &mut t.stage
                && let MergeStep::Publishing { base, result, commits } = step
            {
                *step = MergeStep::Verifying {
                    base: base.clone(),
                    result: result.clone(),
                    commits: std::mem::take(commits),
                    run: run.clone(),
                };
            }
        });
    }

    fn start_trial(&mut self, task: &TaskId, run: &RunId, nonce: &str, at: Timestamp) {
        self.claim_run(RunKind::Verify, task, run, nonce, at);
        self.change(task, |t| {
            if let Stage::Merging { step, .. } = &mut t.stage
                && let MergeStep::Suspect { base, output } = step
            {
                *step =
                    MergeStep::Trial { base: base.clone(), output: std::mem::take(output), run: run.clone() };
            }
        });
    }

    fn found_green(&mut self, commit: &Oid) {
        if !self.green.contains(commit) {
            keep(&mut self.green, GREEN_KEPT, commit.clone());
        }
    }

    /// The verification is over, whatever it said; its processes are still to be proven gone.
    fn end_verification(&mut self, task: &TaskId, run: Option<&RunId>) {
        if let Some(run) = run.and_then(|r| self.runs.get_mut(r)) {
            run.ended = true;
        }
        self.change(task, |t| {
            if let Stage::Merging { step, .. } = &mut t.stage
                && let MergeStep::Verifying { base, result, commits, .. } = step
            {
                *step = MergeStep::Publishing {
                    base: base.clone(),
                    result: result.clone(),
                    commits: std::mem::take(commits),
                };
            }
        });
    }
}
