//! The ledger's claim as git asks for it: a ref is moved only by the process that owns the ledger.

use std::path::Path;

/// The proof that the ledger is ours.
#[derive(Debug, Clone)]
pub struct LedgerClaim(pub swarm_ledger::Claim);

impl swarm_git::Claim for LedgerClaim {
    fn holds(&self) -> bool {
        self.0.holds()
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}
