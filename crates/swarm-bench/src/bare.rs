//! The limits: what the machine does when nobody but a bare loop asks.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::Result;

/// A record of about the length of a ledger's.
const RECORD: [u8; 400] = [b'x'; 400];

/// A file that takes records, each synced.
pub struct BareLog {
    file: File,
}

impl BareLog {
    pub fn new(path: &Path) -> Result<Self> {
        Ok(Self { file: File::options().create(true).append(true).open(path)? })
    }

    pub fn append(&mut self) -> Result<()> {
        self.file.write_all(&RECORD)?;
        self.file.sync_data()?;
        Ok(())
    }
}

/// Starts the scripted agent with nothing in between. std uses posix_spawn here.
pub struct BareAgent {
    swarm: PathBuf,
    prompt: PathBuf,
    dir: PathBuf,
}

impl BareAgent {
    pub fn new(swarm: &Path, dir: &Path, name: &str, script: &str) -> Result<Self> {
        let prompt = dir.join(format!("prompt-{name}"));
        std::fs::write(&prompt, format!("```script\n{script}\n```\n"))?;
        Ok(Self { swarm: swarm.to_owned(), prompt, dir: dir.to_owned() })
    }

    pub fn spawn(&self) -> Result<Child> {
        Ok(self.command_in(&self.dir)?.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
    }

    pub fn command_in(&self, dir: &Path) -> Result<Command> {
        let mut command = Command::new(&self.swarm);
        command.arg("script-agent").current_dir(dir).stdin(File::open(&self.prompt)?);
        Ok(command)
    }
}

/// A socket whose other end answers by nothing but having read.
pub struct OneWay {
    ours: UnixStream,
    theirs: UnixStream,
}

impl OneWay {
    pub fn new() -> Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        Ok(Self { ours, theirs })
    }

    pub fn send(&mut self) -> Result<()> {
        self.ours.write_all(&RECORD)?;
        let mut read = RECORD;
        self.theirs.read_exact(&mut read)?;
        Ok(())
    }
}
