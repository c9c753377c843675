//! What daemons and their agents do by themselves: iterate, check, verify, crash, hang, end.

mod verdict;

use swarm_core::effect::WorkOrder;
use swarm_core::input::Report;
use swarm_protocol::channel::{IterationOutcome, RunKind};
use swarm_protocol::failure::{Failure, FailureClass, Usage};
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::outcome::Ended;

use super::agenda::Happening;
use super::daemon::Doing;
use super::fault::Fault;
use super::planted::Planted;
use super::story::Story;

/// Milliseconds a frame takes; all the same, so that they arrive in order.
const FRAME_MS: u64 = 20;
/// Milliseconds without output after which a daemon gives its agent up.
const SILENCE_MS: u64 = 120_000;

/// How the conversation of an agent at work is named, and that of one that reviews.
pub const AUTHORS_SESSION: &str = "work-";
const REVIEWERS_SESSION: &str = "review-";

impl Story {
    /// The executor listens to the daemon: everything unacknowledged is said again.
    pub fn attach(&mut self, executor: u64, run: &RunId) {
        let Some(daemon) = self.daemons.get_mut(run) else { return };
        daemon.heard_by = Some(executor);
        let (alive, exit) = (daemon.alive, daemon.exit.clone());
        let hello = Report::Spawned { run: run.clone(), host: "here".into() };
        if alive && daemon.kind == RunKind::Work && !daemon.frames.iter().any(|(_, report)| *report == hello)
        {
            daemon.say(hello);
        }
        let said_last = daemon.frames.iter().any(|(_, report)| is_last_word(report));
        if let (false, false, Some(how)) = (alive, said_last, exit.clone()) {
            daemon.ends(how);
        }
        if self.planted == Some(Planted::OutboxFlushedTwice) {
            for report in daemon.acknowledged.clone() {
                daemon.say(report);
            }
        }
        let frames: Vec<u64> = daemon.frames.iter().map(|(n, _)| *n).collect();
        for n in frames {
            self.agenda.at(self.now.plus_ms(FRAME_MS), Happening::Frame { executor, n });
        }
        if !alive && exit.is_none() && !said_last {
            self.daemon_found_dead(run);
        }
    }

    /// The daemon's lock is free and it left no last word.
    pub fn daemon_found_dead(&mut self, run: &RunId) {
        let Some(daemon) = self.daemons.get(run) else { return };
        let Some(n) = daemon.heard_by else { return };
        let taken_over = self.coordinator.as_ref().is_some_and(|c| c.epoch > daemon.epoch);
        let report = match daemon.kind {
            RunKind::Work if taken_over => {
                let how = Ended::Orphaned { text: "no exit record".into() };
                Report::WorkEnded { run: run.clone(), how }
            }
            RunKind::Work => {
                Report::WorkEnded { run: run.clone(), how: Ended::Lost { text: "no exit record".into() } }
            }
            RunKind::Probe => {
                let failure = Some(Failure::new(FailureClass::Crashed, "its daemon vanished"));
                Report::Probed { run: run.clone(), failure }
            }
            RunKind::Verify => Report::VerifyLost {
                run: run.clone(),
                task: daemon.task.clone(),
                why: "its daemon vanished".into(),
            },
            RunKind::Review => Report::ReviewLost {
                run: run.clone(),
                task: daemon.task.clone(),
                why: "its daemon vanished".into(),
            },
        };
        if matches!(report, Report::WorkEnded { how: Ended::Orphaned { .. }, .. }) {
            self.hit(Fault::OrphanFound);
        }
        if let Some(executor) = self.executor_mut(n) {
            executor.report = Some(report);
            self.agenda.at(self.now.plus_ms(2 * FRAME_MS), Happening::ExecutorEnds { executor: n });
        }
    }

    /// The daemon turns to something that takes a while.
    pub fn daemon_turns(&mut self, run: &RunId, doing: Doing, ms: (u64, u64)) {
        let takes = self.rng.between(ms.0, ms.1);
        let Some(daemon) = self.daemons.get_mut(run) else { return };
        let turn = daemon.turn_to(doing);
        self.agenda.at(self.now.plus_ms(takes), Happening::Daemon { run: run.clone(), turn });
    }

