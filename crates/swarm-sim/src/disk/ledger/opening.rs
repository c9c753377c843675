//! Opening the ledger after whatever happened, and judging what came out.

mod found;

use std::sync::Arc;

use swarm_ledger::{
    Access, Base, Finding, LedgerWriter, OnDamage, OpenError, Recovered, Recovery, Vfs, create, recover,
};

use crate::disk::ledger::model::Verdict;
use crate::disk::ledger::rot::Expectation;
use crate::disk::ledger::run::Run;
use crate::disk::ledger::stranger::{self, Record};
use crate::disk::sim_fs::SimFs;
use found::{differing, holds, is_quarantine, name_of};

/// Openings that may be struck by faults, one after the other.
const HOSTILE_TRIES: u64 = 4;
/// Openings in all: without faults it must not take many.
const TRIES_MAX: u64 = 12;
/// Operations within which a fault strikes an opening.
const WITHIN: u64 = 60;

pub(super) struct Opened {
    pub fs: SimFs,
    pub writer: LedgerWriter,
    pub epoch: u64,
}

/// What an opening brought, before it is judged.
struct Brought {
    recovered: Recovered,
    shown: Vec<Record>,
    findings: Vec<Finding>,
    /// A file could not be read meanwhile; a note in it was not heard.
    unreadable: bool,
}

/// The ledger file before an opening.
struct Before {
    seen: Vec<u8>,
    device: Vec<u8>,
    forgot: u64,
}

impl Run {
    /// Opens the ledger, through crashes. None where the damage was too great and was said loudly.
    pub fn open(&mut self, hostile: bool) -> Result<Option<Opened>, String> {
        let mut before: Vec<Before> = Vec::new();
        let reads_failed = self.machine.reads_failed();
        for attempt in 0..TRIES_MAX {
            self.machine.calm();
            if hostile && attempt < HOSTILE_TRIES && self.rng.chance(45) {
                self.arm_some(WITHIN);
            }
            before.extend(self.look());
            let fs = self.machine.process();
            match self.try_open(&fs) {
                Ok((writer, mut brought)) => {
                    let epoch = brought.recovered.epoch;
                    let settled =
                        !brought.findings.iter().any(|finding| matches!(finding, Finding::CopyFailed { .. }));
                    brought.unreadable = self.machine.reads_failed() != reads_failed;
                    if brought.unreadable {
                        // What the device would not read cannot be kept.
                        before.clear();
                    }
                    self.judge(&fs, brought, &before)?;
                    drop(writer);
                    let writer = self.open_again(&fs, settled)?;
                    return Ok(writer.map(|writer| Opened { fs, writer, epoch }));
                }
                Err(error) => {
                    if matches!(error, OpenError::NoLedger(_)) {
                        // What lay there before had never been answered, and another is made.
                        before.clear();
                    }
                    if self.machine.is_alive(&fs) && !self.may_fail(&error, attempt)? {
                        return Ok(None);
                    }
                }
            }
            self.end_process();
        }
        Err(format!("the ledger did not open in {TRIES_MAX} tries"))
    }

    fn look(&self) -> Option<Before> {
        Some(Before {
            seen: self.machine.bytes(&self.paths.main)?,
            device: self.machine.device_bytes(&self.paths.main)?,
            forgot: self.machine.forgot(),
        })
    }

    fn try_open(&mut self, fs: &SimFs) -> Result<(LedgerWriter, Brought), OpenError> {
        let vfs: Arc<dyn Vfs> = Arc::new(fs.clone());
        let (witnesses, bases) = self.surroundings();
        let on_damage = if self.rng.chance(15) { OnDamage::Ask } else { OnDamage::Quarantine };
        let request = Recovery {
            vfs: &vfs,
            paths: &self.paths,
            witnesses: &witnesses,
            bases: &bases,
            on_damage,
            access: Access::Write,
        };
        let mut shown = Vec::new();
        let recovered = recover(&request, &mut |line| {
            shown.push(Record {
                seq: line.seq,
                batch: line.batch,
                synced: line.synced,
                epoch: line.epoch,
                body: String::from_utf8_lossy(line.body).into_owned(),
            });
        })?;
        let (writer, more) = LedgerWriter::open(&recovered)?;
        let findings = recovered.findings.iter().cloned().chain(more).collect();
        Ok((writer, Brought { recovered, shown, findings, unreadable: false }))
    }

