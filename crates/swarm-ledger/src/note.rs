//! The note a loss leaves in quarantine, before the ledger is cut.
//!
//! The caller records a loss in the ledger after recovery has cut it; dying in between must not make
//! the loss silent. So the note is durable first, and every later recovery hands all notes of this
//! ledger to the caller, who records those it has no record of. The note also remembers which
//! witnesses have been heard: a git ref that knows a lost record would otherwise prove the same
//! damage at every start.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Loss, Mark, Witness};
use crate::hash::Hash;
use crate::paths::LedgerPaths;
use crate::quarantine::{self, Kept};
use crate::vfs::{Open, Vfs, VfsFile};

/// A loss that has been written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LossNote {
    /// The note's own file.
    pub file: PathBuf,
    pub loss: Loss,
    claims: Vec<Claim>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Claim {
    seq: u64,
    hash: Option<String>,
    source: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    note: String,
    ledger_id: String,
    last_good: StoredMark,
    next_valid: Option<StoredMark>,
    last_valid: Option<StoredMark>,
    known_seq: u64,
    known_by: String,
    bytes: u64,
    files: Vec<String>,
    files_hash: Option<String>,
    claims: Vec<Claim>,
}

#[derive(Serialize, Deserialize)]
struct StoredMark {
    seq: u64,
    hash: String,
}

const KIND: &str = "ledger-loss";
/// A note names a handful of files and witnesses.
const NOTE_BYTES_MAX: u64 = 1 << 20;
/// Begins the last member: the hash of everything before it. Whatever a note says goes into the ledger, so one changed byte
/// of it would be recorded as a loss that never was.
const SUM: &[u8] = b",\"sum\":\"";
const END: &[u8] = b"\"}\n";

impl LossNote {
    /// The same loss, met again by a recovery that was killed before it had cut everything: nothing
    /// has been kept or heard that this note does not name.
    pub(crate) fn covers(&self, loss: &Loss, heard: &[&Witness]) -> bool {
        self.loss.last_good == loss.last_good
            && !loss.quarantine.is_empty()
            && loss.quarantine.iter().all(|file| self.loss.quarantine.contains(file))
            && heard.iter().all(|witness| self.answers(witness))
    }

    /// This witness has been heard when the loss was written down.
    pub fn answers(&self, witness: &Witness) -> bool {
        self.claims.iter().any(|claim| match witness.hash {
            Some(hash) => claim.seq == witness.seq && claim.hash.as_deref() == Some(hash.as_str()),
            None => claim.seq >= witness.seq && claim.source == witness.source,
        })
    }
}

/// Writes the note of a loss, unless there is one.
pub fn write(
    vfs: &dyn Vfs,
    paths: &LedgerPaths,
    ledger_id: &str,
    loss: &Loss,
    heard: &[&Witness],
) -> io::Result<LossNote> {
    let (notes, _) = read_all(vfs, paths, ledger_id)?;
    if let Some(note) = notes.into_iter().find(|note| note.covers(loss, heard)) {
        return Ok(note);
    }
    let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let claims: Vec<Claim> = heard
        .iter()
        .map(|w| Claim { seq: w.seq, hash: w.hash.map(|h| h.to_string()), source: w.source.clone() })
        .collect();
    let stored = Stored {
        note: KIND.into(),
        ledger_id: ledger_id.into(),
        last_good: loss.last_good.into(),
        next_valid: loss.next_valid.map(Into::into),
        last_valid: loss.last_valid.map(Into::into),
        known_seq: loss.known_seq,
        known_by: loss.known_by.clone(),
        bytes: loss.bytes,
        files: loss.quarantine.iter().filter_map(name).collect(),
        files_hash: loss.quarantine_hash.map(|hash| hash.to_string()),
        claims: claims.clone(),
    };
    let Kept { path, .. } = quarantine::keep_bytes(vfs, paths, &with_sum(&stored))?;
    Ok(LossNote { file: path, loss: loss.clone(), claims })
}

