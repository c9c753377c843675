//! Events of the plan: its header, tasks, order, statuses set by people.

use swarm_protocol::event::{Event, Proof};
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::{BlockKind, ExecutionProfile, Extra, PhaseHead, Status, TaskSpec};
use swarm_protocol::time::Timestamp;

use crate::stage::Stage;
use crate::state::{Approved, Phase, Plan, State, Task};
use crate::structure::patch_spec;

impl State {
    /// True when the event was one of the plan.
    pub(super) fn apply_plan(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::PlanCreated { ledger_id, goal, phases, extra, .. } => {
                self.plan = Some(Plan {
                    ledger_id: ledger_id.clone(),
                    goal: goal.clone(),
                    phases: vec![],
                    extra: extra.clone(),
                    profile: ExecutionProfile::default(),
                    approved: None,
                    closed: false,
                });
                self.set_header(goal, phases, extra);
            }
            Event::PlanUpdated { goal, phases, extra } => self.set_header(goal, phases, extra),
            Event::TaskAdded { task, phase, after, spec } => {
                self.add_task(task, *phase, after.as_ref(), spec, at)
            }
            Event::TaskUpdated { task, patch } => self.change(task, |t| {
                // A session belongs to the program that began it.
                if patch.profile.as_ref().is_some_and(|new| *new != t.spec.profile) {
                    (t.session, t.assigned) = (None, None);
                    t.denied_under.clear();
                }
                patch_spec(&mut t.spec, patch);
            }),
            Event::TaskStatusChanged { task, status, why, block, proof, was } => {
                self.change(task, |t| t.was = was.clone());
                self.set_status(task, *status, why.clone(), *block, proof.clone(), at);
            }
            Event::TaskReordered { task, after, phase } => self.move_task(task, *phase, after.as_ref()),
            Event::TaskRemoved { task } => self.remove_task(task),
            Event::PhaseCompleted { phase } => {
                if let Some(phase) = self.phase_mut(*phase) {
                    phase.complete = true;
                }
                self.snapshot_due = true;
            }
            Event::PhaseReopened { phase } => {
                if let Some(phase) = self.phase_mut(*phase) {
                    phase.complete = false;
                }
            }
            Event::Snapshot { .. } => {
                self.plan_events_since_snapshot = 0;
                self.snapshot_due = false;
            }
            Event::PlanRebuilt { .. } | Event::PlanExported { .. } => {}
            Event::PlanReset {} => self.reset(at),
            Event::ExecutionProfileSet { profile } => {
                if let Some(plan) = &mut self.plan {
                    plan.profile = ExecutionProfile { locked: false, ..*profile };
                }
            }
            Event::ExecutionProfileLocked {} => {
                if let Some(plan) = &mut self.plan {
                    plan.profile.locked = true;
                }
            }
            Event::PlanApproved { structure_hash } => {
                let structure = crate::export::structure(self);
                if let Some(plan) = &mut self.plan {
                    plan.approved =
                        Some(Approved { structure_hash: structure_hash.clone(), plan: structure });
                }
            }
            Event::PlanClosed { .. } | Event::PlanReopened { .. } => {
                if let Some(plan) = &mut self.plan {
                    plan.closed = matches!(event, Event::PlanClosed { .. });
                }
                self.proposals.waiting.clear();
            }
            _ => return false,
        }
        true
    }

    pub(super) fn phase_mut(&mut self, id: u32) -> Option<&mut Phase> {
        self.plan.as_mut()?.phases.iter_mut().find(|p| p.id == id)
    }

    /// Names and order of the phases; a phase that still has tasks is never dropped.
    fn set_header(&mut self, goal: &str, heads: &[PhaseHead], extra: &Extra) {
        let Some(plan) = &mut self.plan else { return };
        plan.goal = goal.into();
        plan.extra = extra.clone();
        let mut old = std::mem::take(&mut plan.phases);
        for head in heads {
            let known = old.iter().position(|p| p.id == head.id).map(|at| old.remove(at));
            let (complete, tasks) = known.map_or((false, vec![]), |p| (p.complete, p.tasks));
            plan.phases.push(Phase {
                id: head.id,
                name: head.name.clone(),
                extra: head.extra.clone(),
                complete,
                tasks,
            });
        }
        plan.phases.extend(old.into_iter().filter(|p| !p.tasks.is_empty()));
    }

    fn add_task(&mut self, id: &TaskId, phase: u32, after: Option<&TaskId>, spec: &TaskSpec, at: Timestamp) {
        if self.tasks.contains_key(id) {
            return;
        }
        self.tasks.insert(id.clone(), Task::new(spec.clone(), phase, at));
        self.place(id, phase, after);
    }

    fn remove_task(&mut self, id: &TaskId) {
        let Some(task) = self.tasks.remove(id) else { return };
        if let Some(phase) = self.phase_mut(task.phase) {
            phase.tasks.retain(|t| t != id);
        }
    }

    fn set_status(
        &mut self,
        id: &TaskId,
        status: Status,
        why: Option<String>,
        block: Option<BlockKind>,
        proof: Option<Proof>,
        at: Timestamp,
    ) {
        let why = why.unwrap_or_default();
        let stage = match status {
            Status::Pending => {
                self.change(id, |t| {
                    (t.retries, t.transient_retries, t.once_more) = (0, 0, 0);
                    (t.review_rounds, t.merge_rounds, t.effect_failures) = (0, 0, 0);
                    t.council.clear();
                    t.conflicts = 0;
                    t.conflicts_in.clear();
                    // Whatever stood in the way may lie in the session.
                    (t.session, t.failure) = (None, None);
                    (t.put_off, t.kept, t.withheld, t.same_failure) = (None, None, None, None);
                    (t.crashes, t.overflows, t.nudge, t.waits_for_quota) = (0, 0, None, None);
                    t.empties = 0;
                    t.denied_under.clear();
                });
                self.waiting_stage(id, at)
            }
            Status::Done => Stage::Done { proof },
            Status::Blocked => Stage::Blocked { block: block.unwrap_or(BlockKind::Human), why, since: at },
            Status::Failed => Stage::Failed { why, since: at },
            Status::Timeout => Stage::Timeout { why, since: at },
            Status::Deferred => Stage::Deferred,
            Status::Cancelled => Stage::Cancelled,
            // Stages that need a run or a tip are never entered by a bare status.
            Status::Active | Status::Review | Status::Merging | Status::Gone => return,
        };
        self.enter(id, stage);
    }

    /// Back in the queue; a task that was split waits for its parts instead.
    fn waiting_stage(&self, id: &TaskId, at: Timestamp) -> Stage {
        let parts = self.tasks.get(id).map(|t| t.parts.clone()).unwrap_or_default();
        let not_before = Timestamp::ZERO;
        if parts.is_empty() {
            Stage::Pending { since: at, not_before }
        } else {
            Stage::Split { parts, since: at, not_before }
        }
    }

    fn reset(&mut self, at: Timestamp) {
        let ids: Vec<TaskId> = self.tasks.keys().cloned().collect();
        for id in &ids {
            self.set_status(id, Status::Pending, None, None, None, at);
            self.change(id, |t| {
                (t.attempts, t.restarts, t.goes_on) = (0, 0, false);
                (t.started, t.submitted) = (false, None);
                t.waived.clear();
                (t.last_failure, t.changes_wanted) = (None, None);
                (t.assigned, t.first) = (None, false);
                t.spent_before = t.spent;
            });
        }
        if let Some(plan) = &mut self.plan {
            plan.profile.locked = false;
            for phase in &mut plan.phases {
                phase.complete = false;
            }
        }
        self.rebuild_index();
    }
}
