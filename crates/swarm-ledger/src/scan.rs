//! The walk along the chain, over the ledger and its second copy at once.
//!
//! Both files hold the same bytes at the same places. So where the ledger's line is bad, the line
//! of the copy at that offset is asked; if it is whole and fits the chain it stands in, and the
//! range is noted as a patch. The walk ends at the last batch that is complete.

use crate::batch::Head;
use crate::finding::{Finding, Mark, Witness};
use crate::frame::{Line, parse_line};
use crate::genesis::Genesis;
use crate::hash::Hash;
use crate::planted::{self, Bug};
use crate::recover::Base;
use crate::source::Source;

/// A range whose good bytes are in the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patch {
    pub offset: u64,
    pub len: u64,
    pub first_seq: u64,
    pub last_seq: u64,
}

/// What the walk has proven.
pub struct Walk {
    /// The last record of the last complete batch; none if not even the first batch is.
    pub head: Option<Head>,
    pub genesis: Option<Genesis>,
    pub epoch: u64,
    pub patches: Vec<Patch>,
    pub findings: Vec<Finding>,
    /// Where the first record lies that is not proven durable by a later one's `synced`.
    pub unproven_from: u64,
}

pub struct Walker<'a> {
    pub main: Option<&'a mut Source>,
    pub copy: Option<&'a mut Source>,
    pub witnesses: &'a [Witness],
}

/// A line of the batch being walked.
#[derive(Clone, Copy)]
struct Step {
    seq: u64,
    hash: Hash,
    batch: u64,
    epoch: u64,
    synced: u64,
    offset: u64,
    len: u64,
    from_copy: bool,
}

