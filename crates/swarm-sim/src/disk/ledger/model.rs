//! What must be true: the batches that were answered, and those that may or may not be there.

use std::sync::Arc;

use crate::disk::ledger::stranger::Record;

/// The bodies of one batch.
pub type Bodies = Arc<[String]>;

#[derive(Default)]
pub struct Model {
    /// Answered, or shown by a recovery: must never be gone.
    owed: Vec<Bodies>,
    /// Groups that were tried behind the last answered one and failed: any beginning of one of them
    /// may be on the disk, in whole batches.
    tried: Vec<Vec<Bodies>>,
    /// Highest epoch that was answered.
    pub epoch: u64,
    /// Seq of the last owed record.
    pub last_seq: u64,
}

/// How a recovery differs from what was owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// All that was owed is there, and perhaps some of what was tried.
    Kept,
    /// The last batches are gone. Right only when damage was done and the loss was reported.
    Shortened { batches: usize },
}

impl Model {
    pub fn batches(&self) -> usize {
        self.owed.len()
    }

    pub fn answered(&mut self, batch: Bodies) {
        self.last_seq += batch.len() as u64;
        self.owed.push(batch);
        self.tried.clear();
    }

    pub fn failed(&mut self, group: Vec<Bodies>) {
        self.tried.push(group);
    }

    /// The writer has cut back and said that it can go on: what failed must not come back.
    pub fn cut_back(&mut self) {
        self.tried.clear();
    }

    /// Judges what a recovery brought, and goes on from it.
    pub fn recovered(&mut self, records: &[Record]) -> Result<Verdict, String> {
        let found = in_batches(records)?;
        let shared = self.owed.iter().zip(&found).take_while(|(owed, found)| owed == found).count();
        if shared < self.owed.len() && shared < found.len() {
            return Err(format!(
                "batch {shared} was owed as {:?}, found as {:?}",
                self.owed[shared], found[shared]
            ));
        }
        if shared < self.owed.len() {
            let batches = self.owed.len() - shared;
            self.go_on_from(found);
            return Ok(Verdict::Shortened { batches });
        }
        let extra = &found[shared..];
        if !extra.is_empty() && !self.tried.iter().any(|group| group.starts_with(extra)) {
            return Err(format!("nobody wrote these batches in this order: {extra:?}"));
        }
        self.go_on_from(found);
        Ok(Verdict::Kept)
    }

    fn go_on_from(&mut self, found: Vec<Bodies>) {
        self.last_seq = found.iter().map(|batch| batch.len() as u64).sum();
        self.owed = found;
        self.tried.clear();
    }
}

fn in_batches(records: &[Record]) -> Result<Vec<Bodies>, String> {
    let mut batches = Vec::new();
    let mut rest = records;
    while let Some(first) = rest.first() {
        let count = usize::try_from(first.batch - first.seq + 1).expect("a batch fits memory");
        let Some(batch) = rest.get(..count) else {
            return Err(format!(
                "half a batch: records {} to {} of {}",
                first.seq,
                records.len(),
                first.batch
            ));
        };
        if let Some(other) = batch.iter().find(|record| record.batch != first.batch) {
            return Err(format!(
                "record {} says batch {}, its neighbours {}",
                other.seq, other.batch, first.batch
            ));
        }
        if let Some(fell) = batch.iter().find(|record| record.synced >= first.seq) {
            return Err(format!("record {} claims that its own batch was durable", fell.seq));
        }
        batches.push(batch.iter().map(|record| record.body.clone()).collect());
        rest = &rest[count..];
    }
    if let Some(pair) = records.windows(2).find(|pair| pair[1].epoch < pair[0].epoch) {
        return Err(format!("record {} has an older epoch than the one before it", pair[1].seq));
    }
    Ok(batches)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(seq: u64, batch: u64) -> Record {
        Record { seq, batch, synced: 0, epoch: 1, body: format!("\"n\":{seq}") }
    }

    fn bodies(seqs: std::ops::RangeInclusive<u64>) -> Bodies {
        seqs.map(|seq| format!("\"n\":{seq}")).collect()
    }

    fn check(answered: &[Bodies], tried: &[Bodies], found: &[Record], expected: &str) {
        let mut model = Model::default();
        answered.iter().for_each(|batch| model.answered(batch.clone()));
        model.failed(tried.to_vec());
        let verdict = match model.recovered(found) {
            Ok(Verdict::Kept) => "kept".to_owned(),
            Ok(Verdict::Shortened { batches }) => format!("{batches} short"),
            Err(why) => why,
        };
        assert!(verdict.starts_with(expected), "{verdict}");
    }

    #[test]
    fn a_tried_batch_may_be_there_or_not_but_only_whole_and_in_order() {
        let answered = [bodies(1..=1), bodies(2..=3)];
        let tried = [bodies(4..=5), bodies(6..=6)];
        let three = [record(1, 1), record(2, 3), record(3, 3)];
        check(&answered, &tried, &three, "kept");
        let five = [&three[..], &[record(4, 5), record(5, 5)]].concat();
        check(&answered, &tried, &five, "kept");
        check(&answered, &tried, &five[..4], "half a batch");
        let wrong = [&three[..], &[Record { body: "\"n\":6".into(), ..record(4, 4) }]].concat();
        check(&answered, &tried, &wrong, "nobody wrote");
        check(&answered, &tried, &three[..1], "1 short");
    }
}
