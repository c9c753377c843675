//! The scripted model on loopback.

use std::path::{Path, PathBuf};
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
    /// What a file says at the moment, and the seconds until a used-up quota is back.
    Weather(PathBuf, u32),
}

/// A scene of bad weather asks more often than a program would that is well.
const REQUESTS_MAX: &str = "5000";

pub struct Service {
    command: Command,
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
            Part::Weather(sky, resets_in_secs) => {
                command.args(["--scenario", "weather", "--max-requests", REQUESTS_MAX, "--weather"]).arg(sky);
                command.args(["--resets-in", &resets_in_secs.to_string()])
            }
        };
        // Not a lone sleep: Claude refuses it.
        command.args(["--slow-cmd", SLOW]).arg("--cwd").arg(worktree);
        command.arg("--log").arg(folder.join("model.log"));
        let child = spawn(command.stdin(Stdio::null()))?;
        let mut service = Self { command, child, port: 0 };
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

    /// Nobody listens any more where it did.
    pub fn go_away(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// It listens again, in the same place.
    pub fn come_back(&mut self) -> Result<()> {
        self.child = spawn(self.command.args(["--port", &self.port.to_string()]))?;
        Ok(())
    }
}

fn spawn(command: &mut Command) -> Result<Child> {
    command.spawn().context("Cannot start the scripted model: is python3 installed?")
}

impl Drop for Service {
    fn drop(&mut self) {
        // Nothing to be done about a failure: it is a child of ours that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
