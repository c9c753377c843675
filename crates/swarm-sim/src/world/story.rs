//! One seed from beginning to end.

use std::collections::VecDeque;
use std::fmt;

use serde_json::value::RawValue;
use swarm_core::input::{Input, Report};
use swarm_protocol::command::Command;
use swarm_protocol::ids::CommandId;
use swarm_protocol::policy::Policy;
use swarm_protocol::time::Timestamp;

use crate::rng::Rng;

use super::agenda::{Agenda, Happening};
use super::coordinator::Coordinator;
use super::daemon::Daemons;
use super::fault::{Fault, Seam};
use super::log::Log;
use super::oracle::{self, Broken, Oracle, broken};
use super::people::{People, Wish};
use super::planted::Planted;
use super::policy::rules_of_a_story;
use super::reserving::Reserving;
use super::table::Table;
use super::trace::{RECORDS_KEPT, Trace};
use super::truth::Truth;
use super::weekend::Spell;

/// Inputs and crashes before faults stop.
pub const INPUTS_MIN: u64 = 200;
pub const CRASHES_MIN: u64 = 3;
/// Inputs within which a coordinator that is to be killed comes to the seam that was chosen.
const SEAM_WITHIN: u64 = 500;
/// Happenings before a story counts as endless.
const HAPPENINGS_MAX: u64 = 100_000;
/// The clock of a story starts here.
pub const BEGIN: Timestamp = Timestamp(1_768_298_400_000);

/// Crashes lead to restarts, hanging agents to the end of the time.
const TO_RARE_STAGES: [Fault; 4] =
    [Fault::AgentCrashes, Fault::AgentHangs, Fault::DaemonDies, Fault::PersonIntervenes];
/// Percent.
const KILLED_AFTER_FREQUENT: u64 = 15;

/// What a story came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub trace: u64,
    pub inputs: u64,
    pub crashes: u64,
    pub records: u64,
    pub tasks_done: u64,
    pub table: Table,
}

/// A story in which a rule was broken, with everything needed to tell it again.
#[derive(Debug, Clone)]
pub struct Failure {
    pub seed: u64,
    pub rule: &'static str,
    pub text: String,
    pub planted: Option<Planted>,
    pub last: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: broken: {}: {}", self.seed, self.rule, self.text)?;
        writeln!(f, "the last records:")?;
        for line in &self.last {
            writeln!(f, "  {line}")?;
        }
        writeln!(f, "to keep it as a test:")?;
        writeln!(f, "  #[test]")?;
        writeln!(f, "  fn seed_{}_holds() {{", self.seed)?;
        writeln!(
            f,
            "      swarm_sim::world::run({}, None).unwrap_or_else(|failure| panic!(\"{{failure}}\"));",
            self.seed
        )?;
        writeln!(f, "  }}")
    }
}

pub struct Story {
    pub rng: Rng,
    pub now: Timestamp,
    pub agenda: Agenda,
    pub truth: Truth,
    pub daemons: Daemons,
    pub log: Log,
    pub coordinator: Option<Coordinator>,
    /// A coordinator that was stopped, not killed, and believes that it still rules.
    pub old: Option<Coordinator>,
    pub people: People,
    pub oracle: Oracle,
    pub trace: Trace,
    pub table: Table,
    pub policy: Policy,
    pub planted: Option<Planted>,
    /// Faults have stopped.
    pub calm: bool,
    pub calm_since: Timestamp,
    pub inputs: u64,
    pub crashes: u64,
    pub hands_ever: u64,
    pub armed: Option<Seam>,
    /// Inputs after which the coordinator is killed next.
    pub kill_after: u64,
    /// A snapshot on disk and the batches it covers.
    pub snapshot: Option<(usize, Box<RawValue>)>,
    past_reports: VecDeque<Report>,
    /// What the service says by the clock; nothing where faults come by chance.
    pub weather: Vec<Spell>,
    /// Milliseconds that an iteration takes, at least and at most.
    pub work_ms: (u64, u64),
    /// Each story has one fault that strikes far more often, so that rare ones pile up somewhere, and mostly one
    /// that brings tasks into stages they seldom stand in.
    frequent: [Fault; 2],
}

