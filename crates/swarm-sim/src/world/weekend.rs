//! A swarm that is left alone from Friday evening on. Nothing strikes by chance: the weather comes by the clock, the laptop is closed
//! for a night, the disk is full for an hour. Nobody says a word to the swarm; the key is renewed where it lies.

use swarm_core::input::{Input, Report};
use swarm_protocol::command::{Command, SaveKind};
use swarm_protocol::event::Event;
use swarm_protocol::failure::{Failure, FailureClass};
use swarm_protocol::ids::TaskId;
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::{ExecutionProfile, PhaseFile, PlanFile, TaskFile, TaskSpec};
use swarm_protocol::policy::{Policy, ProfileRule};
use swarm_protocol::time::Timestamp;

use super::agenda::Happening;
use super::oracle::{self, Broken, broken};
use super::story::{BEGIN, Failure as Told, Story};
use super::trace::RECORDS_KEPT;

const HOUR: u64 = 3600;
/// Tasks of the plan, and how many are at work at once.
const TASKS: usize = 40;
const AT_ONCE: u32 = 4;
/// Milliseconds of an iteration: the plan takes until Sunday.
const WORK_MS: (u64, u64) = (60 * 60_000, 150 * 60_000);
/// The lid is closed and opened again, in hours.
const ASLEEP: (u64, u64) = (10, 19);
const DISK_FULL: (u64, u64) = (20, 21);
const MONDAY: u64 = 72 * HOUR;
const HAPPENINGS_MAX: u64 = 200_000;

/// What the service says from one moment to another.
#[derive(Debug, Clone)]
pub struct Spell {
    from: Timestamp,
    until: Timestamp,
    class: FailureClass,
    /// It says until when.
    names_its_end: bool,
}

/// Hours since the beginning, in minutes, and what comes then.
const WEATHER: &[(u64, u64, FailureClass, bool)] = &[
    (60, 120, FailureClass::Network, false),
    (180, 480, FailureClass::Quota, true),
    (540, 570, FailureClass::Overloaded, false),
    (22 * 60, 30 * 60, FailureClass::Quota, false),
    (31 * 60, 39 * 60, FailureClass::Key, false),
    (41 * 60, 42 * 60, FailureClass::Network, false),
];

/// What a weekend came to.
#[derive(Debug)]
pub struct Weekend {
    pub done: usize,
    pub hours: u64,
    pub attempts: u32,
    pub probes: usize,
    /// Whoever was to look at something: the tasks that waited for a person, and why.
    pub asked: Vec<String>,
    /// Agents out of service.
    pub degraded: usize,
    /// Retries that were held against tasks.
    pub retries: u32,
}

/// The weekend of a seed.
pub fn weekend(seed: u64) -> Result<Weekend, Box<Told>> {
    let mut story = left_alone(seed);
    story.weekend().map_err(|b: Broken| {
        let last = story.trace.last_lines();
        Box::new(Told { seed, rule: b.rule, text: b.text, planted: None, last })
    })
}

fn left_alone(seed: u64) -> Story {
    let mut story = Story::new(seed, None, RECORDS_KEPT);
    let main = ProfileRule { name: "main".into(), quota_group: "one".into(), ..ProfileRule::default() };
    story.policy = Policy {
        profile: main.name.clone(),
        profiles: vec![main],
        max_task_secs: 12 * HOUR,
        transient_max: 1000,
        ..Policy::default()
    };
    story.calm = true;
    // For those a person would be asked, rightly.
    story.truth.harmless = true;
    story.work_ms = WORK_MS;
    let at = |minutes: u64| BEGIN.plus_secs(minutes * 60);
    story.weather = WEATHER
        .iter()
        .map(|(from, until, class, names_its_end)| Spell {
            from: at(*from),
            until: at(*until),
            class: *class,
            names_its_end: *names_its_end,
        })
        .collect();
    story
}

