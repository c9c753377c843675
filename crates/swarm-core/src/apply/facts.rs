//! Facts without an event of their own kind, set to what an undo wants of them.

use serde::de::DeserializeOwned;
use serde_json::Value;
use swarm_protocol::ids::Oid;
use swarm_protocol::operation::{Fact, FactChange, TaskPart};

use crate::state::{Degraded, State};

impl State {
    pub(super) fn set_fact(&mut self, change: &FactChange) {
        let after = change.after.as_ref();
        match &change.fact {
            Fact::Part(id, TaskPart::Base) => {
                let base = after.and_then(|v| Oid::new(v.as_str()?).ok());
                self.change(id, |t| t.base = base);
            }
            Fact::Part(id, TaskPart::Left) => {
                self.change(id, |t| (t.left, t.not_revived) = (typed(after), None));
            }
            Fact::Part(id, TaskPart::Rounds) => self.change(id, |t| {
                t.review_rounds =
                    after.and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
            }),
            Fact::Phase(id) => {
                let complete = after.is_some_and(|v| v["complete"] == true);
                let found = self.plan.iter_mut().flat_map(|p| &mut p.phases);
                found.filter(|p| p.id == *id).for_each(|p| p.complete = complete);
            }
            Fact::Approved => {
                if let Some(plan) = &mut self.plan {
                    plan.approved = typed(after);
                }
            }
            Fact::Checkpoint(name) => {
                let at = self.at;
                if let Some(checkpoint) = self.ops.checkpoints.get_mut(name) {
                    checkpoint.deleted = after.is_none().then_some(at);
                }
            }
            Fact::Agent(id) => {
                let why = after.and_then(|v| v["degraded"].as_str());
                let degraded = why.map(|why| Degraded { since: self.at, why: why.into() });
                self.agents.entry(id.clone()).or_default().degraded = degraded;
            }
            Fact::Quota(group) => {
                if let Some(gate) = self.quotas.get_mut(group) {
                    gate.closed = typed(after.and_then(|v| v.get("closed")));
                }
            }
            Fact::Budget(None) => self.spent_before = typed(after).unwrap_or_default(),
            Fact::Budget(Some(id)) => self.change(id, |t| t.spent_before = typed(after).unwrap_or_default()),
            // One that somebody chose has an event of its own.
            Fact::Mode if after.is_none() => self.mode = None,
            Fact::Loss => self.loss = after.and_then(|v| v.as_str().map(str::to_owned)),
            Fact::Seen(id) => {
                let seen = after.and_then(Value::as_u64).unwrap_or_default();
                self.change(id, |t| t.oversteps_seen = u32::try_from(seen).unwrap_or(u32::MAX));
            }
            Fact::Noticed(id) => {
                let all = self.ops.log.iter_mut().filter(|record| record.id == *id);
                all.for_each(|record| record.seen = after.is_some());
            }
            Fact::Message(id) => {
                for task in self.tasks.values_mut().filter(|_| after.is_none()) {
                    task.messages.retain(|m| m.id != *id || m.landed.is_some());
                }
            }
            Fact::Reservation(number) => {
                match typed(after) {
                    Some(reservation) => self.reservations.insert(*number, reservation),
                    None => self.reservations.remove(number),
                };
            }
            Fact::Redirect(to) => {
                match typed(after) {
                    Some(redirect) => self.ops.redirects.insert(to.clone(), redirect),
                    None => self.ops.redirects.remove(to),
                };
            }
            // Set by events of their own, held by git, or of a later version.
            Fact::Task(_) | Fact::Part(..) | Fact::Mode | Fact::Trunk | Fact::Pause(_) => {}
            Fact::Profile | Fact::Header | Fact::Ref(_) | Fact::Worktree(_) | Fact::Unknown(_) => {}
        }
    }
}

fn typed<T: DeserializeOwned>(value: Option<&Value>) -> Option<T> {
    value.and_then(|value| serde_json::from_value(value.clone()).ok())
}
