//! Worktrees of tasks, as they are looked at before an agent is let into them again.

use swarm_protocol::ids::TaskId;

use super::cure::Cure;
use super::finding::Found;
use super::patient::Patient;
use swarm_work::daemon::RunFiles;
use swarm_work::worktree::{Flaw, all_markers, examine};

const ID: &str = "worktree-integrity";

pub(super) async fn inspect(patient: &Patient) -> Vec<Found> {
    let mut found = Vec::new();
    for marker in all_markers(&patient.git) {
        // Whoever works in it changes it while we look.
        if !marker.path.is_dir() || is_at_work(patient, &marker.task) {
            continue;
        }
        let dir = marker.path.parent().unwrap_or(&patient.paths.worktrees);
        let shown = patient.shown(&marker.path);
        match examine(&patient.git, &marker.task, dir).await {
            Ok(flaws) => found.extend(told(&marker.task, &shown, &flaws)),
            Err(error) => {
                found.push(Found::note(ID, format!("{shown} was not looked at: {error}")).about(shown))
            }
        }
    }
    if found.is_empty() {
        found.push(Found::ok(ID, "every worktree is consistent"));
    }
    found
}

fn told(task: &TaskId, shown: &str, flaws: &[Flaw]) -> Option<Found> {
    let words: Vec<String> = flaws
        .iter()
        .filter(|flaw| flaw.is_disorder() && !is_told_elsewhere(flaw))
        .map(|flaw| flaw.describe(task))
        .collect();
    if words.is_empty() {
        return None;
    }
    let what = format!("{shown}: {}", words.join("; "));
    Some(Found::problem(ID, what).about(shown).curable(Cure::MendWorktree(task.clone())))
}

/// Other checks have names and cures of their own for these.
fn is_told_elsewhere(flaw: &Flaw) -> bool {
    matches!(flaw, Flaw::Gone | Flaw::HalfMade | Flaw::Foreign | Flaw::BranchGone | Flaw::Locked { .. })
}

fn is_at_work(patient: &Patient, task: &TaskId) -> bool {
    let mut runs = patient.state.runs.iter().filter(|(_, run)| run.task == *task);
    runs.any(|(id, _)| RunFiles::new(&patient.paths.swarm, id).is_alive())
}