impl Walker<'_> {
    /// Whether `base` is a record of this ledger that ends a batch, so that a walk may start behind
    /// it; with its epoch. Both come from one reading: a second one could fail and give epoch 0.
    pub fn accepts(&mut self, base: &Base) -> Option<(Head, u64)> {
        let line = self.main.as_deref_mut()?.line_at(base.offset, base.offset)?;
        let fits = line.seq == base.seq && line.hash == base.hash && line.ends_batch();
        let end = base.offset + line.bytes.len() as u64;
        fits.then_some((Head { seq: base.seq, hash: base.hash, offset: base.offset, end }, line.epoch))
    }

    /// Walks from behind `base`, or from the first record, and shows every line of complete batches.
    pub fn walk(&mut self, base: Option<&(Head, u64)>, visit: &mut dyn FnMut(&Line<'_>)) -> Walk {
        let genesis = self.genesis();
        let mut walk = Walk {
            head: base.map(|(head, _)| *head),
            epoch: base.map_or(0, |(_, epoch)| *epoch),
            patches: Vec::new(),
            findings: Vec::new(),
            unproven_from: base.map_or(0, |(head, _)| head.end),
            genesis,
        };
        // Behind a base that lies on the ledger the chain holds without its first record.
        let (mut before, mut end) = match (base, &walk.genesis) {
            (Some((base, _)), _) => (Mark { seq: base.seq, hash: base.hash }, base.end),
            (None, Some(genesis)) => (Mark { seq: 0, hash: genesis.root() }, 0),
            (None, None) => return walk,
        };
        // Starts of records not yet known durable; short, because each group names the one before.
        let mut unproven: std::collections::VecDeque<(u64, u64)> = Default::default();
        let mut batch = Vec::new();
        while self.next_batch(end, before, &mut batch, visit) {
            let last = *batch.last().expect("a batch has a record");
            before = Mark { seq: last.seq, hash: last.hash };
            end = last.offset + last.len;
            walk.head = Some(Head { seq: last.seq, hash: last.hash, offset: last.offset, end });
            for step in &batch {
                walk.note(step, self.witnesses);
                unproven.push_back((step.seq, step.offset));
            }
            while unproven.front().is_some_and(|(seq, _)| *seq <= last.synced) {
                unproven.pop_front();
            }
            if batch.len() > 1 {
                self.show(&batch, visit);
            }
        }
        walk.unproven_from = unproven.front().map_or(end, |(_, offset)| *offset);
        walk
    }

    /// The first record names the ledger; the copy is asked where the ledger cannot say.
    pub fn genesis(&mut self) -> Option<Genesis> {
        [self.main.as_deref_mut(), self.copy.as_deref_mut()].into_iter().flatten().find_map(genesis_of)
    }

    /// Puts the next complete batch into `batch`; false if there is none: half a batch was never
    /// answered. A batch of one record, the common case, is shown at once and parsed only once.
    fn next_batch(
        &mut self,
        start: u64,
        mut before: Mark,
        batch: &mut Vec<Step>,
        visit: &mut dyn FnMut(&Line<'_>),
    ) -> bool {
        batch.clear();
        let mut offset = start;
        loop {
            let wanted = batch.last().map(|step| step.batch);
            let fits = |line: &Line<'_>| {
                line.seq == before.seq + 1
                    && line.prev == before.hash
                    && line.synced < line.seq
                    && wanted.map_or(line.batch >= line.seq, |batch| line.batch == batch)
            };
            let sources = [(self.main.as_deref_mut(), false), (self.copy.as_deref_mut(), true)];
            let found = sources.into_iter().find_map(|(source, from_copy)| {
                let line = source?.line_at(start, offset).filter(fits)?;
                if wanted.is_none() && line.ends_batch() {
                    visit(&line);
                }
                Some(Step::of(&line, offset, from_copy))
            });
            let Some(step) = found else {
                return planted::is(Bug::HalfABatchKept) && !batch.is_empty();
            };
            before = Mark { seq: step.seq, hash: step.hash };
            offset += step.len;
            batch.push(step);
            if step.seq == step.batch {
                return true;
            }
        }
    }

    fn show(&mut self, batch: &[Step], visit: &mut dyn FnMut(&Line<'_>)) {
        let start = batch[0].offset;
        for step in batch {
            let source = if step.from_copy { self.copy.as_deref_mut() } else { self.main.as_deref_mut() };
            let bytes = source.and_then(|source| source.framed(start, step.offset));
            if let Some(Ok(line)) = bytes.map(parse_line) {
                visit(&line);
            }
        }
    }
}

impl Walk {
    fn note(&mut self, step: &Step, witnesses: &[Witness]) {
        if step.epoch < self.epoch {
            self.findings.push(Finding::EpochFell { seq: step.seq });
        }
        self.epoch = self.epoch.max(step.epoch);
        for witness in witnesses.iter().filter(|w| w.seq == step.seq) {
            if witness.hash.is_some_and(|hash| hash != step.hash) {
                self.findings.push(Finding::WitnessDisagrees { witness: witness.clone(), here: step.hash });
            }
        }
        if !step.from_copy {
            return;
        }
        match self.patches.last_mut() {
            Some(patch) if patch.offset + patch.len == step.offset => {
                patch.len += step.len;
                patch.last_seq = step.seq;
            }
            _ => self.patches.push(Patch {
                offset: step.offset,
                len: step.len,
                first_seq: step.seq,
                last_seq: step.seq,
            }),
        }
    }
}

/// The genesis in a file's first line, if that line is whole.
pub fn genesis_of(source: &mut Source) -> Option<Genesis> {
    let line = source.line_at(0, 0)?;
    let genesis = Genesis::from_body(line.body)?;
    (line.seq == 1 && line.prev == genesis.root()).then_some(genesis)
}

impl Step {
    fn of(line: &Line<'_>, offset: u64, from_copy: bool) -> Self {
        Self {
            seq: line.seq,
            hash: line.hash,
            batch: line.batch,
            epoch: line.epoch,
            synced: line.synced,
            offset,
            len: line.bytes.len() as u64,
            from_copy,
        }
    }
}
