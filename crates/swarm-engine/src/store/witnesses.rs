//! Who remembers how far the ledger reached, besides the ledger itself.

use std::fs;

use swarm_ledger::frame::{check_line, claimed_len};
use swarm_ledger::genesis::Genesis;
use swarm_ledger::{Base, Hash, Vfs, Witness};

use swarm_protocol::channel::LedgerMark;

use super::options::OpenOptions;
use crate::paths::Paths;
use crate::projection;

/// Most lines fit into this; a longer one is read again whole.
const FIRST_LOOK: usize = 4096;
/// First bytes of a ledger that are enough to name it.
const FIRST_LINE_MAX: usize = 1 << 20;

/// Whether a record stands on the ledger where a snapshot says, so that a walk may start behind it.
pub(super) fn lies_on_ledger(vfs: &dyn Vfs, paths: &Paths, base: &Base) -> bool {
    let Ok(file) = vfs.open(&paths.ledger, swarm_ledger::Open::Read) else { return false };
    let mut bytes = vec![0; FIRST_LOOK];
    if !read_whole(&*file, &mut bytes, base.offset) {
        return false;
    }
    let Some(len) = claimed_len(&bytes) else { return false };
    if len > bytes.len() {
        bytes.resize(len, 0);
        if !read_whole(&*file, &mut bytes, base.offset) {
            return false;
        }
    }
    let line = bytes.get(..len).and_then(|line| check_line(line).ok());
    line.is_some_and(|line| line.seq == base.seq && line.hash == base.hash && line.ends_batch())
}

/// Fills the buffer, or as much of it as the file has.
fn read_whole(file: &dyn swarm_ledger::VfsFile, bytes: &mut Vec<u8>, offset: u64) -> bool {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(_) => return false,
        }
    }
    bytes.truncate(filled);
    true
}

/// Who besides the ledger remembers how far it reached: daemons, projections, and those that the caller knows of.
pub(super) fn of_files(paths: &Paths, options: &OpenOptions) -> Vec<Witness> {
    // The common case costs one look at the end of the ledger, and no checksum of two files.
    let reached = last_seq(&*options.vfs, paths).unwrap_or(0);
    beyond(paths, options, reached)
}

/// The same, with every projection that shows a record behind this one.
pub(super) fn beyond(paths: &Paths, options: &OpenOptions, seq: u64) -> Vec<Witness> {
    let mut known = of_daemons(paths);
    known.extend(of_projections(paths, seq));
    known.extend(options.anchors.iter().cloned());
    without_closed(paths, known)
}

/// A projection that shows a later record than the ledger ends with. One of another ledger is no word about this one:
/// the next write makes it anew.
fn of_projections(paths: &Paths, beyond: u64) -> Vec<Witness> {
    let mut known = projection::witnesses(paths, beyond);
    if known.is_empty() {
        return known;
    }
    let both = [&paths.ledger, &paths.second_copy];
    let first = both.into_iter().find_map(|path| Genesis::from_object(&first_line(path)?));
    if let Some(Genesis { ledger_id, .. }) = first {
        known.retain(|witness| witness.ledger_id.as_ref().is_none_or(|theirs| *theirs == ledger_id));
    }
    // Those of earlier versions do not name their ledger: with a closed plan beside, they may be of that one.
    if known.iter().any(|witness| witness.ledger_id.is_none()) && !closed_ids(paths).is_empty() {
        known.retain(|witness| witness.ledger_id.is_some());
    }
    known
}

/// The seq of the last line, if it is whole.
fn last_seq(vfs: &dyn Vfs, paths: &Paths) -> Option<u64> {
    let file = vfs.open(&paths.ledger, swarm_ledger::Open::Read).ok()?;
    let len = file.len().ok()?;
    let mut bytes = vec![0; FIRST_LOOK];
    let from = len.saturating_sub(FIRST_LOOK as u64);
    if !read_whole(&*file, &mut bytes, from) {
        return None;
    }
    let lines = bytes.strip_suffix(b"\n")?;
    let start = lines.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    check_line(&bytes[start..]).ok().map(|line| line.seq)
}

/// A closed plan's witnesses are left over; they must not speak about the next ledger.
pub(super) fn without_closed(paths: &Paths, mut known: Vec<Witness>) -> Vec<Witness> {
    if known.iter().any(|witness| witness.ledger_id.is_some()) {
        let closed = closed_ids(paths);
        known.retain(|witness| witness.ledger_id.as_ref().is_none_or(|id| !closed.contains(id)));
    }
    known
}

/// What the daemons were told, written into their own records.
fn of_daemons(paths: &Paths) -> Vec<Witness> {
    #[derive(serde::Deserialize)]
    struct Record {
        ledger: Option<LedgerMark>,
    }
    let Ok(entries) = fs::read_dir(&paths.daemons) else { return Vec::new() };
    let records = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"));
    records
        .filter_map(|path| {
            let told = serde_json::from_slice::<Record>(&fs::read(&path).ok()?).ok()?.ledger?;
            let hash: Option<Hash> = told.hash.parse().ok();
            let source = paths.shown(&path).to_string();
            Some(Witness { seq: told.seq, hash, ledger_id: Some(told.id), source })
        })
        .collect()
}

/// The ids of plans that were closed: what remembers them says nothing about the present ledger.
fn closed_ids(paths: &Paths) -> Vec<String> {
    let Ok(entries) = fs::read_dir(&paths.archive) else { return Vec::new() };
    let ledgers = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"));
    ledgers.filter_map(|path| Some(Genesis::from_object(&first_line(&path)?)?.ledger_id)).collect()
}

/// The first line of a file, or its first MiB.
pub(super) fn first_line(path: &std::path::Path) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(FIRST_LINE_MAX as u64).read_to_end(&mut bytes).ok()?;
    let end = bytes.iter().position(|b| *b == b'\n').unwrap_or(bytes.len());
    bytes.truncate(end);
    Some(bytes)
}
