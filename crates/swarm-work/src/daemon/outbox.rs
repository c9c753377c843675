//! Reports on their way: numbered, on disk before they are sent, kept until acknowledged.
//!
//! It cannot grow without bound: a daemon goes from boundary to boundary only by orders, and
//! nobody orders who has not seen the report before.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use swarm_protocol::channel::FromDaemon;

#[derive(Debug)]
pub struct Outbox {
    file: File,
    waiting: VecDeque<(u64, FromDaemon)>,
    sent: u64,
}

/// A line of the outbox file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Entry {
    Report { n: u64, report: FromDaemon },
    Acknowledged { acknowledged: u64 },
}

impl Outbox {
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        Ok(Self { file, waiting: VecDeque::new(), sent: 0 })
    }

    /// Numbers the report and writes it down, `durable` also for after a power cut. On a disk that does not take it the report stands in
    /// memory all the same: to say it is better than to keep silent.
    pub fn push(&mut self, report: FromDaemon, durable: bool) -> io::Result<()> {
        self.sent += 1;
        let n = self.sent;
        let mut written = self.append(&Entry::Report { n, report: report.clone() });
        if durable {
            written = written.and_then(|()| self.file.sync_data());
        }
        self.waiting.push_back((n, report));
        written
    }

    /// Reports up to `received` are in the ledger.
    pub fn acknowledge(&mut self, received: u64) {
        let before = self.waiting.len();
        self.waiting.retain(|(n, _)| *n > received);
        if self.waiting.len() < before {
            // Lost with a crash it only means that the report is offered twice, and it has a number.
            let _ = self.append(&Entry::Acknowledged { acknowledged: received });
        }
    }

    /// Reports numbered so far.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    pub fn waiting(&self) -> impl Iterator<Item = &(u64, FromDaemon)> {
        self.waiting.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(entry)?;
        bytes.push(b'\n');
        self.file.write_all(&bytes)
    }
}

/// What a daemon that died without a last word had still to say, in order.
pub fn unacknowledged_on_disk(path: &Path) -> Vec<(u64, FromDaemon)> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let mut waiting: Vec<(u64, FromDaemon)> = Vec::new();
    // A torn last line was never sent: its sync had not returned.
    for entry in bytes.split(|byte| *byte == b'\n').map_while(|line| serde_json::from_slice(line).ok()) {
        match entry {
            Entry::Report { n, report } => waiting.push((n, report)),
            Entry::Acknowledged { acknowledged } => waiting.retain(|(n, _)| *n > acknowledged),
        }
    }
    waiting
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_knows_what_nobody_acknowledged() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("r1.outbox.jsonl");
        let mut outbox = Outbox::open(&path).expect("opened");
        let report = |text: &str| FromDaemon::Signal { signal: "LEARNING".into(), text: text.into() };
        for text in ["a", "b", "c"] {
            outbox.push(report(text), true).expect("durable");
        }
        outbox.acknowledge(1);
        let mut file = OpenOptions::new().append(true).open(&path).expect("opened");
        file.write_all(b"{\"n\":4,\"rep").expect("torn");
        let expected = vec![(2, report("b")), (3, report("c"))];
        assert_eq!(unacknowledged_on_disk(&path), expected);
        assert_eq!(outbox.waiting().cloned().collect::<Vec<_>>(), expected);
    }
}
