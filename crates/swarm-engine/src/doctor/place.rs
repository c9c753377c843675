//! Where the swarm lies: the disk under it, and the clock it counts by.

use std::sync::Arc;

use swarm_ledger::{RealFs, Vfs, locks_keep_out};

use super::finding::Found;
use super::machine::disk;
use super::patient::Patient;
use crate::clock::wall_clock;

/// A ledger this far ahead of the clock means that the clock was set back.
const AHEAD_MAX_MS: u64 = 60_000;

/// File systems on which locks and syncs are promises of somebody else.
const REMOTE: [(u64, &str); 8] = [
    (0x6969, "NFS"),
    (0xFF53_4D42, "CIFS"),
    (0xFE53_4D42, "SMB"),
    (0x517B, "SMB"),
    (0x0102_1997, "9p"),
    (0x0102_1994, "memory"),
    (0x6573_5546, "FUSE"),
    (0x5346_414F, "AFS"),
];

pub(super) fn inspect(patient: &Patient) -> Vec<Found> {
    let root = &patient.paths.root;
    let low = patient.config.disk.low;
    let mut found = vec![disk(root, "the repository", low), filesystem(patient), clock(patient)];
    let apart = |path: &std::path::Path| {
        let device = |path: &std::path::Path| rustix::fs::stat(path).map(|stat| stat.st_dev).ok();
        device(path).is_some_and(|there| Some(there) != device(root))
    };
    if apart(&patient.paths.worktrees) {
        found.push(disk(&patient.paths.worktrees, "the worktrees", low));
    }
    if apart(&patient.git.common_dir) {
        found.push(disk(&patient.git.common_dir, "git's objects", low));
    }
    found
}

fn filesystem(patient: &Patient) -> Found {
    let vfs: Arc<dyn Vfs> = Arc::new(RealFs);
    // What cannot be tried (nothing has run here yet, or nothing can be written) is another check's business.
    if patient.paths.run.exists() && locks_keep_out(&vfs, &patient.paths.run).is_ok_and(|keep| !keep) {
        return Found::problem(
            "filesystem",
            "it has no locks that keep a second swarm out, so none is started",
        )
        .by_hand("keep the repository on a disk of this machine, or mount this one with locks");
    }
    let Ok(stat) = rustix::fs::statfs(&patient.paths.root) else {
        return Found::note("filesystem", "the kernel does not say which one it is");
    };
    #[allow(clippy::unnecessary_cast, reason = "the width of this number differs between machines")]
    let kind = stat.f_type as u64 & 0xFFFF_FFFF;
    match REMOTE.iter().find(|(magic, _)| *magic == kind) {
        Some((_, "memory")) => Found::note("filesystem", "it is in memory: nothing survives a restart"),
        Some((_, name)) => Found::note(
            "filesystem",
            format!("{name}: the server decides whether locks work and a sync reaches the disk"),
        )
        .by_hand("keep the repository on a disk of this machine"),
        None => Found::ok("filesystem", "a local one"),
    }
}

fn clock(patient: &Patient) -> Found {
    let (now, last) = (wall_clock(), patient.state.at);
    if last.0 > now.0.saturating_add(AHEAD_MAX_MS) {
        return Found::note(
            "clock",
            format!("the last record is dated {last}, in the future: the clock was set back"),
        )
        .by_hand("set the clock; records stay in order anyway");
    }
    Found::ok("clock", "not behind the ledger")
}
