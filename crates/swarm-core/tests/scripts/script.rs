//! The language of the scripts. Steps stand between bars and are said to the core one after the
//! other; what comes back is the way of each task through its stages, refusals where they happened,
//! and what is owed in the end.
//!
//! `plan a b:a` saves a plan (b depends on a) · `slots 2` · `start` · `+30s` waits · `ready a`
//! `hello a` `complete a` `unfinished a` `crash a` `asks a` `cannot a` `lost a` `ended a` `stopped a` are the work
//! run's reports · `green a` `red a` the checks · `built a` `conflict a` `empty a` `verified a`
//! `unverified a` `published a` `busy a` `moved a` `released a` `free a` `removed a` the merge's ·
//! `fails a overloaded` is a failure of the agent program of that class, `said a` an iteration that
//! named its session, `stopped a s2` the end of a run whose program had named this one · `approves a` `rejects a` `unreviewed a` the review's, `says-good a` `says-but a` `says-bad a`
//! `says-nothing a` `says-quota a` `says-key a` of an agent that reviews · `trunk green a` `trunk red a` the
//! verification of trunk alone, `trunk moved` what the watch on it says · `oversteps a` · `attention` prints
//! the list, `ways a` the choices that it offers for a, `board a` where a stands on the screen, `instead a` what the
//! agent of a could take up · everything else is a person's command.

mod commands;
mod operations;
mod reports;

use std::collections::BTreeMap;
use std::fmt::Write;

use swarm_core::effect::{Effect, WorkOrder};
use swarm_core::input::{Input, Report};
use swarm_core::stage::Stage;
use swarm_core::state::State;
use swarm_core::{owed, rests, schedule, show, step, waits_for_review, waits_for_start};
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::ids::{CommandId, Oid, TaskId};
use swarm_protocol::outcome::Mode;
use swarm_protocol::plan::TaskSpec;
use swarm_protocol::policy::Policy;
use swarm_protocol::time::Timestamp;

use crate::words;
pub use commands::command;

/// Plays the script and compares what it tells, line by line.
pub fn check(script: &str, expected: &str) {
    let told = play(script);
    let trim =
        |text: &str| text.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n");
    let (told, expected) = (trim(&told), trim(expected));
    assert!(told == expected, "{script}\n--- expected\n{expected}\n--- told\n{told}\n");
}

pub struct Play {
    pub state: State,
    pub now: Timestamp,
    asked: u64,
    ways: BTreeMap<TaskId, Vec<String>>,
    lines: Vec<String>,
}

pub fn play(script: &str) -> String {
    let mut play = Play::new();
    for step in script.split('|').map(str::trim).filter(|s| !s.is_empty()) {
        play.step(step);
    }
    play.tell()
}

pub fn id(text: &str) -> TaskId {
    TaskId::new(text).expect("a task id")
}

pub fn oid(digit: char) -> Oid {
    Oid::new(digit.to_string().repeat(40)).expect("hex digits")
}

/// `b:a,c`, with `b!0` for the highest priority, `b@src/**` for the files that it names, `b#src/**` for those that it
/// reserves and `b~src/**` for those that it shares.
pub fn spec(text: &str) -> TaskSpec {
    let some = |glob: &str| Some(glob.to_owned()).filter(|glob| !glob.is_empty()).into_iter().collect();
    let (text, share) = text.split_once('~').unwrap_or((text, ""));
    let (text, reserve) = text.split_once('#').unwrap_or((text, ""));
    let (text, files) = text.split_once('@').unwrap_or((text, ""));
    let (name, depends) = text.split_once(':').unwrap_or((text, ""));
    let (name, priority) = name.split_once('!').unwrap_or((name, ""));
    let mut spec = TaskSpec::new(id(name), format!("task {name}"));
    spec.depends = depends.split(',').filter(|d| !d.is_empty()).map(id).collect();
    spec.priority = priority.parse().ok();
    (spec.files, spec.reserve, spec.share) = (some(files), some(reserve), some(share));
    spec
}

impl Play {
    pub fn new() -> Self {
        let now = Timestamp(1_768_298_400_000);
        Self { state: State::default(), now, asked: 0, ways: BTreeMap::new(), lines: Vec::new() }
    }

    pub fn reserve(&mut self, files: Vec<String>, shared: bool, secs: u64) {
        self.ask(Command::Reserve { files, shared, secs: Some(secs), reason: None });
    }

    fn ask(&mut self, command: Command) {
        self.asked += 1;
        let id = CommandId::new(format!("c{}", self.asked)).expect("a plain id");
        self.take_in(Input::Command(Envelope { id, by: "person:cli".into(), command }));
    }

