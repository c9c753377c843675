//! Reports on their way: numbered, on disk before they are sent, kept until acknowledged.
//!
//! It cannot grow without bound: a daemon goes from boundary to boundary only by orders, and
//! nobody orders who has not seen the report before. Still an iteration may say more than a connection holds: only a
//! few are under way at once, and each acknowledgement lets the next ones go.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use swarm_protocol::channel::FromDaemon;

/// Reports that may be under way, not acknowledged. A connection whose queue is full is given up, with all that was
/// acknowledged meanwhile; so twice as many, an order that is given again has them all said again, and what has no
/// number have to fit into [`QUEUE_FRAMES`](crate::channel::QUEUE_FRAMES).
const UNDER_WAY_MAX: usize = 16;

#[derive(Debug)]
pub struct Outbox {
    file: File,
    /// In the order of their numbers.
    waiting: VecDeque<(u64, FromDaemon)>,
    sent: u64,
    /// The last one that was said over the connection of now.
    said: u64,
    /// The last one that the file has.
    kept: u64,
    /// Of the file; a part of a line may follow.
    whole_bytes: u64,
    torn: bool,
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
        let whole_bytes = file.metadata()?.len();
        Ok(Self { file, waiting: VecDeque::new(), sent: 0, said: 0, kept: 0, whole_bytes, torn: false })
    }

    /// Numbers the report and writes it down, `durable` also for after a power cut. On a disk that does not take it the report stands in
    /// memory all the same: to say it is better than to keep silent.
    pub fn push(&mut self, report: FromDaemon, durable: bool) -> io::Result<()> {
        self.sent += 1;
        self.waiting.push_back((self.sent, report));
        let mut written = self.keep();
        if durable {
            written = written.and_then(|()| self.file.sync_data());
        }
        written
    }

    /// Reports up to `received` are in the ledger.
    pub fn acknowledge(&mut self, received: u64) {
        if drop_until(&mut self.waiting, received) {
            // Lost with a crash it only means that the report is offered twice, and it has a number.
            let _ = self.append(&Entry::Acknowledged { acknowledged: received });
        }
    }

    /// All that waits is to be said again: over a new connection, or to somebody who asks once more.
    pub fn say_again(&mut self) {
        self.said = 0;
    }

    /// The next one to say; none while enough are under way.
    pub fn next_to_say(&mut self) -> Option<(u64, FromDaemon)> {
        let next = self.waiting.iter().take(UNDER_WAY_MAX).find(|(n, _)| *n > self.said)?.clone();
        self.said = next.0;
        Some(next)
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

    /// Writes what the file lacks, also what the disk did not take before: nobody would find what came after a gap.
    fn keep(&mut self) -> io::Result<()> {
        let at = self.waiting.partition_point(|(n, _)| *n <= self.kept);
        let lacking: Vec<_> = self.waiting.range(at..).cloned().collect();
        for (n, report) in lacking {
            self.append(&Entry::Report { n, report })?;
            self.kept = n;
        }
        Ok(())
    }

    fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(entry)?;
        bytes.push(b'\n');
        if self.torn {
            self.file.set_len(self.whole_bytes)?;
        }
        self.torn = true;
        self.file.write_all(&bytes)?;
        (self.torn, self.whole_bytes) = (false, self.whole_bytes + bytes.len() as u64);
        Ok(())
    }
}

/// Takes those up to `received` away from the front; true when there were any.
fn drop_until(waiting: &mut VecDeque<(u64, FromDaemon)>, received: u64) -> bool {
    let before = waiting.len();
    while waiting.front().is_some_and(|(n, _)| *n <= received) {
        waiting.pop_front();
    }
    waiting.len() < before
}

