//! What the programs of a run may have left behind: processes that live, files that are not committed.
//!
//! Whoever ends the run believes the daemon's last word about both, and looks himself only where it says nothing.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

#[derive(Debug, Default)]
pub struct Traces {
    /// Programs that were started and not seen gone with everything they started.
    at_large: AtomicU32,
    /// The branch holds all of the work, and no program was started since.
    committed: AtomicBool,
}

impl Traces {
    /// A program is about to be started: from now on it may write.
    pub fn begins(&self) {
        self.committed.store(false, Ordering::SeqCst);
        self.at_large.fetch_add(1, Ordering::SeqCst);
    }

    /// The program that began last is gone, with everything it started.
    pub fn ended_with_all(&self) {
        self.at_large.fetch_sub(1, Ordering::SeqCst);
    }

    /// Everything was committed just now.
    pub fn committed(&self) {
        self.committed.store(true, Ordering::SeqCst);
    }

    /// Nothing that a program of this run started can live any more.
    pub fn all_gone(&self) -> bool {
        self.at_large.load(Ordering::SeqCst) == 0
    }

    /// Nothing of this run can have changed a file since the branch held all of the work.
    pub fn all_committed(&self) -> bool {
        self.all_gone() && self.committed.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_was_not_seen_gone_spoils_the_proof_for_good() {
        let traces = Traces::default();
        assert!(traces.all_gone() && !traces.all_committed());
        traces.begins();
        assert!(!traces.all_gone());
        traces.ended_with_all();
        traces.committed();
        assert!(traces.all_gone() && traces.all_committed());
        // A check: what it writes is not committed.
        traces.begins();
        traces.ended_with_all();
        assert!(traces.all_gone() && !traces.all_committed());
        // One that stays, then one that goes.
        traces.begins();
        traces.begins();
        traces.ended_with_all();
        traces.committed();
        assert!(!traces.all_gone() && !traces.all_committed());
    }
}
