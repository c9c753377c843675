//! The log of a worktree's own HEAD: what git wrote down of everything that was done in there.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use swarm_protocol::ids::Oid;

/// Of a log that an agent can write, no more than this is read: its end.
const LOG_TAIL_BYTES: u64 = 1024 * 1024;

/// One step of HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    /// None: the branch had no commit.
    pub old: Option<Oid>,
    pub new: Oid,
    /// Where the line begins in the file.
    pub at: u64,
}

/// Every step that HEAD of this worktree made, oldest first, as far as its log goes back.
pub(super) fn steps(record: &Path) -> Vec<Step> {
    let (mut at, text) = tail(record).unwrap_or_default();
    let mut steps = Vec::new();
    for line in text.split_inclusive(|b| *b == b'\n') {
        steps.extend(step(line, at));
        at += line.len() as u64;
    }
    steps
}

/// How long the log is now: a step written later begins there or after.
pub(super) fn length(record: &Path) -> u64 {
    std::fs::symlink_metadata(record.join("logs/HEAD")).map_or(0, |meta| meta.len())
}

fn step(line: &[u8], at: u64) -> Option<Step> {
    let mut words = line.split(|b| *b == b' ');
    let (old, new) = (words.next()?, words.next()?);
    Some(Step { old: commit(old), new: commit(new)?, at })
}

/// Only zeros stand for no commit.
fn commit(word: &[u8]) -> Option<Oid> {
    let oid = Oid::new(std::str::from_utf8(word).ok()?).ok()?;
    oid.as_str().bytes().any(|b| b != b'0').then_some(oid)
}

fn tail(record: &Path) -> std::io::Result<(u64, Vec<u8>)> {
    use rustix::fs::{Mode, OFlags};
    // An agent may have put a link or a pipe there: neither is followed, neither makes us wait.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = std::fs::File::from(rustix::fs::open(record.join("logs/HEAD"), flags, Mode::empty())?);
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Ok((0, Vec::new()));
    }
    let start = meta.len().saturating_sub(LOG_TAIL_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut text = Vec::new();
    file.take(LOG_TAIL_BYTES).read_to_end(&mut text)?;
    let cut = match start {
        0 => 0,
        _ => text.iter().position(|b| *b == b'\n').map_or(text.len(), |at| at + 1),
    };
    text.drain(..cut);
    Ok((start + cut as u64, text))
}