fn plan() -> Command {
    let id = |n: usize| TaskId::new(format!("t{n}")).expect("an id");
    let tasks = (0..TASKS).map(|n| {
        let mut spec = TaskSpec::new(id(n), format!("task {n}"));
        // Some build on others.
        spec.depends = if n % 5 == 4 { vec![id(n - 1)] } else { vec![] };
        TaskFile::from(spec)
    });
    let phases =
        vec![PhaseFile { id: 1, name: "all".into(), tasks: tasks.collect(), ..PhaseFile::default() }];
    let execution_profile = Some(ExecutionProfile {
        parallelization_enabled: true,
        max_concurrent_tasks: AT_ONCE,
        ..ExecutionProfile::default()
    });
    let plan = PlanFile { goal: "a weekend".into(), phases, execution_profile, ..PlanFile::default() };
    Command::SavePlan {
        plan,
        kind: SaveKind::Save,
        source: "plan.json".into(),
        reset_statuses: false,
        planning: None,
    }
}

impl Story {
    /// What the service says now, if it fails.
    pub fn weather_now(&self) -> Option<Failure> {
        let spell = self.weather.iter().find(|spell| spell.from <= self.now && self.now < spell.until)?;
        let mut failure = Failure::new(spell.class, "the weather");
        failure.resets_in_secs = spell.names_its_end.then(|| spell.until.secs_since(self.now) + 1);
        Some(failure)
    }

    fn weekend(&mut self) -> Result<Weekend, Broken> {
        self.agenda.at(self.now, Happening::Start);
        let wish = Box::new(self.people.wish(plan()));
        self.agenda.at(self.now.plus_ms(500), Happening::Asked { wish });
        let mut disk = [(DISK_FULL.0, true), (DISK_FULL.1, false)].into_iter().peekable();
        for _ in 0..HAPPENINGS_MAX {
            let Some((when, what)) = self.agenda.next() else {
                return Err(broken("there is always a next moment", "the agenda is empty"));
            };
            self.now = self.now.max(when);
            let hours = self.now.secs_since(BEGIN) / HOUR;
            // Whatever was due in the night is late by that.
            if (ASLEEP.0..ASLEEP.1).contains(&hours) {
                self.now = BEGIN.plus_secs(ASLEEP.1 * HOUR);
            }
            if let Some((_, low)) = disk.next_if(|(from, _)| *from <= hours) {
                self.take_in(Input::Report(Report::Disk { low, why: "900 MiB are free".into() }), vec![])?;
            }
            self.happen(what)?;
            if let Some(told) = self.told() {
                return Ok(told);
            }
            if self.now.secs_since(BEGIN) > MONDAY {
                let living = self.daemons.alive().next().map(|d| &d.run);
                if let Some(c) = &self.coordinator {
                    oracle::at_rest(&self.oracle, c, &self.truth, living)?;
                }
                return Err(broken(
                    "a swarm that is left alone is done on Monday",
                    format!("{:?}", self.open()),
                ));
            }
        }
        Err(broken("a weekend ends", format!("{HAPPENINGS_MAX} happenings")))
    }

    fn open(&self) -> Vec<String> {
        let tasks = self.coordinator.iter().flat_map(|c| c.state.tasks.iter());
        tasks
            .filter(|(_, task)| task.stage.name() != "Done")
            .map(|(id, task)| format!("{id} {:?}", task.stage))
            .collect()
    }

    /// When everything is done.
    fn told(&self) -> Option<Weekend> {
        let state = &self.coordinator.as_ref()?.state;
        let done = state.tasks.values().filter(|task| task.stage.name() == "Done").count();
        if state.tasks.len() != TASKS || done != TASKS {
            return None;
        }
        let asked = self.log.events().filter_map(|event| match event {
            Event::AgentFailed { task, next: Next::Blocked { block, why }, .. } => {
                Some(format!("{task} {} {why}", block.word()))
            }
            Event::MergeFailed { task, next: Next::Blocked { block, why }, .. } => {
                Some(format!("{task} {} {why}", block.word()))
            }
            _ => None,
        });
        let probes = self.log.events().filter(|event| matches!(event, Event::QuotaProbeStarted { .. }));
        Some(Weekend {
            done,
            hours: self.now.secs_since(BEGIN) / HOUR,
            attempts: state.tasks.values().map(|task| task.attempts).sum(),
            probes: probes.count(),
            asked: asked.collect(),
            degraded: state.agents.values().filter(|agent| agent.degraded.is_some()).count(),
            retries: state.tasks.values().map(|task| task.retries).sum(),
        })
    }
}