fn with_sum(stored: &Stored) -> Vec<u8> {
    let mut text = serde_json::to_vec(stored).expect("numbers and texts are JSON");
    // Its last brace comes behind the sum.
    text.pop();
    let sum = Hash::of(&text);
    [&text[..], SUM, sum.as_bytes(), END].concat()
}

/// Whether nothing of a note has changed since it was written. Those of earlier versions have no sum.
fn is_as_written(note: &[u8]) -> bool {
    let from_end = SUM.len() + Hash::of(b"").as_bytes().len() + END.len();
    let Some((before, last)) = note.len().checked_sub(from_end).map(|at| note.split_at(at)) else {
        return true;
    };
    let sum = last.strip_prefix(SUM).map(|rest| rest.strip_suffix(END));
    sum.is_none_or(|sum| sum == Some(&Hash::of(before).as_bytes()[..]))
}

/// All notes about this ledger, oldest first, and the files that cannot be read. Such a one must not keep the ledger from
/// being opened; but it may be the only word of a loss, so it is named.
pub fn read_all(
    vfs: &dyn Vfs,
    paths: &LedgerPaths,
    ledger_id: &str,
) -> io::Result<(Vec<LossNote>, Vec<Finding>)> {
    let (mut notes, mut unread) = (Vec::new(), Vec::new());
    for (_, path) in quarantine::list(vfs, paths)? {
        // Some reads fail once only.
        match bytes_of_note(vfs, &path).or_else(|_| bytes_of_note(vfs, &path)) {
            Ok(Some(bytes)) => {
                let stored = serde_json::from_slice::<Stored>(&bytes).ok().filter(|_| is_as_written(&bytes));
                let ours = stored.filter(|s| s.note == KIND && s.ledger_id == ledger_id);
                notes.extend(ours.and_then(|s| s.open(paths, path)));
            }
            Ok(None) => {}
            Err(error) => unread.push(Finding::QuarantineUnreadable { path, why: error.to_string() }),
        }
    }
    Ok((notes, unread))
}

/// None where it is something else. Every start comes by here: that costs its first bytes only.
fn bytes_of_note(vfs: &dyn Vfs, path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = vfs.open(path, Open::Read)?;
    let len = file.len()?;
    if len > NOTE_BYTES_MAX || !begins_like_a_note(&*file)? {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    quarantine::for_each_chunk(&*file, &[(0, len)], &mut |chunk| {
        bytes.extend_from_slice(chunk);
        Ok(())
    })?;
    Ok(Some(bytes))
}

fn begins_like_a_note(file: &dyn VfsFile) -> io::Result<bool> {
    const BEGINNING: &[u8] = b"{\"note\":\"";
    let mut bytes = [0; BEGINNING.len()];
    file.read_at(&mut bytes, 0)?;
    Ok(bytes == BEGINNING)
}

impl Stored {
    fn open(self, paths: &LedgerPaths, file: PathBuf) -> Option<LossNote> {
        let loss = Loss {
            last_good: self.last_good.mark()?,
            next_valid: self.next_valid.and_then(|mark| mark.mark()),
            last_valid: self.last_valid.and_then(|mark| mark.mark()),
            known_seq: self.known_seq,
            known_by: self.known_by,
            bytes: self.bytes,
            quarantine: self.files.iter().map(|name| paths.dir().join(name)).collect(),
            quarantine_hash: self.files_hash.and_then(|hash| hash.parse().ok()),
        };
        Some(LossNote { file, loss, claims: self.claims })
    }
}

impl StoredMark {
    fn mark(&self) -> Option<Mark> {
        Some(Mark { seq: self.seq, hash: self.hash.parse::<Hash>().ok()? })
    }
}

impl From<Mark> for StoredMark {
    fn from(mark: Mark) -> Self {
        Self { seq: mark.seq, hash: mark.hash.to_string() }
    }
}
