//! The branch that finished work goes to. It belongs to the plan: recorded when that first runs, and changed only
//! by an operation.

use super::State;

impl State {
    /// The trunk that the plan has been run on; none before its first run.
    pub fn pinned_trunk(&self) -> Option<&str> {
        self.trunk.as_deref().filter(|_| self.trunk_pinned)
    }
}
