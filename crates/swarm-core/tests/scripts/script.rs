//! The language of the scripts. Steps stand between bars and are said to the core one after the
//! other; what comes back is the way of each task through its stages, refusals where they happened,
//! and what is owed in the end.
//!
//! `plan a b:a` saves a plan (b depends on a) · `slots 2` · `start` · `+30s` waits · `ready a`
//! `hello a` `complete a` `unfinished a` `crash a` `asks a` `cannot a` `lost a` `ended a` `stopped a` are the work
//! run's reports · `green a` `red a` the checks · `built a` `conflict a` `empty a` `verified a`
//! `unverified a` `published a` `busy a` `moved a` `released a` `free a` `removed a` the merge's ·
//! `fails a overloaded` is a failure of the agent program of that class, `said a` an iteration that
//! named its session · `approves a` `rejects a` `unreviewed a` the review's, `says-good a` `says-but a` `says-bad a`
//! `says-nothing a` `says-quota a` `says-key a` of an agent that reviews · `trunk green a` `trunk red a` the
//! verification of trunk alone, `trunk moved` what the watch on it says · `oversteps a` · `attention` prints
//! the list, `instead a` what the agent of a could take up · everything else is a person's command.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::words;
use swarm_core::effect::{Effect, WorkOrder};
use swarm_core::input::{Input, Missing, Report};
use swarm_core::stage::Stage;
use swarm_core::state::State;
use swarm_core::{owed, rests, schedule, show, step, waits_for_review, waits_for_start};
use swarm_protocol::channel::IterationOutcome;
use swarm_protocol::command::{Command, Envelope, SaveKind};
use swarm_protocol::conflict::{Resolved, Way};
use swarm_protocol::event::Proof;
use swarm_protocol::failure::{Failure, FailureClass, Usage};
use swarm_protocol::ids::{CommandId, Oid, RunId, TaskId};
use swarm_protocol::operation::{Force, Landed, Left};
use swarm_protocol::outcome::{Ended, Gate, Mode, PauseReason};
use swarm_protocol::plan::{ExecutionProfile, PhaseFile, PlanFile, TaskFile, TaskPatch, TaskSpec};
use swarm_protocol::policy::Policy;
use swarm_protocol::review::{ReviewNote, Verdict};
use swarm_protocol::time::Timestamp;

/// Plays the script and compares what it tells, line by line.
pub fn check(script: &str, expected: &str) {
    let told = play(script);
    let trim =
        |text: &str| text.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n");
    let (told, expected) = (trim(&told), trim(expected));
    assert!(told == expected, "{script}\n--- expected\n{expected}\n--- told\n{told}\n");
}

struct Play {
    state: State,
    now: Timestamp,
    asked: u64,
    ways: BTreeMap<TaskId, Vec<String>>,
    lines: Vec<String>,
}

