//! Small files of the swarm's own in the common git directory. They are the proof that something
//! is ours, so they lie where no agent's worktree and no `git clean` reaches.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call::{Git, GitError};

/// Longest pause between two looks at a lock that another one holds.
const LOOK_EVERY_MAX: Duration = Duration::from_millis(20);

static WRITERS: AtomicU64 = AtomicU64::new(0);

/// Name of the folder in the git directory that everything of the swarm's lies in.
pub(super) const OWN_FOLDER: &str = "swarm";

/// Makes a folder below the swarm's own in the git directory. Never the git directory: who has moved it away for a moment would
/// find another one in its place, and move the true one into that.
pub fn make_own_folder(dir: &Path) -> Result<(), GitError> {
    let own = dir.ancestors().find(|at| at.file_name().is_some_and(|name| name == OWN_FOLDER));
    if let Some(git_dir) = own.and_then(Path::parent).filter(|git_dir| !git_dir.is_dir()) {
        return Err(GitError::Gone(git_dir.to_path_buf()));
    }
    std::fs::create_dir_all(dir).map_err(GitError::io("make the folder", dir))
}

/// Writes the file so that it is either the old one or the new one, whenever we die, and durable.
pub fn write_marker(path: &Path, value: &impl Serialize) -> Result<(), GitError> {
    write(path, value, true)
}

/// As [`write_marker`], but a power cut may take it: for what matters only while processes live.
pub fn write_note(path: &Path, value: &impl Serialize) -> Result<(), GitError> {
    write(path, value, false)
}

fn write(path: &Path, value: &impl Serialize, durable: bool) -> Result<(), GitError> {
    let dir = path.parent().expect("a marker lies in a folder");
    make_own_folder(dir)?;
    let bytes = serde_json::to_vec_pretty(value).expect("markers are plain data");
    // Its own name for each writer, also of several in one process.
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(format!(".tmp-{}-{}", std::process::id(), WRITERS.fetch_add(1, Ordering::Relaxed)));
    let fresh = std::path::PathBuf::from(fresh);
    let written = (|| {
        let mut file = File::create(&fresh)?;
        file.write_all(&bytes)?;
        if durable {
            file.sync_all()?;
        }
        std::fs::rename(&fresh, path)?;
        if durable { File::open(dir)?.sync_all() } else { Ok(()) }
    })();
    if written.is_err() {
        // On a full disk it would take the room of the next try.
        let _ = std::fs::remove_file(&fresh);
    }
    written.map_err(GitError::io("write", path))
}

/// `None` when there is none. One that cannot be read proves nothing and counts as none.
pub fn read_marker<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

pub fn remove_marker(path: &Path) -> Result<(), GitError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(GitError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Opens a file, made with `note` in it, and locks it; `None` when somebody else keeps it locked.
///
/// Its holder may remove it: whoever waited for it then looks again and finds that the name stands for another file.
pub async fn lock_within(path: &Path, note: &str, limit: Duration) -> Result<Option<File>, GitError> {
    let open = || {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        if file.metadata()?.len() == 0 && !note.is_empty() {
            (&file).write_all(note.as_bytes())?;
            file.sync_all()?;
        }
        Ok(file)
    };
    let mut file = open().map_err(GitError::io("open", path))?;
    let until = tokio::time::Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    loop {
        match file.try_lock() {
            Ok(()) if is_at(&file, path) => return Ok(Some(file)),
            Ok(()) => file = open().map_err(GitError::io("open", path))?,
            Err(TryLockError::Error(error)) => return Err(GitError::io("lock", path)(error)),
            Err(TryLockError::WouldBlock) if tokio::time::Instant::now() > until => return Ok(None),
            // flock cannot be waited for with a limit. Met only when another one of us is just at work or
            // has died while its git goes on.
            Err(TryLockError::WouldBlock) => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LOOK_EVERY_MAX);
            }
        }
    }
}

/// Whether the name still stands for this open file.
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |a: &std::fs::Metadata, b: &std::fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    matches!((file.metadata(), std::fs::symlink_metadata(path)), (Ok(a), Ok(b)) if same(&a, &b))
}

impl Git {
    /// A random name this repository keeps for life, made on first use.
    pub fn repo_id(&self) -> Result<String, GitError> {
        let path = self.swarm_dir().join("repo-id.json");
        if let Some(id) = read_marker::<String>(&path) {
            return Ok(id);
        }
        let id = ulid::Ulid::generate().to_string();
        let mine = self.swarm_dir().join(format!("repo-id.{id}"));
        write_marker(&mine, &id)?;
        // Of several who come at once the first one's link stays, and all read that.
        let linked = std::fs::hard_link(&mine, &path);
        let _ = std::fs::remove_file(&mine);
        match (read_marker(&path), linked) {
            (Some(id), _) => Ok(id),
            (None, Err(error)) => Err(GitError::io("write", &path)(error)),
            (None, Ok(())) => {
                Err(GitError::Unreadable { command: "repo-id".into(), what: path.display().to_string() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_directory_that_was_moved_away_is_not_made_anew() {
        let dir = tempfile::tempdir().expect("a folder");
        let git_dir = dir.path().join(".git");
        let marker = git_dir.join("swarm/worktrees/1.1.json");
        std::fs::create_dir(&git_dir).expect("made");
        write_marker(&marker, &1).expect("written");
        std::fs::rename(&git_dir, dir.path().join("away")).expect("moved");
        for refused in [write_marker(&marker, &2), make_own_folder(&git_dir.join("swarm"))] {
            let told = refused.expect_err("it is gone").to_string();
            assert!(
                told.starts_with("the git directory ") && told.ends_with(" is gone: move it back"),
                "{told}"
            );
        }
        assert!(!git_dir.exists());
        std::fs::rename(dir.path().join("away"), &git_dir).expect("moved back");
        write_marker(&marker, &3).expect("written");
        assert_eq!(read_marker(&marker), Some(3));
    }
}
