//! Locks that a killed git has left.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::cure::Cure;
use super::finding::Found;
use super::patient::Patient;

/// git holds these for moments; an editor open in `git commit` for longer, but then git is alive.
const OLD: Duration = Duration::from_secs(10);
/// Locks that are looked at; more of them would be no accident.
const SHOWN_MAX: usize = 200;
/// Folders below `refs` that are gone through.
const DEPTH_MAX: u32 = 8;

pub(super) fn inspect(patient: &Patient) -> Vec<Found> {
    let abandoned = |lock: &PathBuf| is_old(lock) && !patient.git.someone_may_hold(lock);
    let mut found: Vec<Found> = locks(patient)
        .into_iter()
        .filter(abandoned)
        .map(|lock| {
            let shown = patient.shown(&lock);
            Found::problem(
                "git-lock",
                format!("{shown} was left behind by a git process that has ended; git refuses to work while it exists"),
            )
            .about(shown)
            .curable(Cure::ClearGitLock(lock))
        })
        .collect();
    found.extend(half_made(patient));
    if found.is_empty() {
        found.push(Found::ok("git-lock", "none left over"));
    }
    found
}

/// `git worktree add`, killed, leaves its worktree locked with this reason; a person's lock has another.
fn half_made(patient: &Patient) -> Vec<Found> {
    let ours = patient
        .git
        .linked_checkouts()
        .into_iter()
        .filter(|checkout| checkout.path.starts_with(&patient.paths.worktrees));
    ours.map(|checkout| checkout.git_dir.join("locked"))
        .filter(|lock| std::fs::read(lock).is_ok_and(|reason| reason.trim_ascii() == b"initializing"))
        .filter(|lock| is_old(lock) && !patient.git.someone_may_hold(lock))
        .map(|lock| {
            let shown = patient.shown(&lock);
            Found::problem(
                "git-lock",
                format!("{shown} was left behind by an interrupted `git worktree add`"),
            )
            .about(shown)
            .curable(Cure::ClearGitLock(lock))
        })
        .collect()
}

fn locks(patient: &Patient) -> Vec<PathBuf> {
    let common = &patient.git.common_dir;
    let mut dirs = vec![common.clone()];
    dirs.extend(patient.git.linked_checkouts().into_iter().map(|checkout| checkout.git_dir));
    let mut found: Vec<PathBuf> = dirs.iter().flat_map(|dir| locks_in(dir)).collect();
    below(&common.join("refs"), DEPTH_MAX, &mut found);
    found.sort();
    found.truncate(SHOWN_MAX);
    found
}

fn locks_in(dir: &Path) -> Vec<PathBuf> {
    let names =
        ["index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "shallow.lock", "ORIG_HEAD.lock"];
    names.iter().map(|name| dir.join(name)).filter(|path| path.is_file()).collect()
}

fn below(dir: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if kind.is_dir() && depth > 0 {
            below(&path, depth - 1, found);
        } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "lock") {
            found.push(path);
        }
    }
}

fn is_old(path: &Path) -> bool {
    let made = std::fs::symlink_metadata(path).and_then(|meta| meta.modified());
    made.ok().and_then(|made| made.elapsed().ok()).is_some_and(|age| age > OLD)
}
