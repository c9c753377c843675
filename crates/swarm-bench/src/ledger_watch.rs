//! The moment at which a record is written to the ledger, seen from outside.

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustix::fs::inotify;

pub struct Written {
    pub record: serde_json::Value,
    pub at: Instant,
}

/// Gives every record that is written from now on.
pub struct LedgerWatch {
    seen: Receiver<Written>,
}

impl LedgerWatch {
    pub fn start(ledger: &Path) -> Result<Self> {
        let file = File::open(ledger).context("Cannot open the ledger to watch it")?;
        let watched = inotify::init(inotify::CreateFlags::CLOEXEC)?;
        inotify::add_watch(&watched, ledger, inotify::WatchFlags::MODIFY)?;
        let (sender, seen) = channel();
        let mut tail = Tail { file, offset: 0 };
        tail.records()?;
        std::thread::spawn(move || {
            let mut buffer = [MaybeUninit::uninit(); 16 << 10];
            let mut events = inotify::Reader::new(watched, &mut buffer);
            while events.next().is_ok() {
                let at = Instant::now();
                let Ok(records) = tail.records() else { return };
                if records.into_iter().any(|record| sender.send(Written { record, at }).is_err()) {
                    return;
                }
            }
        });
        Ok(Self { seen })
    }

    pub fn next(&self, limit: Duration) -> Result<Written> {
        self.seen.recv_timeout(limit).context("The ledger stays as it is")
    }

    /// The next record for which this is true.
    pub fn until(&self, limit: Duration, is: impl Fn(&serde_json::Value) -> bool) -> Result<Written> {
        loop {
            let written = self.next(limit)?;
            if is(&written.record) {
                return Ok(written);
            }
        }
    }
}

struct Tail {
    file: File,
    offset: u64,
}

impl Tail {
    /// Whole lines behind the last look. The file may end in room that nothing was written to yet.
    fn records(&mut self) -> Result<Vec<serde_json::Value>> {
        let length = self.file.metadata()?.len().saturating_sub(self.offset);
        let mut bytes = vec![0; usize::try_from(length)?];
        let read = self.file.read_at(&mut bytes, self.offset)?;
        let written = bytes[..read].split(|byte| *byte == 0).next().unwrap_or_default();
        let whole = written.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.offset += whole as u64;
        let lines = written[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }
}
