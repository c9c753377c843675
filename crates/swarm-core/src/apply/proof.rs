//! Events about what is done, asked again: found, gone from trunk, back on it.

use swarm_protocol::event::Event;
use swarm_protocol::time::Timestamp;

use crate::stage::Stage;
use crate::state::{State, Stuck};
use crate::text::tail;

impl State {
    /// True when the event was one of these.
    pub(super) fn apply_proof(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::TrunkMoved { .. } => self.proven = None,
            Event::TrunkProven { commit } => {
                (self.proven, self.proof_failed) = (Some(commit.clone()), None);
            }
            Event::ProofFailed { why } => {
                let since = self.proof_failed.as_ref().map_or(at, |failed| failed.since);
                self.proof_failed = Some(Stuck { since, why: why.clone() });
            }
            Event::WorkGone { task, proof, why, work, .. } => {
                let (proof, why, work) = (proof.clone(), why.clone(), work.clone());
                self.enter(task, Stage::Gone { proof, why, since: at, work });
            }
            Event::WorkBack { task, proof, .. } => {
                for commit in proof.own() {
                    self.ops.made.remove(commit);
                }
                self.enter(task, Stage::Done { proof: Some(proof.clone()) });
            }
            Event::WorkRewritten { task, proof } => self.change(task, |t| {
                if let Stage::Done { proof: known } = &mut t.stage {
                    *known = Some(proof.clone());
                }
            }),
            Event::NothingChanged { task, why, next, .. } => {
                self.change(task, |t| {
                    t.empties = t.empties.saturating_add(1);
                    t.last_failure = Some(tail(why));
                });
                self.release(task);
                self.follow(task, next, at);
            }
            _ => return false,
        }
        true
    }
}
