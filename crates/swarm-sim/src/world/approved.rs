//! What people commit on the branch of a task after it was approved, and who has to notice.

use swarm_core::effect::Approval;
use swarm_core::input::Report;
use swarm_core::stage::Stage;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::outcome::Gate;

use super::coordinator::Coordinator;
use super::oracle::{Broken, broken};
use super::story::Story;
use super::truth::Truth;

/// What an executor says that finds the branch elsewhere than the approval.
pub fn changed_since(truth: &Truth, task: &TaskId, approval: Option<&Approval>) -> Option<Report> {
    let approval = approval?;
    let now = truth.worktrees.get(task)?.tip.clone();
    let ours = truth.joined_upon(&now) == Some(&approval.tip);
    let changed = now != approval.tip && approval.left_out.as_ref() != Some(&now) && !ours;
    changed.then(|| Report::BranchChanged { task: task.clone(), tree: now.clone(), tip: now, base: None })
}

/// Somebody reviews it, and what its branch holds now nobody has seen.
pub fn is_as_approved(
    task: &TaskId,
    tip: &Oid,
    seen: impl Fn(&Oid) -> bool,
    c: &Coordinator,
    truth: &Truth,
) -> Result<(), Broken> {
    let (Some(found), Some(worktree)) = (c.state.task(task), truth.worktrees.get(task)) else {
        return Ok(());
    };
    let by_somebody = match found.spec.review.as_deref() {
        Some(word) => word != "none",
        None => c.state.policy.reviews,
    };
    let waived = found.waived.contains(&Gate::Review);
    // Work that is merged once more is what was merged before.
    let again = found.bare || !found.worktree || found.handed_in.as_ref() != Some(tip);
    let ours = truth.joined_upon(&worktree.tip) == Some(tip);
    match by_somebody && !waived && !again && !ours && !seen(&worktree.tip) {
        true => Err(broken(
            "an approval is about what the branch is at",
            format!("{task} at {tip}, and its branch is at {}", worktree.tip),
        )),
        false => Ok(()),
    }
}

impl Story {
    /// A person commits in the worktree of a task whose work waits for trunk.
    pub(super) fn changes_what_was_approved(&mut self) {
        let Some(state) = self.coordinator.as_ref().map(|c| &c.state) else { return };
        let waits = |id: &&TaskId| {
            let stage = state.task(id).map(|task| &task.stage);
            matches!(stage, Some(Stage::Approved { .. } | Stage::Merging { .. })) && !state.has_run(id)
        };
        let waiting: Vec<TaskId> = self.truth.worktrees.keys().filter(waits).cloned().collect();
        if waiting.is_empty() || !self.rng.chance(10) {
            return;
        }
        let task = self.rng.pick(&waiting).clone();
        self.trace.note(self.now, || format!("a person commits on the branch of {task}"));
        self.truth.agent_commits(&task);
    }
}
