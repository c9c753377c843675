//! The commands of a check or a verification: one after the other, in the worktree, under one time limit.

use std::collections::VecDeque;
use std::time::Duration;

use swarm_protocol::channel::CommandLine;
use tokio::time::Instant;

use super::program::{How, Listener, Ran, StopWish};
use super::run_context::RunContext;
use super::walls::Who;
use swarm_agents::journal::Stream;
use swarm_process::ProcessError;

/// Bytes of output that go into the report; the whole of it is in the journal.
const TAIL_BYTES: usize = 16 * 1024;

/// What became of them.
#[derive(Debug, PartialEq, Eq)]
pub enum Judged {
    Ended {
        passed: bool,
        output: String,
        /// Which command failed, by its place.
        failed: Option<usize>,
    },
    /// Told to stop before the end: no verdict.
    Stopped,
}

/// Runs the commands until the first that fails. No commands: passed.
pub async fn judge(
    context: &RunContext,
    who: Who,
    commands: &[CommandLine],
    timeout_secs: u64,
    stop: &mut StopWish,
) -> Judged {
    let mut heard = Tail { context, kept: VecDeque::new() };
    let limit = Duration::from_secs(timeout_secs);
    let deadline = Instant::now() + limit;
    let mut failed = None;
    for (place, command) in commands.iter().enumerate() {
        heard.say(&format!("$ {}", command.shown()));
        let bounds = context.bounds_of(who, Some(deadline)).await;
        let ran = match context.call_of(who, &command.argv()) {
            Some(call) => context.run(call, &bounds, &mut heard, stop).await,
            None => Err(ProcessError::NotFound { program: "an empty command".into() }),
        };
        if let Ok(Ran { how: How::Stopped, .. }) = &ran {
            return Judged::Stopped;
        }
        if let Some(verdict) = verdict(&ran, limit) {
            heard.say(&verdict);
            failed = Some(place);
            break;
        }
    }
    context.settle_journal();
    Judged::Ended { passed: failed.is_none(), output: heard.text(), failed }
}

/// Why the command did not succeed; none when it did.
fn verdict(ran: &Result<Ran, ProcessError>, limit: Duration) -> Option<String> {
    match ran {
        Ok(Ran { limit: Some(why), .. }) => Some(format!("[stopped: {why}]")),
        Ok(Ran { how: How::TimedOut, .. }) => {
            Some(format!("[stopped: not done within {} s]", limit.as_secs()))
        }
        Ok(Ran { status, .. }) if status.success() => None,
        Ok(Ran { status, .. }) => Some(format!("[{status}]")),
        Err(error) => Some(format!("[{error}]")),
    }
}

/// Everything to the journal, the end of it kept.
struct Tail<'a> {
    context: &'a RunContext,
    kept: VecDeque<u8>,
}

impl Tail<'_> {
    fn say(&mut self, text: &str) {
        self.context.note(text);
        self.keep(&self.context.redactor.redact(text), false);
    }

    fn keep(&mut self, text: &str, more: bool) {
        self.kept.extend(text.as_bytes());
        if !more {
            self.kept.push_back(b'\n');
        }
        let excess = self.kept.len().saturating_sub(TAIL_BYTES);
        self.kept.drain(..excess);
    }

    fn text(self) -> String {
        String::from_utf8_lossy(&Vec::from(self.kept)).into_owned()
    }
}

impl Listener for Tail<'_> {
    fn line(&mut self, stream: Stream, text: &str, more: bool) {
        self.context.print(stream, text, more);
        self.keep(&self.context.redactor.redact(text), more);
    }
}
