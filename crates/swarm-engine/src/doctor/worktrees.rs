//! Worktrees that nobody needs any more, and records of worktrees that are not there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use swarm_core::state::Task;
use swarm_protocol::ids::TaskId;

use super::cure::Cure;
use super::finding::Found;
use super::patient::Patient;
use swarm_git::Checkout;
use swarm_work::publish::Waits;
use swarm_work::worktree::checkouts_of_people;

/// A coordinator that takes a worktree away moves the folder first, and git's record of it a moment later.
const TAKEN_AWAY_WITHIN: Duration = Duration::from_millis(500);

pub(super) async fn inspect(patient: &Patient) -> Vec<Found> {
    let mut linked = patient.git.linked_checkouts();
    let any_is_gone =
        linked.iter().any(|checkout| is_ours(patient, &checkout.path) && !checkout.path.exists());
    if any_is_gone && patient.coordinator.is_some() {
        tokio::time::sleep(TAKEN_AWAY_WITHIN).await;
        linked = patient.git.linked_checkouts();
    }
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
    found.extend(gone_of_people(patient));
    if found.is_empty() {
        found.push(Found::ok("worktree-gone", "every worktree is where git expects it"));
    }
    found
}

/// Those that a person made are for the person: one that was moved, or is on a disk that is not mounted, has its index in
/// git's record of it.
fn gone_of_people(patient: &Patient) -> Vec<Found> {
    let theirs = checkouts_of_people(&patient.git).into_iter();
    let missing = theirs.filter(|checkout| checkout.is_gone() && !is_ours(patient, &checkout.path));
    let trunk = patient.state.pinned_trunk().map(|trunk| (trunk, format!("refs/heads/{trunk}")));
    let told = missing.filter_map(|checkout| {
        let shown = patient.shown(&checkout.path);
        let waits = Waits::of(&checkout)?;
        let gone = format!("{shown} is gone, but git still lists it");
        let found = match &trunk {
            Some((trunk, full)) if checkout.occupies(full) => {
                let what = format!("{gone} as a checkout of {trunk}: every merge waits for it");
                Found::problem("worktree-gone", what)
            }
            // Git is told to expect that.
            _ if checkout.is_locked() => return None,
            _ => Found::note("worktree-gone", gone),
        };
        let by_hand = format!("{}; if you moved it: git worktree repair ITS-NEW-PLACE", waits.command());
        Some(found.about(shown).by_hand(by_hand))
    });
    told.collect()
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
                format!("{shown} is not a worktree of this repository; it is left alone"),
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
