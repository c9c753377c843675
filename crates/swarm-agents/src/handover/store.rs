//! The two files of a task's handover: read with a bound, replaced whole.

use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use swarm_protocol::ids::TaskId;

use super::Handover;

/// Bytes of a file that are read. What is larger was not written by us.
pub const READ_MAX: u64 = 256 * 1024;

#[derive(Debug, Clone)]
pub struct ContextFiles {
    dir: PathBuf,
    task: TaskId,
}

impl ContextFiles {
    pub fn new(swarm_dir: &Path, task: &TaskId) -> Self {
        Self { dir: swarm_dir.join("context"), task: task.clone() }
    }

    /// For people and agents.
    pub fn markdown(&self) -> PathBuf {
        self.dir.join(format!("{}.md", self.task))
    }

    fn json(&self) -> PathBuf {
        self.dir.join(format!("{}.json", self.task))
    }

    /// What was left last; none when there is nothing, or nothing that can be read.
    pub fn read(&self) -> Option<Handover> {
        serde_json::from_slice(&bounded(&self.json()).ok()?).ok()
    }

    /// The text for people and agents.
    pub fn read_markdown(&self) -> Option<String> {
        String::from_utf8(bounded(&self.markdown()).ok()?).ok()
    }

    /// Writes both. `durable`: so that they survive a power cut, at the end of an iteration.
    pub fn write(&self, handover: &Handover, durable: bool) -> io::Result<()> {
        // Only this one: in a folder that was moved away nothing is made anew, or it could not be moved back.
        match std::fs::DirBuilder::new().mode(0o700).create(&self.dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        replace(&self.json(), &serde_json::to_vec(handover)?, durable)?;
        replace(&self.markdown(), handover.markdown().as_bytes(), durable)
    }

    /// The task is closed: nobody goes on from here.
    pub fn remove(&self) -> io::Result<()> {
        for path in [self.json(), self.markdown()] {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

fn bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(READ_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn replace(path: &Path, bytes: &[u8], durable: bool) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = (|| {
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)?;
        file.write_all(bytes)?;
        if durable {
            file.sync_all()?;
        }
        std::fs::rename(&temporary, path)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_in_a_folder_that_was_moved_away_does_not_make_it_anew() {
        let dir = tempfile::tempdir().expect("a folder");
        let swarm = dir.path().join(".swarm");
        let files = ContextFiles::new(&swarm, &TaskId::new("1.1").expect("an id"));
        let refused = files.write(&Handover::default(), false).expect_err("it is gone");
        assert_eq!(refused.kind(), io::ErrorKind::NotFound);
        assert!(!swarm.exists());
        std::fs::create_dir(&swarm).expect("moved back");
        for _ in 0..2 {
            files.write(&Handover::default(), false).expect("written");
        }
        assert_eq!(files.read(), Some(Handover::default()));
    }
}
