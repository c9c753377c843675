//! The driver around the core: takes inputs in, makes decisions durable, and only then lets anything
//! leave: answers, acknowledgements, effects.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use swarm_core::effect::{Effect, Key};
use swarm_core::flight::Flights;
use swarm_core::input::Input;
use swarm_core::state::State;
use swarm_protocol::ids::{CommandId, RunId};
use swarm_protocol::time::Timestamp;

use super::agenda::Happening;
use super::executor::Executor;
use super::fault::Seam;
use super::flight_law::FlightLaw;
use super::log::Batch;
use super::oracle::{Broken, broken};
use super::planted::Planted;
use super::story::Story;

/// Something that waits until the decisions before it are durable.
#[derive(Debug, Clone)]
pub enum Leaving {
    Answer {
        id: CommandId,
        accepted: bool,
    },
    Ack {
        run: RunId,
        n: u64,
    },
    /// The executor's report is in: its key may be started again.
    ExecutorDone {
        key: Key,
    },
}

#[derive(Debug, Clone)]
pub struct Coordinator {
    pub epoch: u64,
    pub state: State,
    /// The product's own: which effects begin and which are told to stop.
    flights: Flights,
    pub law: FlightLaw,
    /// What carries them out.
    pub executors: BTreeMap<Key, Executor>,
    /// Decisions that are not durable yet.
    pub pending: Vec<Batch>,
    /// How many of them the running sync covers.
    syncing: usize,
    /// What was owed after so many decisions; the first entry is durable.
    owed: VecDeque<(usize, Vec<Effect>)>,
    leaving: Vec<(usize, Leaving)>,
    wake: Option<Timestamp>,
    look_again: Option<Timestamp>,
    ticks_without_news: u32,
    /// Planted bug: what was owed when it started counts as started.
    not_asked: BTreeSet<Key>,
    pub leaves: bool,
    /// What is owed or in flight has changed.
    look: bool,
}

impl Coordinator {
    pub fn new(epoch: u64, state: State, returns_effects: bool) -> Self {
        let owed = swarm_core::owed(&state);
        let not_asked = owed.iter().filter(|_| returns_effects).map(Effect::key).collect();
        Self {
            epoch,
            state,
            flights: Flights::default(),
            law: FlightLaw::default(),
            executors: BTreeMap::new(),
            pending: Vec::new(),
            syncing: 0,
            // Nothing is asked for before the record that makes it the coordinator is durable.
            owed: VecDeque::from([(0, vec![])]),
            leaving: Vec::new(),
            wake: None,
            look_again: None,
            ticks_without_news: 0,
            not_asked,
            leaves: false,
            look: false,
        }
    }

    pub fn executor(&mut self, n: u64) -> Option<&mut Executor> {
        self.executors.values_mut().find(|executor| executor.n == n)
    }

    /// Nothing is under way but watches, and each of them has looked and has nothing to tell.
    pub fn idle(&self) -> bool {
        let watches =
            |executor: &Executor| executor.key.is_watch() && executor.acted && executor.report.is_none();
        let watched = |effect: &Effect| effect.key().is_watch() && self.executors.contains_key(&effect.key());
        self.executors.values().all(watches)
            && self.pending.is_empty()
            && self.owed.back().is_none_or(|(_, owed)| owed.iter().all(watched))
    }

    /// The product's own word: it was told to stop, and ends without what fails for ever.
    pub fn stops_short(&self) -> bool {
        swarm_core::stops_short(&self.state, &self.flights)
    }

    /// Where all that is owed has failed already: how often in a row, at least.
    pub fn owed_in_vain(&self) -> Option<u32> {
        let (_, owed) = self.owed.back()?;
        let keys = owed.iter().map(Effect::key).filter(|key| !key.is_watch());
        keys.map(|key| self.law.failures(&key)).min().filter(|tries| *tries > 0)
    }

