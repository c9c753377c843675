//! The executor that moves trunk to what was built.

use swarm_core::input::Report;
use swarm_protocol::event::Proof;
use swarm_protocol::ids::{Oid, TaskId};

use super::approved::is_as_approved;
use super::fault::Fault;
use super::oracle::{Broken, broken};
use super::story::Story;

impl Story {
    pub(super) fn publish(
        &mut self,
        task: &TaskId,
        base: &Oid,
        result: &Oid,
        commits: &[Oid],
    ) -> Result<Report, Broken> {
        let task = task.clone();
        let proof = Proof::new(self.truth.trunk_name(), result.clone(), commits.to_vec());
        if self.truth.trunk_has(result) {
            return Ok(Report::Published { task, proof });
        }
        if self.truth.checkout_busy {
            self.hit(Fault::CheckoutBusy);
            let paths = vec!["src/a.rs".to_string()];
            let why = "src/a.rs is changed".into();
            return Ok(Report::PublishWaits { task, why, paths, hint: "git stash".into() });
        }
        self.oracle.may_publish(&task, result, &self.truth)?;
        // Where trunk has moved nothing is published, whatever the branch is at.
        if self.truth.trunk_tip() == *base
            && let (Some(c), Some(built)) = (&self.coordinator, self.truth.built.get(result))
        {
            let seen = |tip: &Oid| self.oracle.was_approved(&task, tip);
            is_as_approved(&task, &built.tip, seen, c, &self.truth)?;
        }
        let moved = self.truth.publish(base, result);
        let moved = moved.map_err(|text| broken("each commit of a task is on trunk at most once", text))?;
        Ok(match moved {
            true => Report::Published { task, proof },
            false => {
                self.hit(Fault::TrunkMoved);
                Report::TrunkMoved { task, now: self.truth.trunk_tip() }
            }
        })
    }
}
