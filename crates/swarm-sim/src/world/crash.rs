//! The coordinator is killed, and another one takes over: replay, ask what is owed, carry on.

use swarm_core::effect::Effect;
use swarm_core::input::Input;
use swarm_core::state::State;
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::ids::CommandId;
use swarm_protocol::outcome::PauseReason;

use super::agenda::Happening;
use super::coordinator::Coordinator;
use super::fault::{Fault, Seam};
use super::log::{Batch, replay_onto};
use super::oracle::{Broken, Oracle, broken};
use super::planted::Planted;
use super::story::Story;

impl Story {
    /// Kills the coordinator: memory, executors and everything not durable are gone.
    pub fn kill(&mut self, seam: Seam) -> Result<(), Broken> {
        let Some(mut c) = self.coordinator.take() else { return Ok(()) };
        self.armed = None;
        self.crashes += 1;
        self.table.killed(seam);
        let next = if self.rng.chance(25) { self.rng.between(1, 4) } else { self.rng.between(10, 60) };
        self.kill_after = self.inputs + next;
        self.trace.note(self.now, || seam.describe().to_string());
        self.trace.number(self.crashes);
        self.memory_equals_log(&c)?;
        self.hands_die(&c)?;
        self.keep_what_the_disk_has(&mut c, seam);
        self.daemons.unheard();
        let durable = self.log.operations();
        if let Some(id) = self.oracle.all_told().iter().find(|id| !durable.contains(id)) {
            return Err(broken("an answer leaves only when it is durable", id.to_string()));
        }
        self.agenda.at(self.now.plus_ms(self.rng.between(50, 20_000)), Happening::Start);
        let known = self.log.knows_epoch(c.epoch);
        if self.old.is_none() && known && self.rng.chance(20) {
            // Stopped, not killed: it will wake and believe that nothing has happened.
            self.agenda
                .at(self.now.plus_ms(self.rng.between(20_000, 60_000)), Happening::OldCoordinatorWakes);
            self.old = Some(c);
        }
        Ok(())
    }

    /// What the coordinator believes follows from the log and what it was about to append.
    fn memory_equals_log(&self, c: &Coordinator) -> Result<(), Broken> {
        let mut replayed = self.log.state().clone();
        replay_onto(&mut replayed, &c.pending);
        if replayed != c.state {
            return Err(broken("replay = live state", difference(&replayed, &c.state)));
        }
        Ok(())
    }

    /// Executors go with their process; some had done their deed by then, and nobody knows.
    fn hands_die(&mut self, c: &Coordinator) -> Result<(), Broken> {
        for executor in c.executors.values() {
            let deed = matches!(
                executor.effect,
                Effect::Publish { .. } | Effect::Prepare { .. } | Effect::Remove { .. }
            );
            if deed && !executor.acted && self.rng.chance(30) {
                self.deed(executor, c.epoch)?;
            }
        }
        Ok(())
    }

    /// Of what was written and not synced, the disk may have kept a beginning.
    fn keep_what_the_disk_has(&mut self, c: &mut Coordinator, seam: Seam) {
        let most = match seam {
            Seam::BeforeAppend => c.pending.len().saturating_sub(1),
            _ => c.pending.len(),
        };
        let kept = if most > 0 { self.rng.index(most + 1) } else { 0 };
        let checked = self.epoch_checked();
        for batch in c.pending.drain(..kept) {
            self.log.append(c.epoch, batch, checked);
        }
    }

    /// A coordinator starts: from the snapshot and the tail if there is one, else from empty.
    pub fn start_coordinator(&mut self) -> Result<(), Broken> {
        if self.coordinator.is_some() {
            return Ok(());
        }
        let state = self.load()?;
        let epoch = state.epoch + 1;
        let told = std::mem::take(self.oracle.all_told());
        self.oracle = Oracle::from_log(&self.log, told).after(&self.oracle);
        self.log.take_over(epoch);
        let returns = self.planted == Some(Planted::EffectReturnedNotOwed);
        self.coordinator = Some(Coordinator::new(epoch, state, returns));
        if self.rng.chance(50) {
            self.take_snapshot()?;
        }
        let policy = self.policy.clone();
        let (version, host, trunk) = ("0.1.0".into(), "here".into(), self.truth.checked_out.clone());
        self.take_in(Input::Started { epoch, version, host, trunk, policy }, vec![])?;
        if let Some(trunk) = self.coordinator.as_ref().and_then(|c| c.state.trunk.clone()) {
            self.truth.works_on(&trunk);
        }
        for wish in self.people.waiting.values().cloned().collect::<Vec<_>>() {
            let later = self.now.plus_ms(self.rng.between(1, 3_000));
            self.agenda.at(later, Happening::Asked { wish: Box::new(wish) });
        }
        Ok(())
    }

    fn load(&self) -> Result<State, Broken> {
        let replayed = self.log.state().clone();
        if let Some((covered, text)) = &self.snapshot {
            let mut state = State::from_json(text.get())
                .map_err(|e| broken("a snapshot can be read back", e.to_string()))?;
            replay_onto(&mut state, &self.log.batches()[*covered..]);
            if state != replayed {
                return Err(broken("snapshot + tail = replay", difference(&state, &replayed)));
            }
            return Ok(state);
        }
        Ok(replayed)
    }

    /// Only what is durable goes into a snapshot.
    fn take_snapshot(&mut self) -> Result<(), Broken> {
        let Some(c) = self.coordinator.as_ref().filter(|c| c.pending.is_empty()) else { return Ok(()) };
        self.snapshot = Some((self.log.len(), c.state.to_json()));
        Ok(())
    }

    /// A stopped coordinator wakes after another took over, and acts as if nothing had happened.
    pub fn old_coordinator_wakes(&mut self) -> Result<(), Broken> {
        let Some(mut old) = self.old.take() else { return Ok(()) };
        if self.coordinator.is_none() {
            return Ok(());
        }
        self.hit(Fault::OldCoordinator);
        let checked = self.epoch_checked();
        let id = CommandId::new(format!("old-{}", self.inputs)).expect("a plain id");
        let command = Command::Pause { reason: PauseReason::User, why: "from the past".into(), force: false };
        let wish = Envelope { id, by: "person:cli".into(), command };
        if let Ok(events) = swarm_core::step(&mut old.state, Input::Command(wish), self.now) {
            let appended = self.log.append(old.epoch, Batch { at: self.now, events }, checked);
            if appended && checked {
                return Err(broken("only the newest coordinator appends", "an old one did"));
            }
        }
        for effect in swarm_core::owed(&old.state) {
            if let Effect::Work { run, order, .. } = effect {
                self.order(&run, order, old.epoch);
            }
        }
        Ok(())
    }

    /// The live state once more against the log, at the end of a story.
    pub fn live_equals_replay(&self) -> Result<(), Broken> {
        let Some(c) = self.coordinator.as_ref() else { return Ok(()) };
        self.memory_equals_log(c)?;
        let read =
            self.log.replay_written().map_err(|e| broken("a written record can be read", e.to_string()))?;
        if read != *self.log.state() {
            return Err(broken("replay from empty = live state", difference(&read, self.log.state())));
        }
        Ok(())
    }
}

fn difference(a: &State, b: &State) -> String {
    let (a, b) = (format!("{a:#?}"), format!("{b:#?}"));
    let differing = a.lines().zip(b.lines()).filter(|(x, y)| x != y).take(6);
    let lines: Vec<String> = differing.map(|(x, y)| format!("{} ≠ {}", x.trim(), y.trim())).collect();
    lines.join("; ")
}
