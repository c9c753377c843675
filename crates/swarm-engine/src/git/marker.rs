//! Small files of the swarm's own in the common git directory. They are the proof that something
//! is ours, so they lie where no agent's worktree and no `git clean` reaches.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call::{Git, GitError};

/// Writes the file so that it is either the old one or the new one, whenever we die, and durable.
pub fn write_marker(path: &Path, value: &impl Serialize) -> Result<(), GitError> {
    let dir = path.parent().expect("a marker lies in a folder");
    std::fs::create_dir_all(dir).map_err(GitError::io("make the folder", dir))?;
    let bytes = serde_json::to_vec_pretty(value).expect("markers are plain data");
    let fresh = path.with_extension(format!("tmp-{}", std::process::id()));
    let written = (|| {
        let mut file = File::create(&fresh)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        std::fs::rename(&fresh, path)?;
        File::open(dir)?.sync_all()
    })();
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
