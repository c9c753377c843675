//! The writing end: appends only, numbers densely, stays within its bound.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use swarm_protocol::time::Timestamp;

use super::{Line, Stream};

/// Bytes of printed text in one line of the journal; longer ones are split and marked.
pub const LINE_MAX: usize = 64 * 1024;

/// A line of [`LINE_MAX`] bytes in JSON, every byte escaped, and its frame.
const WRITTEN_LINE_MAX: u64 = 6 * LINE_MAX as u64 + 1024;

#[derive(Debug)]
pub struct Journal {
    file: File,
    next: u64,
    bytes: u64,
    bytes_max: u64,
    dropped_lines: u64,
    /// Something was written since it was last made durable.
    unsettled: bool,
}

impl Journal {
    /// Opens the journal at its end, or begins it. A last line that was cut off by a crash is closed, never changed.
    pub fn open(path: &Path, bytes_max: u64) -> io::Result<Self> {
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir)?;
        }
        let mut file = OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(path)?;
        let bytes = file.metadata()?.len();
        let (last, torn) = last_number(&mut file, bytes)?;
        if torn {
            file.write_all(b"\n")?;
        }
        Ok(Self {
            file,
            next: last + 1,
            bytes: bytes + u64::from(torn),
            bytes_max,
            dropped_lines: 0,
            unsettled: true,
        })
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends one printed line, split where it is too long; `more`: it goes on with the next call.
    /// Beyond the bound it is counted, not kept.
    pub fn print(&mut self, stream: Stream, text: &str, more: bool) -> io::Result<()> {
        if self.dropped_lines > 0 || self.bytes >= self.bytes_max {
            if self.dropped_lines == 0 {
                let limit = self.bytes_max;
                self.put(Stream::Swarm, &format!("[output beyond {limit} bytes is not kept]"), false)?;
            }
            self.dropped_lines += 1;
            return Ok(());
        }
        let mut rest = text;
        while rest.len() > LINE_MAX {
            let (head, tail) = rest.split_at(rest.floor_char_boundary(LINE_MAX));
            self.put(stream, head, true)?;
            rest = tail;
        }
        self.put(stream, rest, more)
    }

    /// Appends a line of the daemon itself; kept even beyond the bound, because there are few.
    pub fn note(&mut self, text: &str) -> io::Result<()> {
        self.put(Stream::Swarm, &text[..text.floor_char_boundary(LINE_MAX)], false)
    }

    /// Says how much was not kept, and makes everything so far durable.
    pub fn settle(&mut self) -> io::Result<()> {
        if self.dropped_lines > 0 {
            let dropped = std::mem::take(&mut self.dropped_lines);
            self.put(Stream::Swarm, &format!("[{dropped} lines were not kept]"), false)?;
        }
        if self.unsettled {
            self.file.sync_data()?;
            self.unsettled = false;
        }
        Ok(())
    }

    fn put(&mut self, stream: Stream, text: &str, more: bool) -> io::Result<()> {
        let line = Line { n: self.next, ts: now(), stream, text: text.to_owned(), more };
        let mut bytes = serde_json::to_vec(&line)?;
        bytes.push(b'\n');
        self.unsettled = true;
        self.file.write_all(&bytes)?;
        self.next += 1;
        self.bytes += bytes.len() as u64;
        Ok(())
    }
}

/// The number of the last whole line, and whether something torn follows it.
fn last_number(file: &mut File, bytes: u64) -> io::Result<(u64, bool)> {
    let from = bytes.saturating_sub(2 * WRITTEN_LINE_MAX);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    Read::by_ref(file).take(bytes - from).read_to_end(&mut tail)?;
    let torn = tail.last().is_some_and(|byte| *byte != b'\n');
    let last =
        tail.split(|byte| *byte == b'\n').rev().find_map(|line| serde_json::from_slice::<Line>(line).ok());
    Ok((last.map_or(0, |line| line.n), torn))
}

/// When a line is printed.
pub fn now() -> Timestamp {
    Timestamp(u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::super::read_from;
    use super::*;

    fn texts(path: &Path) -> Vec<(u64, String)> {
        let page = read_from(path, 0, usize::MAX).expect("the journal can be read");
        page.lines.into_iter().map(|line| (line.n, line.text)).collect()
    }

    #[test]
    fn numbers_go_on_after_a_crash_that_tore_the_last_line() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("logs/r1.jsonl");
        let mut journal = Journal::open(&path, 1 << 20).expect("opened");
        journal.print(Stream::Out, "one", false).expect("printed");
        journal.print(Stream::Err, "two", false).expect("printed");
        drop(journal);
        let mut file = OpenOptions::new().append(true).open(&path).expect("opened");
        file.write_all(b"{\"n\":3,\"ts\":\"2026").expect("torn");
        let mut journal = Journal::open(&path, 1 << 20).expect("opened again");
        journal.print(Stream::Out, "three", false).expect("printed");
        let expected = [(1, "one"), (2, "two"), (3, "three")].map(|(n, text)| (n, text.to_owned()));
        assert_eq!(texts(&path), expected);
    }

    #[test]
    fn a_long_line_is_split_and_joins_to_what_was_printed() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("r1.jsonl");
        let long = "ä".repeat(LINE_MAX);
        let mut journal = Journal::open(&path, 1 << 20).expect("opened");
        journal.print(Stream::Out, &long, false).expect("printed");
        let page = read_from(&path, 0, usize::MAX).expect("read");
        assert_eq!(page.lines.len(), 2);
        assert!(page.lines[0].more && !page.lines[1].more);
        assert_eq!(page.lines.iter().map(|line| line.text.as_str()).collect::<String>(), long);
    }

    #[test]
    fn beyond_its_bound_the_journal_says_so_once_and_counts() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("r1.jsonl");
        let mut journal = Journal::open(&path, 300).expect("opened");
        for n in 0..50 {
            journal.print(Stream::Out, &format!("line {n}"), false).expect("printed");
        }
        journal.settle().expect("settled");
        let texts = texts(&path);
        let kept = texts.iter().filter(|(_, text)| text.starts_with("line")).count();
        let last = &texts[texts.len() - 2..];
        assert_eq!(last[0].1, "[output beyond 300 bytes is not kept]");
        assert_eq!(last[1].1, format!("[{} lines were not kept]", 50 - kept));
        assert!(texts.iter().map(|(n, _)| *n).eq(1..=texts.len() as u64));
    }
}
