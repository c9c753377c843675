//! The scripted model on loopback.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// A tool that does not end by itself.
pub const SLOW: &str = "tail -f /dev/null";

pub struct Service {
    child: Child,
    pub port: u16,
}

impl Service {
    /// Starts it with a scenario and waits until it listens.
    pub fn start(root: &Path, scenario: &str, worktree: &Path, folder: &Path) -> Result<Self> {
        let port_file = folder.join("port");
        let _ = std::fs::remove_file(&port_file);
        let child = Command::new("python3")
            .arg(root.join("agents/fake_model.py"))
            .args(["--scenario", scenario, "--port-file"])
            .arg(&port_file)
            // Not a lone sleep: Claude refuses it.
            .args(["--slow-cmd", SLOW])
            .arg("--cwd")
            .arg(worktree)
            .stdin(Stdio::null())
            .spawn()
            .context("Cannot start the scripted model: is python3 installed?")?;
        let mut service = Self { child, port: 0 };
        let until = Instant::now() + Duration::from_secs(30);
        while Instant::now() < until {
            if let Some(port) = std::fs::read_to_string(&port_file).ok().and_then(|text| text.parse().ok()) {
                service.port = port;
                return Ok(service);
            }
            std::thread::park_timeout(Duration::from_millis(50));
        }
        bail!("The scripted model did not listen within 30 s")
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Nothing to be done about a failure: it is a child of ours that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