    /// A word of a coordinator on how the daemon should be.
    pub fn order(&mut self, run: &RunId, order: WorkOrder, epoch: u64) {
        let checked = self.epoch_checked();
        let Some(daemon) = self.daemons.get_mut(run) else { return };
        if checked && epoch < daemon.epoch {
            return;
        }
        daemon.epoch = daemon.epoch.max(epoch);
        daemon.order = Some(order);
        self.obey(run);
    }

    fn obey(&mut self, run: &RunId) {
        let Some(daemon) = self.daemons.get(run) else { return };
        if !daemon.alive || daemon.doing == Doing::Ending {
            return;
        }
        let waiting = daemon.doing == Doing::Waiting;
        match daemon.order.clone() {
            Some(WorkOrder::Go { iteration, .. }) if waiting && iteration > daemon.iterated => {
                self.iterate(run, iteration);
            }
            Some(WorkOrder::Check { iteration, waived, .. })
                if waiting && daemon.checked.is_none_or(|last| iteration > last) =>
            {
                self.daemon_turns(run, Doing::Checking { iteration, waived }, (1_000, 30_000));
            }
            Some(WorkOrder::Drain) => self.end_daemon(run, 5_000),
            _ => {}
        }
    }

    /// TERM, grace, KILL: the daemon's last word comes within the grace.
    pub fn end_daemon(&mut self, run: &RunId, grace_ms: u64) {
        let due = self.daemons.get(run).is_some_and(|d| d.alive && d.doing != Doing::Ending);
        if due {
            self.daemon_turns(run, Doing::Ending, (100, grace_ms));
        }
    }

    fn iterate(&mut self, run: &RunId, iteration: u32) {
        self.prompt(run);
        if self.strikes(Fault::AgentHangs, 4) {
            if let Some(daemon) = self.daemons.get_mut(run) {
                daemon.turn_to(Doing::Hanging);
            }
        } else if self.strikes(Fault::AgentGoesSilent, 4) {
            self.daemon_turns(run, Doing::Silent { iteration }, (SILENCE_MS, SILENCE_MS + 10_000));
        } else {
            self.daemon_turns(run, Doing::Iterating { iteration }, self.work_ms);
            if let Some(report) = self.people.reserving.needs(run) {
                self.say(run, report);
            }
        }
    }

    /// The moment has come that the daemon planned.
    pub fn daemon_step(&mut self, run: &RunId, turn: u64) {
        let Some(daemon) = self.daemons.get(run).filter(|d| d.alive && d.turn == turn) else { return };
        let (doing, task) = (daemon.doing.clone(), daemon.task.clone());
        if doing != Doing::Ending && self.strikes(Fault::DaemonDies, 4) {
            if let Some(daemon) = self.daemons.get_mut(run) {
                daemon.vanishes();
            }
            return self.daemon_found_dead(run);
        }
        match doing {
            Doing::Waiting | Doing::Hanging => {}
            Doing::Iterating { iteration } => self.iteration_ends(run, &task, iteration),
            Doing::Checking { iteration, waived } => self.checks_end(run, &task, iteration, waived),
            Doing::Verifying { commit } => self.verification_ends(run, &task, &commit),
            Doing::Reviewing { tip, agent } => self.review_ends(run, &task, &tip, agent.as_ref()),
            // Most daemons end the iteration and wait; some end with it.
            Doing::Silent { iteration } if self.rng.chance(80) => {
                let failure = Failure::new(FailureClass::Stalled, "no output for 120 s");
                self.boundary(run, &task, iteration, IterationOutcome::Failed { failure });
            }
            Doing::Silent { .. } => self
                .last_word(run, Ended::Crashed { code: None, signal: Some(9), text: "went silent".into() }),
            Doing::Probing { group } => self.probe_ends(run, &group),
            Doing::Ending => self.last_word(run, Ended::Stopped),
        }
    }

    fn last_word(&mut self, run: &RunId, how: Ended) {
        if let Some(daemon) = self.daemons.get_mut(run) {
            let n = daemon.ends(how);
            self.send(run, n);
        }
    }

