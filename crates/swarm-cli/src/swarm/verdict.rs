//! What `swarm plan verify` found out, part by part.

use serde::Serialize;
use swarm_engine::anchor;
use swarm_engine::projection::{self, Condition};
use swarm_engine::store::{Store, VerifyReport};
use swarm_ledger::Witness;
use swarm_protocol::refusal::Refusal;

use super::Swarm;
use crate::error::CliError;

/// How bad it is, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Good,
    /// Right, but of an earlier record: the next command brings it up to date.
    Behind,
    /// Something made from the ledger does not fit it.
    OutOfStep,
    /// The ledger itself is not what was written, or not all of it.
    Damaged,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// `integrity`, `completeness`, `snapshots`, `projections`, `second copy`, `anchor`.
    pub name: &'static str,
    pub verdict: Verdict,
    pub words: String,
}

impl Swarm {
    /// Checks everything. Changes nothing.
    pub fn verify(&self) -> Result<Vec<Part>, CliError> {
        let anchors = self.runtime.block_on(anchor::witnesses(&self.git))?;
        let options = self.options("verify").anchors(anchors.clone());
        let reading = Store::open_reader(&self.paths, &options, None)?;
        let Some(head) = reading.head else { return Err(Refusal::NoPlan.into()) };
        let report = Store::verify(&self.paths, &options)?;
        let conditions = projection::conditions(&self.paths, &head);
        let conditions: Vec<_> = conditions.into_iter().map(|(path, c)| (self.relative(&path), c)).collect();
        Ok(vec![
            integrity(&report),
            completeness(&report),
            snapshots(&report),
            projections(&conditions),
            second_copy(&report),
            anchored(&anchors, &report),
        ])
    }
}

fn part(name: &'static str, verdict: Verdict, words: impl Into<String>) -> Part {
    Part { name, verdict, words: words.into() }
}

/// A finding about the second copy is no word against the ledger.
fn is_about_the_copy(finding: &str) -> bool {
    finding.starts_with("The second copy")
}

fn is_about_a_snapshot(finding: &str) -> bool {
    finding.starts_with("The snapshot in record")
}

fn integrity(report: &VerifyReport) -> Part {
    let wrong: Vec<&str> = report.integrity.iter().map(String::as_str).collect();
    let wrong: Vec<&str> =
        wrong.into_iter().filter(|f| !is_about_the_copy(f) && !is_about_a_snapshot(f)).collect();
    let hashes = if report.plan_hashes_checked == 1 { "hash" } else { "hashes" };
    let checked = format!("{} records, {} plan {hashes}", report.records, report.plan_hashes_checked);
    match wrong.is_empty() {
        true => part("integrity", Verdict::Good, checked),
        false => part("integrity", Verdict::Damaged, wrong.join("; ")),
    }
}

fn completeness(report: &VerifyReport) -> Part {
    match report.completeness.is_empty() {
        true => part("completeness", Verdict::Good, format!("no trace of a record after {}", report.records)),
        false => part("completeness", Verdict::Damaged, report.completeness.join("; ")),
    }
}

fn snapshots(report: &VerifyReport) -> Part {
    let wrong: Vec<&str> =
        report.integrity.iter().map(String::as_str).filter(|finding| is_about_a_snapshot(finding)).collect();
    match wrong.is_empty() {
        true => part("snapshots", Verdict::Good, format!("{} in the ledger", report.snapshots_checked)),
        false => part("snapshots", Verdict::Damaged, wrong.join("; ")),
    }
}

fn projections(conditions: &[(String, Condition)]) -> Part {
    let words: Vec<String> =
        conditions.iter().filter_map(|(path, condition)| condition.describe(path)).collect();
    let worst = conditions.iter().map(|(_, condition)| match condition {
        Condition::Fresh => Verdict::Good,
        Condition::Missing | Condition::Stale { .. } => Verdict::Behind,
        Condition::Edited | Condition::Unreadable { .. } => Verdict::OutOfStep,
    });
    match worst.max().unwrap_or(Verdict::Good) {
        Verdict::Good => part("projections", Verdict::Good, "plan.json and plan.md show the last record"),
        worst => part("projections", worst, words.join("; ")),
    }
}

fn second_copy(report: &VerifyReport) -> Part {
    let words = report.second_copy.clone();
    let verdict = match words.as_str() {
        "agrees" => Verdict::Good,
        text if text.starts_with("differs") || text.starts_with("cannot be read") => Verdict::OutOfStep,
        _ => Verdict::Behind,
    };
    part("second copy", verdict, words)
}

/// Whether the ledger reaches as far as the anchor says is a matter of completeness; here it is only named.
fn anchored(anchors: &[Witness], report: &VerifyReport) -> Part {
    match anchors.first() {
        None => part("anchor", Verdict::Good, "none yet: it is set when a swarm ends"),
        Some(anchor) if anchor.ledger_id.as_ref().is_some_and(|id| *id != report.ledger_id) => {
            part("anchor", Verdict::Good, "of an earlier plan")
        }
        Some(anchor) => part("anchor", Verdict::Good, format!("{} at record {}", anchor.source, anchor.seq)),
    }
}
