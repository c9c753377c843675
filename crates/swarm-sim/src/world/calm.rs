//! Faults have stopped. A caretaker unblocks what is blocked; everything must come to rest.

use swarm_core::input::{Input, Report};
use swarm_core::stage::Stage;
use swarm_core::state::State;
use swarm_protocol::command::Command;
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::plan::TaskPatch;
use swarm_protocol::policy::Allowance;

use super::agenda::Happening;
use super::coordinator::Coordinator;
use super::oracle::{self, Broken, broken};
use super::people::{approval, waits_for_a_person};
use super::story::Story;

/// Virtual hours within which everything is at rest. Nine tasks one after the other, each with a
/// hung attempt of five minutes before it, need less than two.
const REST_WITHIN_SECS: u64 = 4 * 3600;
const CARETAKER_SECS: u64 = 60;

impl Story {
    pub fn becalm(&mut self) {
        self.calm = true;
        self.calm_since = self.now;
        self.trace.note(self.now, || "faults stop".into());
        self.truth.used_up.clear();
        self.truth.unsaved.clear();
        self.agenda.at(self.now.plus_ms(1), Happening::Outside);
        self.agenda.at(self.now.plus_ms(2), Happening::Caretaker);
    }

    /// Looks after everything that waits for a person, once a minute.
    pub fn caretaker_looks(&mut self) -> Result<(), Broken> {
        self.agenda.at(self.now.plus_secs(CARETAKER_SECS), Happening::Caretaker);
        self.checkout_is_free();
        self.trunk_is_mended();
        self.there_is_room()?;
        let Some(c) = &self.coordinator else { return Ok(()) };
        self.oracle.silent_executors(c, self.now)?;
        oracle::stands_still(&c.state, self.now)?;
        for command in help(&c.state) {
            let wish = self.people.wish(command);
            self.asked(wish)?;
        }
        Ok(())
    }

    /// A pause for want of room ends by itself: nobody resumes it.
    fn there_is_room(&mut self) -> Result<(), Broken> {
        let paused = |c: &Coordinator| c.state.paused.contains_key(&PauseReason::Disk);
        if !self.coordinator.as_ref().is_some_and(paused) {
            return Ok(());
        }
        let room = Report::Disk { low: false, why: "2 GiB left".into() };
        self.take_in(Input::Report(room), vec![])
    }

    /// At rest, or out of time.
    pub fn is_over(&mut self) -> Result<bool, Broken> {
        let Some(c) = self.coordinator.as_ref().filter(|c| !c.leaves) else { return Ok(false) };
        let living = self.daemons.alive().next().map(|d| &d.run);
        if c.idle() && c.state.plan.is_some() && oracle::at_rest(&self.oracle, c, &self.truth, living).is_ok()
        {
            self.live_equals_replay()?;
            return Ok(true);
        }
        if self.now.secs_since(self.calm_since) > REST_WITHIN_SECS {
            oracle::at_rest(&self.oracle, c, &self.truth, living)?;
            return Err(broken(
                "when faults stop everything comes to rest",
                format!("in flight: {:?}", c.executors),
            ));
        }
        Ok(false)
    }
}

fn help(state: &State) -> Vec<Command> {
    let ended_by_a_person = state.paused.keys().filter(|reason| **reason != PauseReason::Disk);
    let mut commands: Vec<Command> =
        ended_by_a_person.map(|reason| Command::Resume { reason: *reason }).collect();
    if state.tasks.values().any(|task| state.needs_start(task)) {
        commands.push(Command::StartTasks { tasks: vec![] });
    }
    let held = state.quotas.iter().filter(|(_, gate)| gate.closed.as_ref().is_some_and(|c| c.held));
    commands.extend(held.map(|(group, _)| Command::OpenQuota { group: group.clone() }));
    for (id, task) in &state.tasks {
        commands.extend(approval(task));
        if waits_for_a_person(&task.stage) {
            if state.policy.task_budget != Allowance::default() {
                commands.push(Command::ExtendBudget { task: Some(id.clone()) });
            }
            commands.push(Command::UnblockTask { task: id.clone() });
        }
        let lost = |part: &_| state.tasks.get(part).is_none_or(|t| matches!(t.stage, Stage::Cancelled));
        if matches!(&task.stage, Stage::Split { parts, .. } if parts.iter().any(lost)) {
            commands.push(Command::UnblockTask { task: id.clone() });
        }
        let gone = |d: &_| state.tasks.get(d).is_none_or(|t| matches!(t.stage, Stage::Cancelled));
        if matches!(task.stage, Stage::Pending { .. }) && task.spec.depends.iter().any(gone) {
            let depends = Some(task.spec.depends.iter().filter(|d| !gone(d)).cloned().collect());
            commands.push(Command::EditTask {
                task: id.clone(),
                patch: TaskPatch { depends, ..TaskPatch::default() },
            });
        }
    }
    commands
}
