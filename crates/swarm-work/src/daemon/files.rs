//! The files of one run under `run/daemons/`, and the two ways of writing them: what a power cut must not take,
//! and what says nothing after one, because it is about a process that it ended.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use swarm_process::{Pidfd, ProcessIdentity, is_stopped, open_verified};
use swarm_protocol::channel::{DaemonRecord, ExitRecord};
use swarm_protocol::ids::RunId;

/// Where things of one run lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFiles {
    pub dir: PathBuf,
    pub run: RunId,
}

impl RunFiles {
    pub fn new(swarm_dir: &Path, run: &RunId) -> Self {
        Self { dir: swarm_dir.join("run").join("daemons"), run: run.clone() }
    }

    fn with(&self, ending: &str) -> PathBuf {
        self.dir.join(format!("{}.{ending}", self.run))
    }

    /// Held by the daemon for life: alive = locked.
    pub fn lock(&self) -> PathBuf {
        self.with("lock")
    }
    pub fn spec(&self) -> PathBuf {
        self.with("spec.json")
    }
    /// Written before anything is started.
    pub fn record(&self) -> PathBuf {
        self.with("json")
    }
    /// The daemon's last word.
    pub fn exit(&self) -> PathBuf {
        self.with("exit.json")
    }
    /// Reports, kept until they are acknowledged.
    pub fn outbox(&self) -> PathBuf {
        self.with("outbox.jsonl")
    }
    /// A named pipe: a byte in it ends the daemon's wait for the coordinator. Not a socket, because
    /// the path of a socket may have only 107 bytes.
    pub fn knock(&self) -> PathBuf {
        self.with("knock")
    }
    /// Left by a daemon that tried in vain to reach the coordinator, for the supervisor to find; taken away by
    /// the daemon when it has reached one.
    pub fn reconnect_failed(&self) -> PathBuf {
        self.with("reconnect-failed")
    }
    /// What the program reads in its present iteration.
    pub fn prompt(&self) -> PathBuf {
        self.with("prompt")
    }

    /// What the daemon itself complains about.
    pub fn log(&self) -> PathBuf {
        self.with("log")
    }

    /// The spec of a run that has been ended for good, kept until the end is complete.
    pub fn ended_spec(&self) -> PathBuf {
        self.with("ended.json")
    }

    /// Everything there is of the run except its lock, unfinished temporary files included.
    pub fn all_but_the_lock(&self) -> io::Result<Vec<PathBuf>> {
        let (mine, lock) = (format!("{}.", self.run), self.lock());
        let entries = match std::fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
        let is_mine = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(mine.as_bytes()))
        };
        Ok(paths.into_iter().filter(|path| is_mine(path) && *path != lock).collect())
    }

    /// Makes the folder, readable by nobody else.
    pub fn make_dir(&self) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)
    }

    /// The daemon's record; none when there is none, or none that can be read.
    pub fn read_record(&self) -> Option<DaemonRecord> {
        read_json(&self.record())
    }

    /// Whether the daemon lives. Another process that has its number is not taken for it.
    pub fn is_alive(&self) -> bool {
        self.process().is_some()
    }

    /// The process of the daemon while a signal or a debugger has stopped it: it does not even hear that it is to end.
    pub fn stopped_daemon(&self) -> Option<u32> {
        self.process().map(|daemon| daemon.pid).filter(|pid| is_stopped(*pid))
    }

    fn process(&self) -> Option<Pidfd> {
        let DaemonRecord { boot_id, pid, start_time, nonce, .. } = self.read_record()?;
        open_verified(&ProcessIdentity { boot_id, pid, start_time, nonce })
    }

    /// The daemon's last word; none when there is none, or none that can be read.
    pub fn read_exit(&self) -> Option<ExitRecord> {
        read_json(&self.exit())
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// A file that could not be written so that it stays.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", path.display())]
pub struct DurableError {
    pub path: PathBuf,
    #[source]
    pub source: io::Error,
}

/// Writes the value as JSON so that after a crash, also of the machine, there is the old file or the new one, whole.
pub fn write_durable<T: Serialize>(path: &Path, value: &T) -> Result<(), DurableError> {
    let written =
        replace(path, value, File::sync_all).and_then(|()| sync_dir(path.parent().unwrap_or(Path::new("."))));
    written.map_err(|source| DurableError { path: path.to_owned(), source })
}

/// Writes the value as JSON, whole or not at all for everybody who reads it while this machine runs. After a power
/// cut it may be missing or torn: only for what is about a living process.
pub fn write_whole<T: Serialize>(path: &Path, value: &T) -> Result<(), DurableError> {
    replace(path, value, |_| Ok(())).map_err(|source| DurableError { path: path.to_owned(), source })
}

fn replace<T: Serialize>(
    path: &Path,
    value: &T,
    settle: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(value)?;
    bytes.push(b'\n');
    // The pid keeps two writers (a second daemon that has not yet seen the lock) apart.
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&temporary)?;
    let written =
        file.write_all(&bytes).and_then(|()| settle(&file)).and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
