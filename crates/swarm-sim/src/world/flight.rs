//! Hands in flight: started, told to stop, heard.

use swarm_core::effect::{Effect, Key};
use swarm_core::input::{Input, Report};
use swarm_protocol::outcome::Ended;

use super::agenda::Happening;
use super::coordinator::Leaving;
use super::fault::{Fault, Seam};
use super::hand::{Deed, Hand};
use super::oracle::{Broken, broken};
use super::planted::Planted;
use super::story::Story;

impl Story {
    pub fn hand_mut(&mut self, n: u64) -> Option<&mut Hand> {
        self.coordinator.as_mut()?.hand(n)
    }

    /// The hand, unless a planted bug made it fall silent when it was told to stop.
    fn speaking_hand(&mut self, n: u64) -> Option<&mut Hand> {
        let mute = self.planted == Some(Planted::CancelledNeverReported);
        self.hand_mut(n).filter(|hand| !mute || hand.cancelled_at.is_none())
    }

    pub fn start(&mut self, effect: Effect) -> Result<(), Broken> {
        self.hands_ever += 1;
        let n = self.hands_ever;
        self.trace.note(self.now, || format!("hand {n} starts {effect:?}"));
        self.trace.bytes(effect.verb().as_bytes());
        let takes = if self.strikes(Fault::AnswersLate, 4) {
            self.rng.between(20_000, 200_000)
        } else {
            self.rng.between(20, 2_000)
        };
        self.agenda.at(self.now.plus_ms(takes), Happening::HandActs { hand: n });
        if let Some(c) = self.coordinator.as_mut() {
            c.law.may_begin(&effect, &c.hands, self.now)?;
            let hand = Hand::new(n, effect);
            c.hands.insert(hand.key.clone(), hand);
        }
        Ok(())
    }

    /// Tells the hand to stop. It still ends in a report, with its real result when it is too late.
    pub fn cancel(&mut self, n: u64) {
        let (now, mute) = (self.now, self.planted == Some(Planted::CancelledNeverReported));
        let Some(hand) = self.hand_mut(n) else { return };
        hand.cancelled_at = Some(now);
        let (acted, effect) = (hand.acted, hand.effect.clone());
        self.trace.note(now, || format!("hand {n} is told to stop {effect:?}"));
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
        if let Some(hand) = self.hand_mut(n) {
            hand.acted = true;
            hand.report = Some(hand.gives_up());
            self.agenda.at(self.now.plus_ms(takes), Happening::HandEnds { hand: n });
        }
    }

    pub fn hand_acts(&mut self, n: u64) -> Result<(), Broken> {
        let Some(epoch) = self.coordinator.as_ref().map(|c| c.epoch) else { return Ok(()) };
        let Some(hand) = self.speaking_hand(n).filter(|hand| !hand.acted) else { return Ok(()) };
        hand.acted = true;
        let hand = hand.clone();
        let deed = self.deed(&hand, epoch)?;
        if let Deed::Done(report) = deed {
            self.trace.note(self.now, || format!("hand {n} has done its deed: {report:?}"));
            let takes = self.rng.between(1, 500);
            if let Some(hand) = self.hand_mut(n) {
                hand.report = Some(report);
            }
            self.agenda.at(self.now.plus_ms(takes), Happening::HandEnds { hand: n });
        }
        if self.armed == Some(Seam::AfterEffect) {
            return self.kill(Seam::AfterEffect);
        }
        Ok(())
    }

    /// The hand's last word reaches the coordinator.
    pub fn hand_ends(&mut self, n: u64) -> Result<(), Broken> {
        let Some(hand) = self.speaking_hand(n).filter(|hand| !hand.reported) else { return Ok(()) };
        let Some(report) = hand.report.clone() else { return Ok(()) };
        hand.reported = true;
        let key = hand.key.clone();
        self.believe(report, vec![Leaving::HandDone { key }])
    }

    /// A daemon's frame reaches the coordinator.
    pub fn frame(&mut self, n: u64, frame: u64) -> Result<(), Broken> {
        let Some(hand) = self.speaking_hand(n) else { return Ok(()) };
        let (key, reported) = (hand.key.clone(), hand.reported);
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
            if let Some(hand) = self.hand_mut(n) {
                hand.reported = true;
            }
            then.push(Leaving::HandDone { key });
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