    /// The executor's last word is durable: if its effect is owed all the same, it rests before the next.
    fn executor_done(&mut self, key: &Key, now: Timestamp) {
        let owed = self.owed.back().is_some_and(|(_, owed)| owed.iter().any(|effect| effect.key() == *key));
        self.flights.ended(key, owed, now);
        self.law.ended(key, owed, now);
        self.executors.remove(key);
        self.look = true;
    }
}

impl Story {
    /// Takes one input in; `then` leaves when the decision is durable.
    pub fn take_in(&mut self, input: Input, then: Vec<Leaving>) -> Result<(), Broken> {
        let Some(mut c) = self.coordinator.take() else { return Ok(()) };
        self.inputs += 1;
        let expect = self.oracle.expect(&c.state, &input, self.now);
        let asked = match &input {
            Input::Command(envelope) => Some(envelope.id.clone()),
            _ => None,
        };
        let answer = swarm_core::step(&mut c.state, input, self.now);
        let accepted = answer.is_ok();
        let events = match answer {
            Ok(events) => events,
            Err(refusal) => {
                self.trace.bytes(refusal.kind().as_bytes());
                self.trace.note(self.now, || format!("refused: {}", refusal.message()));
                vec![]
            }
        };
        for event in &events {
            self.trace.record(event, self.now);
        }
        let told = events.clone();
        self.oracle.decided(expect, &events, accepted, &c, self.now, &self.truth)?;
        let news = !events.is_empty();
        if news {
            c.pending.push(Batch { at: self.now, events });
            c.owed.push_back((self.log.len() + c.pending.len(), swarm_core::owed(&c.state)));
            c.ticks_without_news = 0;
        }
        let decided = self.log.len() + c.pending.len();
        c.leaving.extend(then.into_iter().map(|leaving| (decided, leaving)));
        if let Some(id) = asked {
            self.answer_later(&mut c, decided, id, accepted)?;
        }
        self.plan_wake(&mut c);
        self.coordinator = Some(c);
        self.notice(&told);
        if news && self.armed == Some(Seam::BeforeAppend) {
            return self.kill(Seam::BeforeAppend);
        }
        self.start_sync();
        self.let_leave()
    }

    fn answer_later(
        &mut self,
        c: &mut Coordinator,
        decided: usize,
        id: CommandId,
        accepted: bool,
    ) -> Result<(), Broken> {
        if self.planted == Some(Planted::AnsweredBeforeSync) {
            self.answered(&id, accepted);
            return Ok(());
        }
        c.leaving.push((decided, Leaving::Answer { id, accepted }));
        Ok(())
    }

    fn plan_wake(&mut self, c: &mut Coordinator) {
        let wake = swarm_core::wakes_at(&c.state, self.now);
        if wake != c.wake
            && let Some(at) = wake
        {
            self.agenda.at(at.max(self.now.plus_ms(1)), Happening::Wake { epoch: c.epoch });
        }
        c.wake = wake;
    }

    /// The moment that the core named has come.
    pub fn wake(&mut self, epoch: u64) -> Result<(), Broken> {
        let Some(c) = self.coordinator.as_mut().filter(|c| c.epoch == epoch) else { return Ok(()) };
        if c.wake.is_none_or(|at| at > self.now) {
            return Ok(());
        }
        c.wake = None;
        c.ticks_without_news += 1;
        if c.ticks_without_news > 50 {
            let text = format!(
                "wakes_at named {:?} and nothing came of it, 50 times",
                swarm_core::wakes_at(&c.state, self.now)
            );
            return Err(broken("the clock does not spin", text));
        }
        self.take_in(Input::Tick, vec![])
    }

    fn start_sync(&mut self) {
        let Some(c) = self.coordinator.as_mut() else { return };
        if c.syncing == 0 && !c.pending.is_empty() {
            c.syncing = c.pending.len();
            let takes =
                if self.rng.chance(5) { self.rng.between(100, 5_000) } else { self.rng.between(1, 8) };
            self.agenda.at(self.now.plus_ms(takes), Happening::Synced { epoch: c.epoch });
        }
    }

