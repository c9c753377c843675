//! The end of a plan, in steps that may each be asked for again.

use std::time::{Duration, Instant};

use swarm_core::{State, checkpoint_of_close};
use swarm_engine::anchor;
use swarm_engine::by_hand::GiveUp;
use swarm_engine::session::Wishes;
use swarm_protocol::command::{Answer, Command};
use swarm_protocol::ids::TaskId;
use swarm_protocol::outcome::PauseReason;
use swarm_work::remove::Removal;
use swarm_work::worktree::overview::Kind;

use super::Swarm;
use super::ask::wait;
use super::session;
use crate::error::CliError;
use crate::output;
use crate::watch::Watch;

/// Agents have their grace to stop and their work is saved; what takes longer hangs.
const STOP_MAX: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// With the ledger in the archive all that is left are last words, and traces on their way to a collector.
const LEAVE_MAX: Duration = Duration::from_secs(30);

impl Swarm {
    /// Closes the plan; with `stop`, agents that work on it are stopped before.
    pub fn close(&self, stop: bool) -> Result<Answer, CliError> {
        if stop {
            self.stop_agents().inspect_err(|_| self.go_on())?;
        }
        let archive = self.archive_name();
        let closed = self.keep_unfinished(&archive).and_then(|with_worktree| {
            let answer = self.ask(Command::ClosePlan { archive })?;
            Ok((with_worktree, answer))
        });
        let (with_worktree, answer) = closed.inspect_err(|_| self.go_on())?;
        self.wait_until_archived();
        // The anchor speaks of a ledger that is in the archive now. Left over, it does no harm.
        drop(self.runtime.block_on(anchor::clear(&self.git)));
        self.leave_worktrees(&with_worktree);
        Ok(answer)
    }

    /// Whoever coordinates has answered and leaves now, and the ledger goes into the archive with that: who is told that
    /// it is there shall find it.
    fn wait_until_archived(&self) {
        let started = Instant::now();
        let is_there = || {
            let state = self.paths.ledger.exists().then(|| self.state(None).ok()).flatten();
            state.is_some_and(|state| state.plan.is_some_and(|plan| plan.closed))
        };
        while is_there() {
            if started.elapsed() > STOP_MAX {
                return output::note(
                    "The coordinator still leaves; the ledger goes into the archive with it",
                );
            }
            wait(LOOK_EVERY);
        }
    }

    /// Whoever coordinated the closed plan, or watched that, has left: until then a run is refused as a second one.
    pub fn wait_until_left(&self) {
        let watch = Watch::folder(&self.paths.run);
        watch.until(LEAVE_MAX, || !self.is_watched() && !self.has_coordinator());
    }

    /// A checkpoint of all branches and of what nobody has committed, where there is anything. Its name is like no
    /// other, since the next plan does not know of it. Answers with the tasks that have a worktree.
    fn keep_unfinished(&self, archive: &str) -> Result<Vec<TaskId>, CliError> {
        let state = self.state(None)?;
        let with_worktree = self.with_worktree(&state)?;
        // What is refused anyway needs none.
        let refused = !state.runs.is_empty() || state.plan.is_none();
        if !refused && !with_worktree.is_empty() {
            let name = checkpoint_of_close(archive);
            // Nobody asked for it: `swarm undo` passes it over.
            self.operate_as("swarm:close", Command::MakeCheckpoint { name: Some(name.clone()) })?;
            // The next plan does not list it; git does.
            output::note(&format!("Unfinished work is kept in the checkpoint {name}"));
            output::note(&format!("  git for-each-ref refs/swarm/checkpoints/{name}"));
        }
        Ok(with_worktree)
    }

    /// The plan stays open: what was held for its closing goes on.
    fn go_on(&self) {
        let held = self.state(None).is_ok_and(|state| state.paused.contains_key(&PauseReason::Close));
        if held && self.ask(Command::Resume { reason: PauseReason::Close }).is_err() {
            output::note("Work stays paused for a few minutes; `swarm resume --reason close` ends that now");
        }
    }

    /// Tasks of the plan that have a worktree.
    pub(super) fn with_worktree(&self, state: &State) -> Result<Vec<TaskId>, CliError> {
        let seen = self.seen_worktrees()?.into_iter().filter_map(|seen| match seen.kind {
            Kind::Task(task) | Kind::HalfMade(task) | Kind::FolderGone(task) => Some(task),
            Kind::Merge | Kind::Shared { .. } | Kind::Pool { .. } | Kind::Orphan => None,
        });
        Ok(seen.filter(|task| state.tasks.contains_key(task)).collect())
    }

    /// Nobody works on the tasks of a closed plan, and the next one may have tasks of the same names. What cannot be
    /// given up is told; the plan is closed all the same.
    fn leave_worktrees(&self, tasks: &[TaskId]) {
        for task in tasks {
            let stays = match self.give_up_worktree(task, GiveUp::default()) {
                Ok(Removal::Removed) => continue,
                Ok(Removal::Kept { why }) => why.to_string(),
                Err(error) => error.message,
            };
            output::note(&format!("The worktree of {task} stays: {}", output::harmless(&stays)));
            output::note(&format!(
                "  swarm worktree cleanup {task}   (once that is dealt with; --force saves it first)"
            ));
        }
    }

    /// `plan-2026-01-13T10-00-00`: from the clock of the asker, so that the core needs none.
    pub(super) fn archive_name(&self) -> String {
        let now = self.now().to_string();
        format!("plan-{}", now[..19].replace(':', "-"))
    }

    fn stop_agents(&self) -> Result<(), CliError> {
        if !self.has_coordinator() {
            let state = self.state(None)?;
            if state.runs.is_empty() && state.trunk_held_by.is_none() {
                return Ok(());
            }
            // With nobody there to carry it out, the same loop runs here, and starts nothing new.
            match self.bring_to_rest() {
                Err(error) if error.kind == "owned" => {}
                done => return done,
            }
        }
        // One that is there may begin something at any moment.
        self.ask_agents_to_stop()
    }

    /// Carries out what the state owes, in this process, and starts nothing new.
    pub(super) fn bring_to_rest(&self) -> Result<(), CliError> {
        let runtime = session::runtime()?;
        runtime.block_on(async {
            let session = session::open(&self.here, Wishes::default()).await?;
            session::bring_to_rest(session).await.map(drop)
        })
    }

    /// One hold for all: everybody is stopped by it, and nothing starts until the plan is closed or that has failed. If
    /// this process dies meanwhile, the hold lapses by itself.
    fn ask_agents_to_stop(&self) -> Result<(), CliError> {
        let started = Instant::now();
        let hold = || Command::Pause { reason: PauseReason::Close, why: "swarm close".into(), force: true };
        // Not the person's: `swarm undo` passes it over.
        match self.ask_as("swarm:close", hold()) {
            // Somebody closes it already, or died over it.
            Err(error) if error.kind == "nothing_to_change" => {}
            held => drop(held?),
        }
        loop {
            let state = self.state(None)?;
            if state.runs.is_empty() && state.trunk_held_by.is_none() {
                return Ok(());
            }
            // The coordinator is gone, and nobody carries out what is left to stop.
            if !self.has_coordinator() {
                match self.bring_to_rest() {
                    Err(error) if error.kind == "owned" => {}
                    done => done?,
                }
            }
            if started.elapsed() > STOP_MAX {
                return Err(CliError::environment("The agents have not stopped").run_instead("swarm status"));
            }
            wait(LOOK_EVERY);
        }
    }
}
