//! Events of operations.

use std::collections::BTreeMap;

use swarm_protocol::event::Event;
use swarm_protocol::ids::{CommandId, Oid, TaskId};
use swarm_protocol::operation::{FactChange, Plan, Request};
use swarm_protocol::oplog::Did;
use swarm_protocol::time::Timestamp;

use super::keep;
use crate::limits::{
    ANSWERS_KEPT, AUTOMATIC_KEPT, CONFLICTS_SHOWN, DEEDS_KEPT, FACTS_KEPT_BYTES, OPERATIONS_KEPT,
};
use crate::state::operations::size;
use crate::state::operations::{Asked, Record, Running, Step};
use crate::state::{PastAnswer, State};

impl State {
    /// True when the event was one of an operation.
    pub(super) fn apply_operation(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::OperationAsked { id, by, kind, subject, request, answer, expect } => {
                self.ops.running = Some(Running {
                    id: id.clone(),
                    by: by.clone(),
                    kind: kind.clone(),
                    subject: subject.clone(),
                    request: request.clone(),
                    asked_at: at,
                    before: self.seq.saturating_sub(1),
                    step: Step::Quiescing,
                    stuck: None,
                    expect: expect.clone(),
                    asked: 0,
                });
                let past = PastAnswer { id: id.clone(), seq: self.seq, text: answer.clone() };
                keep(&mut self.answers, ANSWERS_KEPT, past);
            }
            Event::OperationQuiet { id } => self.go_to(id, Step::Surveying),
            Event::OperationPlanned { id, plan } => self.go_to(id, Step::Saving { plan: plan.clone() }),
            Event::ResolverStarted { task, id, profile, round, paths, why } => {
                let (task, profile, paths, why) = (task.clone(), profile.clone(), paths.clone(), why.clone());
                let asked = Asked { task, profile, paths, why };
                self.resolver(id, |plan, dirty| Step::Resolving { plan, dirty, asked });
                if let Some(running) = self.ops.running.as_mut().filter(|r| r.id == *id) {
                    running.asked = *round;
                }
            }
            Event::ResolverEnded { task, id, usage, .. } => {
                self.spend_beside_runs(task, usage.unwrap_or_default());
                self.resolver(id, |plan, dirty| Step::Moving { plan, dirty });
            }
            Event::OperationStuck { id, why } => {
                if let Some(running) = self.ops.running.as_mut().filter(|r| r.id == *id) {
                    running.stuck = Some(why.clone());
                }
            }
            Event::OperationFinished { id, text, facts, made } => {
                self.ops.made.extend(made.iter().cloned());
                self.proven = None;
                let did = self.did(id, made);
                self.over(id, text, Some(facts.clone()), None, at);
                if let Some(record) = self.ops.log.back_mut().filter(|r| r.id == *id) {
                    record.did = did;
                }
            }
            Event::OperationFailed { id, why, hint, paths } => {
                self.over(id, why, None, Some((why.clone(), hint.clone())), at);
                let shown = paths.iter().take(CONFLICTS_SHOWN).cloned().collect();
                if let Some(record) = self.ops.log.back_mut().filter(|r| r.id == *id) {
                    record.paths = shown;
                }
            }
            Event::TaskRestored { task, stage, waived, saved, .. } => {
                if let Some(saved) = saved {
                    self.restore_task(task, saved);
                }
                if let Some(waived) = waived {
                    self.change(task, |t| t.waived = waived.iter().copied().collect());
                }
                if let Some(stage) = stage {
                    self.restore_stage(task, stage, at);
                    self.change(task, |t| t.was = stage.was().cloned());
                }
            }
            Event::FactsSet { facts: all } => {
                all.iter().for_each(|change| self.set_fact(change));
                // What waits to come back is found by the index.
                all.iter().filter_map(|change| change.fact.task()).for_each(|id| self.reindex(id));
            }
            Event::OperationSeen { id } => {
                if let Some(record) = self.ops.log.iter_mut().find(|r| r.id == *id) {
                    record.seen = true;
                }
            }
            _ => return false,
        }
        true
    }

    fn go_to(&mut self, id: &CommandId, step: Step) {
        if let Some(running) = self.ops.running.as_mut().filter(|r| r.id == *id) {
            (running.step, running.stuck) = (step, None);
        }
    }

    /// An agent begins to be asked about what is to move, or has been.
    fn resolver(&mut self, id: &CommandId, then: impl FnOnce(Plan, BTreeMap<TaskId, Oid>) -> Step) {
        let Some(running) = self.ops.running.as_mut().filter(|r| r.id == *id) else { return };
        if let Step::Moving { plan, dirty } | Step::Resolving { plan, dirty, .. } = &mut running.step {
            let (plan, dirty) = (plan.clone(), std::mem::take(dirty));
            (running.step, running.stuck) = (then(plan, dirty), None);
        }
    }

    /// What the operation under way did with git; none: nothing worth a line.
    fn did(&self, id: &CommandId, made: &[Oid]) -> Option<Did> {
        let running = self.ops.running.as_ref().filter(|running| running.id == *id)?;
        let Step::Moving { plan, .. } = &running.step else { return None };
        Some(Did::of(&plan.says, made, DEEDS_KEPT)).filter(|did| !did.is_nothing())
    }

    /// The operation that moves git is over.
    fn over(
        &mut self,
        id: &CommandId,
        text: &str,
        facts: Option<Vec<FactChange>>,
        failed: Option<(String, String)>,
        at: Timestamp,
    ) {
        let Some(running) = self.ops.running.take_if(|r| r.id == *id) else { return };
        let checkpoint = match running.step {
            // A checkpoint is no checkpoint before itself.
            Step::Moving { plan, .. }
                if failed.is_none() && !matches!(running.request, Request::Checkpoint { .. }) =>
            {
                Some(plan.checkpoint)
            }
            _ => None,
        };
        let undoes = match &running.request {
            Request::Undo { operation, .. } if failed.is_none() => Some(operation.clone()),
            _ => None,
        };
        if let Some(past) = self.answers.iter_mut().rev().find(|past| past.id == *id) {
            past.text = text.into();
        }
        let Running { by, kind, subject, .. } = running;
        let (id, text, seq) = (id.clone(), text.into(), self.seq);
        let bytes = facts.as_deref().map_or(0, size);
        self.log(Record {
            id,
            seq,
            at,
            by,
            kind,
            subject,
            text,
            facts,
            did: None,
            checkpoint,
            undoes,
            undone_by: None,
            failed,
            paths: vec![],
            seen: false,
            bytes,
        });
    }

    /// Puts an operation on record. One that takes an undo back makes the first one stand again, and so on
    /// along the line.
    pub(super) fn log(&mut self, record: Record) {
        let (mut undone, mut by) = (record.undoes.clone(), Some(record.id.clone()));
        while let Some(id) = undone {
            let Some(found) = self.ops.log.iter_mut().rev().find(|r| r.id == id) else { break };
            undone = found.undoes.clone();
            let stands = by.is_none();
            found.undone_by = by;
            by = stands.then_some(id);
        }
        let person = record.by_person();
        let most = if person { OPERATIONS_KEPT } else { AUTOMATIC_KEPT };
        self.ops.log.push_back(record);
        if self.ops.log.iter().filter(|r| r.by_person() == person).count() > most {
            let same = |r: &Record| r.by_person() == person;
            let spent = self.ops.log.iter().position(|r| same(r) && !r.can_be_undone());
            if let Some(at) = spent.or_else(|| self.ops.log.iter().position(same)) {
                self.ops.log.remove(at);
            }
        }
        self.forget_old_facts();
    }

    /// Facts take room; those of the oldest operations go first.
    fn forget_old_facts(&mut self) {
        let mut left = FACTS_KEPT_BYTES;
        for record in self.ops.log.iter_mut().rev() {
            if record.bytes > left {
                (record.facts, record.did, record.bytes) = (None, None, 0);
            }
            left = left.saturating_sub(record.bytes);
        }
    }

    /// A task's branch as far as operations know it.
    pub(super) fn forget_task(&mut self, id: &TaskId) {
        self.ops.tips.remove(id);
        self.ops.rewinds.remove(id);
        self.ops.redirects.remove(id);
        self.ops.first.retain(|first| first.task != *id);
    }
}