    /// Where damage is afoot a snapshot always speaks up; a base would skip the damage, as it may.
    /// It may even come back after a repair whose sync failed, so a spoilt ledger is always walked.
    fn surroundings(&mut self) -> (Vec<swarm_ledger::Witness>, Vec<Base>) {
        let damaged = self.expectation == Expectation::Reported;
        let witness = self.witness().filter(|_| damaged || self.rng.chance(30));
        let base = self.head.filter(|_| !self.rotten && self.rng.chance(20));
        let bases = base.map(|head| Base { seq: head.seq, hash: head.hash, offset: head.offset });
        (witness.into_iter().collect(), bases.into_iter().collect())
    }

    /// Whether an opening may fail like this and be tried again; false ends the run in peace.
    fn may_fail(&mut self, error: &OpenError, attempt: u64) -> Result<bool, String> {
        let nothing_was_owed = self.model.batches() == 0;
        match error {
            OpenError::NoLedger(_) if nothing_was_owed => {
                self.make_ledger();
                Ok(true)
            }
            OpenError::NothingValid(_) | OpenError::Empty(_) | OpenError::Missing { .. }
                if self.expectation == Expectation::Reported =>
            {
                self.tally.count("refused loudly: nothing left to go on from");
                Ok(false)
            }
            OpenError::Unstable(_) => {
                self.tally.count("the device disagreed with the cache");
                Ok(true)
            }
            // A read that failed once looks like damage; who asked to be asked is asked.
            OpenError::ReadOnlyUntilSalvage(_)
                if self.expectation == Expectation::Reported || attempt < HOSTILE_TRIES =>
            {
                self.tally.count("damage was left for a person");
                Ok(true)
            }
            // Missing: the copy could not be opened this once.
            OpenError::Io { .. }
            | OpenError::SyncFailed { .. }
            | OpenError::ReadOnly { .. }
            | OpenError::Missing { .. }
                if attempt < HOSTILE_TRIES =>
            {
                Ok(true)
            }
            error => Err(format!("the ledger refuses to open: {error}")),
        }
    }

    /// Makes the ledger; dying in the middle leaves it whole or not there.
    fn make_ledger(&mut self) {
        let (bodies, batch) = self.first_batch();
        let vfs: Arc<dyn Vfs> = Arc::new(self.machine.process());
        if self.rng.chance(40) {
            self.arm_some(12);
        }
        match create(&vfs, &self.paths, &batch) {
            Ok(committed) => {
                self.head = Some(committed.head);
                self.model.answered(bodies);
            }
            Err(_) => self.model.failed(vec![bodies]),
        }
    }

    fn judge(&mut self, fs: &SimFs, brought: Brought, before: &[Before]) -> Result<(), String> {
        let Brought { recovered, shown, findings, unreadable } = brought;
        for finding in &findings {
            self.tally.count(name_of(finding));
        }
        // A process that died while it opened has shown records all the same.
        let records = if self.machine.is_alive(fs) {
            let file = self.machine.bytes(&self.paths.main).ok_or("the ledger opened and is not there")?;
            let records =
                stranger::read(&file).map_err(|why| format!("a stranger cannot verify the ledger: {why}"))?;
            let from = recovered.base.map_or(0, |base| base.seq);
            if !shown.iter().eq(records.iter().filter(|record| record.seq > from)) {
                return Err("the records shown are not the records in the file".into());
            }
            self.nothing_deleted(&file, before)?;
            records
        } else if recovered.base.is_none() {
            shown
        } else {
            return Ok(());
        };
        let epoch = records.iter().map(|record| record.epoch).max().unwrap_or(0);
        if recovered.epoch != epoch || recovered.head.seq != records.len() as u64 {
            return Err("the recovery misreports its head or its epoch".into());
        }
        if recovered.notes.len() < self.notes && !unreadable {
            return Err("the note of a loss is gone".into());
        }
        self.judge_loss(&recovered, &records, &findings)?;
        self.notes_unheard = unreadable;
        self.head = Some(recovered.head);
        self.model.epoch = epoch;
        Ok(())
    }

