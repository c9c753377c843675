//! What a person does in the repository without asking the swarm.

use swarm_core::effect::Effect;
use swarm_core::input::Report;
use swarm_core::stage::Stage;
use swarm_protocol::command::Command;
use swarm_protocol::ids::TaskId;

use super::agenda::Happening;
use super::fault::Fault;
use super::people::waits_for_a_person;
use super::story::Story;

impl Story {
    /// A person works on trunk, or is in the middle of something in the checkout.
    pub(super) fn outside(&mut self) {
        if self.calm {
            self.checkout_is_free();
            self.trunk_is_mended();
            return;
        }
        let next = self.rng.between(10_000, 90_000);
        self.agenda.at(self.now.plus_ms(next), Happening::Outside);
        if self.truth.checkout_busy {
            self.checkout_is_free();
        } else if self.rng.chance(35) {
            self.truth.checkout_busy = true;
        } else if self.rng.chance(50) {
            self.truth.person_commits();
            self.trunk_moved();
        } else if self.rng.chance(25) && !self.truth.trunk_is_red() {
            let commits = self.rng.between(1, 2) as usize;
            self.trace.note(self.now, || format!("a person resets trunk by {commits}"));
            self.truth.person_resets_trunk(commits);
            self.trunk_moved();
        }
        self.changes_what_was_approved();
        if self.strikes(Fault::OtherBranch, 10) {
            self.truth.person_checks_out();
        }
        if self.truth.trunk_is_red() {
            if self.rng.chance(60) {
                self.trunk_is_mended();
            }
        } else if self.strikes(Fault::TrunkRed, 8) {
            self.truth.person_breaks_trunk();
            self.trunk_moved();
        }
    }

    /// A person commits on the branch of a task that nobody works on, and wants it merged.
    pub(super) fn works_by_hand(&mut self) -> Option<Command> {
        let state = &self.coordinator.as_ref()?.state;
        let idle = |id: &&TaskId| {
            let stage = state.task(id).map(|t| &t.stage);
            let stands = stage.is_some_and(|s| matches!(s, Stage::Pending { .. }) || waits_for_a_person(s));
            stands && !state.has_run(id)
        };
        let idle: Vec<TaskId> = self.truth.worktrees.keys().filter(idle).cloned().collect();
        if idle.is_empty() {
            return None;
        }
        let task = self.rng.pick(&idle).clone();
        let tip = self.truth.agent_commits(&task)?;
        let base = self.truth.worktrees.get(&task)?.base.clone();
        Some(Command::SubmitWork { task, base, tree: tip.clone(), tip })
    }

    pub fn trunk_is_mended(&mut self) {
        if self.truth.trunk_is_red() {
            self.trace.note(self.now, || "trunk is mended".into());
            self.truth.person_mends_trunk();
            self.trunk_moved();
        }
    }

    /// Whoever watches trunk sees it.
    fn trunk_moved(&mut self) {
        let tip = self.truth.trunk_tip();
        let Some(c) = self.coordinator.as_mut() else { return };
        for executor in c.executors.values_mut() {
            if let Effect::WatchTrunk { commit, .. } = &executor.effect
                && executor.acted
                && executor.report.is_none()
            {
                executor.report = Some(Report::TrunkChanged { commit: commit.clone(), now: tip.clone() });
                self.agenda.at(self.now.plus_ms(50), Happening::ExecutorEnds { executor: executor.n });
            }
        }
    }

    pub fn checkout_is_free(&mut self) {
        self.truth.checkout_busy = false;
        let Some(c) = self.coordinator.as_mut() else { return };
        for executor in c.executors.values_mut() {
            if let Effect::Watch { task, .. } = &executor.effect
                && executor.acted
                && executor.report.is_none()
            {
                executor.report = Some(Report::CheckoutChanged { task: task.clone() });
                self.agenda.at(self.now.plus_ms(50), Happening::ExecutorEnds { executor: executor.n });
            }
        }
    }
}