/// What a daemon that died without a last word had still to say, in order.
pub fn unacknowledged_on_disk(path: &Path) -> Vec<(u64, FromDaemon)> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let mut waiting = VecDeque::new();
    // A torn last line was never sent: its sync had not returned.
    for entry in bytes.split(|byte| *byte == b'\n').map_while(|line| serde_json::from_slice(line).ok()) {
        match entry {
            Entry::Report { n, report } => waiting.push_back((n, report)),
            Entry::Acknowledged { acknowledged } => {
                drop_until(&mut waiting, acknowledged);
            }
        }
    }
    waiting.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str) -> FromDaemon {
        FromDaemon::Signal { signal: "LEARNING".into(), text: text.into() }
    }

    /// What the one who reads the connection is told before it acknowledges anything.
    fn said(outbox: &mut Outbox) -> Vec<u64> {
        std::iter::from_fn(|| outbox.next_to_say()).map(|(n, _)| n).collect()
    }

    #[test]
    fn few_are_under_way_at_once_and_each_acknowledgement_lets_the_next_ones_go() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut outbox = Outbox::open(&dir.path().join("r1.outbox.jsonl")).expect("opened");
        for n in 1..=40 {
            outbox.push(report(&format!("{n}")), false).expect("written");
        }
        assert_eq!(said(&mut outbox), (1..=16).collect::<Vec<_>>());
        assert_eq!(said(&mut outbox), [0u64; 0], "nobody has acknowledged any");
        outbox.acknowledge(3);
        assert_eq!(said(&mut outbox), [17, 18, 19]);
        outbox.say_again();
        assert_eq!(said(&mut outbox), (4..=19).collect::<Vec<_>>());
        outbox.acknowledge(40);
        assert_eq!((said(&mut outbox), outbox.is_empty()), (vec![], true));
    }

    #[test]
    fn ten_thousand_that_waited_arrive_in_order_and_once_through_a_hundred_deaths_of_the_one_who_takes_them()
    {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("r1.outbox.jsonl");
        let mut outbox = Outbox::open(&path).expect("opened");
        for n in 1..=10_000 {
            outbox.push(report(&format!("{n}")), false).expect("written");
        }
        // In the ledger. Of its life each coordinator acknowledges all but the last ones: it died before it could.
        let mut recorded = 0;
        for life in 0..100 {
            let (until, unheard) = (recorded + 100, life % 17);
            outbox.say_again();
            'life: while recorded < 10_000 {
                let told: Vec<_> = std::iter::from_fn(|| outbox.next_to_say()).collect();
                assert!((1..=UNDER_WAY_MAX).contains(&told.len()), "{} at once", told.len());
                for (n, what) in told {
                    if n > recorded {
                        assert_eq!((n, what), (recorded + 1, report(&format!("{n}"))));
                        recorded = n;
                    }
                    if recorded == until {
                        outbox.acknowledge(recorded.saturating_sub(unheard));
                        break 'life;
                    }
                }
                outbox.acknowledge(recorded);
            }
            if life == 50 {
                let waiting: Vec<_> = outbox.waiting().cloned().collect();
                assert!(waiting[0].0 <= recorded, "some come twice");
                assert_eq!(unacknowledged_on_disk(&path), waiting);
            }
        }
        outbox.acknowledge(recorded);
        assert!(recorded == 10_000 && outbox.is_empty());
    }

    #[test]
    fn killed_at_a_hundred_points_of_saying_it_again_it_leaves_on_disk_what_nobody_acknowledged() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("r1.outbox.jsonl");
        let mut outbox = Outbox::open(&path).expect("opened");
        for n in 1..=100 {
            outbox.push(report(&format!("{n}")), false).expect("written");
        }
        for received in 1..=100 {
            outbox.acknowledge(received);
            let left: Vec<u64> = unacknowledged_on_disk(&path).into_iter().map(|(n, _)| n).collect();
            assert_eq!(left, (received + 1..=100).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_file_knows_what_nobody_acknowledged() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("r1.outbox.jsonl");
        let mut outbox = Outbox::open(&path).expect("opened");
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

    #[test]
    fn what_a_full_disk_did_not_take_is_in_the_file_with_the_next_report() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("r1.outbox.jsonl");
        let mut outbox = Outbox::open(&path).expect("opened");
        outbox.push(report("a"), true).expect("durable");
        let whole = std::mem::replace(&mut outbox.file, File::open(&path).expect("opened"));
        assert!(outbox.push(report("b"), true).is_err());
        let mut file = OpenOptions::new().append(true).open(&path).expect("opened");
        file.write_all(b"{\"n\":2,\"rep").expect("torn");
        outbox.file = whole;
        outbox.push(report("c"), true).expect("durable");
        let expected = ["a", "b", "c"].into_iter().zip(1..).map(|(text, n)| (n, report(text)));
        assert_eq!(unacknowledged_on_disk(&path), expected.collect::<Vec<_>>());
    }
}
