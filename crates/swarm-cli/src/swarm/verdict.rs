//! What `swarm plan verify` found out about one part.

use serde::Serialize;

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