/// Runs the story of a seed. A failed one is run again to tell how it came to it.
pub fn run(seed: u64, planted: Option<Planted>) -> Result<Summary, Box<Failure>> {
    Planted::set(planted);
    let told = Story::new(seed, planted, 0).play().map_err(|b| {
        let mut again = Story::new(seed, planted, RECORDS_KEPT);
        // The same story again: it ends in the same way.
        let _ = again.play();
        let last = again.trace.last_lines();
        Box::new(Failure { seed, rule: b.rule, text: b.text, planted, last })
    });
    Planted::set(None);
    told
}

/// The whole story of a seed, line by line, however it ends.
pub fn tell(seed: u64, planted: Option<Planted>) -> Vec<String> {
    Planted::set(planted);
    let mut story = Story::new(seed, planted, usize::MAX);
    let ended = story.play();
    Planted::set(None);
    let mut lines = story.trace.last_lines();
    lines.push(match ended {
        Ok(summary) => format!("holds: {} inputs, {} crashes", summary.inputs, summary.crashes),
        Err(b) => format!("broken: {}: {}", b.rule, b.text),
    });
    lines
}

impl Story {
    pub(super) fn new(seed: u64, planted: Option<Planted>, records_kept: usize) -> Self {
        let mut rng = Rng::new(seed);
        let frequent = [*rng.pick(&Fault::ALL), *rng.pick(&TO_RARE_STAGES)];
        let mut policy = rules_of_a_story(&mut rng);
        let mut reserving = Reserving::of(seed);
        reserving.rules(&mut policy);
        Self {
            kill_after: rng.between(5, 50),
            rng,
            now: BEGIN,
            agenda: Agenda::default(),
            truth: Truth::new(),
            daemons: Daemons::default(),
            log: Log::default(),
            coordinator: None,
            old: None,
            people: People::who_reserve(reserving),
            oracle: Oracle::default(),
            trace: Trace::new(records_kept),
            table: Table::default(),
            policy,
            planted,
            calm: false,
            calm_since: BEGIN,
            inputs: 0,
            crashes: 0,
            hands_ever: 0,
            armed: None,
            snapshot: None,
            past_reports: VecDeque::new(),
            weather: vec![],
            work_ms: (1_000, 60_000),
            frequent,
        }
    }

    fn play(&mut self) -> Result<Summary, Broken> {
        self.agenda.at(self.now, Happening::Start);
        self.agenda.at(self.now.plus_ms(500), Happening::Person);
        self.agenda.at(self.now.plus_secs(30), Happening::Outside);
        for _ in 0..HAPPENINGS_MAX {
            let Some((when, what)) = self.agenda.next() else {
                return Err(broken("there is always a next moment", "the agenda is empty"));
            };
            self.now = self.now.max(when);
            self.happen(what)?;
            self.choose_fate();
            self.leaves_after_drain()?;
            if self.calm && self.is_over()? {
                return self.summary();
            }
        }
        Err(broken("a story ends", format!("{HAPPENINGS_MAX} happenings")))
    }

    pub(super) fn happen(&mut self, what: Happening) -> Result<(), Broken> {
        match what {
            Happening::Start => self.start_coordinator(),
            Happening::Synced { epoch } => self.synced(epoch),
            Happening::Wake { epoch } => self.wake(epoch),
            Happening::LookAgain { epoch } => self.look_again(epoch),
            Happening::ExecutorActs { executor } => self.executor_acts(executor),
            Happening::ExecutorEnds { executor } => self.executor_ends(executor),
            Happening::Daemon { run, turn } => {
                self.daemon_step(&run, turn);
                Ok(())
            }
            Happening::Frame { executor, n } => self.frame(executor, n),
            Happening::Again { report } => self.take_in(Input::Report(*report), vec![]),
            Happening::Person => self.person_acts(),
            Happening::Asked { wish } => self.asked(*wish),
            Happening::Outside => {
                self.outside();
                self.world_changes()
            }
            Happening::OldCoordinatorWakes => self.old_coordinator_wakes(),
            Happening::Caretaker => self.caretaker_looks(),
        }
    }

    /// When enough has happened the coordinator is killed, and in the end faults stop.
    fn choose_fate(&mut self) {
        if self.calm {
            return;
        }
        if self.inputs >= INPUTS_MIN && self.crashes >= CRASHES_MIN && self.armed.is_none() {
            self.becalm();
        } else if self.armed.is_none() && self.inputs >= self.kill_after {
            self.armed = Some(*self.rng.pick(&Seam::ALL));
        } else if self.armed.is_some() && self.inputs >= self.kill_after + SEAM_WITHIN {
            // Where nothing is carried out any more nobody comes to a seam behind an effect; a record is always written.
            self.armed = Some(Seam::AfterAppend);
        }
    }

