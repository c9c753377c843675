//! What happened in a story: a hash of everything for comparing two runs, and, when asked for, the
//! last lines for a person who looks for the mistake.

use std::collections::VecDeque;

use swarm_protocol::event::Event;
use swarm_protocol::time::Timestamp;

/// Records kept for a person.
pub const RECORDS_KEPT: usize = 20;

#[derive(Debug, Default)]
pub struct Trace {
    hash: u64,
    /// Lines cost time, so they are written only when a failed seed is run again.
    telling: bool,
    records_kept: usize,
    records: usize,
    lines: VecDeque<(bool, String)>,
    scratch: Vec<u8>,
}

impl Trace {
    /// Keeps the lines around so many records; none for none.
    pub fn new(records_kept: usize) -> Self {
        Self { hash: 0xcbf2_9ce4_8422_2325, telling: records_kept > 0, records_kept, ..Self::default() }
    }

    pub fn hash(&self) -> u64 {
        self.hash
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        // Eight bytes at a time; the trace only has to differ when the stories differ.
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.hash =
                (self.hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
    }

    pub fn number(&mut self, n: u64) {
        self.bytes(&n.to_le_bytes());
    }

    /// A record of the log.
    pub fn record(&mut self, event: &Event, at: Timestamp) {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        event.write(&mut scratch);
        self.bytes(&scratch);
        self.number(at.0);
        if self.telling {
            self.line(true, format!("{} {{{}}}", clock(at), String::from_utf8_lossy(&scratch)));
        }
        self.scratch = scratch;
    }

    /// Something in the world that is no record.
    pub fn note(&mut self, at: Timestamp, words: impl FnOnce() -> String) {
        if self.telling {
            self.line(false, format!("{}   {}", clock(at), words()));
        }
    }

    fn line(&mut self, record: bool, text: String) {
        self.records += usize::from(record);
        self.lines.push_back((record, text));
        while self.records > self.records_kept || self.lines.len() > self.records_kept.saturating_mul(8) {
            match self.lines.pop_front() {
                Some((true, _)) => self.records -= 1,
                Some(_) => {}
                None => break,
            }
        }
    }

    /// The last twenty records and what happened between them.
    pub fn last_lines(&self) -> Vec<String> {
        self.lines.iter().map(|(_, text)| text.clone()).collect()
    }
}

fn clock(at: Timestamp) -> String {
    at.to_string()[11..23].to_string()
}
