//! Records of the ledger by their number, straight from the file: what a front end shows of the past
//! without holding it in memory.
//!
//! Only bytes below a position that is known to be durable are looked at. They never change, so
//! no lock is needed.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use swarm_ledger::frame::{LINE_MAX, claimed_len, parse_line};
use swarm_protocol::record::Margin;

use crate::feed::Position;

/// Where a search stops halving and begins to walk.
const WALK_BYTES: u64 = 64 * 1024;
/// Read at once while looking for the start of a line.
const LOOK_BYTES: usize = 16 * 1024;

/// One record as it stands in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub seq: u64,
    /// The event's type, `task_added`.
    pub kind: String,
    /// The line without its newline.
    pub text: String,
}

/// Some records and where to go on.
#[derive(Debug, Default)]
pub struct RecordPage {
    pub records: Vec<Record>,
    /// The byte behind the last of them.
    pub at: u64,
}

/// The ledger, open for reading.
#[derive(Debug)]
pub struct Records {
    file: File,
    position: Position,
}

impl Records {
    /// Opens the ledger up to a position that is durable.
    pub fn open(ledger: &Path, position: Position) -> io::Result<Self> {
        Ok(Self { file: File::open(ledger)?, position })
    }

    /// The byte at which record `seq` begins; the end when there is no such record yet.
    pub fn find(&self, seq: u64) -> io::Result<u64> {
        if seq > self.position.seq {
            return Ok(self.position.end);
        }
        // `low` is always the start of a line that is not behind the wanted one.
        let (mut low, mut high) = (0, self.position.end);
        while high - low > WALK_BYTES {
            let middle = low + (high - low) / 2;
            match self.line_behind(middle, high)? {
                Some(start) if self.head_at(start)?.1 <= seq => low = start,
                _ => high = middle,
            }
        }
        loop {
            let (len, found) = self.head_at(low)?;
            if found >= seq {
                return Ok(low);
            }
            low += len;
        }
    }

    /// Records from the byte `at` on, as many as fit the bounds; at least one where there is one.
    pub fn page(&self, at: u64, records_max: usize, bytes_max: usize) -> io::Result<RecordPage> {
        let mut page = RecordPage { records: Vec::new(), at };
        let mut bytes = 0;
        while page.at < self.position.end && page.records.len() < records_max {
            let (len, _) = self.head_at(page.at)?;
            bytes += usize::try_from(len).unwrap_or(usize::MAX);
            if bytes > bytes_max && !page.records.is_empty() {
                break;
            }
            page.records.push(self.record(page.at, len)?);
            page.at += len;
        }
        Ok(page)
    }

    fn record(&self, at: u64, len: u64) -> io::Result<Record> {
        let mut line = vec![0; usize::try_from(len).unwrap_or(LINE_MAX)];
        self.file.read_exact_at(&mut line, at)?;
        let parsed = parse_line(&line).map_err(|_| no_record(at))?;
        let (seq, kind) = (parsed.seq, Margin::read(&line).map_err(|_| no_record(at))?.kind.into_owned());
        line.pop();
        let text = String::from_utf8(line).map_err(|_| no_record(at))?;
        Ok(Record { seq, kind, text })
    }

    /// Length and number of the record that begins at `at`.
    fn head_at(&self, at: u64) -> io::Result<(u64, u64)> {
        let mut head = [0; 64];
        let read = self.read_some(&mut head, at)?;
        let head = &head[..read];
        let len = claimed_len(head).ok_or_else(|| no_record(at))? as u64;
        let digits = head.get(b"{\"len\":\"0000000\",\"seq\":".len()..).unwrap_or_default();
        let digits: Vec<u8> = digits.iter().copied().take_while(u8::is_ascii_digit).collect();
        let seq = std::str::from_utf8(&digits).ok().and_then(|text| text.parse().ok());
        match seq {
            Some(seq) if at + len <= self.position.end => Ok((len, seq)),
            _ => Err(no_record(at)),
        }
    }

    /// Where the first line begins behind `at`, before `end`. A newline stands nowhere but at the end of a line.
    fn line_behind(&self, mut at: u64, end: u64) -> io::Result<Option<u64>> {
        let mut window = vec![0; LOOK_BYTES];
        while at < end {
            let read = self.read_some(&mut window, at)?;
            if let Some(found) = window[..read].iter().position(|byte| *byte == b'\n') {
                let start = at + found as u64 + 1;
                return Ok((start < end).then_some(start));
            }
            if read == 0 {
                return Ok(None);
            }
            at += read as u64;
        }
        Ok(None)
    }

    fn read_some(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        loop {
            match self.file.read_at(into, at) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}

fn no_record(at: u64) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("no record begins at byte {at} of the ledger"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarm_ledger::frame::{Header, seal};
    use swarm_ledger::hash::Hash;

    /// A ledger of `count` records whose lengths differ widely.
    fn ledger(count: u64) -> (tempfile::TempDir, std::path::PathBuf, Position) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("ledger.jsonl");
        let mut bytes = Vec::new();
        let mut prev = Hash::of(b"start");
        for seq in 1..=count {
            let header =
                Header { seq, batch: seq, synced: seq - 1, epoch: 1, ts: "2026-01-13T10:00:00.000Z" };
            let filling = "x".repeat(if seq % 7 == 0 { 9_000 } else { (seq % 50) as usize });
            let body =
                format!("\"type\":\"noted\",\"data\":{{\"text\":\"{filling}\"}},\"by\":\"person:cli\"");
            prev = seal(&mut bytes, &header, &body, &prev);
        }
        let position = Position { seq: count, end: bytes.len() as u64 };
        // What is not durable yet is behind the position and must not be seen.
        bytes.extend_from_slice(b"{\"len\":\"0000200\",\"seq\":");
        std::fs::write(&path, bytes).expect("written");
        (dir, path, position)
    }

    #[test]
    fn every_record_is_found_by_its_number() {
        let (_dir, path, position) = ledger(500);
        let records = Records::open(&path, position).expect("opened");
        for seq in 1..=500 {
            let page = records.page(records.find(seq).expect("found"), 1, 1 << 20).expect("read");
            assert_eq!((page.records[0].seq, page.records[0].kind.as_str()), (seq, "noted"));
        }
        assert_eq!(records.find(501).expect("the end"), position.end);
        assert_eq!(records.find(0).expect("the start"), 0);
    }

    #[test]
    fn pages_keep_their_bounds_and_join_to_the_whole() {
        let (_dir, path, position) = ledger(300);
        let records = Records::open(&path, position).expect("opened");
        let (mut at, mut seen) = (0, Vec::new());
        while at < position.end {
            let page = records.page(at, 40, 20_000).expect("read");
            let bytes: usize = page.records.iter().map(|record| record.text.len() + 1).sum();
            assert!(page.records.len() <= 40 && (bytes <= 20_000 || page.records.len() == 1));
            assert_eq!(page.at - at, bytes as u64);
            at = page.at;
            seen.extend(page.records.into_iter().map(|record| record.seq));
        }
        assert!(seen.into_iter().eq(1..=300));
    }

    #[test]
    fn a_file_that_is_no_ledger_is_an_error_and_no_endless_search() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("other");
        std::fs::write(&path, "hello\n".repeat(100_000)).expect("written");
        let records = Records::open(&path, Position { seq: 10, end: 600_000 }).expect("opened");
        assert!(records.find(5).is_err());
        assert!(records.page(0, 10, 1000).is_err());
    }
}
