//! The second copy: the same bytes in the common git directory, always behind, never in the way.
//!
//! It is written after the ledger's sync and not synced itself, so all it holds was durable in the
//! ledger first. A failure is a finding; the append it follows stays acknowledged.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::appender::write_all;
use crate::finding::Finding;
use crate::frame::{LEN_FIELD, LINE_MAX, check_line, claimed_len};
use crate::paths::{LedgerPaths, parent};
use crate::quarantine::{self, for_each_chunk};
use crate::source::Source;
use crate::vfs::{Open, Vfs, VfsFile};

pub struct SecondCopy {
    vfs: Arc<dyn Vfs>,
    paths: LedgerPaths,
    path: PathBuf,
    file: Option<Arc<dyn VfsFile>>,
    /// How far its bytes are the ledger's.
    len: u64,
    failing: bool,
}

impl SecondCopy {
    /// Opens or makes the copy and brings it to the end of the verified ledger.
    pub fn open(
        vfs: &Arc<dyn Vfs>,
        paths: &LedgerPaths,
        path: &Path,
        main: &dyn VfsFile,
        main_end: u64,
    ) -> (Self, Vec<Finding>) {
        let (vfs, paths, path) = (vfs.clone(), paths.clone(), path.to_path_buf());
        let mut copy = Self { vfs, paths, path, file: None, len: 0, failing: false };
        let mut findings = Vec::new();
        let made = copy.vfs.create_dir_all(parent(&copy.path));
        if let Err(error) = made.and_then(|()| copy.begin(main, main_end, &mut findings)) {
            findings.extend(copy.failed(&error));
        }
        (copy, findings)
    }

    /// Takes in the bytes the ledger has just made durable at `start`.
    pub fn follow(&mut self, main: &dyn VfsFile, start: u64, bytes: &[u8]) -> Vec<Finding> {
        let end = start + bytes.len() as u64;
        let mut findings = Vec::new();
        let done = match &self.file {
            Some(file) if self.len == start && !self.failing => write_all(&**file, bytes, start),
            Some(_) => self.catch_up(main, end),
            None => self.reopen(main, end, &mut findings),
        };
        match done {
            Ok(()) => {
                self.len = end;
                findings.extend(std::mem::take(&mut self.failing).then_some(Finding::CopyCaughtUp));
            }
            Err(error) => findings.extend(self.failed(&error)),
        }
        findings
    }

    /// Compares every byte and makes anew what differs.
    pub fn mend(&mut self, main: &dyn VfsFile, main_end: u64) -> Vec<Finding> {
        let mut findings = Vec::new();
        let done = match self.file.clone() {
            Some(file) => self.compare(&file, main, main_end, &mut findings),
            None => self.reopen(main, main_end, &mut findings),
        };
        if let Err(error) = done {
            findings.extend(self.failed(&error));
        }
        findings
    }

    fn compare(
        &mut self,
        file: &Arc<dyn VfsFile>,
        main: &dyn VfsFile,
        main_end: u64,
        findings: &mut Vec<Finding>,
    ) -> io::Result<()> {
        let len = file.len()?.min(main_end);
        if agreement(&**file, main, len)? < len {
            self.len = self.differing_from(file, main, main_end, findings)?;
            self.catch_up(main, main_end)?;
        }
        Ok(())
    }

    /// A copy that was removed or replaced is made again from the start at the next append.
    pub fn check_path(&mut self) {
        let there = self.vfs.open(&self.path, Open::Read).and_then(|file| file.identity());
        let ours = self.file.as_ref().map(|file| file.identity());
        match (there, ours) {
            (Ok(there), Some(Ok(ours))) if there == ours => {}
            _ => {
                self.file = None;
                self.len = 0;
            }
        }
    }

    fn reopen(&mut self, main: &dyn VfsFile, main_end: u64, findings: &mut Vec<Finding>) -> io::Result<()> {
        let folder = parent(&self.path);
        // Who has moved the git directory away for a moment would find another one in its place, and move it into that.
        if !self.vfs.exists(parent(folder))? {
            let why = format!("{} is gone", parent(folder).display());
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }
        self.vfs.create_dir_all(folder)?;
        self.begin(main, main_end, findings)
    }

    fn begin(&mut self, main: &dyn VfsFile, main_end: u64, findings: &mut Vec<Finding>) -> io::Result<()> {
        let file = self.vfs.open(&self.path, Open::Create)?;
        if file.len()? == 0 {
            self.vfs.sync_dir(parent(&self.path))?;
        }
        self.len = self.agreed_len(&file, main, main_end, findings)?;
        self.file = Some(file);
        self.catch_up(main, main_end)
    }

    /// Finds how far the copy agrees with the ledger. What will be cut off is kept if it says anything.
    fn agreed_len(
        &self,
        file: &Arc<dyn VfsFile>,
        main: &dyn VfsFile,
        main_end: u64,
        findings: &mut Vec<Finding>,
    ) -> io::Result<u64> {
        let len = file.len()?;
        if len <= main_end && same_last_line(file, main, len)? {
            return Ok(len);
        }
        self.differing_from(file, main, main_end, findings)
    }

