//! What makes two places the same one.

use swarm_core::stage::{MergeStep, Stage};
use swarm_core::state::Task;
use swarm_protocol::time::Timestamp;

use super::{Alphabet, Place};
use crate::operations;
use crate::reports::oid;

impl Place {
    /// Everything that decides what can happen next.
    pub fn key(&self) -> String {
        let s = &self.state;
        let mut key = format!(
            "{:?}{}{}{}{:?}{:?}{}{}{}{}|",
            s.trunk_held_by,
            s.draining,
            s.proven.is_some(),
            s.running,
            s.paused.keys(),
            s.mode(),
            s.green.contains(&oid('a')),
            s.red_trunk.is_some(),
            s.setup_failures.count.min(3),
            s.plan.as_ref().is_some_and(|p| p.profile.locked)
        );
        for (id, task) in &s.tasks {
            key += &format!("{id}:{};", self.task_key(task));
        }
        for run in s.runs.values() {
            key += &format!("{:?}{}{}{};", run.kind, run.task, run.spawned, run.ended);
            if self.alphabet.failures || self.alphabet.denials {
                key += &format!("{}{:?}", run.nudged, run.profile);
            }
        }
        for (group, gate) in &s.quotas {
            let closed =
                gate.closed.as_ref().map(|c| (c.held, c.probing.is_some(), c.next_probe <= self.now));
            let late = s.runs.values().any(|run| run.nth <= gate.opened_after);
            key += &format!("{group}{closed:?}{late};");
        }
        if self.alphabet.operations.is_some() {
            key += &operations::key(s);
        }
        if self.alphabet.bases {
            let suspects = s.bases.suspects.values().map(|suspect| (suspect.run.is_some(), suspect.lost));
            key += &format!("{:?}{}", suspects.collect::<Vec<_>>(), s.bases.tried.len());
        }
        if self.alphabet.budgets {
            key += &format!("{}", s.spent.since(s.spent_before).tokens.min(2));
        }
        key
    }

    fn task_key(&self, task: &Task) -> String {
        let due = |at: &Timestamp| if *at <= self.now { "due" } else { "later" };
        let stage = match &task.stage {
            Stage::Pending { not_before, .. } => due(not_before).to_string(),
            Stage::Active { iteration, .. } | Stage::Checking { iteration, .. } => iteration.to_string(),
            Stage::Review { not_before, run, beside, .. } => {
                let voices: Vec<String> =
                    task.seats().map(|(name, seat)| format!("{name}{:?}", seat.voice)).collect();
                format!("{}{}{}{voices:?}", due(not_before), run.is_some(), beside.len())
            }
            Stage::Approved { not_before, waits, .. } => {
                format!("{}{:?}", due(not_before), waits.as_ref().map(|w| w.paths.len()))
            }
            Stage::Merging { races, step, .. } => match step {
                MergeStep::Building => format!("b{races}"),
                MergeStep::Verifying { .. } => format!("v{races}"),
                MergeStep::Publishing { .. } => format!("p{races}"),
                MergeStep::Suspect { .. } => format!("s{races}"),
                MergeStep::Trial { .. } => format!("t{races}"),
            },
            Stage::Blocked { block, .. } => block.word().to_string(),
            Stage::Restarting { not_before, .. } => due(not_before).to_string(),
            Stage::Split { parts, not_before, .. } => format!("{}{}", parts.len(), due(not_before)),
            _ => String::new(),
        };
        let Alphabet { failures, quota, denials, budgets, splits, .. } = self.alphabet;
        let mut more = String::new();
        if failures || splits {
            more += &format!("{},{}", task.crashes.min(2), task.overflows.min(1));
        }
        if task.left.is_some() {
            more += &format!("left{}", task.not_revived.as_ref().map_or(0, |one| one.tries));
        }
        if self.alphabet.proofs {
            let work = matches!(&task.stage, Stage::Gone { work: Some(_), .. });
            let was = task.was.as_ref().map(|was| was.word());
            more += &format!("{},{},{work}{was:?}", task.empties.min(2), task.landed_before.len());
        }
        if self.alphabet.bases {
            more += &format!("{:?}", task.same_failure.as_ref().map(|same| same.count.min(2)));
        }
        if self.alphabet.scans {
            more += &task.failed_scan.to_string();
        }
        if self.alphabet.late_changes {
            let at = task.handed_in.as_ref().map(|tip| *tip == oid('e'));
            // How often is enough is counted in the scripts: here it would only multiply the states.
            more += &format!("{}{}{at:?}", task.voids.min(1), task.void.is_some());
        }
        if self.alphabet.protected {
            more += &task.protected.len().to_string();
        }
        if self.alphabet.stops && task.submitted.is_some() {
            more += "submitted";
        }
        if task.withheld.is_some() {
            more += "withheld";
        }
        if quota {
            more += &task.first.to_string();
        }
        if denials {
            let landed = task.messages.front().map(|m| m.landed.is_some());
            more += &format!("{:?}{:?}{landed:?}", task.assigned, task.denied_under);
        }
        if budgets {
            more += &task.spent.since(task.spent_before).tokens.min(1).to_string();
        }
        format!(
            "{}{stage},{more},{},{},{},{},{},{},{},{:?},{},{},{}",
            task.stage.name(),
            task.started,
            task.retries.min(2),
            task.transient_retries.min(2),
            task.once_more.min(2),
            task.review_rounds.min(2),
            task.merge_rounds.min(2),
            task.effect_failures.min(5),
            task.waived,
            task.worktree,
            task.kept.is_some(),
            task.verified.is_some()
        )
    }
}
