//! A file read through a sliding window, one line at a time, without trusting its bytes.

use std::io;
use std::sync::Arc;

use crate::frame::{LEN_FIELD, LINE_MAX, Line, OPENING, check_line, claimed_len};
use crate::vfs::VfsFile;

/// Read ahead: little where a reader has just jumped (a start looks at four places), more with every
/// step of a walk.
const CHUNK_MIN: usize = 16 * 1024;
const CHUNK: usize = 256 * 1024;

pub struct Source {
    file: Arc<dyn VfsFile>,
    len: u64,
    /// Where `buffer` lies in the file.
    start: u64,
    buffer: Vec<u8>,
    ahead: usize,
    /// The first read that failed. A sector that cannot be read counts as damaged.
    pub read_error: Option<io::Error>,
}

impl Source {
    /// The length is taken once: what a writer adds meanwhile is not looked at.
    pub fn new(file: Arc<dyn VfsFile>) -> io::Result<Self> {
        let len = file.len()?;
        Ok(Self { file, len, start: 0, buffer: Vec::new(), ahead: CHUNK_MIN, read_error: None })
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn file(&self) -> &dyn VfsFile {
        &*self.file
    }

    /// The line at `offset`, if it is whole and its own hash holds. Bytes from `keep_from` on stay
    /// in memory.
    pub fn line_at(&mut self, keep_from: u64, offset: u64) -> Option<Line<'_>> {
        check_line(self.framed(keep_from, offset)?).ok()
    }

    /// The bytes that claim to be a line at `offset`.
    pub fn framed(&mut self, keep_from: u64, offset: u64) -> Option<&[u8]> {
        let len = claimed_len(self.bytes(keep_from, offset, LEN_FIELD)?)?;
        self.bytes(keep_from, offset, len)
    }

    /// `count` bytes at `offset`; none if the file ends before.
    pub fn bytes(&mut self, keep_from: u64, offset: u64, count: usize) -> Option<&[u8]> {
        let end = offset.checked_add(count as u64).filter(|end| *end <= self.len)?;
        if offset < self.start || end > self.start + self.buffer.len() as u64 {
            self.fill(keep_from.min(offset), end);
        }
        let from = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.buffer.get(from..from + count)
    }

    /// The first line at or behind `offset` that is whole by itself, with its place.
    pub fn next_valid(&mut self, mut offset: u64) -> Option<(u64, Line<'_>)> {
        loop {
            let found = self.find_opening(offset)?;
            if self.line_at(found, found).is_some() {
                // Asked twice because the borrow checker cannot see that the loop ends here.
                return self.line_at(found, found).map(|line| (found, line));
            }
            offset = found + 1;
        }
    }

    fn find_opening(&mut self, mut offset: u64) -> Option<u64> {
        while offset < self.len {
            let count = usize::try_from(self.len - offset).map_or(CHUNK, |left| left.min(CHUNK));
            let found = self.bytes(offset, offset, count).map(|bytes| {
                // A window that cannot be read is stepped over like any other damage.
                bytes.windows(OPENING.len()).position(|window| window == OPENING)
            });
            match found {
                Some(Some(at)) => return Some(offset + at as u64),
                None if self.read_error.is_none() => return None,
                Some(None) | None => {}
            }
            // An opening may lie across two chunks.
            offset += (count.saturating_sub(OPENING.len() - 1)).max(1) as u64;
        }
        None
    }

    fn fill(&mut self, keep_from: u64, end: u64) {
        let have = self.start + self.buffer.len() as u64;
        if (self.start..=have).contains(&keep_from) {
            let drop = usize::try_from(keep_from - self.start).expect("inside the buffer");
            self.buffer.drain(..drop);
            self.ahead = (self.ahead * 2).min(CHUNK);
        } else {
            self.buffer.clear();
            self.ahead = CHUNK_MIN;
        }
        self.start = keep_from;
        let mut at = self.start + self.buffer.len() as u64;
        let want = end.max(at + self.ahead as u64).min(self.len);
        while at < want {
            let old = self.buffer.len();
            let more = usize::try_from(want - at).map_or(LINE_MAX, |left| left.min(LINE_MAX));
            self.buffer.resize(old + more, 0);
            match self.file.read_at(&mut self.buffer[old..], at) {
                Ok(0) => {
                    self.buffer.truncate(old);
                    return;
                }
                Ok(read) => {
                    self.buffer.truncate(old + read);
                    at += read as u64;
                }
                Err(error) => {
                    self.buffer.truncate(old);
                    self.read_error.get_or_insert(error);
                    return;
                }
            }
        }
    }
}