    /// The same, whatever the last line says.
    fn differing_from(
        &self,
        file: &Arc<dyn VfsFile>,
        main: &dyn VfsFile,
        main_end: u64,
        findings: &mut Vec<Finding>,
    ) -> io::Result<u64> {
        let len = file.len()?;
        let agreed = agreement(&**file, main, len.min(main_end))?;
        // The first difference may lie inside a record that is whole but another one, or be the first byte of one.
        let suspect = last_line_start(&**file, len.min(agreed + 1))?.unwrap_or(0);
        if let Some(at) = better_at(file, main, suspect, main_end)? {
            let why = format!(
                "the ledger itself is damaged behind byte {at}, where the copy is whole; \
                 `swarm doctor --fix` repairs the ledger"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        let quarantine = if says_something_else(file, main, suspect, main_end)? {
            Some(quarantine::keep_ranges(&*self.vfs, &self.paths, &**file, &[(suspect, len)])?.path)
        } else {
            None
        };
        findings.push(Finding::CopyRebuilt { from_offset: agreed, quarantine });
        Ok(agreed)
    }

    fn catch_up(&mut self, main: &dyn VfsFile, end: u64) -> io::Result<()> {
        let Some(file) = self.file.clone() else { return Err(io::ErrorKind::NotFound.into()) };
        if file.len()? > self.len {
            file.set_len(self.len)?;
        }
        for_each_chunk(main, &[(self.len, end)], &mut |bytes| {
            write_all(&*file, bytes, self.len)?;
            self.len += bytes.len() as u64;
            Ok(())
        })
    }

    /// Reported once; `follow` tries again with every append.
    fn failed(&mut self, error: &io::Error) -> Option<Finding> {
        let first = !std::mem::replace(&mut self.failing, true);
        first.then(|| Finding::CopyFailed { why: format!("{}: {error}", self.path.display()) })
    }
}

/// The copy ends with a whole line that the ledger has at the same place. By the chain that line
/// stands for all lines before it; rot inside the copy is found by a full verification and mended by `mend`.
fn same_last_line(copy: &Arc<dyn VfsFile>, main: &dyn VfsFile, len: u64) -> io::Result<bool> {
    let Some(start) = last_line_start(&**copy, len)? else { return Ok(len == 0) };
    let mut source = Source::new(copy.clone())?;
    let Some(line) = source.line_at(start, start) else { return Ok(false) };
    if start + line.bytes.len() as u64 != len {
        return Ok(false);
    }
    Ok(bytes_of(main, start, len)? == line.bytes)
}

fn last_line_start(file: &dyn VfsFile, len: u64) -> io::Result<Option<u64>> {
    if len == 0 {
        return Ok(None);
    }
    for span in [4 << 10, LINE_MAX as u64 + 1] {
        let from = len.saturating_sub(span);
        let bytes = bytes_of(file, from, len)?;
        if let Some(at) = bytes[..bytes.len() - 1].iter().rposition(|b| *b == b'\n') {
            return Ok(Some(from + at as u64 + 1));
        }
        if from == 0 {
            return Ok(Some(0));
        }
    }
    Ok(None)
}

/// How many bytes two files have in common from their start, up to `limit`.
pub(crate) fn agreement(a: &dyn VfsFile, b: &dyn VfsFile, limit: u64) -> io::Result<u64> {
    let mut at = 0;
    let mut other = Vec::new();
    let mut differs = false;
    for_each_chunk(a, &[(0, limit)], &mut |bytes| {
        if differs {
            return Ok(());
        }
        other.clear();
        for_each_chunk(b, &[(at, at + bytes.len() as u64)], &mut |chunk| {
            other.extend_from_slice(chunk);
            Ok(())
        })?;
        let same = bytes.iter().zip(&other).take_while(|(x, y)| x == y).count();
        differs = same < bytes.len();
        at += same as u64;
        Ok(())
    })?;
    Ok(at)
}

/// The first place where the copy has a whole record and the ledger has none: the ledger has rotted where nobody reads it any
/// more, and its bytes must not go over the only good ones. All records are looked at, because the first difference may be rot
/// of the copy.
fn better_at(
    copy: &Arc<dyn VfsFile>,
    main: &dyn VfsFile,
    from: u64,
    main_end: u64,
) -> io::Result<Option<u64>> {
    let mut source = Source::new(copy.clone())?;
    let mut offset = from;
    while let Some((start, line)) = source.next_valid(offset).filter(|(start, _)| *start < main_end) {
        offset = start + line.bytes.len() as u64;
        let theirs = bytes_of(main, start.saturating_sub(1), offset.min(main_end))?;
        // Inside a record of the ledger: this one is of a chain that went another way.
        let aligned = start == 0 || theirs.first() == Some(&b'\n');
        if aligned && !theirs.ends_with(line.bytes) && !has_line(main, start, main_end)? {
            return Ok(Some(start));
        }
    }
    Ok(None)
}

fn has_line(main: &dyn VfsFile, at: u64, main_end: u64) -> io::Result<bool> {
    let start = bytes_of(main, at, main_end.min(at + LEN_FIELD as u64))?;
    let Some(len) = claimed_len(&start) else { return Ok(false) };
    let end = at + len as u64;
    Ok(end <= main_end && check_line(&bytes_of(main, at, end)?).is_ok())
}

fn bytes_of(file: &dyn VfsFile, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for_each_chunk(file, &[(from, to)], &mut |chunk| {
        bytes.extend_from_slice(chunk);
        Ok(())
    })?;
    Ok(bytes)
}

/// Whether what is to be cut holds a whole record that the ledger does not have at that place.
fn says_something_else(
    copy: &Arc<dyn VfsFile>,
    main: &dyn VfsFile,
    from: u64,
    main_end: u64,
) -> io::Result<bool> {
    let mut source = Source::new(copy.clone())?;
    let mut offset = from;
    while let Some((start, line)) = source.next_valid(offset) {
        let end = start + line.bytes.len() as u64;
        if end > main_end || bytes_of(main, start, end)? != line.bytes {
            return Ok(true);
        }
        offset = end;
    }
    Ok(false)
}