    fn person_acts(&mut self) -> Result<(), Broken> {
        if self.calm {
            return Ok(());
        }
        let next = self.rng.between(500, 40_000);
        self.agenda.at(self.now.plus_ms(next), Happening::Person);
        let Some(c) = &self.coordinator else { return Ok(()) };
        self.oracle.silent_executors(c, self.now)?;
        let by_hand = if self.rng.chance(4) { self.works_by_hand() } else { None };
        let Some(c) = &self.coordinator else { return Ok(()) };
        let command = by_hand.unwrap_or_else(|| self.people.intervene(&mut self.rng, &c.state));
        let wish = self.people.wish(command);
        self.hit(Fault::PersonIntervenes);
        if self.rng.chance(8) {
            let later = self.now.plus_ms(self.rng.between(1, 20_000));
            self.agenda.at(later, Happening::Asked { wish: Box::new(wish.clone()) });
        }
        if self.rng.chance(6) && !self.past_reports.is_empty() {
            let report = Box::new(self.past_reports[self.rng.index(self.past_reports.len())].clone());
            self.hit(Fault::OldReport);
            self.agenda.at(self.now.plus_ms(1), Happening::Again { report });
        }
        self.asked(wish)
    }

    /// A wish reaches the coordinator, or nobody when none is there.
    pub fn asked(&mut self, wish: Wish) -> Result<(), Broken> {
        let Some(c) = &self.coordinator else { return Ok(()) };
        if c.state.answer_of(&wish.id).is_some() {
            self.hit(Fault::CommandRepeated);
        }
        if matches!(wish.command, Command::ResetPlan | Command::Drain { .. }) {
            self.trace.note(self.now, || format!("a person: {:?}", wish.command));
        }
        self.oracle.asked(&wish.command);
        self.people.waiting.insert(wish.id.clone(), wish.clone());
        self.take_in(Input::Command(wish.envelope()), vec![])
    }

    /// A person reads the answer: what it says must survive everything.
    pub fn answered(&mut self, id: &CommandId, accepted: bool) {
        self.trace.bytes(id.as_str().as_bytes());
        self.people.waiting.remove(id);
        if accepted {
            self.oracle.told(id);
        }
    }

    /// Keeps a report, so that it can come again when nobody expects it.
    pub fn remember(&mut self, report: &Report) {
        if oracle::run_of(report).is_none() || self.calm {
            return;
        }
        if self.past_reports.len() >= 32 {
            self.past_reports.pop_front();
        }
        self.past_reports.push_back(report.clone());
        if self.strikes(Fault::AnswersTwice, 6) {
            let later = self.now.plus_ms(self.rng.between(1, 5_000));
            self.agenda.at(later, Happening::Again { report: Box::new(report.clone()) });
        }
    }

    /// Whether the fault strikes now; never when faults have stopped.
    pub fn strikes(&mut self, fault: Fault, percent: u64) -> bool {
        let percent = if self.frequent.contains(&fault) { percent * 5 } else { percent };
        let strikes = !self.calm && self.rng.chance(percent.min(40));
        if strikes {
            self.hit(fault);
            // A kill soon after, while tasks still stand where they stood.
            if fault == self.frequent[0] && self.armed.is_none() && self.rng.chance(KILLED_AFTER_FREQUENT) {
                self.armed = Some(*self.rng.pick(&Seam::ALL));
            }
        }
        strikes
    }

    pub fn hit(&mut self, fault: Fault) {
        self.trace.note(self.now, || format!("fault: {}", fault.describe()));
        if let Some(c) = &self.coordinator {
            self.table.hit(fault, c.state.tasks.values().map(|task| task.stage.name()));
        }
    }

    pub fn epoch_checked(&self) -> bool {
        self.planted != Some(Planted::EpochNotChecked)
    }

    fn summary(&mut self) -> Result<Summary, Broken> {
        self.trace.bytes(&self.truth.state_hash_bytes());
        let done = self
            .coordinator
            .as_ref()
            .map_or(0, |c| c.state.tasks.values().filter(|t| t.stage.name() == "Done").count());
        Ok(Summary {
            trace: self.trace.hash(),
            inputs: self.inputs,
            crashes: self.crashes,
            records: self.log.events().count() as u64,
            tasks_done: done as u64,
            table: self.table.clone(),
        })
    }
}
