//! The executor that writes: one write and one fdatasync for a group of batches.
//!
//! It holds the only writing handle of the ledger file and knows how far the file is durable.
//! Nothing in it waits or keeps time, so the simulator can drive it step by step.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::io::Errno;

use crate::batch::{AppendError, Committed, Head};
use crate::claim::Claim;
use crate::copy::SecondCopy;
use crate::finding::Finding;
use crate::frame::{Header, seal};
use crate::intake::{Pending, Room};
use crate::planted::{self, Bug};
use crate::vfs::{Open, Vfs, VfsFile};

/// Room kept reserved behind the end of the file, for the records about a full disk.
pub const RESERVE: u64 = 1 << 20;

pub struct Appender {
    vfs: Arc<dyn Vfs>,
    path: PathBuf,
    file: Arc<dyn VfsFile>,
    identity: (u64, u64),
    durable: Head,
    /// Highest epoch on disk.
    epoch: u64,
    reserved_to: u64,
    can_reserve: bool,
    copy: Option<SecondCopy>,
    /// Asked before each write.
    claim: Option<Claim>,
    findings: Vec<Finding>,
    buffer: Vec<u8>,
    ended: Option<AppendError>,
}

impl Appender {
    pub(crate) fn new(
        vfs: Arc<dyn Vfs>,
        path: PathBuf,
        file: Arc<dyn VfsFile>,
        durable: Head,
        epoch: u64,
        copy: Option<SecondCopy>,
    ) -> std::io::Result<Self> {
        let identity = file.identity()?;
        Ok(Self {
            vfs,
            path,
            file,
            identity,
            durable,
            epoch,
            reserved_to: durable.end,
            can_reserve: true,
            copy,
            claim: None,
            findings: Vec::new(),
            buffer: Vec::new(),
            ended: None,
        })
    }

    /// From now on nothing is written once this claim does not hold.
    pub fn write_only_while(&mut self, claim: Claim) {
        self.claim = Some(claim);
    }

    pub fn durable(&self) -> &Head {
        &self.durable
    }

    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// What went wrong without failing an append: today, the second copy.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }

    pub(crate) fn mend_copy(&mut self) -> Vec<Finding> {
        let (file, end) = (&self.file, self.durable.end);
        self.copy.as_mut().map_or_else(Vec::new, |copy| copy.mend(&**file, end))
    }

    /// Writes a group, makes it durable, answers, and only then lets the second copy follow.
    ///
    /// The copy comes last so that it never knows a record the ledger could still lose: whatever
    /// it holds proves that the ledger once held it durably. On an error every batch of the group
    /// has been answered with it, and the file ends where it ended before.
    pub fn commit(&mut self, group: Vec<Pending>) -> Result<(), AppendError> {
        if group.is_empty() {
            return Ok(());
        }
        let emergency = group.iter().all(|pending| pending.batch.emergency);
        match self.write_group(&group, emergency) {
            Ok(committed) => {
                let early = planted::is(Bug::AnswerBeforeSync);
                let mut dones: Vec<_> = group.into_iter().map(|pending| pending.done).collect();
                if early {
                    dones.drain(..).zip(&committed).for_each(|(done, c)| done(Ok(*c)));
                }
                if let Err(error) = self.sync() {
                    dones.into_iter().for_each(|done| done(Err(error.clone())));
                    return Err(error);
                }
                self.durable = committed.last().expect("a group is not empty").head;
                dones.into_iter().zip(&committed).for_each(|(done, c)| done(Ok(*c)));
                self.follow_with_copy();
                Ok(())
            }
            Err(error) => {
                group.into_iter().for_each(|pending| (pending.done)(Err(error.clone())));
                Err(error)
            }
        }
    }

    /// Whether the path still leads to our file. Costs an open; the writer thread asks once a second.
    pub fn check_path(&mut self) -> Result<(), AppendError> {
        if let Some(copy) = &mut self.copy {
            copy.check_path();
        }
        let same = self.vfs.open(&self.path, Open::Read).and_then(|file| file.identity());
        match same {
            Ok(identity) if identity == self.identity => Ok(()),
            // Nothing was seen, so nothing is known: asked again in a second.
            Err(error) if is_shortage(&error) => Ok(()),
            _ => Err(self.end(AppendError::Replaced(self.path.clone()))),
        }
    }

    /// Tries whether there is room again. Cuts back what an earlier try may have left.
    pub fn resume(&mut self) -> Result<Room, AppendError> {
        if let Some(error) = &self.ended {
            return Err(error.clone());
        }
        self.cut_back()?;
        self.reserved_to = self.durable.end;
        match self.reserve(self.durable.end) {
            Ok(()) => Ok(Room::Plenty),
            Err(_) => Ok(Room::ReserveOnly),
        }
    }

