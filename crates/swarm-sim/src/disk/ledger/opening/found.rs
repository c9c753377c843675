//! What an opening found and changed, read off the bytes.

use swarm_ledger::Finding;

pub(super) fn is_quarantine(path: &std::path::Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().contains(".quarantine."))
}

/// Ranges of `old` that are not the same in `now`; what was repaired and what was cut are apart.
pub(super) fn differing(old: &[u8], now: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = None;
    for at in 0..=old.len() {
        let same = at == old.len() || now.get(at) == Some(&old[at]);
        match (same, start) {
            (false, None) => start = Some(at),
            (true, Some(from)) => {
                ranges.push(from..at);
                start = None;
            }
            (false, Some(from)) if at == now.len() => {
                ranges.push(from..at);
                start = Some(at);
            }
            _ => {}
        }
    }
    ranges
}

pub(super) fn holds(kept: &[u8], bytes: &[u8]) -> bool {
    kept == bytes || kept.ends_with(bytes) || kept.windows(bytes.len()).any(|window| window == bytes)
}

pub(super) fn name_of(finding: &Finding) -> &'static str {
    match finding {
        Finding::TornTail { .. } => "found: torn tail",
        Finding::Repaired { .. } => "found: repaired from the copy",
        Finding::RestoredFromCopy { .. } => "found: restored from the copy",
        Finding::Loss(_) => "found: loss",
        Finding::Damage(_) => "found: damage",
        Finding::WitnessDisagrees { .. } => "found: a witness disagrees",
        Finding::EpochFell { .. } => "found: an epoch fell",
        Finding::CopyRebuilt { .. } => "found: copy rebuilt",
        Finding::CopyFailed { .. } => "found: copy failed",
        Finding::CopyCaughtUp => "found: copy caught up",
        Finding::QuarantineUnreadable { .. } => "found: a quarantine file that cannot be read",
        _ => "found: something only a reader finds",
    }
}
