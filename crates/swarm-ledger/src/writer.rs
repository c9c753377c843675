//! The synchronous writer: everything the thread does, one call at a time.

use std::sync::Arc;

use crate::appender::{Appender, write_all};
use crate::batch::{AppendError, Assigned, Batch, Committed, Done, Head};
use crate::copy::SecondCopy;
use crate::finding::Finding;
use crate::frame::{Header, seal};
use crate::genesis::Genesis;
use crate::intake::{Intake, Room};
use crate::open_error::OpenError;
use crate::paths::{LedgerPaths, parent};
use crate::recover::Access;
use crate::recovered::Recovered;
use crate::vfs::{Open, Vfs};

/// A ledger open for appending, without a thread of its own.
pub struct LedgerWriter {
    pub(crate) intake: Intake,
    pub(crate) appender: Appender,
}

impl LedgerWriter {
    /// Goes on behind a recovered ledger. The caller holds the locks since before the recovery.
    pub fn open(recovered: &Recovered) -> Result<(Self, Vec<Finding>), OpenError> {
        let Recovered { vfs, paths, head, epoch, access, .. } = recovered;
        if *access == Access::Read {
            return Err(OpenError::ReadOnlyUntilSalvage(paths.main.clone()));
        }
        let file = vfs.open(&paths.main, Open::Write).map_err(OpenError::io("open", &paths.main))?;
        let (copy, findings) = match &paths.copy {
            Some(path) => {
                let (copy, findings) = SecondCopy::open(vfs, paths, path, &*file, head.end);
                (Some(copy), findings)
            }
            None => (None, Vec::new()),
        };
        let appender = Appender::new(vfs.clone(), paths.main.clone(), file, *head, *epoch, copy)
            .map_err(OpenError::io("open", &paths.main))?;
        Ok((Self { intake: Intake::new(head, *epoch), appender }, findings))
    }

    /// Queues a batch; [`LedgerWriter::commit`] writes it.
    pub fn submit(&mut self, batch: Batch, done: Done) -> Result<Assigned, AppendError> {
        self.intake.admit(batch, done)
    }

    /// Writes one group of what is queued: one write, one sync, then the answers.
    pub fn commit(&mut self) -> Result<(), AppendError> {
        let group = self.intake.take_group();
        let done = self.appender.commit(group);
        if let Err(error) = &done {
            let refused = self.intake.fail(error, self.appender.durable(), self.appender.epoch());
            refused.into_iter().for_each(|pending| (pending.done)(Err(error.clone())));
        }
        done
    }

    /// Appends one batch and makes it durable.
    pub fn append(&mut self, batch: Batch) -> Result<Committed, AppendError> {
        let (answer, answered) = std::sync::mpsc::channel();
        self.submit(batch, Box::new(move |result| drop(answer.send(result))))?;
        while !self.intake.is_empty() {
            // The answer carries the error to the caller.
            let _ = self.commit();
        }
        answered.recv().unwrap_or(Err(AppendError::Closed))
    }

    /// After `NoRoom`: asks the disk again.
    pub fn resume(&mut self) -> Result<Room, AppendError> {
        let room = self.appender.resume()?;
        self.intake.set_room(room);
        Ok(room)
    }

    /// Notices a ledger file that was replaced or removed.
    pub fn check_path(&mut self) -> Result<(), AppendError> {
        self.appender.check_path()
    }

    pub fn head(&self) -> &Head {
        self.appender.durable()
    }

    pub fn epoch(&self) -> u64 {
        self.intake.epoch()
    }

    /// As [`crate::Ledger::mend_copy`].
    pub fn mend_copy(&mut self) -> Vec<Finding> {
        self.appender.mend_copy()
    }

    pub fn take_findings(&mut self) -> Vec<Finding> {
        self.appender.take_findings()
    }
}

/// Makes a new ledger from its first batch, whose first record names the ledger (see
/// [`crate::Fragment::first`]). It appears under its name complete and durable, or not at all.
pub fn create(vfs: &Arc<dyn Vfs>, paths: &LedgerPaths, first: &Batch) -> Result<Committed, OpenError> {
    first.check().map_err(|error| OpenError::BadFirstBatch(error.to_string()))?;
    let genesis = Genesis::from_body(first.fragments[0].body.as_bytes());
    let genesis = genesis
        .ok_or_else(|| OpenError::BadFirstBatch("no ledgerId and format in its first record".into()))?;
    for path in std::iter::once(&paths.main).chain(&paths.copy) {
        if vfs.exists(path).map_err(OpenError::io("look for", path))? {
            return Err(OpenError::Exists(path.clone()));
        }
    }
    let (bytes, head) = seal_first(first, &genesis);
    let io = || OpenError::io("create", &paths.main);
    vfs.create_dir_all(paths.dir()).map_err(io())?;
    let beside = paths.main.with_extension("jsonl.new");
    let file = vfs.open(&beside, Open::Create).map_err(io())?;
    file.set_len(0).map_err(io())?;
    write_all(&*file, &bytes, 0).map_err(io())?;
    file.sync_data().map_err(io())?;
    vfs.rename(&beside, &paths.main).map_err(io())?;
    vfs.sync_dir(paths.dir()).map_err(io())?;
    // The directory itself may be new as well.
    vfs.sync_dir(parent(paths.dir())).map_err(io())?;
    Ok(Committed { first_seq: 1, last_seq: head.seq, head, bytes: bytes.len() as u64 })
}

fn seal_first(first: &Batch, genesis: &Genesis) -> (Vec<u8>, Head) {
    let mut bytes = Vec::new();
    let mut head = Head { seq: 0, hash: genesis.root(), offset: 0, end: 0 };
    for fragment in &first.fragments {
        let header = Header {
            seq: head.seq + 1,
            batch: first.fragments.len() as u64,
            synced: 0,
            epoch: first.epoch,
            ts: &first.ts,
        };
        let hash = seal(&mut bytes, &header, &fragment.body, &head.hash);
        head = Head { seq: header.seq, hash, offset: head.end, end: bytes.len() as u64 };
    }
    (bytes, head)
}
