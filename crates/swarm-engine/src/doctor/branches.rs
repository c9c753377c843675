//! Branches of tasks that somebody deleted although work stands on them.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use swarm_core::stage::Stage;
use swarm_core::state::Task;
use swarm_protocol::ids::Oid;

use super::cure::Cure;
use super::finding::{Finding, Found};
use super::patient::Patient;
use crate::git::Git;

pub(super) async fn look(patient: &Patient) -> Vec<Found> {
    let mut found = Vec::new();
    for task in patient.state.tasks.values().filter(|task| should_have_a_branch(task)) {
        let branch = task.spec.id.branch();
        let full = format!("refs/heads/{branch}");
        if !matches!(patient.git.ref_value(&full).await, Ok(None)) {
            continue;
        }
        let missing =
            Finding::problem("task-branch", format!("the branch {branch} is gone, and its task is not done"));
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
        found.push(Finding::ok("task-branch", "all there"));
    }
    found
}

fn should_have_a_branch(task: &Task) -> bool {
    let making = matches!(task.stage, Stage::Preparing { .. });
    task.base.is_some() && task.worktree && !making && !task.stage.is_closed()
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
    let logged = records.find_map(|checkout| last_in_log(&checkout.git_dir));
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

/// Of a log that an agent can write, no more than its end is read.
const LOG_TAIL_BYTES: u64 = 64 * 1024;

/// The last commit that the HEAD of a worktree was at, by its own log.
fn last_in_log(record: &Path) -> Option<Oid> {
    let path = record.join("logs").join("HEAD");
    if !std::fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file()) {
        return None;
    }
    let mut file = std::fs::File::open(path).ok()?;
    let start = file.metadata().ok()?.len().saturating_sub(LOG_TAIL_BYTES);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut text = Vec::new();
    file.take(LOG_TAIL_BYTES).read_to_end(&mut text).ok()?;
    let last = String::from_utf8_lossy(&text).lines().last()?.to_owned();
    Oid::new(last.split(' ').nth(1)?).ok()
}
