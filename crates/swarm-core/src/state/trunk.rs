//! The branch that finished work goes to. It belongs to the plan: recorded when that first runs, and changed only
//! by an operation.

use swarm_protocol::ids::Oid;
use swarm_protocol::operation::{Checkpoint, Fact};

use super::State;
use crate::operation::on_this_trunk;
use crate::operation::plan::oid;

impl State {
    /// The trunk that the plan has been run on; none before its first run.
    pub fn pinned_trunk(&self) -> Option<&str> {
        self.trunk.as_deref().filter(|_| self.trunk_pinned)
    }

    /// Where the swarm has last seen trunk: after a merge or an operation, or in a checkpoint.
    pub fn last_seen_on_trunk(&self) -> Option<Oid> {
        let fact = Fact::of_branch(self.trunk.as_deref()?);
        let moved = self.ops.log.iter().rev().find_map(|record| {
            let change = record.facts.iter().flatten().find(|change| change.fact == fact)?;
            Some((record.seq, oid(change.after.as_ref())?))
        });
        let of_this = |c: &&Checkpoint| on_this_trunk(self, c).is_ok();
        let kept =
            self.ops.checkpoints.values().filter(of_this).filter_map(|c| Some((c.seq, c.trunk.clone()?)));
        kept.chain(moved).max_by_key(|(seq, _)| *seq).map(|(_, oid)| oid)
    }
}