    pub fn step(&mut self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["start"] => self.take_in(self.started(Policy::default())),
            ["start", "reviewed"] => {
                self.take_in(self.started(Policy { reviews: true, review_rounds: 2, ..Policy::default() }));
            }
            ["start", "by", "hand"] => {
                self.take_in(self.started(Policy { mode: Mode::SemiAuto, ..Policy::default() }));
            }
            ["start", word] => self.take_in(self.started(words::policy(word))),
            ["agents"] => self.agents(),
            ["messages", task] => {
                let view = show::task(&self.state, &id(task)).expect("a task");
                self.lines.extend(view.messages.iter().map(|m| {
                    let landed = m.landed.as_ref().map(|l| format!("{} iteration {}", l.run, l.iteration));
                    let not = m.undelivered.as_ref().map(|why| format!("not delivered: {why}"));
                    format!("message: {} {}", m.text, landed.or(not).unwrap_or_else(|| "queued".into()))
                }));
            }
            ["audit", task, event] => {
                let view = show::task(&self.state, &id(task)).expect("a task");
                let told = view.audit.iter().filter(|line| line.event == *event);
                self.lines.extend(told.map(|line| format!("audit: {} {}", line.event, line.details)));
            }
            ["attention"] => {
                let list = show::attention(&self.state);
                self.lines.extend(list.iter().map(|entry| {
                    let why = entry.why.replace('\n', " ");
                    format!("attention: {} ({why}) {:?}", entry.what, entry.commands)
                }));
            }
            ["instead", task] => {
                let list = show::choices(&self.state, &id(task)).expect("an agent works on it");
                let told = list.iter().map(|choice| format!("instead: {} ({})", choice.task, choice.why));
                self.lines.extend(told);
            }
            ["reservations"] => {
                let told = show::reservations(&self.state, self.now).into_iter().map(|one| {
                    let files: Vec<String> = one.files.into_iter().chain(one.shared).collect();
                    let waiting: Vec<String> = one.waiting.iter().map(ToString::to_string).collect();
                    let waits = if waiting.is_empty() {
                        String::new()
                    } else {
                        format!(", {} waits", waiting.join(" "))
                    };
                    format!("reservation {}: {} has {}{waits}", one.number, one.holder, files.join(" "))
                });
                self.lines.extend(told);
            }
            ["counts"] => {
                let of = show::status(&self.state, self.now).counts;
                let told = format!("{} active, {} split, {} ready", of.active, of.split, of.ready);
                self.lines.push(format!("counts: {told}"));
            }
            ["stage", task] => {
                let row = self.state.task(&id(task)).map(|t| show::row(&self.state, t));
                self.lines.push(format!("stage {task}: {}", row.expect("a task").stage));
            }
            ["board", task] => {
                let board = show::board(&self.state, self.now);
                let of_it = board.rows.iter().filter(|row| row.row.id == id(task));
                let told =
                    of_it.map(|row| format!("board {task}: {:?}: {} {}", row.group, row.word, row.detail));
                self.lines.extend(told);
            }
            ["ways", task] => {
                let board = show::board(&self.state, self.now);
                let of_it = board.attention.iter().filter(|entry| entry.task == Some(id(task)));
                let told =
                    of_it.flat_map(|entry| &entry.choices).map(|choice| format!("way: {}", choice.label));
                self.lines.extend(told);
            }
            ["rests"] => {
                let (rests, waits) = (rests(&self.state), waits_for_start(&self.state));
                self.lines.push(format!("rests: {rests}, waits for a start: {waits}"));
                self.lines.extend(waits_for_review(&self.state).then(|| "waits for a review".into()));
            }
            ["phases"] => {
                let view = show::status(&self.state, self.now);
                let word = |complete| if complete { "complete" } else { "open" };
                let told = view.phases.iter().map(|p| format!("phase {} {}", p.id, word(p.complete)));
                self.lines.extend(told);
            }
            // Trunk is not at the first commit any more, but at the second.
            ["moved", from, to] => {
                let of = |text: &str| oid(text.chars().next().expect("a digit"));
                let (commit, now) = (of(from), of(to));
                self.take_in(Input::Report(Report::TrunkChanged { commit, now }));
            }
            ["answers"] => {
                let shown = ["task start", "task edit", "agent stop", "agent kill", "pause"];
                let told = self.state.ops.log.iter().filter(|r| shown.contains(&r.kind.as_str()));
                self.lines.extend(told.map(|record| format!("answer: {}", record.text)));
            }
            ["leave"] => self.take_in(Input::Leaving),
            ["why", task] => {
                let because = schedule::because(&self.state, &id(task), self.now);
                self.lines.push(format!("why {task}: {because}"));
            }
            [wait] if wait.starts_with('+') => {
                let secs: u64 = wait[1..wait.len() - 1].parse().expect("seconds");
                self.now = self.now.plus_secs(secs);
                self.take_in(Input::Tick);
            }
            _ => match self.report(&words) {
                Some(report) => self.take_in(Input::Report(report)),
                None => self.ask(command(&words)),
            },
        }
    }

    fn started(&self, policy: Policy) -> Input {
        let (version, host, trunk) = ("0".into(), "here".into(), "main".into());
        let policy = Policy { max_iterations: 3, transient_max: 3, ..policy };
        Input::Started { epoch: self.state.epoch + 1, version, host, trunk, policy }
    }

    fn take_in(&mut self, input: Input) {
        let mut before = self.state.clone();
        match step(&mut self.state, input, self.now) {
            Ok(events) => {
                let mut ways: BTreeMap<TaskId, Vec<(&'static str, String)>> = BTreeMap::new();
                for event in &events {
                    before.apply(event, self.now);
                    for (id, task) in &before.tasks {
                        ways.entry(id.clone())
                            .or_default()
                            .push((task.stage.name(), self.place(&task.stage)));
                    }
                }
                self.follow(ways);
            }
            Err(refusal) => {
                self.lines.push(format!("refused: {} (try {})", refusal.message(), refusal.hint()))
            }
        }
    }

    /// Notes the stages each task went through in one decision; within a stage only the last word counts.
    fn follow(&mut self, ways: BTreeMap<TaskId, Vec<(&'static str, String)>>) {
        for (id, steps) in ways {
            let way = self.ways.entry(id).or_default();
            for (at, (name, place)) in steps.iter().enumerate() {
                let passing = way.last().is_some_and(|last| last.starts_with(name)) && at + 1 < steps.len();
                if !passing && way.last() != Some(place) {
                    way.push(place.clone());
                }
            }
        }
    }

    /// Who does what, what is out of service, what is used up.
    fn agents(&mut self) {
        let view = show::status(&self.state, self.now);
        let agents = view.agents.iter().map(|a| {
            let held = if a.held { " (held)" } else { "" };
            format!("agent {}: {} {}{held}", a.agent, a.task, a.doing)
        });
        self.lines.extend(agents);
        self.lines.extend(view.degraded.iter().map(|d| format!("out of service: {} ({})", d.agent, d.why)));
        self.lines.extend(view.quotas.iter().map(|q| format!("quota {}: {} waiting", q.group, q.waiting)));
    }

    fn place(&self, stage: &Stage) -> String {
        let later = |at: &Timestamp| at.0.saturating_sub(self.now.0).div_ceil(1000);
        match stage {
            Stage::Pending { not_before, .. } if *not_before > self.now => {
                format!("Pending (in {} s)", later(not_before))
            }
            Stage::Restarting { agent, not_before, .. } => {
                format!("Restarting {agent} (in {} s)", later(not_before))
            }
            Stage::Preparing { run } => match self.state.runs.get(run).and_then(|r| r.profile.as_ref()) {
                Some(profile) => format!("Preparing {run} {profile}"),
                None => format!("Preparing {run}"),
            },
            Stage::Active { iteration, .. } => format!("Active {iteration}"),
            Stage::Review { run: Some(run), beside, .. } => {
                format!("Review {run}{}", beside.iter().map(|run| format!("+{run}")).collect::<String>())
            }
            Stage::Review { not_before, .. } if *not_before > self.now => {
                format!("Review (in {} s)", later(not_before))
            }
            Stage::Approved { waits: Some(_), .. } => "Approved (waits)".into(),
            Stage::Blocked { block, .. } => format!("Blocked ({})", block.word()),
            other => other.name().into(),
        }
    }

    fn tell(&self) -> String {
        let mut told = String::new();
        for (id, way) in &self.ways {
            writeln!(told, "{id}: {}", way.join(" → ")).expect("a String takes every write");
        }
        for line in &self.lines {
            writeln!(told, "{line}").expect("a String takes every write");
        }
        // The watch on a trunk that is in order is always there.
        let waits = |e: &&Effect| matches!(e, Effect::WatchTrunk { task: None, .. });
        let owed: Vec<String> = owed(&self.state).iter().filter(|e| !waits(e)).map(shown).collect();
        if !owed.is_empty() {
            writeln!(told, "owed: {}", owed.join(", ")).expect("a String takes every write");
        }
        told
    }
}

fn shown(effect: &Effect) -> String {
    match effect {
        Effect::Stop { run, .. }
        | Effect::Prepare { run, .. }
        | Effect::Verify { run, .. }
        | Effect::Review { run, .. } => format!("{} {run}", effect.verb()),
        Effect::Probe { run, group, profile, .. } => format!("Probe {run} {group} {profile}"),
        Effect::Work { run, order: WorkOrder::Go { iteration, session: None }, .. } => {
            format!("Work {run} Go {{ iteration: {iteration} }}")
        }
        Effect::Work { run, order, .. } => format!("Work {run} {order:?}"),
        Effect::Save { name, .. } | Effect::Mark { name, .. } | Effect::Forget { name } => {
            format!("{} {name}", effect.verb())
        }
        Effect::Survey { op, .. } | Effect::Move { op, .. } => format!("{} {}", effect.verb(), op.as_str()),
        Effect::Resolve { op, round, .. } => format!("Resolve {} round {round}", op.as_str()),
        Effect::Hook { hook, subject, .. } => {
            format!("Hook {hook} {}", subject.as_deref().unwrap_or_default())
        }
        other => format!("{} {}", other.verb(), other.task().map_or("", TaskId::as_str)),
    }
}
