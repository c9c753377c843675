//! opencode-swarm keeps its plan in the same folder, under the same names. Its files are never written to: they are
//! found, and on a person's word moved aside as they are.
//!
//! A death anywhere is harmless. Each entry is renamed once, into a folder whose name still says that it is being
//! filled; the ledger goes last but one and the plan last, so that as long as anything of theirs is not moved, the folder is
//! still known as theirs and nothing of ours is written there. Then the folder gets its name. Asked again, the move
//! goes on where it was.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use swarm_ledger::OwnerInfo;
use swarm_ledger::locks::{Acquired, LockError, acquire_for_write};

use super::absent::{is_foreign_plan, refuse_foreign};
use super::error::StoreError;
use super::options::OpenOptions;
use crate::paths::Paths;
use crate::replace::sync_dir;

const PREFIX: &str = "opencode-swarm-";
const UNFINISHED: &str = ".moving";
/// Entries of `.swarm/` that only we make, or that people made for us.
const OURS: &[&str] = &[
    ".gitignore",
    "agents",
    "archive",
    "config.json",
    "hooks",
    "imported",
    "ledger-files",
    "plan-draft.json",
    "planner.json",
    "prompts",
    "restored",
    "run",
    "trash",
    "worktrees",
];
/// Moved after everything else, in this order.
const LAST: [&str; 2] = ["plan-ledger.jsonl", "plan.json"];

/// The plan of opencode-swarm that lies where ours would, if it does.
pub fn foreign_plan(paths: &Paths) -> Option<PathBuf> {
    let theirs = refuse_foreign(paths).is_err() || is_foreign_file(&paths.plan_json);
    theirs.then(|| paths.plan_json.clone())
}

/// Whether this file is a plan.json of opencode-swarm.
pub fn is_foreign_file(path: &Path) -> bool {
    let limit = swarm_protocol::planfile::BYTES_MAX as u64;
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut io::Read::take(fs::File::open(path)?, limit), &mut bytes)?;
        Ok(bytes)
    };
    read().is_ok_and(|bytes| is_foreign_plan(&bytes))
}

/// The plan that was moved aside last.
pub fn moved_plan(paths: &Paths) -> Option<PathBuf> {
    // Names end in a time, so the last one is the newest.
    let mut plans = folders(paths).into_iter().map(|folder| folder.join("plan.json"));
    plans.rfind(|plan| plan.is_file())
}

/// Moves everything of theirs into `.swarm/imported/opencode-swarm-TIME/`, and finishes a move that was interrupted.
/// None: there was nothing to move.
pub fn move_foreign_aside(
    paths: &Paths,
    options: &OpenOptions,
    time: &str,
) -> Result<Option<PathBuf>, StoreError> {
    let me = OwnerInfo::of_this_process(&options.role);
    // Whoever else wants to write waits at the door, and another import finds nothing left to do.
    let _locks =
        match acquire_for_write(&options.vfs, &paths.run, &me, options.wait).map_err(StoreError::Lock)? {
            Acquired::Writer(locks) => locks,
            Acquired::Busy(holder) => {
                return Err(StoreError::Lock(LockError::DoorHeld { waited: Duration::ZERO, holder }));
            }
        };
    let theirs = foreign_plan(paths).is_some();
    let unfinished = folders(paths).into_iter().find(|folder| is_unfinished(folder));
    if !theirs && unfinished.is_none() {
        return Ok(None);
    }
    if theirs && paths.second_copy.exists() {
        return Err(StoreError::WrittenOver { copy: paths.second_copy.clone() });
    }
    let moved = || -> io::Result<PathBuf> {
        let folder = match unfinished {
            Some(folder) => folder,
            None => new_folder(paths, time)?,
        };
        if theirs {
            move_all(&paths.swarm, &folder)?;
        }
        finish(&folder)
    };
    moved().map(Some).map_err(StoreError::io("move aside the files of opencode-swarm in", &paths.swarm))
}

fn imported(paths: &Paths) -> PathBuf {
    paths.swarm.join("imported")
}

/// Every folder that holds files of theirs, oldest first.
fn folders(paths: &Paths) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(imported(paths)).map(|entries| entries.flatten().collect()).unwrap_or_default();
    let entries: Vec<fs::DirEntry> = entries;
    let named = entries.into_iter().filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    let mut folders: Vec<PathBuf> = named.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn is_unfinished(folder: &Path) -> bool {
    folder.extension().is_some_and(|end| end == &UNFINISHED[1..])
}

fn new_folder(paths: &Paths, time: &str) -> io::Result<PathBuf> {
    let folder = imported(paths).join(format!("{PREFIX}{time}{UNFINISHED}"));
    fs::create_dir_all(&folder)?;
    sync_dir(&imported(paths))?;
    sync_dir(&paths.swarm)?;
    Ok(folder)
}

fn move_all(swarm: &Path, folder: &Path) -> io::Result<()> {
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(swarm)? {
        // A name that is no text is not one of ours either, and can wait for its person.
        names.extend(entry?.file_name().into_string().ok());
    }
    names.retain(|name| !OURS.contains(&name.as_str()));
    names.sort_by_key(|name| (LAST.iter().position(|last| last == name), name.clone()));
    for name in names {
        fs::rename(swarm.join(&name), free(&folder.join(&name)))?;
    }
    sync_dir(folder)?;
    sync_dir(swarm)
}

/// The folder is whole: it gets its name.
fn finish(folder: &Path) -> io::Result<PathBuf> {
    let whole = free(&folder.with_extension(""));
    fs::rename(folder, &whole)?;
    if let Some(parent) = folder.parent() {
        sync_dir(parent)?;
    }
    Ok(whole)
}

/// The path, or with a number where something has that name: nothing of theirs is written over.
fn free(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let numbered = (2..).map(|n| path.with_file_name(format!("{name}-{n}")));
    let mut all = std::iter::once(path.to_path_buf()).chain(numbered);
    all.find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| path.to_path_buf())
}
