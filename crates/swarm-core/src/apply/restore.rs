//! A task as it was: its stage, and what it had besides.

use swarm_protocol::council::Voice;
use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::{SavedStage, SavedTask};
use swarm_protocol::plan::BlockKind;
use swarm_protocol::time::Timestamp;

use crate::stage::Stage;
use crate::state::{STOPPED_BY_A_PERSON, State};

impl State {
    /// What a task gets back besides its stage.
    pub(super) fn restore_task(&mut self, id: &TaskId, saved: &SavedTask) {
        self.change(id, |t| {
            t.waived = saved.waived.clone();
            (t.base, t.wip, t.session) = (saved.base.clone(), saved.wip.clone(), saved.session.clone());
            (t.last_agent, t.last_failure) = (saved.last_agent.clone(), saved.last_failure.clone());
            (t.retries, t.review_rounds, t.merge_rounds) =
                (saved.retries, saved.review_rounds, saved.merge_rounds);
            t.changes_wanted = None;
            t.worktree |= saved.worktree;
            (t.left, t.not_revived) = (saved.left.clone(), None);
            t.landed_before.clone_from(&saved.landed_before);
            (t.verified, t.submitted, t.goes_on) = (None, None, false);
        });
    }

    pub(super) fn restore_stage(&mut self, id: &TaskId, stage: &SavedStage, at: Timestamp) {
        let not_before = Timestamp::ZERO;
        if matches!(stage, SavedStage::Done { .. } | SavedStage::Gone { .. }) {
            self.proven = None; // trunk may have moved since it was so
        }
        self.change(id, |t| {
            (t.put_off, t.kept, t.withheld) = (None, None, None);
            t.held_by.clear();
        });
        if !matches!(stage, SavedStage::Working | SavedStage::Pending { started: true, .. }) {
            self.ops.first.retain(|first| first.task != *id); // nobody was at work on it then
        }
        // What had landed is gone from trunk with what is taken back, or stands in the proof of what is done.
        if !matches!(stage, SavedStage::Approved { .. }) {
            self.change(id, |t| t.landed_before.clear());
        }
        let mut whole = false;
        let entered = match stage.clone() {
            SavedStage::Pending { started, withheld } => {
                let why = withheld.then(|| STOPPED_BY_A_PERSON.to_string());
                self.change(id, |t| (t.started, t.withheld) = (started, why));
                Stage::Pending { since: at, not_before }
            }
            SavedStage::Working => {
                self.change(id, |t| t.started = true);
                let agent = self.task(id).and_then(|t| t.last_agent.clone());
                self.goes_first(id, agent);
                Stage::Pending { since: at, not_before }
            }
            SavedStage::Review { tip, tree, base } => {
                self.change(id, |t| {
                    t.base = base;
                    if matches!(t.stage, Stage::Blocked { block: BlockKind::Review, .. }) {
                        // Whoever had no verdict is asked afresh.
                        t.council.retain(|_, seat| seat.voice != Voice::Absent);
                        t.council_lost.clear();
                        t.transient_retries = 0;
                    }
                });
                Stage::Review { tip, tree, since: at, not_before, run: None, beside: vec![] }
            }
            SavedStage::Approved { tip, tree, base } => {
                self.change(id, |t| {
                    t.base = base;
                    if matches!(t.stage, Stage::Blocked { block: BlockKind::Setup, .. }) {
                        t.effect_failures = 0; // a person lets it be tried anew
                    }
                });
                Stage::Approved { tip, tree, since: at, not_before, waits: None }
            }
            SavedStage::Done { proof, parts } => {
                whole = !parts.is_empty();
                if whole {
                    self.made_of(id, &parts);
                }
                if let Some(proof) = &proof {
                    proof.own().iter().for_each(|oid| {
                        self.ops.made.remove(oid);
                    });
                }
                Stage::Done { proof }
            }
            SavedStage::Gone { proof, why, work } => Stage::Gone { proof, why, since: at, work },
            SavedStage::Blocked { block, why, .. } => Stage::Blocked { block, why, since: at },
            SavedStage::Failed { why } => Stage::Failed { why, since: at },
            SavedStage::Timeout { why } => Stage::Timeout { why, since: at },
            SavedStage::Deferred { .. } => Stage::Deferred,
            SavedStage::Cancelled => Stage::Cancelled,
            SavedStage::Split { parts } => {
                self.made_of(id, &parts);
                whole = true;
                Stage::Split { parts, since: at, not_before }
            }
        };
        if !whole && matches!(self.task(id), Some(t) if !t.stage.is_closed()) {
            self.change(id, |t| t.parts.clear());
        }
        self.enter(id, entered);
    }

    fn made_of(&mut self, whole: &TaskId, parts: &[TaskId]) {
        for part in parts {
            self.change(part, |t| t.parent = Some(whole.clone()));
        }
        self.change(whole, |t| t.parts = parts.to_vec());
    }
}
