//! The web UI beside a run, where `web.enabled` says so. It ends with the run, however that ends: the pipe to it closes.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use crate::context::Context;
use crate::output;

/// The process of the web UI.
pub struct Beside(Child);

impl Beside {
    /// Starts it; what cannot be started is told, and the run goes on without.
    pub fn start(cx: &Context) -> Option<Self> {
        let started = std::env::current_exe().and_then(|program| {
            let mut command = Command::new(program);
            command.arg("-C").arg(&cx.repo).args(["web", "--beside", "--no-open"]);
            // The keys of the terminal are for the one that watches: Ctrl+Z does not stop the pages.
            command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).spawn()
        });
        match started {
            Ok(child) => Some(Self(child)),
            Err(error) => {
                output::note(&format!("Note: the web UI cannot be started: {error}. Run `swarm web`"));
                None
            }
        }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
