//! Branches of tasks that somebody deleted although work stands on them.

use swarm_core::stage::Stage;
use swarm_core::state::Task;
use swarm_protocol::ids::Oid;

use super::cure::Cure;
use super::finding::Found;
use super::patient::Patient;
use swarm_git::Git;
use swarm_git::tips::own_tip;

pub(super) async fn inspect(patient: &Patient) -> Vec<Found> {
    let mut found = Vec::new();
    for task in patient.state.tasks.values().filter(|task| should_have_a_branch(task)) {
        let branch = task.spec.id.branch();
        let full = format!("refs/heads/{branch}");
        if !matches!(patient.git.ref_value(&full).await, Ok(None)) {
            continue;
        }
        let missing =
            Found::problem("task-branch", format!("the branch {branch} is gone, and its task is not done"));
        let missing = missing.about(&branch);
        found.push(match last_known(&patient.git, task).await {
            Some(tip) => missing.curable(Cure::RestoreBranch { task: task.spec.id.clone(), tip }),
            // Nothing of it can be found: the next attempt begins anew from trunk.
            None => {
                missing.by_hand(format!("git branch {branch} COMMIT, or let the next attempt begin anew"))
            }
        });
    }
    if found.is_empty() {
        found.push(Found::ok("task-branch", "all there"));
    }
    found
}

fn should_have_a_branch(task: &Task) -> bool {
    let making = matches!(task.stage, Stage::Preparing { .. });
    // What was put away comes back with the task, branch and all.
    let put_away = task.left.is_some();
    task.base.is_some() && task.worktree && !put_away && !making && !task.stage.is_closed()
}

/// The newest commit that anybody remembers of the branch: the ledger, the worktree's own log, saved work,
/// and at last where the branch began.
async fn last_known(git: &Git, task: &Task) -> Option<Oid> {
    let id = &task.spec.id;
    let submitted = match &task.stage {
        Stage::Checking { tip, .. } | Stage::Approved { tip, .. } | Stage::Merging { tip, .. } => {
            Some(tip.clone())
        }
        _ => None,
    };
    let mut records =
        git.linked_checkouts().into_iter().filter(|checkout| checkout.path.ends_with(id.as_str()));
    let logged = records.find_map(|checkout| own_tip(git, &checkout.git_dir, id));
    let below_wip = match &task.wip {
        Some(wip) => git.resolve(&format!("{wip}^")).await.ok().flatten(),
        None => None,
    };
    for commit in [submitted, logged, below_wip, task.base.clone()].into_iter().flatten() {
        if matches!(git.resolve(commit.as_str()).await, Ok(Some(_))) {
            return Some(commit);
        }
    }
    None
}
