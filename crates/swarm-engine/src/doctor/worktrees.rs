//! Worktrees that nobody needs any more, and records of worktrees that are not there.

use std::path::{Path, PathBuf};

use swarm_core::state::Task;
use swarm_protocol::ids::TaskId;

use super::cure::Cure;
use super::finding::Found;
use super::patient::Patient;
use swarm_git::Checkout;

pub(super) fn inspect(patient: &Patient) -> Vec<Found> {
    let linked = patient.git.linked_checkouts();
    let mut found = gone(patient, &linked);
    found.extend(orphans(patient, &linked));
    found
}

/// Whether the swarm made it: it lies where only the swarm makes worktrees.
fn is_ours(patient: &Patient, path: &Path) -> bool {
    path.starts_with(&patient.paths.worktrees) || path.starts_with(patient.paths.swarm.join("worktrees"))
}

fn gone(patient: &Patient, linked: &[Checkout]) -> Vec<Found> {
    let missing =
        linked.iter().filter(|checkout| !checkout.path.exists() && is_ours(patient, &checkout.path));
    let mut found: Vec<Found> = missing
        .map(|checkout| {
            let shown = patient.shown(&checkout.path);
            Found::problem("worktree-gone", format!("{shown} was deleted, but git still lists it"))
                .about(shown)
                .curable(Cure::ForgetWorktree(checkout.clone()))
        })
        .collect();
    if found.is_empty() {
        found.push(Found::ok("worktree-gone", "every worktree is where git expects it"));
    }
    found
}

fn orphans(patient: &Patient, linked: &[Checkout]) -> Vec<Found> {
    if !patient.knows_tasks {
        return vec![Found::note(
            "worktree-orphan",
            "not looked for: the ledger does not say which tasks there are",
        )];
    }
    let mut found = Vec::new();
    for path in folders(&patient.paths.worktrees) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Names that no task can have (merge, shared, those of the pool) are the swarm's own affair.
        let Ok(task) = TaskId::new(&name) else { continue };
        let registered = linked.iter().any(|checkout| checkout.path == path);
        // One of an open task that the ledger has not heard of was made by hand, and is submitted from there.
        let by_hand = |task: &Task| registered && !task.stage.is_closed();
        let is_wanted = |task: &Task| task.worktree || task.kept.is_some() || by_hand(task);
        if patient.state.task(&task).is_some_and(is_wanted) {
            continue;
        }
        let shown = patient.shown(&path);
        found.push(if registered {
            Found::problem("worktree-orphan", format!("{shown} belongs to no open task"))
                .about(shown)
                .curable(Cure::RemoveWorktree(task))
        } else {
            Found::note(
                "worktree-orphan",
                format!("{shown} is no worktree of this repository; it is left alone"),
            )
            .about(shown)
            .by_hand("look at it, and move it away if you do not need it")
        });
    }
    if found.is_empty() {
        found.push(Found::ok("worktree-orphan", "none"));
    }
    found
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let dir = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect();
    folders.sort();
    folders
}
