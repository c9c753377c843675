//! The ledger and what is made from it.

use super::cure::Cure;
use super::finding::Found;
use super::patient::Patient;
use crate::projection::{self, Condition};
use crate::store::{Store, StoreError, VerifyReport, access_hint, is_as_written};

pub(super) fn inspect(patient: &Patient) -> Vec<Found> {
    if let Some(error) = &patient.ledger_error {
        let hint = error.hint();
        let hint = if hint.is_empty() { "swarm plan salvage".into() } else { hint };
        return vec![Found::problem("ledger", whole(error)).by_hand(hint)];
    }
    if patient.state.seq == 0 {
        return vec![Found::ok("ledger", "none yet")];
    }
    let report = match Store::verify(&patient.paths, &patient.options) {
        Ok(report) => report,
        Err(error) => return vec![unprovable(&error)],
    };
    let mut found = vec![ledger(patient, &report), second_copy(patient, &report)];
    found.extend(snapshots(patient));
    found.extend(projections(patient));
    found
}

/// A snapshot still serves where no record can be proven from the first one on: nothing that writes may be advised.
fn unprovable(error: &StoreError) -> Found {
    let found = Found::problem("ledger", whole(error));
    match error.hint() {
        hint if hint.is_empty() => found.curable(Cure::TakeTheLedger),
        hint => found.by_hand(hint),
    }
}

fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(&format!(": {cause}"));
        next = cause.source();
    }
    text
}

fn ledger(patient: &Patient, report: &VerifyReport) -> Found {
    let about_others = |finding: &&String| {
        !finding.starts_with("The second copy") && !finding.starts_with("The snapshot in record")
    };
    let mut wrong: Vec<&str> = report.integrity.iter().filter(about_others).map(String::as_str).collect();
    wrong.extend(report.completeness.iter().map(String::as_str));
    if !wrong.is_empty() {
        let found = Found::problem("ledger", wrong.join("; "));
        // What lies behind the damage is proven from a snapshot; cutting it off would lose it.
        return match patient.head.is_some_and(|head| head.seq > report.records) {
            true => found.by_hand(
                "these records are damaged in both copies, and work continues from the snapshot: restore \
                    .swarm/plan-ledger.jsonl from a backup that has them, and keep .swarm/state until then",
            ),
            false => found.curable(Cure::TakeTheLedger),
        };
    }
    if let Some(loss) = &patient.state.loss {
        return Found::problem("ledger", format!("records were lost: {loss}")).by_hand("swarm plan salvage");
    }
    // A batch that a living writer is writing looks the same as one that a dead writer left.
    match unfinished_bytes(patient) {
        0 => Found::ok("ledger", format!("{} records, the chain holds", report.records)),
        n if patient.coordinator.is_some() => {
            Found::ok("ledger", format!("{} records, {n} bytes are being written", report.records))
        }
        n => Found::problem(
            "ledger",
            format!("an unfinished batch of {n} bytes lies behind record {}", report.records),
        )
        .curable(Cure::TakeTheLedger),
    }
}

/// Bytes behind the last whole batch.
fn unfinished_bytes(patient: &Patient) -> u64 {
    let length = std::fs::metadata(&patient.paths.ledger).map_or(0, |meta| meta.len());
    patient.head.map_or(0, |head| length.saturating_sub(head.end))
}

fn second_copy(patient: &Patient, report: &VerifyReport) -> Found {
    match report.second_copy.as_str() {
        "agrees" => Found::ok("second-copy", "agrees with the ledger"),
        words if words.starts_with("cannot be read") => {
            Found::problem("second-copy", words).by_hand(access_hint(&patient.paths.second_copy))
        }
        words if patient.coordinator.is_some() && !words.starts_with("differs") => {
            Found::ok("second-copy", words)
        }
        words => Found::problem("second-copy", words).curable(Cure::TakeTheLedger),
    }
}

fn snapshots(patient: &Patient) -> Vec<Found> {
    let both = [&patient.paths.snapshot, &patient.paths.snapshot_prev];
    let damaged: Vec<_> = both.into_iter().filter(|path| path.exists() && !is_as_written(path)).collect();
    if damaged.is_empty() {
        return vec![Found::ok("snapshot", "readable, or not needed yet")];
    }
    damaged
        .into_iter()
        .map(|path| {
            let shown = patient.shown(path);
            Found::problem("snapshot", format!("{shown} is damaged; starting takes longer without it"))
                .about(shown)
                .curable(Cure::RebuildSnapshot(path.clone()))
        })
        .collect()
}

fn projections(patient: &Patient) -> Vec<Found> {
    let Some(head) = patient.head else { return Vec::new() };
    let mut found = Vec::new();
    for (path, condition) in projection::conditions(&patient.paths, &head) {
        let shown = patient.shown(&path);
        let Some(words) = condition.describe(&shown) else { continue };
        found.push(match condition {
            // A coordinator writes them every few seconds.
            Condition::Stale { .. } | Condition::Missing if patient.coordinator.is_some() => continue,
            Condition::Stale { .. } => {
                Found::note("projections", words).about(shown).curable(Cure::TakeTheLedger)
            }
            _ => Found::problem("projections", words).about(shown).curable(Cure::TakeTheLedger),
        });
    }
    if found.is_empty() {
        found.push(Found::ok("projections", "show the last record"));
    }
    found
}
