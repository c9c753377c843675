//! `state/snapshot.json`: the whole state at one record, so that loading costs the tail only.
//!
//! `{"checksum":"<64 hex>",REST`: the checksum is the SHA-256 of REST, the bytes behind it. What it
//! covers, a changed byte anywhere makes the file worthless rather than wrong. It names the record
//! and where its line starts; whether that line is on the chain is for the loader to see.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use swarm_core::State;
use swarm_core::state::STATE_FORMAT;
use swarm_ledger::{Base, Hash, Head, Witness};

use crate::paths::Paths;
use crate::replace::{replace, sync_dir};

/// The format of the file around the state.
const FORMAT: u32 = 1;
const OPENING: &[u8] = b"{\"checksum\":\"";
const HEAD_LEN: usize = OPENING.len() + 64 + 2;
/// A state of 20,000 tasks with full audit logs stays far below.
const BYTES_MAX: u64 = 1 << 30;

/// Names one loss, so that it is recorded once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct LossKey {
    pub last_good_seq: u64,
    pub last_good_hash: String,
    pub quarantine: String,
}

/// A snapshot that has been read and proven to be what was written.
pub(super) struct Snapshot {
    pub state: State,
    pub base: Base,
    pub ledger_id: String,
    pub losses: BTreeSet<LossKey>,
    pub source: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    format: u32,
    state_format: u32,
    seq: u64,
    hash: &'a str,
    offset: u64,
    ledger_id: &'a str,
    losses: &'a BTreeSet<LossKey>,
    state: Box<RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored<'a> {
    format: u32,
    state_format: u32,
    seq: u64,
    hash: String,
    offset: u64,
    ledger_id: String,
    losses: BTreeSet<LossKey>,
    #[serde(borrow)]
    state: &'a RawValue,
}

/// The snapshot as bytes. `head` is the durable record that `state` ends with.
pub(super) fn encode(state: &State, head: &Head, ledger_id: &str, losses: &BTreeSet<LossKey>) -> Vec<u8> {
    let written = Written {
        format: FORMAT,
        state_format: STATE_FORMAT,
        seq: head.seq,
        hash: head.hash.as_str(),
        offset: head.offset,
        ledger_id,
        losses,
        state: state.to_json(),
    };
    let mut rest = serde_json::to_vec(&written).expect("plain data serialises");
    rest.push(b'\n');
    let mut bytes = Vec::with_capacity(rest.len() + HEAD_LEN);
    bytes.extend_from_slice(OPENING);
    bytes.extend_from_slice(Hash::of(&rest[1..]).as_bytes());
    bytes.extend_from_slice(b"\",");
    bytes.extend_from_slice(&rest[1..]);
    bytes
}

/// Puts a new snapshot in place and keeps the one before. Between the two renames only the older
/// one has a name: it serves as well.
pub(super) fn write(paths: &Paths, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(&paths.state)?;
    match fs::rename(&paths.snapshot, &paths.snapshot_prev) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    replace(&paths.snapshot, bytes)?;
    sync_dir(&paths.state)
}

/// The snapshots that are what they were when they were written, newest first. The older one is
/// read only where the newer one is no use.
pub(super) fn candidates(paths: &Paths) -> impl Iterator<Item = Snapshot> {
    let places = [
        (paths.snapshot.clone(), "state/snapshot.json"),
        (paths.snapshot_prev.clone(), "state/snapshot.prev.json"),
    ];
    places.into_iter().filter_map(|(path, source)| read(&path, source))
}

fn read(path: &Path, source: &'static str) -> Option<Snapshot> {
    // Whatever is wrong with a snapshot, the ledger has it all: it is passed over.
    fs::metadata(path).ok().filter(|meta| meta.len() <= BYTES_MAX)?;
    decode(&fs::read(path).ok()?, source)
}

/// Whether the file holds the bytes that were once written, of whatever format.
pub(crate) fn is_as_written(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.len() <= BYTES_MAX)
        && fs::read(path).is_ok_and(|bytes| has_its_checksum(&bytes).is_some())
}

fn has_its_checksum(bytes: &[u8]) -> Option<()> {
    let (head, rest) = bytes.split_at_checked(HEAD_LEN)?;
    let checksum = head.strip_prefix(OPENING)?.strip_suffix(b"\",")?;
    (Hash::of(rest).as_bytes() == checksum).then_some(())
}

fn decode(bytes: &[u8], source: &'static str) -> Option<Snapshot> {
    has_its_checksum(bytes)?;
    let stored: Stored = serde_json::from_slice(bytes).ok()?;
    if stored.format != FORMAT || stored.state_format != STATE_FORMAT {
        return None;
    }
    let Stored { seq, hash, offset, ledger_id, losses, state, .. } = stored;
    let state = State::from_json(state.get()).ok()?;
    let base = Base { seq, hash: hash.parse().ok()?, offset };
    (state.seq == seq).then_some(Snapshot { state, base, ledger_id, losses, source })
}

impl Snapshot {
    /// It remembers how far the ledger reached.
    pub fn witness(&self) -> Witness {
        Witness {
            seq: self.base.seq,
            hash: Some(self.base.hash),
            ledger_id: Some(self.ledger_id.clone()),
            source: self.source.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_byte_and_every_cut_makes_a_snapshot_worthless_and_never_wrong() {
        let head = Head { seq: 0, hash: Hash::of(b"x"), offset: 7, end: 9 };
        let bytes = encode(&State::default(), &head, "id", &BTreeSet::new());
        let good = decode(&bytes, "here").expect("as written");
        assert_eq!((good.state, good.base.offset, good.ledger_id.as_str()), (State::default(), 7, "id"));
        for at in 0..bytes.len() {
            assert!(decode(&bytes[..at], "here").is_none(), "cut at {at}");
            for flip in [1, 0x20, 0x80] {
                let mut bad = bytes.clone();
                bad[at] ^= flip;
                assert!(decode(&bad, "here").is_none(), "byte {at} changed by {flip}");
            }
        }
    }
}
