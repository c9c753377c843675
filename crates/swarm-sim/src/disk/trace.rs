//! What happened on the disk: a hash over everything, and the last few operations in words.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::Path;

use crate::disk::fault::Op;

/// Operations shown with a failure.
const SHOWN: usize = 20;

#[derive(Debug, Clone)]
struct Step {
    index: u64,
    op: Op,
    path: Box<Path>,
    offset: u64,
    len: u64,
    answer: &'static str,
}

#[derive(Debug, Clone)]
pub struct Trace {
    hash: u64,
    last: VecDeque<Step>,
}

impl Default for Trace {
    fn default() -> Self {
        Self { hash: 0xcbf2_9ce4_8422_2325, last: VecDeque::with_capacity(SHOWN) }
    }
}

impl Trace {
    pub fn note(&mut self, index: u64, op: Op, path: &Path, offset: u64, len: u64, answer: &'static str) {
        self.mix(&[op as u8]);
        self.mix(path.as_os_str().as_encoded_bytes());
        self.mix(&offset.to_le_bytes());
        self.mix(&len.to_le_bytes());
        self.mix(answer.as_bytes());
        if self.last.len() == SHOWN {
            self.last.pop_front();
        }
        self.last.push_back(Step { index, op, path: path.into(), offset, len, answer });
    }

    /// FNV-1a: not strong, but the same everywhere.
    pub fn mix(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub fn hash(&self) -> u64 {
        self.hash
    }

    pub fn last_operations(&self) -> String {
        let mut text = String::new();
        for Step { index, op, path, offset, len, answer } in &self.last {
            let op = format!("{op:?}");
            writeln!(text, "  {index:>5} {op:<8} {} at {offset} len {len} -> {answer}", path.display())
                .expect("writing to memory does not fail");
        }
        text
    }
}