    /// The disk has the batches that the sync covered.
    pub fn synced(&mut self, epoch: u64) -> Result<(), Broken> {
        let checked = self.epoch_checked();
        let Some(c) = self.coordinator.as_mut().filter(|c| c.epoch == epoch) else { return Ok(()) };
        let covered = std::mem::take(&mut c.syncing);
        for batch in c.pending.drain(..covered) {
            self.log.append(epoch, batch, checked);
        }
        if self.armed == Some(Seam::AfterAppend) {
            return self.kill(Seam::AfterAppend);
        }
        self.start_sync();
        self.let_leave()
    }

    /// Lets everything leave that rests on durable decisions only.
    fn let_leave(&mut self) -> Result<(), Broken> {
        let durable = self.log.len();
        let Some(c) = self.coordinator.as_mut() else { return Ok(()) };
        let (now, later) =
            std::mem::take(&mut c.leaving).into_iter().partition(|(after, _)| *after <= durable);
        c.leaving = later;
        while c.owed.get(1).is_some_and(|(after, _)| *after <= durable) {
            c.owed.pop_front();
            c.look = true;
        }
        for (_, leaving) in Vec::<(usize, Leaving)>::from_iter::<Vec<_>>(now) {
            match leaving {
                Leaving::Answer { id, accepted } => self.answered(&id, accepted),
                Leaving::Ack { run, n } => {
                    if let Some(daemon) = self.daemons.get_mut(&run) {
                        daemon.acknowledged(n);
                    }
                }
                Leaving::ExecutorDone { key } => {
                    let now = self.now;
                    if let Some(c) = self.coordinator.as_mut() {
                        c.executor_done(&key, now);
                    }
                }
            }
        }
        self.dispatch()
    }

    /// A resting effect may be asked for again.
    pub fn look_again(&mut self, epoch: u64) -> Result<(), Broken> {
        let Some(c) = self.coordinator.as_mut().filter(|c| c.epoch == epoch) else { return Ok(()) };
        if c.look_again.is_none_or(|at| at > self.now) {
            return Ok(());
        }
        (c.look_again, c.look) = (None, true);
        self.dispatch()
    }

    /// Carries out what the core says about the effects that are durably owed.
    fn dispatch(&mut self) -> Result<(), Broken> {
        let now = self.now;
        let Some(c) = self.coordinator.as_mut() else { return Ok(()) };
        if !std::mem::take(&mut c.look) {
            return Ok(());
        }
        let Some((_, owed)) = c.owed.front() else { return Ok(()) };
        let keys: BTreeSet<Key> = owed.iter().map(Effect::key).collect();
        c.not_asked.retain(|key| keys.contains(key));
        let asked: Vec<Effect> =
            owed.iter().filter(|effect| !c.not_asked.contains(&effect.key())).cloned().collect();
        c.law.owed(&keys);
        let moves = c.flights.moves(asked.clone(), now);
        let epoch = c.epoch;
        if c.look_again != moves.look_again
            && let Some(at) = moves.look_again
        {
            self.agenda.at(at, Happening::LookAgain { epoch });
        }
        c.look_again = moves.look_again;
        let told =
            moves.cancel.iter().filter_map(|key| c.executors.get(key)).filter(|executor| !executor.reported);
        for n in told.map(|executor| executor.n).collect::<Vec<_>>() {
            self.cancel(n);
        }
        for effect in moves.change {
            self.change(effect, epoch);
        }
        for effect in moves.start {
            self.start(effect)?;
        }
        let Some(c) = self.coordinator.as_ref() else { return Ok(()) };
        let mut idle = asked.iter().filter(|effect| !c.executors.contains_key(&effect.key()));
        idle.try_for_each(|effect| c.law.may_wait(effect, &c.executors, now))
    }

    /// An executor at work learns what is wanted of it now.
    fn change(&mut self, effect: Effect, epoch: u64) {
        let executor = self.coordinator.as_mut().and_then(|c| c.executors.get_mut(&effect.key()));
        let Some(executor) = executor.filter(|executor| !executor.reported) else { return };
        executor.effect = effect.clone();
        if let (true, Effect::Work { run, order, .. }) = (executor.acted, effect) {
            self.order(&run, order, epoch);
        }
    }
}
