//! Agents that run into something with a recovery of its own: used-up quota, circles, a full context,
//! the sandbox; probes, prompts, disks that fill, and words of foreign runs.

use swarm_core::input::{Input, Report};
use swarm_protocol::command::Command;
use swarm_protocol::event::Event;
use swarm_protocol::failure::{Failure, FailureClass};
use swarm_protocol::ids::RunId;
use swarm_protocol::outcome::{Ended, Next, PauseReason};
use swarm_protocol::plan::BlockKind;
use swarm_protocol::time::Timestamp;

use super::agenda::Happening;
use super::fault::Fault;
use super::oracle::Broken;
use super::story::Story;

impl Story {
    /// A failure that is not the work's fault, if one strikes.
    pub fn recoverable(&mut self, run: &RunId, iteration: u32) -> Option<Failure> {
        if let Some(failure) = self.weather_now() {
            return Some(failure);
        }
        let text = || "in so many words".to_string();
        let group = self.daemons.get(run).map(|daemon| daemon.group.clone()).unwrap_or_default();
        if self.strikes(Fault::QuotaUsedUp, 4) {
            let until = self.now.plus_secs(self.rng.between(10, 600));
            self.truth.used_up.insert(group.clone(), until);
        }
        let late = self.began_before_its_gate_opened(run, &group) && !self.calm;
        if let Some(until) = self.truth.is_used_up(&group, self.now) {
            if late {
                self.hit(Fault::QuotaLate);
            }
            return Some(self.used_up(until));
        }
        if late && self.rng.chance(60) {
            self.hit(Fault::QuotaLate);
            return Some(Failure::new(FailureClass::Quota, "said before it was back"));
        }
        if self.strikes(Fault::ToolLoop, 5) {
            let said = format!("the same call 5 times in iteration {iteration}");
            self.say(run, Report::Noted { run: run.clone(), text: said });
            return Some(Failure::new(FailureClass::Looping, text()));
        }
        for (fault, class) in
            [(Fault::ContextFull, FailureClass::Overflow), (Fault::Denied, FailureClass::Denied)]
        {
            if self.strikes(fault, 4) {
                return Some(Failure::new(class, text()));
            }
        }
        None
    }

    fn began_before_its_gate_opened(&self, run: &RunId, group: &str) -> bool {
        let Some(state) = self.coordinator.as_ref().map(|c| &c.state) else { return false };
        let opened_after = state.quotas.get(group).map_or(0, |gate| gate.opened_after);
        state.current_run(run).is_some_and(|record| record.nth <= opened_after)
    }

    /// What the prompt of the iteration knows: all that is durable.
    pub fn prompt(&mut self, run: &RunId) {
        let durable = self.log.state();
        let Some(daemon) = self.daemons.get_mut(run) else { return };
        daemon.known = durable.seq;
        let waiting = durable.task(&daemon.task).map(|t| t.messages.iter().filter(|m| m.waits()));
        let told = self.truth.told.entry(run.clone()).or_default();
        told.extend(waiting.into_iter().flatten().map(|m| m.id.clone()));
    }

    pub fn probe_ends(&mut self, run: &RunId, group: &str) {
        if self.strikes(Fault::ProbeLost, 35) {
            if let Some(daemon) = self.daemons.get_mut(run) {
                daemon.vanishes();
            }
            return self.daemon_found_dead(run);
        }
        let used_up = self.truth.is_used_up(group, self.now).map(|until| self.used_up(until));
        let failure = self.weather_now().or(used_up);
        self.says_verdict(run);
        self.say(run, Report::Probed { run: run.clone(), failure });
    }

    fn used_up(&mut self, until: Timestamp) -> Failure {
        let mut failure = Failure::new(FailureClass::Quota, "used up");
        failure.resets_in_secs = self.rng.chance(50).then(|| until.secs_since(self.now) + 1);
        failure
    }

    /// The disk fills up or is freed, and somebody else's daemon speaks.
    pub fn world_changes(&mut self) -> Result<(), Broken> {
        let low = self.coordinator.as_ref().map(|c| c.state.paused.contains_key(&PauseReason::Disk));
        if low == Some(true) && self.rng.chance(60) {
            self.take_in(Input::Report(Report::Disk { low: false, why: "2 GiB left".into() }), vec![])?;
        } else if self.strikes(Fault::DiskLow, 5) {
            self.take_in(Input::Report(Report::Disk { low: true, why: "900 MiB left".into() }), vec![])?;
        }
        if self.strikes(Fault::ForeignReport, 6) {
            let (run, text) = (RunId::nth(900_000 + self.rng.below(9)), "of another ledger".to_string());
            let how = Ended::Orphaned { text: text.clone() };
            let reports = [
                Report::WorkEnded { run: run.clone(), how },
                Report::Noted { run: run.clone(), text },
                Report::Probed { run, failure: None },
            ];
            let report = self.rng.pick(&reports).clone();
            self.take_in(Input::Report(report), vec![])?;
        }
        Ok(())
    }

    /// What a decision was about, for the table.
    pub fn notice(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::AgentStopped { next: Next::Blocked { block: BlockKind::Budget, .. }, .. }
                | Event::TaskStatusChanged { block: Some(BlockKind::Budget), .. }
                | Event::Paused { reason: PauseReason::Budget, .. } => self.hit(Fault::BudgetSpent),
                // A person who knows better opens the gate while others still work on what was left.
                Event::QuotaExhausted { group, .. } if !self.calm && self.rng.chance(40) => {
                    let wish = self.people.wish(Command::OpenQuota { group: group.clone() });
                    let later = self.now.plus_ms(self.rng.between(1, 20_000));
                    self.agenda.at(later, Happening::Asked { wish: Box::new(wish) });
                }
                Event::MessageQueued { .. } => self.hit(Fault::MessageSent),
                Event::TaskSplit { .. } => self.hit(Fault::TaskSplit),
                _ => {}
            }
        }
    }
}
