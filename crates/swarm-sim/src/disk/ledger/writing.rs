//! The scripted writer: groups of batches, one commit each, and every answer noted.

use std::sync::{Arc, Mutex};

use swarm_ledger::{AppendError, Assigned, Committed, LedgerWriter};

use crate::disk::ledger::model::Bodies;
use crate::disk::ledger::opening::Opened;
use crate::disk::ledger::run::Run;

/// Operations within which a fault strikes the writer.
const WITHIN: u64 = 40;

type Answers = Arc<Mutex<Vec<(usize, Result<Committed, AppendError>)>>>;

/// How a step of the script left the writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    Fine,
    OutOfRoom,
    Ended,
}

impl Run {
    pub fn write(&mut self, opened: Opened) -> Result<(), String> {
        let Opened { fs, mut writer, epoch } = opened;
        let epoch = if self.rng.chance(50) { epoch + 1 } else { epoch };
        for _ in 0..self.rng.below(3) {
            self.arm_some(WITHIN);
        }
        let mut state = Writer::Fine;
        for _ in 0..self.rng.between(2, 10) {
            if !self.machine.is_alive(&fs) {
                break;
            }
            match (state, self.rng.below(100)) {
                (Writer::Ended, _) => {
                    self.nothing_is_answered_any_more(&mut writer, epoch)?;
                    break;
                }
                (Writer::OutOfRoom, 0..50) => state = self.resume(&mut writer),
                (_, 0..4) => self.machine.sync_all(),
                (_, 4..8) => self.stale_epoch_is_refused(&mut writer, epoch)?,
                (_, 8..12) => self.fill_the_disk(),
                (_, 12..14) => drop(writer.check_path()),
                (Writer::OutOfRoom, _) => state = self.commit_group(&mut writer, epoch, true)?,
                (Writer::Fine, _) => state = self.commit_group(&mut writer, epoch, false)?,
            }
        }
        Ok(())
    }

    fn commit_group(
        &mut self,
        writer: &mut LedgerWriter,
        epoch: u64,
        emergency: bool,
    ) -> Result<Writer, String> {
        let answers: Answers = Answers::default();
        let mut group: Vec<(Bodies, Assigned)> = Vec::new();
        let mut next_seq = self.model.last_seq + 1;
        for place in 0..usize::try_from(self.rng.between(1, 3)).expect("small") {
            let (bodies, mut batch) = self.make_batch(epoch);
            batch.emergency = emergency;
            let noted = answers.clone();
            let done = Box::new(move |answer| noted.lock().expect("one thread").push((place, answer)));
            let Ok(assigned) = writer.submit(batch, done) else { break };
            if assigned.first_seq != next_seq {
                return Err(format!("seq {} was given out, {next_seq} is next", assigned.first_seq));
            }
            next_seq = assigned.last_seq + 1;
            group.push((bodies, assigned));
        }
        let done = writer.commit();
        self.take_answers(group, &answers)?;
        self.machine.mix_into_trace(&self.model.last_seq.to_le_bytes());
        Ok(match done {
            Ok(()) => Writer::Fine,
            Err(AppendError::NoRoom(_)) => {
                self.tally.count("writer: out of room");
                Writer::OutOfRoom
            }
            Err(_) => {
                self.tally.count("writer: ended by an error");
                Writer::Ended
            }
        })
    }

    /// Every batch gets one answer, in order; what was answered is owed from now on.
    fn take_answers(&mut self, group: Vec<(Bodies, Assigned)>, answers: &Answers) -> Result<(), String> {
        let answers = std::mem::take(&mut *answers.lock().expect("one thread"));
        if answers.len() != group.len() || answers.iter().enumerate().any(|(at, (place, _))| at != *place) {
            return Err(format!("{} batches got {} answers, or out of order", group.len(), answers.len()));
        }
        let mut failed = Vec::new();
        for ((bodies, assigned), (_, answer)) in group.into_iter().zip(answers) {
            match answer {
                Ok(committed) if !failed.is_empty() => {
                    return Err(format!("batch {} was answered behind one that failed", committed.first_seq));
                }
                Ok(committed) => {
                    if (committed.first_seq, committed.last_seq) != (assigned.first_seq, assigned.last_seq) {
                        return Err(format!(
                            "batch {} was answered as {}",
                            assigned.first_seq, committed.first_seq
                        ));
                    }
                    self.head = Some(committed.head);
                    self.model.answered(bodies);
                    self.tally.count("batches answered");
                }
                Err(_) => failed.push(bodies),
            }
        }
        if !failed.is_empty() {
            self.model.failed(failed);
        }
        Ok(())
    }

    fn nothing_is_answered_any_more(&mut self, writer: &mut LedgerWriter, epoch: u64) -> Result<(), String> {
        let owed = self.model.batches();
        for _ in 0..self.rng.between(1, 3) {
            self.machine.calm();
            if self.commit_group(writer, epoch, self.model.last_seq.is_multiple_of(2))? == Writer::Fine
                && self.model.batches() > owed
            {
                return Err("a writer that had failed answered again".into());
            }
            if writer.resume().is_ok() {
                return Err("a writer that had failed came back".into());
            }
        }
        Ok(())
    }

    fn stale_epoch_is_refused(&mut self, writer: &mut LedgerWriter, epoch: u64) -> Result<(), String> {
        if writer.epoch() < epoch || epoch < 2 {
            return Ok(());
        }
        let (_, batch) = self.make_batch(epoch - 1);
        match writer.submit(batch, Box::new(|_| {})) {
            Ok(_) => Err(format!("a batch of epoch {} was taken in epoch {epoch}", epoch - 1)),
            Err(_) => {
                self.tally.count("stale epoch refused");
                Ok(())
            }
        }
    }

    fn fill_the_disk(&mut self) {
        let left = self.rng.below(3 << 20);
        self.machine.set_room(Some(self.machine.used() + left));
        self.tally.count("the disk filled up");
    }

    fn resume(&mut self, writer: &mut LedgerWriter) -> Writer {
        if self.rng.chance(70) {
            self.machine.calm();
        }
        match writer.resume() {
            Ok(swarm_ledger::Room::Plenty) => {
                self.tally.count("writer: went on when there was room");
                self.model.cut_back();
                Writer::Fine
            }
            Ok(_) => {
                self.model.cut_back();
                Writer::OutOfRoom
            }
            Err(error) if error.is_final() => Writer::Ended,
            Err(_) => Writer::OutOfRoom,
        }
    }
}