    fn write_group(&mut self, group: &[Pending], emergency: bool) -> Result<Vec<Committed>, AppendError> {
        if let Some(error) = &self.ended {
            return Err(error.clone());
        }
        self.check_claim()?;
        self.check_length()?;
        let (committed, epoch) = self.seal_group(group);
        let end = self.durable.end + self.buffer.len() as u64;
        if let Err(error) = self.reserve(end)
            && !emergency
        {
            // The room kept back must stay whole for the records that say why work stopped.
            return Err(error);
        }
        if let Err(error) = write_all(&*self.file, &self.buffer, self.durable.end) {
            let error = AppendError::from_write(&error);
            // A disk that went read-only cannot be cut either: `resume` tries again.
            if let Err(cut @ AppendError::SyncFailed(_)) = self.cut_back() {
                return Err(cut);
            }
            if error.is_final() {
                return Err(self.end(error));
            }
            return Err(error);
        }
        self.epoch = epoch;
        Ok(committed)
    }

    /// Somebody else may own the ledger by now and not have written yet, so that the length says nothing.
    fn check_claim(&mut self) -> Result<(), AppendError> {
        match &self.claim {
            Some(claim) if !claim.holds() => {
                let error = AppendError::NotOwner(claim.path().to_path_buf());
                Err(self.end(error))
            }
            _ => Ok(()),
        }
    }

    /// A foreign writer shows in the length, before anything of ours is mixed into its bytes.
    fn check_length(&mut self) -> Result<(), AppendError> {
        let found = match self.file.len() {
            Ok(len) => len,
            Err(error) => return Err(self.end(AppendError::WriteFailed(error.to_string()))),
        };
        if found == self.durable.end {
            return Ok(());
        }
        Err(self.end(AppendError::ForeignWriter {
            path: self.path.clone(),
            expected: self.durable.end,
            found,
        }))
    }

    fn seal_group(&mut self, group: &[Pending]) -> (Vec<Committed>, u64) {
        self.buffer.clear();
        let start = self.durable.end;
        let synced = self.durable.seq;
        let mut head = self.durable;
        let mut epoch = self.epoch;
        let mut committed = Vec::with_capacity(group.len());
        for Pending { batch, assigned, .. } in group {
            assert_eq!(assigned.first_seq, head.seq + 1, "seqs are given out in the order of writing");
            let batch_start = head.end;
            for fragment in &batch.fragments {
                let seq = head.seq + 1;
                let header =
                    Header { seq, batch: assigned.last_seq, synced, epoch: batch.epoch, ts: &batch.ts };
                let hash = seal(&mut self.buffer, &header, &fragment.body, &head.hash);
                head = Head { seq, hash, offset: head.end, end: start + self.buffer.len() as u64 };
            }
            epoch = epoch.max(batch.epoch);
            let Head { end, .. } = head;
            committed.push(Committed {
                first_seq: assigned.first_seq,
                last_seq: assigned.last_seq,
                head,
                bytes: end - batch_start,
            });
        }
        (committed, epoch)
    }

    /// Keeps [`RESERVE`] bytes reserved behind `end`. Reserved in double steps, so that a small
    /// append usually needs no call.
    fn reserve(&mut self, end: u64) -> Result<(), AppendError> {
        if !self.can_reserve || self.reserved_to >= end + RESERVE {
            return Ok(());
        }
        match self.file.reserve(end + 2 * RESERVE) {
            Ok(()) => {
                self.reserved_to = end + 2 * RESERVE;
                Ok(())
            }
            Err(error) => match AppendError::from_write(&error) {
                no_room @ AppendError::NoRoom(_) => Err(no_room),
                // Not every file system can reserve; then a full disk is met by the write itself.
                _ => {
                    self.can_reserve = false;
                    Ok(())
                }
            },
        }
    }

    /// Back to the durable length. Left alone where nothing was added: cutting frees the reserve.
    fn cut_back(&mut self) -> Result<(), AppendError> {
        let failed = |error: &std::io::Error| AppendError::from_write(error);
        if self.file.len().map_err(|e| failed(&e))? == self.durable.end {
            return Ok(());
        }
        self.file.set_len(self.durable.end).map_err(|e| failed(&e))?;
        self.reserved_to = self.durable.end;
        self.file.sync_data().map_err(|error| self.end(AppendError::SyncFailed(error.to_string())))
    }

    fn sync(&mut self) -> Result<(), AppendError> {
        if planted::is(Bug::SyncLeftOut) {
            return Ok(());
        }
        self.file.sync_data().map_err(|error| self.end(AppendError::SyncFailed(error.to_string())))
    }

    fn follow_with_copy(&mut self) {
        let Some(copy) = &mut self.copy else { return };
        let start = self.durable.end - self.buffer.len() as u64;
        self.findings.extend(copy.follow(&*self.file, start, &self.buffer));
        // One huge group must not keep its memory for ever.
        self.buffer.shrink_to(1 << 20);
    }

    fn end(&mut self, error: AppendError) -> AppendError {
        self.ended.get_or_insert(error).clone()
    }
}

/// Writes all of `bytes`; a disk that takes none of them is full.
pub(crate) fn write_all(file: &dyn VfsFile, mut bytes: &[u8], mut offset: u64) -> std::io::Result<()> {
    while !bytes.is_empty() {
        let written = file.write_at(bytes, offset)?;
        if written == 0 {
            return Err(std::io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
        offset += written as u64;
    }
    Ok(())
}

/// The machine has no files or memory left to look with.
fn is_shortage(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(code, Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM))
}
