//! What lies behind the last complete batch, and whether it proves that records are missing.
//!
//! A torn tail was never answered and may be cut. Damage took records that had been durable. The
//! two look alike; proof of damage is a later record whose `synced` is above the last good seq, or
//! anybody else who knows more than the last good seq.

use crate::finding::{Loss, Mark, Witness};
use crate::note::LossNote;
use crate::source::Source;

pub struct Behind {
    /// Bytes of the ledger file behind the last good record.
    pub bytes: u64,
    pub next_valid: Option<Mark>,
    pub last_valid: Option<Mark>,
    /// The highest seq that is proven to have been durable, and by whom.
    pub proof: Option<(u64, String)>,
}

impl Behind {
    /// Looks behind `good`, which ends at `end`.
    pub fn look(
        good: Mark,
        end: u64,
        main: Option<&mut Source>,
        copy: Option<&mut Source>,
        witnesses: &[Witness],
        notes: &[LossNote],
    ) -> Self {
        let mut behind = Self {
            bytes: main.as_ref().map_or(0, |m| m.len().saturating_sub(end)),
            next_valid: None,
            last_valid: None,
            proof: None,
        };
        if let Some(main) = main {
            behind.search(main, end, good.seq, |seq_synced| seq_synced.1, "a later record of the ledger");
        }
        if let Some(copy) = copy {
            // The copy holds only what was durable: any later record in it is proof.
            behind.search(copy, end, good.seq, |seq_synced| seq_synced.0, "the second copy");
        }
        for witness in witnesses.iter().filter(|w| !notes.iter().any(|note| note.answers(w))) {
            behind.known(witness.seq, good.seq, &witness.source);
        }
        behind
    }

    /// The loss this proves, for the finding.
    pub fn loss(&self, last_good: Mark) -> Option<Loss> {
        let (known_seq, known_by) = self.proof.clone()?;
        Some(Loss {
            last_good,
            next_valid: self.next_valid,
            last_valid: self.last_valid,
            known_seq,
            known_by,
            bytes: self.bytes,
            quarantine: Vec::new(),
            quarantine_hash: None,
        })
    }

    fn search(
        &mut self,
        source: &mut Source,
        end: u64,
        good: u64,
        proves: impl Fn((u64, u64)) -> u64,
        who: &str,
    ) {
        let mut offset = end;
        while let Some((start, line)) = source.next_valid(offset) {
            offset = start + line.bytes.len() as u64;
            if line.seq <= good {
                continue;
            }
            let mark = Mark { seq: line.seq, hash: line.hash };
            self.next_valid.get_or_insert(mark);
            if self.last_valid.is_none_or(|last| last.seq < mark.seq) {
                self.last_valid = Some(mark);
            }
            let proven = proves((line.seq, line.synced));
            self.known(proven, good, who);
        }
    }

    fn known(&mut self, seq: u64, good: u64, who: &str) {
        if seq > good && self.proof.as_ref().is_none_or(|(known, _)| *known < seq) {
            self.proof = Some((seq, who.to_owned()));
        }
    }
}
