//! The scripted model on loopback.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// A tool that does not end by itself.
pub const SLOW: &str = "tail -f /dev/null";

/// What the model does.
pub enum Part {
    /// A scenario of `fake_model.py`.
    Scenario(&'static str),
    /// Rules: see `agents/story.py`.
    Story(Vec<Value>),
}

pub struct Service {
    child: Child,
    pub port: u16,
}

impl Service {
    /// Starts it with its part and waits until it listens.
    pub fn start(root: &Path, part: &Part, worktree: &Path, folder: &Path) -> Result<Self> {
        let port_file = folder.join("port");
        let _ = std::fs::remove_file(&port_file);
        let mut command = Command::new("python3");
        command.arg(root.join("agents/fake_model.py")).arg("--port-file").arg(&port_file);
        match part {
            Part::Scenario(name) => command.args(["--scenario", name]),
            Part::Story(rules) => {
                let story = folder.join("story.json");
                std::fs::write(&story, format!("{:#}\n", serde_json::json!({ "rules": rules })))?;
                command.args(["--scenario", "story", "--story"]).arg(story)
            }
        };
        // Not a lone sleep: Claude refuses it.
        command.args(["--slow-cmd", SLOW]).arg("--cwd").arg(worktree);
        command.arg("--log").arg(folder.join("model.log"));
        let child = command.stdin(Stdio::null()).spawn();
        let child = child.context("Cannot start the scripted model: is python3 installed?")?;
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
