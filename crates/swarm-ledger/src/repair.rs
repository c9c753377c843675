//! The writing half of recovery: each step keeps the old bytes durably before it changes any.
//!
//! Damaged ranges are written in place, not by replacing the file: only bytes that are proven bad
//! change, and they become what they were when they were acknowledged. A rename would give the
//! ledger another inode under readers and under the writer's own checks, and would touch every
//! record instead of the damaged ones.

use std::io;
use std::path::PathBuf;

use crate::appender::write_all;
use crate::finding::{Finding, Loss, Mark, Witness};
use crate::note::{self, LossNote};
use crate::paths::LedgerPaths;
use crate::quarantine::{for_each_chunk, keep_ranges};
use crate::scan::Patch;
use crate::source::Source;
use crate::vfs::{Open, Vfs, VfsFile};

pub(crate) struct Repair<'a> {
    pub vfs: &'a dyn Vfs,
    pub paths: &'a LedgerPaths,
    pub main: &'a dyn VfsFile,
    /// End of the last complete batch.
    pub end: u64,
}

impl Repair<'_> {
    /// Puts the copy's proven bytes where the ledger's are bad.
    pub fn patch(&self, patches: &[Patch], copy: Option<&Source>) -> io::Result<Option<Finding>> {
        let (Some(first), Some(last), Some(copy)) = (patches.first(), patches.last(), copy) else {
            return Ok(None);
        };
        let len = self.main.len()?;
        let damaged: Vec<(u64, u64)> = patches
            .iter()
            .map(|patch| (patch.offset.min(len), (patch.offset + patch.len).min(len)))
            .filter(|(start, end)| start < end)
            .collect();
        let quarantine = self.keep_readable(&damaged)?;
        for patch in patches {
            let mut at = patch.offset;
            for_each_chunk(copy.file(), &[(patch.offset, patch.offset + patch.len)], &mut |bytes| {
                write_all(self.main, bytes, at)?;
                at += bytes.len() as u64;
                Ok(())
            })?;
        }
        if let Err(error) = self.main.sync_data() {
            // The cache would go on showing the repair although the device may not have it.
            let _ = self.main.drop_cached(first.offset);
            return Err(error);
        }
        Ok(Some(Finding::Repaired {
            first_seq: first.first_seq,
            last_seq: last.last_seq,
            bytes: patches.iter().map(|patch| patch.len).sum(),
            quarantine,
        }))
    }

    /// A last batch that was never finished: aside, and cut.
    pub fn cut_torn(&self, after: Mark) -> io::Result<Option<Finding>> {
        let len = self.main.len()?;
        if len <= self.end {
            return Ok(None);
        }
        let kept = keep_ranges(self.vfs, self.paths, self.main, &[(self.end, len)])?;
        self.cut(self.main)?;
        Ok(Some(Finding::TornTail { after, bytes: len - self.end, quarantine: kept.path }))
    }

    /// Moves everything behind the last good record aside, in both files, and notes the loss first.
    pub fn lose(
        &self,
        mut loss: Loss,
        copy: Option<&Source>,
        ledger_id: &str,
        heard: &[&Witness],
    ) -> io::Result<LossNote> {
        let len = self.main.len()?;
        if len > self.end {
            let kept = keep_ranges(self.vfs, self.paths, self.main, &[(self.end, len)])?;
            loss.quarantine_hash = Some(kept.hash);
            loss.quarantine.push(kept.path);
        }
        let copy_ahead = copy.filter(|copy| copy.len() > self.end);
        if let Some(copy) = copy_ahead {
            let kept = keep_ranges(self.vfs, self.paths, copy.file(), &[(self.end, copy.len())])?;
            loss.quarantine_hash.get_or_insert(kept.hash);
            if !loss.quarantine.contains(&kept.path) {
                loss.quarantine.push(kept.path);
            }
        }
        let noted = note::write(self.vfs, self.paths, ledger_id, &loss, heard)?;
        if len > self.end {
            self.cut(self.main)?;
        }
        if let (Some(_), Some(path)) = (copy_ahead, &self.paths.copy) {
            // A copy that cannot be cut goes on claiming the lost records; the next start says so again.
            self.cut(&*self.vfs.open(path, Open::Write)?)?;
        }
        Ok(noted)
    }

    fn cut(&self, file: &dyn VfsFile) -> io::Result<()> {
        file.set_len(self.end)?;
        file.sync_data()
    }

    /// Damaged bytes are evidence; where the device will not even read them there is nothing to keep.
    fn keep_readable(&self, ranges: &[(u64, u64)]) -> io::Result<Option<PathBuf>> {
        let readable: Vec<_> = ranges
            .iter()
            .filter(|range| for_each_chunk(self.main, &[**range], &mut |_| Ok(())).is_ok())
            .copied()
            .collect();
        if readable.is_empty() {
            return Ok(None);
        }
        Ok(Some(keep_ranges(self.vfs, self.paths, self.main, &readable)?.path))
    }
}
