//! Breadth first over everything that can be said to the core. Two states that differ only in times,
//! counters without a limit and history count as one.

mod alphabet;
mod keys;
mod wishes;

use std::collections::{HashSet, VecDeque};

use swarm_core::effect::Effect;
use swarm_core::input::Input;
use swarm_core::state::State;
use swarm_core::{owed, step, wakes_at};
use swarm_protocol::command::{Command, Envelope, SaveKind};
use swarm_protocol::event::Event;
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use crate::operations;
use crate::reports::reports;
pub use alphabet::{Alphabet, plan_of};
use alphabet::{asks_a_person, overflows, policy};

/// What is explored.
pub struct Model {
    pub plan: &'static [(&'static str, &'static [&'static str])],
    pub alphabet: Alphabet,
    pub patient: bool,
}

/// States after which a model counts as too large.
pub const STATES_MAX: usize = 100_000;

/// A state at a moment, and what can be asked there.
#[derive(Clone)]
pub struct Place {
    pub state: State,
    pub now: Timestamp,
    asked: u64,
    pub alphabet: Alphabet,
    pub patient: bool,
}

/// Where one input leads from a place.
pub struct Next {
    /// With the events that lead there.
    pub ways: Vec<(Place, Vec<Event>)>,
    /// What people asked for in vain.
    pub refused: Vec<(Command, Refusal)>,
}

pub struct Seen {
    pub states: usize,
    pub inputs: usize,
    pub complete: bool,
}

pub fn task_id(text: &str) -> TaskId {
    TaskId::new(text).expect("a task id")
}

impl Place {
    pub fn first(model: &Model) -> Self {
        let now = Timestamp(1_768_298_400_000);
        let mut place =
            Self { state: State::default(), now, asked: 0, alphabet: model.alphabet, patient: model.patient };
        let plan = plan_of(model.plan);
        let save = Command::SavePlan {
            plan,
            kind: SaveKind::Save,
            source: "plan.json".into(),
            reset_statuses: false,
            planning: None,
        };
        place.ask(save).expect("a good plan is accepted");
        place
    }

    pub fn take_in(&mut self, input: Input) -> Result<Vec<Event>, Refusal> {
        let told = step(&mut self.state, input, self.now);
        operations::forget(&mut self.state, self.alphabet.operations);
        told
    }

    pub fn ask(&mut self, command: Command) -> Result<Vec<Event>, Refusal> {
        self.asked += 1;
        let id = CommandId::new(format!("c{}", self.asked)).expect("a plain id");
        self.take_in(Input::Command(Envelope { id, by: "person:cli".into(), command }))
    }

    pub fn start(&mut self) {
        let (epoch, policy) = (self.state.epoch + 1, policy(self.patient, self.alphabet));
        let (version, host, trunk) = ("0".into(), "here".into(), "main".into());
        self.take_in(Input::Started { epoch, version, host, trunk, policy })
            .expect("a higher epoch is accepted");
    }

    /// Waits for the next moment that matters; false when there is none.
    pub fn wait(&mut self) -> bool {
        let Some(at) = wakes_at(&self.state, self.now) else { return false };
        self.now = at;
        self.take_in(Input::Tick).expect("the clock is never refused");
        true
    }

    /// The places one input away.
    pub fn next(&self) -> Next {
        let (mut next, mut refused) = (Vec::new(), Vec::new());
        // What is refused changes nothing, so the copy is good for the next.
        let mut spare = None;
        let mut add = |change: &dyn Fn(&mut Place) -> Result<Vec<Event>, Refusal>| {
            let mut place = spare.take().unwrap_or_else(|| self.clone());
            match change(&mut place) {
                Ok(events) if events.is_empty() => {}
                Ok(events) => next.push((place, events)),
                Err(refusal) => {
                    spare = Some(place);
                    return Err(refusal);
                }
            }
            Ok(())
        };
        for command in self.wishes() {
            if let Err(refusal) = add(&|place| place.ask(command.clone())) {
                refused.push((command, refusal));
            }
        }
        // Other inputs may be refused: a report may come too late.
        let mut add = |change: &dyn Fn(&mut Place) -> Result<Vec<Event>, Refusal>| drop(add(change));
        // Trunk moves under a swarm that has work on it: seen in the model that looks work up again.
        let idle_watch = |e: &Effect| matches!(e, Effect::WatchTrunk { task: None, .. });
        for effect in owed(&self.state).into_iter().filter(|e| self.alphabet.proofs || !idle_watch(e)) {
            for (n, report) in reports(&self.state, &effect).into_iter().enumerate() {
                let telling =
                    n == 0 || asks_a_person(&report) || overflows(&report) || operations::is_theirs(&effect);
                let few = self.alphabet.splits || self.alphabet.operations.is_some();
                if !self.alphabet.says(&report) || (few && !telling) {
                    continue;
                }
                add(&|place| place.take_in(Input::Report(report.clone())));
            }
        }
        add(&|place| {
            let Some(at) = wakes_at(&place.state, place.now) else { return Ok(vec![]) };
            place.now = at;
            place.take_in(Input::Tick)
        });
        if self.state.running && self.alphabet.stops {
            add(&|place| place.take_in(Input::Leaving));
        } else if !self.state.running {
            let (version, host, trunk) = (String::from("0"), String::from("here"), String::from("main"));
            let epoch = self.state.epoch + 1;
            add(&|place| {
                let (version, host, trunk, policy) =
                    (version.clone(), host.clone(), trunk.clone(), policy(self.patient, self.alphabet));
                place.take_in(Input::Started { epoch, version, host, trunk, policy })
            });
        }
        Next { ways: next, refused }
    }
}

/// Visits every state once, and every way from one to the next; no more than so many.
pub fn explore_edges(
    model: &Model,
    most: usize,
    mut visit: impl FnMut(&Place, &[(Command, Refusal)]),
    mut edge: impl FnMut(&Place, &[Event], &Place),
) -> Seen {
    let first = Place::first(model);
    let mut known = HashSet::from([first.key()]);
    let mut queue = VecDeque::from([first]);
    let mut inputs = 0;
    while let Some(place) = queue.pop_front() {
        let Next { ways, refused } = place.next();
        visit(&place, &refused);
        for (next, events) in ways {
            inputs += 1;
            edge(&place, &events, &next);
            if known.len() >= most {
                return Seen { states: known.len(), inputs, complete: false };
            }
            if known.insert(next.key()) {
                queue.push_back(next);
            }
        }
    }
    Seen { states: known.len(), inputs, complete: true }
}
