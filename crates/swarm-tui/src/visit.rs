//! When this person looked at this swarm last, on this machine, and what happened since.

use swarm_protocol::api::Since;
use swarm_protocol::time::Timestamp;

/// How far somebody has seen a ledger, and when they left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// Its own id: another plan has another one, and its records begin at one again.
    pub ledger: String,
    pub record: u64,
    pub at: Timestamp,
}

/// Which ledger there is; and where the person has seen it before, what happened since.
#[derive(Debug, Clone, PartialEq)]
pub struct Visited {
    pub ledger: String,
    pub since: Option<(Timestamp, Since)>,
}
