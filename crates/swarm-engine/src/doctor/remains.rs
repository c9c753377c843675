//! Small things that a crash leaves: a socket, half-written files, an overdue trash, wrong permissions.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::cure::Cure;
use super::finding::Found;
use super::machine::bytes;
use super::patient::Patient;
use crate::half_written::broken_off;
use swarm_process::is_stopped;
use swarm_work::remove::{TrashRule, trashed};

/// Files counted for the size of the trash.
const COUNTED_MAX: usize = 200_000;

/// Nobody coordinates.
pub const NOBODY: &str = "not running";

pub(super) fn inspect(patient: &Patient) -> Vec<Found> {
    let mut found = vec![coordinator(patient), socket(patient), trash(patient)];
    found.extend(permissions(patient));
    found.extend(temporary(patient));
    found
}

fn coordinator(patient: &Patient) -> Found {
    match &patient.coordinator {
        Some(coordinator) if is_stopped(coordinator.pid) => {
            let what = format!(
                "process {} is suspended (SIGSTOP, Ctrl+Z or a debugger): nothing happens",
                coordinator.pid
            );
            Found::problem("coordinator", what).by_hand(format!("kill -CONT {}", coordinator.pid))
        }
        Some(coordinator) => Found::ok("coordinator", format!("running as process {}", coordinator.pid)),
        None => Found::ok("coordinator", NOBODY),
    }
}

fn socket(patient: &Patient) -> Found {
    let path = &patient.paths.socket;
    if std::fs::symlink_metadata(path).is_err() {
        return Found::ok("socket", "none left over");
    }
    // Nobody takes calls: where enough of them wait already, one more would wait without end.
    if patient.coordinator.as_ref().is_some_and(|coordinator| is_stopped(coordinator.pid)) {
        return Found::ok("socket", "in use");
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Ok(_) => Found::ok("socket", "in use"),
        Err(_) if patient.coordinator.is_some() => {
            Found::problem("socket", "the coordinator does not listen on its socket")
                .by_hand("stop it with Ctrl+C and start `swarm run` again")
        }
        Err(_) => {
            let shown = patient.shown(path);
            Found::problem("socket", format!("{shown} is left over from a dead coordinator"))
                .about(shown)
                .curable(Cure::RemoveSocket)
        }
    }
}

fn trash(patient: &Patient) -> Found {
    let older_than = Duration::from_secs(patient.config.worktree.trash.secs);
    let rule = TrashRule { older_than, ..TrashRule::default() };
    let mut all = trashed(&patient.git, &patient.paths.worktrees);
    // Nobody empties those but a person: `swarm restore` lists them.
    all.retain(|one| one.about.as_ref().is_none_or(|about| !about.keep));
    let age = |at: SystemTime| SystemTime::now().duration_since(at).unwrap_or_default();
    let overdue = all.iter().filter(|one| age(one.at) > rule.older_than).count();
    let paths: Vec<PathBuf> = all.iter().map(|one| one.path.clone()).collect();
    let size = size_of(&paths);
    let words = format!("{} things, {}", all.len(), bytes(size));
    if overdue > 0 {
        let what = format!("{words}, {overdue} of them overdue");
        return Found::problem("trash", what).curable(Cure::EmptyTrash(rule));
    }
    if all.len() > rule.entries_max || size > rule.bytes_max {
        let room = format!("room for {} things and {}", rule.entries_max, bytes(rule.bytes_max));
        let what = format!("full: {words}; {room}");
        return Found::problem("trash", what).curable(Cure::EmptyTrash(rule));
    }
    Found::ok("trash", if all.is_empty() { "empty".into() } else { words })
}

fn size_of(roots: &[PathBuf]) -> u64 {
    let mut left: Vec<PathBuf> = roots.to_vec();
    let (mut size, mut counted) = (0, 0);
    while let Some(path) = left.pop() {
        counted += 1;
        let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
        size += meta.blocks() * 512;
        if meta.is_dir() && counted < COUNTED_MAX {
            left.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    size
}

fn permissions(patient: &Patient) -> Vec<Found> {
    let run = &patient.paths.run;
    let entries = std::fs::read_dir(run).into_iter().flatten().flatten();
    let secret = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name == "secret.key" || name.contains("token") || name.ends_with(".sock")
    };
    let mut places: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(secret).collect();
    places.extend([run.clone(), patient.paths.daemons.clone()]);
    places.sort();
    let mut found = Vec::new();
    for path in places {
        let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
        let mode = meta.permissions().mode() & 0o777;
        // A folder through which nobody passes protects what is in it; a listing of names harms nobody.
        let wrong = if meta.is_dir() { mode & 0o022 != 0 } else { mode & 0o077 != 0 };
        if wrong {
            let shown = patient.shown(&path);
            found.push(
                Found::problem("permissions", format!("{shown} is open to other users ({mode:o})"))
                    .about(shown)
                    .curable(Cure::Close { path, mode: mode & 0o700 }),
            );
        }
    }
    if found.is_empty() {
        found.push(Found::ok("permissions", "closed to other users"));
    }
    found
}

fn temporary(patient: &Patient) -> Vec<Found> {
    let half = broken_off(&patient.paths, &patient.git.swarm_dir()).into_iter();
    let mut found: Vec<Found> = half
        .map(|path| {
            let shown = patient.shown(&path);
            Found::problem("temporary", format!("{shown} was never finished"))
                .about(shown)
                .curable(Cure::PutAway(path))
        })
        .collect();
    if found.is_empty() {
        found.push(Found::ok("temporary", "none"));
    }
    found
}
