//! Executors in flight: started, told to stop, heard.

use swarm_core::effect::{Effect, Key};
use swarm_core::input::{Input, Report};
use swarm_protocol::outcome::Ended;

use super::agenda::Happening;
use super::coordinator::Leaving;
use super::executor::{Deed, Executor};
use super::fault::{Fault, Seam};
use super::oracle::{Broken, broken};
use super::planted::Planted;
use super::story::Story;

impl Story {
    pub fn executor_mut(&mut self, n: u64) -> Option<&mut Executor> {
        self.coordinator.as_mut()?.executor(n)
    }

    /// The executor, unless a planted bug made it fall silent when it was told to stop.
    fn speaking_executor(&mut self, n: u64) -> Option<&mut Executor> {
        let mute = self.planted == Some(Planted::CancelledNeverReported);
        self.executor_mut(n).filter(|executor| !mute || executor.cancelled_at.is_none())
    }

    pub fn start(&mut self, effect: Effect) -> Result<(), Broken> {
        self.hands_ever += 1;
        let n = self.hands_ever;
        self.trace.note(self.now, || format!("executor {n} starts {effect:?}"));
        self.trace.bytes(effect.verb().as_bytes());
        let takes = if self.strikes(Fault::AnswersLate, 4) {
            self.rng.between(20_000, 200_000)
        } else {
            self.rng.between(20, 2_000)
        };
        self.agenda.at(self.now.plus_ms(takes), Happening::ExecutorActs { executor: n });
        if let Some(c) = self.coordinator.as_mut() {
            c.law.may_begin(&effect, &c.executors, self.now)?;
            let executor = Executor::new(n, effect);
            c.executors.insert(executor.key.clone(), executor);
        }
        Ok(())
    }

    /// Tells the executor to stop. It still ends in a report, with its real result when it is too late.
    pub fn cancel(&mut self, n: u64) {
        let (now, mute) = (self.now, self.planted == Some(Planted::CancelledNeverReported));
        let Some(executor) = self.executor_mut(n) else { return };
        executor.cancelled_at = Some(now);
        let (acted, effect) = (executor.acted, executor.effect.clone());
        self.trace.note(now, || format!("executor {n} is told to stop {effect:?}"));
        if mute {
            return;
        }
        match effect {
            Effect::Work { run, .. }
            | Effect::Verify { run, .. }
            | Effect::Review { run, .. }
            | Effect::Probe { run, .. }
                if acted =>
            {
                self.hit(Fault::AnswersAfterCancel);
                self.end_daemon(&run, 10_000);
            }
            Effect::Watch { .. } | Effect::WatchTrunk { .. } => self.gives_up(n),
            _ if acted => self.hit(Fault::AnswersAfterCancel),
            _ => self.gives_up(n),
        }
    }

    fn gives_up(&mut self, n: u64) {
        let takes = self.rng.between(5, 3_000);
        if let Some(executor) = self.executor_mut(n) {
            executor.acted = true;
            executor.report = Some(executor.gives_up());
            self.agenda.at(self.now.plus_ms(takes), Happening::ExecutorEnds { executor: n });
        }
    }

    pub fn executor_acts(&mut self, n: u64) -> Result<(), Broken> {
        let Some(epoch) = self.coordinator.as_ref().map(|c| c.epoch) else { return Ok(()) };
        let Some(executor) = self.speaking_executor(n).filter(|executor| !executor.acted) else {
            return Ok(());
        };
        executor.acted = true;
        let executor = executor.clone();
        let deed = self.deed(&executor, epoch)?;
        if let Deed::Done(report) = deed {
            self.trace.note(self.now, || format!("executor {n} has done its deed: {report:?}"));
            let takes = self.rng.between(1, 500);
            if let Some(executor) = self.executor_mut(n) {
                executor.report = Some(report);
            }
            self.agenda.at(self.now.plus_ms(takes), Happening::ExecutorEnds { executor: n });
        }
        if self.armed == Some(Seam::AfterEffect) {
            return self.kill(Seam::AfterEffect);
        }
        Ok(())
    }

    /// The executor's last word reaches the coordinator.
    pub fn executor_ends(&mut self, n: u64) -> Result<(), Broken> {
        let Some(executor) = self.speaking_executor(n).filter(|executor| !executor.reported) else {
            return Ok(());
        };
        let Some(report) = executor.report.clone() else { return Ok(()) };
        executor.reported = true;
        let key = executor.key.clone();
        self.believe(report, vec![Leaving::ExecutorDone { key }])
    }

    /// A daemon's frame reaches the coordinator.
    pub fn frame(&mut self, n: u64, frame: u64) -> Result<(), Broken> {
        let Some(executor) = self.speaking_executor(n) else { return Ok(()) };
        let (key, reported) = (executor.key.clone(), executor.reported);
        let (Key::Work(run) | Key::Verify(run) | Key::Review(run) | Key::Probe(run)) = key.clone() else {
            return Ok(());
        };
        let Some(daemon) = self.daemons.get(&run) else { return Ok(()) };
        let Some((_, report)) = daemon.frames.iter().find(|(number, _)| *number == frame).cloned() else {
            return Ok(());
        };
        let hello = matches!(report, Report::Spawned { .. });
        if !hello && daemon.acknowledged.contains(&report) {
            let text = format!("{run}: {report:?}");
            return Err(broken("what was acknowledged is not sent again", text));
        }
        let mut then = vec![Leaving::Ack { run, n: frame }];
        if super::agent::is_last_word(&report) && !reported {
            if let Some(executor) = self.executor_mut(n) {
                executor.reported = true;
            }
            then.push(Leaving::ExecutorDone { key });
        }
        self.believe(report, then)
    }

    fn believe(&mut self, report: Report, then: Vec<Leaving>) -> Result<(), Broken> {
        if let Report::WorkEnded { run, how: Ended::Orphaned { .. } } = &report
            && self.daemons.get(run).is_some_and(|daemon| daemon.alive)
        {
            return Err(broken("only what has no living owner is an orphan", run.to_string()));
        }
        self.remember(&report);
        self.take_in(Input::Report(report), then)
    }
}
