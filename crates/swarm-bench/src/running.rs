//! `swarm run` at work, and every process that belongs to its repository.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::arena::Arena;

/// Far longer than anything takes on a machine that is not broken.
pub const LIMIT: Duration = Duration::from_secs(180);

pub struct Running {
    pub child: Child,
    /// Its agents outlive us as well.
    left_alone: bool,
    root: PathBuf,
    said: PathBuf,
}

impl Running {
    /// Starts `swarm run` with so many agents.
    pub fn start(arena: &Arena, agents: usize) -> Result<Self> {
        let said = arena.beside("said.log");
        let log = File::options().create(true).append(true).open(&said)?;
        let child = arena
            .command(&["run", "--agent", "script", "--agents", &agents.to_string()])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        Ok(Self { child, left_alone: false, root: arena.root.clone(), said })
    }

    /// The process that coordinates.
    pub fn pid(&self) -> u32 {
        let mut pid = None;
        let up = wait_for(Duration::from_secs(60), || {
            pid = self.coordinator();
            Ok(pid.is_some())
        });
        up.ok().and(pid).unwrap_or_else(|| self.child.id())
    }

    /// Fails when the coordinator has ended although nobody asked.
    pub fn still_runs(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => bail!("swarm run ended with {status}: {}", self.last_words()),
        }
    }

    /// Waits for its end; its exit code.
    pub fn end(&mut self, limit: Duration) -> Result<i32> {
        let mut code = None;
        let ended = wait_for(limit, || {
            code = self.child.try_wait()?.map(|status| status.code().unwrap_or(-1));
            Ok(code.is_some())
        });
        ended?;
        Ok(code.unwrap_or(-1))
    }

    /// Kills the coordinator and the one that would start it again.
    pub fn kill_9(&mut self) -> Result<()> {
        let coordinator = self.coordinator();
        self.child.kill()?;
        self.child.wait()?;
        if let Some(pid) = coordinator.and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed())) {
            // It may have ended by itself.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        Ok(())
    }

    /// The process that coordinates: the one child of the one that watches it.
    fn coordinator(&self) -> Option<u32> {
        let children = format!("/proc/{0}/task/{0}/children", self.child.id());
        std::fs::read_to_string(children).ok()?.split_whitespace().next()?.parse().ok()
    }

    /// Leaves its agents alone: another coordinator takes them over.
    pub fn forget(mut self) {
        self.left_alone = true;
    }

    fn last_words(&self) -> String {
        let said = std::fs::read_to_string(&self.said).unwrap_or_default();
        said.lines().rev().take(3).collect::<Vec<_>>().join(" | ")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.kill_9();
        if !self.left_alone {
            end_all(&self.root);
        }
    }
}

/// Waits for a condition, with a limit.
#[allow(clippy::disallowed_methods, reason = "the bench looks from outside, again and again")]
pub fn wait_for(limit: Duration, mut holds: impl FnMut() -> Result<bool>) -> Result<()> {
    let started = Instant::now();
    while !holds()? {
        if started.elapsed() > limit {
            bail!("waited {} s in vain", limit.as_secs());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// A process of a repository.
pub struct Process {
    pub pid: u32,
    pub cmdline: String,
}

/// Processes that work in this folder or carry its name in environment or command line.
pub fn processes_of(root: &Path) -> Vec<Process> {
    let name = root.to_string_lossy().into_owned();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let read = |file: &str| {
            let bytes = std::fs::read(entry.path().join(file)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).replace('\0', " ")
        };
        let cwd = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        let cmdline = read("cmdline");
        let of_ours = cwd.starts_with(root) || cmdline.contains(&name) || read("environ").contains(&name);
        if of_ours && pid != std::process::id() {
            found.push(Process { pid, cmdline });
        }
    }
    found
}

/// Kills these at once.
pub fn kill(pids: impl IntoIterator<Item = u32>) {
    for pid in pids {
        if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

/// Ends whatever a bench has left in its own repository; nothing else is touched.
pub fn end_all(root: &Path) {
    let _ = wait_for(Duration::from_secs(10), || {
        let left = processes_of(root);
        kill(left.iter().map(|process| process.pid));
        Ok(left.is_empty())
    });
}

/// The running programs of the agents, below their daemons.
pub fn agents_of(root: &Path) -> Vec<u32> {
    processes_of(root).into_iter().filter(|p| p.cmdline.contains("script-agent")).map(|p| p.pid).collect()
}

/// The daemons.
pub fn daemons_of(root: &Path) -> Vec<u32> {
    processes_of(root).into_iter().filter(|p| p.cmdline.contains(" daemon --spec")).map(|p| p.pid).collect()
}