    fn send(&mut self, run: &RunId, n: u64) {
        if let Some(executor) = self.daemons.get(run).and_then(|d| d.heard_by) {
            self.agenda.at(self.now.plus_ms(FRAME_MS), Happening::Frame { executor, n });
        }
    }

    pub fn say(&mut self, run: &RunId, report: Report) {
        if let Some(daemon) = self.daemons.get_mut(run) {
            let n = daemon.say(report);
            self.send(run, n);
        }
    }

    fn iteration_ends(&mut self, run: &RunId, task: &TaskId, iteration: u32) {
        if let Some(worktree) = self.truth.worktrees.get_mut(task) {
            worktree.dirty = self.rng.chance(30);
        }
        let tip = if self.rng.chance(80) || self.calm { self.truth.agent_commits(task) } else { None };
        let tip = tip.or_else(|| self.truth.worktrees.get(task).map(|w| w.tip.clone()));
        let outcome = self.outcome(run, iteration);
        self.says_boundary(run, task, iteration, outcome, tip);
    }

    /// The iteration brought nothing.
    fn boundary(&mut self, run: &RunId, task: &TaskId, iteration: u32, outcome: IterationOutcome) {
        let tip = self.truth.worktrees.get(task).map(|w| w.tip.clone());
        self.says_boundary(run, task, iteration, outcome, tip);
    }

    fn says_boundary(
        &mut self,
        run: &RunId,
        task: &TaskId,
        iteration: u32,
        outcome: IterationOutcome,
        tip: Option<Oid>,
    ) {
        let usage = Usage { input_tokens: self.rng.between(1, 1_000), steps: 1, ..Usage::default() };
        let session = self.rng.chance(70).then(|| format!("{AUTHORS_SESSION}{run}"));
        if let Some(daemon) = self.daemons.get_mut(run) {
            daemon.turn_to(Doing::Waiting);
            daemon.iterated = iteration;
        }
        let (run_id, note) = (run.clone(), None);
        let known = self.daemons.get(run).map_or(0, |daemon| daemon.known);
        self.say(run, Report::Boundary { run: run_id, iteration, outcome, tip, note, usage, session, known });
        if self.strikes(Fault::Overstep, 3) {
            let what = "tried to move another task's branch".into();
            let report = Report::Overstep { task: task.clone(), run: Some(run.clone()), what };
            self.agenda.at(self.now.plus_ms(FRAME_MS), Happening::Again { report: Box::new(report) });
        }
        self.obey(run);
    }

    fn outcome(&mut self, run: &RunId, iteration: u32) -> IterationOutcome {
        let text = || "in so many words".to_string();
        if let Some(failure) = self.recoverable(run, iteration) {
            return IterationOutcome::Failed { failure };
        }
        if self.strikes(Fault::AgentCrashes, 7) {
            return IterationOutcome::Crashed { code: Some(1), signal: None, text: text() };
        }
        if self.strikes(Fault::ProgramFails, 9) {
            let class = *self.rng.pick(&FailureClass::ALL);
            let mut failure = Failure::new(class, text());
            failure.resets_in_secs = self.rng.chance(40).then(|| self.rng.between(1, 600));
            failure.hint = self.rng.chance(40).then(|| "program login".into());
            return IterationOutcome::Failed { failure };
        }
        if self.strikes(Fault::AgentAsksHuman, 4) {
            return IterationOutcome::AsksHuman { text: text() };
        }
        if self.strikes(Fault::AgentCannot, 3) {
            return IterationOutcome::CannotDo { text: text() };
        }
        if !self.calm && self.rng.chance(15) {
            return IterationOutcome::NoSignal;
        }
        IterationOutcome::Complete
    }
}

/// After this report the daemon says nothing more.
pub fn is_last_word(report: &Report) -> bool {
    matches!(
        report,
        Report::WorkEnded { .. }
            | Report::Verified { .. }
            | Report::VerifyLost { .. }
            | Report::Reviewed { .. }
            | Report::ReviewAnswered { .. }
            | Report::ReviewLost { .. }
            | Report::Probed { .. }
    )
}