pub fn play(script: &str) -> String {
    let mut play = Play {
        state: State::default(),
        now: Timestamp(1_768_298_400_000),
        asked: 0,
        ways: BTreeMap::new(),
        lines: Vec::new(),
    };
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

fn profile(slots: u32) -> ExecutionProfile {
    ExecutionProfile {
        parallelization_enabled: slots > 1,
        max_concurrent_tasks: slots,
        ..ExecutionProfile::default()
    }
}

impl Play {
    fn step(&mut self, text: &str) {
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
                let shown = ["task start", "agent stop", "agent kill", "pause"];
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
                None => {
                    let command = command(&words);
                    self.asked += 1;
                    let id = CommandId::new(format!("c{}", self.asked)).expect("a plain id");
                    self.take_in(Input::Command(Envelope { id, by: "person:cli".into(), command }));
                }
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

    /// The run a report is about: the current one, or the last that is still to be stopped.
    fn run(&self, task: &TaskId) -> RunId {
        let current = self.state.task(task).and_then(|t| t.stage.run().cloned());
        let any = || self.state.runs.iter().find(|(_, r)| r.task == *task).map(|(id, _)| id.clone());
        current.or_else(any).unwrap_or_else(|| RunId::nth(999))
    }

    fn report(&self, words: &[&str]) -> Option<Report> {
        if let Some(report) = self.long_report(words) {
            return Some(report);
        }
        let [what, name] = words else { return None };
        let (task, text) = (TaskId::new(name).ok()?, || "output".to_string());
        let run = self.run(&task);
        let (iteration, tip) = match self.state.task(&task).map(|t| &t.stage) {
            Some(Stage::Active { iteration, .. }) => (*iteration, oid('b')),
            Some(Stage::Checking { iteration, tip, .. }) => (*iteration, tip.clone()),
            _ => (0, oid('b')),
        };
        let boundary = |outcome| {
            let (run, tip, usage) = (run.clone(), Some(oid('b')), Usage::default());
            Some(Report::Boundary {
                run,
                iteration,
                outcome,
                tip,
                note: None,
                usage,
                session: None,
                known: 0,
            })
        };
        let ended = |how| Some(Report::WorkEnded { run: run.clone(), how });
        match *what {
            "complete" => return boundary(IterationOutcome::Complete),
            "unfinished" => return boundary(IterationOutcome::NoSignal),
            "asks" => return boundary(IterationOutcome::AsksHuman { text: text() }),
            "cannot" => return boundary(IterationOutcome::CannotDo { text: text() }),
            "crash" => {
                return boundary(IterationOutcome::Crashed { code: Some(1), signal: None, text: text() });
            }
            "lost" => return ended(Ended::Lost { text: text() }),
            "ended" => return ended(Ended::Stopped),
            _ => {}
        }
        Some(match *what {
            "ready" => Report::Prepared { run, branch: task.branch(), base: oid('a'), tip: oid('a') },
            "hello" => Report::Spawned { run, host: "here".into() },
            "unready" => Report::PrepareFailed { run, why: text(), setup: false },
            "green" | "red" => {
                let passed = *what == "green";
                Report::Checked { run, iteration, passed, tip, tree: oid('d'), output: text() }
            }
            "stopped" => {
                let over = self.state.runs.iter().find(|(_, r)| r.task == task && r.ended);
                Report::Stopped { run: over.map_or(run, |(id, _)| id.clone()), wip: None }
            }
            _ => return self.merge_report(what, task),
        })
    }

    /// Reports that take more than the name of a task.
    fn long_report(&self, words: &[&str]) -> Option<Report> {
        if let Some(report) = words::report(&self.state, words) {
            return Some(report);
        }
        let boundary = |name: &str, outcome, session| {
            let run = self.run(&id(name));
            let iteration = match self.state.task(&id(name)).map(|t| &t.stage) {
                Some(Stage::Active { iteration, .. }) => *iteration,
                _ => 0,
            };
            let (tip, usage) = (Some(oid('b')), Usage { input_tokens: 100, ..Usage::default() });
            Report::Boundary { run, iteration, outcome, tip, note: None, usage, session, known: 0 }
        };
        Some(match words {
            ["fails", name, class] => {
                let class = FailureClass::ALL.into_iter().find(|c| c.word() == *class).expect("a class");
                let mut failure = Failure::new(class, "output");
                failure.resets_in_secs = (class == FailureClass::Quota).then_some(120);
                failure.hint = (class == FailureClass::Key).then(|| "program login".into());
                boundary(name, IterationOutcome::Failed { failure }, None)
            }
            ["said", name] => boundary(name, IterationOutcome::NoSignal, Some("s1".into())),
            ["trunk", "moved"] => Report::TrunkChanged { commit: oid('a'), now: oid('e') },
            ["trunk", "stays"] => Report::TrunkChanged { commit: oid('a'), now: oid('a') },
            ["trunk", verdict, name] => {
                let (run, task) = (self.judging(&id(name)), id(name));
                Report::Verified { run, task, passed: *verdict == "green", output: "trunk".into() }
            }
            _ => return None,
        })
    }

    /// The review or verification of the task that is running, or the last there was.
    fn judging(&self, task: &TaskId) -> RunId {
        let current = self.state.task(task).and_then(|t| t.stage.judging_run().cloned());
        let any = || self.state.runs.iter().find(|(_, r)| r.task == *task && r.agent.is_none());
        current.or_else(|| any().map(|(id, _)| id.clone())).unwrap_or_else(|| RunId::nth(999))
    }

    fn merge_report(&self, what: &str, task: TaskId) -> Option<Report> {
        let verify = || self.judging(&task);
        let proof = Proof::new("main", oid('c'), vec![oid('c')]);
        Some(match what {
            // Elsewhere: trunk has moved since it was looked up.
            "built" | "built-elsewhere" | "built-protected" => {
                let known = self.state.proven.clone().filter(|_| what != "built-elsewhere");
                let (base, commits) = (known.unwrap_or_else(|| oid('a')), vec![oid('c')]);
                let touched = what == "built-protected";
                let protected = if touched { vec![".swarm/config.json".into()] } else { vec![] };
                let (result, squashed, resolved, found) = (oid('c'), false, vec![], vec![]);
                let changed = vec!["src/a.rs".into()];
                Report::Built { task, base, result, commits, squashed, resolved, protected, changed, found }
            }
            "resolved" | "joined" => {
                let base = self.state.proven.clone().unwrap_or_else(|| oid('a'));
                let resolved = vec![Resolved { path: "src/a.rs".into(), way: Way::Imports }];
                match what {
                    "joined" => Report::BuildJoined { task, base, tip: oid('c'), tree: oid('d'), resolved },
                    _ => {
                        let (result, commits, squashed) = (oid('c'), vec![oid('c')], true);
                        let protected = vec![];
                        Report::Built {
                            task,
                            base,
                            result,
                            commits,
                            squashed,
                            resolved,
                            protected,
                            changed: vec![],
                            found: vec![],
                        }
                    }
                }
            }
            "conflict" => Report::BuildConflict { task, paths: vec!["src/a.rs".into()], why: None },
            "empty" | "known" | "set-to-trunk" => {
                let found = match what {
                    "known" => vec![oid('b')],
                    // What `built` brought there for somebody else.
                    "set-to-trunk" => vec![oid('c')],
                    _ => vec![],
                };
                Report::BuildEmpty { task, trunk: "main".into(), commit: oid('a'), found }
            }
            "found" => {
                Report::Proven { commit: oid('c'), missing: Default::default(), standing: Default::default() }
            }
            "gone" | "lost" => {
                let work = Landed { base: oid('a'), tip: oid('b'), tree: oid('d'), stands: vec![] };
                let why = "main was reset".into();
                let missing = Missing { why, work: (what == "gone").then_some(work) };
                Report::Proven {
                    commit: oid('e'),
                    missing: [(task, missing)].into(),
                    standing: Default::default(),
                }
            }
            "verified" | "unverified" => {
                Report::Verified { run: verify(), task, passed: what == "verified", output: "output".into() }
            }
            "approves" | "rejects" => {
                Report::Reviewed { run: verify(), task, passed: what == "approves", output: "notes".into() }
            }
            // The verdict of the run before.
            "approved-before" => {
                Report::Reviewed { run: RunId::nth(2), task, passed: true, output: "notes".into() }
            }
            "says-good" | "says-but" | "says-bad" | "says-nothing" | "says-quota" | "says-key" => {
                Report::ReviewAnswered { run: verify(), task, answered: words::answered(what) }
            }
            "unreviewed" => Report::ReviewLost { run: verify(), task, why: "killed".into() },
            "oversteps" => Report::Overstep { task, run: None, what: "moved another branch".into() },
            "published" => Report::Published { task, proof },
            "busy" => {
                let (why, hint) = ("src/a.rs is changed".into(), "git stash".into());
                Report::PublishWaits { task, why, paths: vec!["src/a.rs".into()], hint }
            }
            "moved" => Report::TrunkMoved { task, now: oid('e') },
            "released" => Report::Released { task },
            "free" => Report::CheckoutChanged { task },
            "removed" => {
                let left = Some(Left { base: oid('a'), tip: oid('b'), dirty: None });
                Report::WorktreeRemoved { task, left }
            }
            "revived" => Report::Revived { task, base: Some(oid('a')) },
            "kept" => Report::WorktreeKept { task, why: ".env is ignored by git".into() },
            _ => return None,
        })
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
        Effect::Hook { hook, subject, .. } => {
            format!("Hook {hook} {}", subject.as_deref().unwrap_or_default())
        }
        other => format!("{} {}", other.verb(), other.task().map_or("", TaskId::as_str)),
    }
}

fn command(words: &[&str]) -> Command {
    if let Some(command) = words::command(words) {
        return command;
    }
    match words {
        ["plan", tasks @ ..] => {
            let tasks: Vec<TaskFile> = tasks.iter().map(|t| TaskFile::from(spec(t))).collect();
            let phase = PhaseFile { id: 1, name: "one".into(), tasks, ..PhaseFile::default() };
            let plan = PlanFile { goal: "goal".into(), phases: vec![phase], ..PlanFile::default() };
            Command::SavePlan {
                plan,
                kind: SaveKind::Save,
                source: "plan.json".into(),
                reset_statuses: false,
            }
        }
        ["slots", n] => Command::SetProfile { profile: profile(n.parse().expect("a number")) },
        ["together"] => {
            let profile = ExecutionProfile { council_parallel: true, ..profile(1) };
            Command::SetProfile { profile }
        }
        ["lock"] => Command::LockProfile,
        ["reset"] => Command::ResetPlan,
        ["pause"] => Command::Pause { reason: PauseReason::User, why: "lunch".into(), force: false },
        ["resume"] => Command::Resume { reason: PauseReason::User },
        ["resume", "trunk"] => Command::Resume { reason: PauseReason::Trunk },
        ["resume", "budget"] => Command::Resume { reason: PauseReason::Budget },
        ["resume", "errors"] => Command::Resume { reason: PauseReason::Errors },
        ["resume", "setup"] => Command::Resume { reason: PauseReason::Setup },
        ["mode", "auto"] => Command::SetMode { mode: Mode::Autopilot },
        ["mode", "semi"] => Command::SetMode { mode: Mode::SemiAuto },
        ["go", tasks @ ..] => Command::StartTasks { tasks: tasks.iter().map(|t| id(t)).collect() },
        ["submit", task] => {
            Command::SubmitWork { task: id(task), base: oid('a'), tip: oid('b'), tree: oid('d') }
        }
        ["submit", "empty", task] => {
            Command::SubmitWork { task: id(task), base: oid('a'), tip: oid('a'), tree: oid('d') }
        }
        ["seen", entry] => Command::AcknowledgeAttention { entry: (*entry).into() },
        ["drain"] => Command::Drain { why: "Ctrl+C".into() },
        ["add", task] => Command::AddTask { phase: None, after: None, task: spec(task) },
        ["depends", task] => {
            let spec = spec(task);
            let patch = TaskPatch { depends: Some(spec.depends), ..TaskPatch::default() };
            Command::EditTask { task: spec.id, patch }
        }
        ["block", task] => Command::BlockTask { task: id(task), reason: "wait for me".into() },
        ["unblock", task] => Command::UnblockTask { task: id(task) },
        ["retry"] => Command::Retry,
        ["accept", task] => Command::AcceptTask { task: id(task), reason: "seen".into() },
        ["reviewer", task, who] => {
            let review = Some(Some((*who).to_owned()));
            Command::EditTask { task: id(task), patch: TaskPatch { review, ..TaskPatch::default() } }
        }
        ["person", "approves", task, tip] => Command::Review {
            task: id(task),
            verdict: Verdict::Approve { tip: oid(tip.chars().next().expect("a digit")) },
        },
        ["person", "rejects", task, text @ ..] => {
            let note = ReviewNote { file: Some("a.rs".into()), line: Some(3), text: text.join(" ") };
            Command::Review { task: id(task), verdict: Verdict::NeedsChanges { notes: vec![note] } }
        }
        ["defer", task] => Command::DeferTask { task: id(task) },
        ["cancel", task] => Command::CancelTask { task: id(task) },
        ["remove", task] => Command::RemoveTask { task: id(task) },
        ["stop", task] => Command::StopAgent { task: id(task) },
        ["edit", task, title @ ..] => {
            let title = Some(format!("task {task} {}", title.join(" ")));
            Command::EditTask { task: id(task), patch: TaskPatch { title, ..TaskPatch::default() } }
        }
        ["close"] => Command::ClosePlan { archive: "plan-x".into() },
        ["reopen"] => Command::ReopenPlan,
        ["cleaned", task] => Command::RecordRemoval { task: id(task), left: None },
        ["kill", task] => Command::KillAgent { task: id(task) },
        ["redirect", task, to] => Command::Redirect { task: id(task), to: id(to), same_worktree: false },
        ["back", task] => {
            let (force, expect) = (Force::default(), None);
            Command::RollbackTask { task: id(task), cascade: false, force, expect }
        }
        ["force"] => Command::Pause { reason: PauseReason::User, why: "now".into(), force: true },
        ["undo", rest @ ..] | ["redo", rest @ ..] => {
            let operation = rest.first().map(|id| CommandId::new(id).expect("an operation"));
            let (partial, expect) = (rest.contains(&"partial"), None);
            let force = Force { set_aside: rest.contains(&"aside"), ..Force::default() };
            match words[0] {
                "undo" => Command::Undo { operation, partial, force, expect },
                _ => Command::Redo { operation, force, expect },
            }
        }
        ["waive", task, "check"] => {
            Command::WaiveGate { task: id(task), gate: Gate::Check, reason: "seen".into() }
        }
        ["waive", task, "review"] => {
            Command::WaiveGate { task: id(task), gate: Gate::Review, reason: "seen".into() }
        }
        ["waive", task, "verify"] => {
            Command::WaiveGate { task: id(task), gate: Gate::Verify, reason: "seen".into() }
        }
        ["phase", n] => Command::CompletePhase { phase: n.parse().expect("a number") },
        other => panic!("the step {other:?} is not in the language"),
    }
}
