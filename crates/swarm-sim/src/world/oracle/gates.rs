//! What work must have passed before it is approved, sent back or merged.

use swarm_core::effect::Effect;
use swarm_core::stage::Stage;
use swarm_core::state::State;
use swarm_protocol::council::Voice;
use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::outcome::Gate;
use swarm_protocol::plan::Status;
use swarm_protocol::policy::Policy;
use swarm_protocol::review::Reviewer;

use super::{Broken, Oracle, broken};
use crate::world::coordinator::Coordinator;
use crate::world::truth::Truth;

impl Oracle {
    /// A task that was split is looked at as a whole, and done, when all of its parts are. What a person merges of it is its own.
    pub(super) fn parts_come_first(&self, event: &Event, state: &State) -> Result<(), Broken> {
        let task = match event {
            Event::TrunkGranted { task, .. } => task,
            Event::TaskStatusChanged { task, status: Status::Done, proof: Some(_), .. } => task,
            _ => return Ok(()),
        };
        let own = self.approved.iter().any(|(approved, _)| approved == task);
        let parts = state.task(task).filter(|_| !own).map(|whole| whole.parts.as_slice()).unwrap_or_default();
        let is_open =
            |part: &&TaskId| !state.task(part).is_some_and(|t| matches!(t.stage, Stage::Done { .. }));
        match parts.iter().find(is_open) {
            Some(part) => {
                Err(broken("a whole is done after its parts", format!("{task}: {part} is not done")))
            }
            None => Ok(()),
        }
    }

    fn waived(&self, task: &TaskId, gate: Gate) -> bool {
        self.waived.contains(&(task.clone(), gate))
            || self.policies.iter().any(|policy| match gate {
                Gate::Check | Gate::Scan => !policy.checks,
                Gate::Review => !policy.reviews && policy.reviewer.is_none(),
                Gate::Verify => !policy.verifies,
            })
    }

    /// A person has said that very commit is good, where the task asks for a person.
    pub(super) fn reviewed_by_whom_it_should(
        &self,
        id: &TaskId,
        tip: &Oid,
        state: &State,
    ) -> Result<(), Broken> {
        let asks = state.task(id).is_some_and(|task| task.spec.review.as_deref() == Some("human"));
        let waived = self.waived.contains(&(id.clone(), Gate::Review));
        match asks && !waived && !self.said_good.contains(&(id.clone(), tip.clone())) {
            true => Err(broken("what a person is to review waits for a person", format!("{id} at {tip}"))),
            false => Ok(()),
        }
    }

    /// A person has seen that very work, or has waived its review.
    pub(super) fn protected_was_seen(&self, id: &TaskId, result: &Oid, truth: &Truth) -> Result<(), Broken> {
        let Some(built) = truth.built.get(result) else { return Ok(()) };
        let waived = self.waived.contains(&(id.clone(), Gate::Review));
        let seen = self.said_good.contains(&(id.clone(), built.tip.clone())) || waived;
        match seen || truth.protected_in(result).is_empty() {
            true => Ok(()),
            false => {
                Err(broken("protected files change when a person has seen it", format!("{id} as {result}")))
            }
        }
    }

    /// As many have said so as it takes, and nobody with a veto has said otherwise.
    pub(super) fn council_let_it_pass(
        &self,
        id: &TaskId,
        tip: &Oid,
        by: &str,
        truth: &Truth,
    ) -> Result<(), Broken> {
        if by != Reviewer::Council.word() {
            return Ok(());
        }
        let said = truth.voices.get(tip);
        let voice_of = |name: &str| said.and_then(|said| said.get(name)).copied();
        let passes = |policy: &Policy| {
            let rules = &policy.council;
            let said_yes =
                rules.members.keys().filter_map(|name| voice_of(name)).filter(|voice| voice.passes());
            let vetoed = rules.members.keys().any(|name| voice_of(name) == Some(Voice::Reject)) && rules.veto;
            said_yes.count() >= rules.quorum() && !vetoed
        };
        match self.policies.iter().any(passes) {
            true => Ok(()),
            false => Err(broken("a council approves with its quorum", format!("{id} at {tip}: {said:?}"))),
        }
    }

    pub(super) fn may_approve(&self, task: &TaskId, tip: &Oid, truth: &Truth) -> Result<(), Broken> {
        // Trunk merged into approved work is not checked but reviewed: the merged tree is verified before trunk moves.
        let upon = truth.joined_upon(tip).map(|upon| (task.clone(), upon.clone()));
        let upon_approved = upon.is_some_and(|upon| self.approved.contains(&upon));
        // A person's own work that a person is asked about once more, for the protected files in it.
        let again = self.approved.contains(&(task.clone(), tip.clone()));
        // Nor is what came onto a branch by hand.
        let by_hand = self.changed.contains(&(task.clone(), tip.clone()));
        let upon_approved = upon_approved || again || by_hand;
        if !truth.green_tips.contains(tip) && !upon_approved && !self.waived(task, Gate::Check) {
            return Err(broken("only work with green checks is approved", format!("{task} at {tip}")));
        }
        let said_good = self.said_good.contains(&(task.clone(), tip.clone()));
        if !truth.reviewed_tips.contains(tip) && !said_good && !self.waived(task, Gate::Review) {
            return Err(broken("only reviewed work is approved", format!("{task} at {tip}")));
        }
        if self.checked.get(task) != Some(tip) && !again {
            return Err(broken("the tip that was checked last is approved", format!("{task} at {tip}")));
        }
        Ok(())
    }

    pub fn was_approved(&self, task: &TaskId, tip: &Oid) -> bool {
        self.approved.contains(&(task.clone(), tip.clone()))
    }

    /// A task is sent back to work for a red merged tree only when trunk alone was found green.
    pub(super) fn may_blame(&self, task: &TaskId, c: &Coordinator, truth: &Truth) -> Result<(), Broken> {
        let base = c.executors.values().find_map(|executor| match &executor.effect {
            Effect::Verify { task: t, commit, .. } if t == task => truth.built.get(commit),
            _ => None,
        });
        match base {
            Some(built) if truth.stands_on_red(&built.base) => {
                Err(broken("a red trunk is nobody's fault", format!("{task} was sent back")))
            }
            _ => Ok(()),
        }
    }

    /// Asked at the moment an executor moves trunk.
    pub fn may_publish(&self, task: &TaskId, result: &Oid, truth: &Truth) -> Result<(), Broken> {
        let Some(built) = truth.built.get(result) else { return Ok(()) };
        if !self.approved.contains(&(task.clone(), built.tip.clone())) {
            return Err(broken(
                "nothing is merged that was not approved",
                format!("{task} at {}", built.tip),
            ));
        }
        if !truth.green_results.contains(result) && !self.waived(task, Gate::Verify) {
            return Err(broken("nothing is merged that was not verified", format!("{task} at {result}")));
        }
        Ok(())
    }
}