    fn judge_loss(
        &mut self,
        recovered: &Recovered,
        records: &[Record],
        findings: &[Finding],
    ) -> Result<(), String> {
        let verdict = self.model.recovered(records)?;
        let lost = findings.iter().any(|finding| matches!(finding, Finding::Loss(_)));
        let noted = recovered.notes.len() > self.notes;
        // A note that could not be read last time is heard now; that is no new loss.
        // Nor is a copy whose cut was lost with a failing sync, and which tells of an old loss again.
        let alarmed = (lost || (noted && !self.notes_unheard)) && !self.rotten;
        self.notes = self.notes.max(recovered.notes.len());
        let damaged =
            std::mem::replace(&mut self.expectation, Expectation::Lossless) == Expectation::Reported;
        let told = if verdict == Verdict::Kept { alarmed } else { lost || noted };
        match (verdict, told, damaged) {
            (Verdict::Kept, false, _) | (Verdict::Kept, true, true) => Ok(()),
            (Verdict::Shortened { .. }, true, true) => {
                self.tally.count("records lost to damage, and reported");
                Ok(())
            }
            (Verdict::Kept, true, false) => Err("a loss was reported though nothing was damaged".into()),
            (Verdict::Shortened { batches }, false, true) => {
                Err(format!("{batches} damaged batches went silently"))
            }
            (Verdict::Shortened { batches }, _, false) => {
                Err(format!("{batches} acknowledged batches are gone"))
            }
        }
    }

    /// Bytes that are no longer in the ledger are in a quarantine file.
    fn nothing_deleted(&mut self, now: &[u8], before: &[Before]) -> Result<(), String> {
        let kept: Vec<Vec<u8>> = self
            .machine
            .image()
            .into_iter()
            .filter(|(path, _)| is_quarantine(path))
            .map(|(_, bytes)| bytes)
            .collect();
        for before in before {
            // A power cut takes what was only in the cache, and so does asking the device after a
            // failed sync; a recovery may not take anything else.
            let only_device = before.forgot != self.machine.forgot();
            let old = if only_device { &before.device } else { &before.seen };
            for gone in differing(old, now) {
                let bytes = &old[gone.clone()];
                if !kept.iter().any(|kept| holds(kept, bytes)) {
                    return Err(format!("bytes {gone:?} of the ledger are neither in it nor in quarantine"));
                }
            }
        }
        Ok(())
    }

    /// Opens a second time: nothing may change, and nothing may be found again. Where the copy could
    /// not be written the first time (not `settled`), the second time rightly catches up.
    fn open_again(&mut self, fs: &SimFs, settled: bool) -> Result<Option<LedgerWriter>, String> {
        if !self.machine.is_alive(fs) || !settled || self.rng.chance(50) {
            let head = self.head.ok_or("opened without a head")?;
            return self.reopen(fs, head.seq).map(|(writer, _)| writer);
        }
        self.machine.calm();
        let image = self.machine.image();
        let seq = self.head.map_or(0, |head| head.seq);
        let (writer, findings) = self.reopen(fs, seq)?;
        if writer.is_none() {
            return Err("a ledger that had just been opened does not open again".into());
        }
        if self.machine.image() != image {
            return Err("opening a second time changed a file".into());
        }
        let again = findings.iter().find(|finding| !matches!(finding, Finding::WitnessDisagrees { .. }));
        match again {
            Some(finding) => Err(format!("found again when opened a second time: {finding}")),
            None => Ok(writer),
        }
    }

    fn reopen(&mut self, fs: &SimFs, seq: u64) -> Result<(Option<LedgerWriter>, Vec<Finding>), String> {
        let vfs: Arc<dyn Vfs> = Arc::new(fs.clone());
        let request = Recovery {
            vfs: &vfs,
            paths: &self.paths,
            witnesses: &[],
            bases: &[],
            on_damage: OnDamage::Quarantine,
            access: Access::Write,
        };
        let opened = recover(&request, &mut |_| {})
            .and_then(|recovered| Ok((LedgerWriter::open(&recovered)?, recovered)));
        match opened {
            Ok((_, recovered)) if recovered.head.seq != seq => {
                Err(format!("opened again, the ledger ends at {} instead of {seq}", recovered.head.seq))
            }
            Ok(((writer, more), recovered)) => {
                Ok((Some(writer), recovered.findings.into_iter().chain(more).collect()))
            }
            Err(_) => Ok((None, Vec::new())),
        }
    }
}
