//! Who starts a dead coordinator again. Each `swarm run` that watches one says so in a file of the run folder, which it
//! holds locked for as long as it lives: so whoever wants the swarm to stop knows of it, also while it waits.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use swarm_process::{Pidfd, ProcessIdentity, is_stopped, open_verified};

use super::Swarm;

/// Tells a watcher that the swarm is to stop. Not a signal that it hands on: the coordinator is asked by its socket,
/// and a second word about it would mean to leave at once.
pub const STOP: Signal = Signal::USR1;

const PREFIX: &str = "watcher-";

/// An identity is a few hundred bytes.
const BYTES_MAX: u64 = 64 * 1024;

/// The word that we watch. Taken back when it is dropped; without that the lock goes with the process.
#[derive(Debug)]
pub struct Watching {
    path: PathBuf,
    _lock: File,
}

impl Watching {
    /// None where there is no such folder yet, or it cannot be written: ask again later.
    pub fn say(run: &Path) -> Option<Self> {
        let myself = ProcessIdentity::of_myself("")?;
        let path = run.join(format!("{PREFIX}{}.json", myself.pid));
        // Complete and locked before it has its name: whoever finds it open may take it for one of the dead.
        let fresh = run.join(format!(".{PREFIX}{}", myself.pid));
        let _ = std::fs::remove_file(&fresh);
        let mut file = File::create_new(&fresh).ok()?;
        file.try_lock().ok()?;
        let written = serde_json::to_vec(&myself).map_err(std::io::Error::from);
        let named =
            written.and_then(|bytes| file.write_all(&bytes)).and_then(|()| std::fs::rename(&fresh, &path));
        named.ok().map(|()| Self { path, _lock: file })
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Swarm {
    /// Those that live, each held, so that a signal meets it or nobody.
    pub fn watchers(&self) -> Vec<Pidfd> {
        living(&self.paths.run)
    }

    /// Whether somebody would start a coordinator that died again. Whoever stands still (Ctrl+Z) starts nothing.
    pub fn is_watched(&self) -> bool {
        self.watchers().iter().any(|watcher| !is_stopped(watcher.pid))
    }
}

fn living(run: &Path) -> Vec<Pidfd> {
    let entries = std::fs::read_dir(run).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    named.filter_map(|entry| living_one(&entry.path())).collect()
}

fn living_one(path: &Path) -> Option<Pidfd> {
    let file = File::open(path).ok()?;
    match file.try_lock_shared() {
        // Nobody holds it: its process was killed.
        Ok(()) => {
            let _ = std::fs::remove_file(path);
            None
        }
        Err(_) if file.metadata().is_ok_and(|meta| meta.len() <= BYTES_MAX) => {
            let identity: ProcessIdentity = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
            open_verified(&identity)
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watcher_is_known_while_it_lives_and_its_file_goes_with_it() {
        let dir = tempfile::tempdir().expect("a folder");
        assert!(Watching::say(&dir.path().join("missing")).is_none());
        let watching = Watching::say(dir.path()).expect("said");
        let found: Vec<u32> = living(dir.path()).iter().map(|held| held.pid).collect();
        assert_eq!(found, [std::process::id()]);
        drop(watching);
        assert!(living(dir.path()).is_empty());
        // One that was killed leaves a file that nobody holds.
        std::fs::write(dir.path().join("watcher-1.json"), "{}").expect("written");
        assert!(living(dir.path()).is_empty());
        assert!(!dir.path().join("watcher-1.json").exists());
    }
}
