//! Telling a coordinator that takes its time from one that does not move at all (SIGSTOP, a debugger, a dead disk).
//!
//! A long answer is no sign of either. So while one is waited for, a small question that costs nothing to answer is put
//! beside it now and then.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use axum::http::Method;
use swarm_process::is_stopped;

use super::exchange::{Asked, ask};
use crate::socket;

/// Between two small questions.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// On a machine that is busy with builds even a small answer takes a while; a stopped process is known at once.
const SILENT_AFTER: Duration = Duration::from_secs(7);

/// A coordinator that is there and does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silence {
    pub pid: Option<u32>,
    /// Stopped by a signal or a debugger; otherwise it hangs.
    pub stopped: bool,
}

impl Silence {
    /// What lets it go on, for a person.
    pub fn hint(&self) -> String {
        match self.pid {
            Some(pid) if self.stopped => {
                format!("`kill -CONT {pid}` lets it go on (or `fg` in its terminal)")
            }
            Some(pid) => format!(
                "`swarm doctor` looks for the cause; `kill -9 {pid}` ends it without loss, and the next one continues: \
                 whoever watches it starts that, else `swarm run`"
            ),
            None => "`swarm doctor` looks for the cause".into(),
        }
    }
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pid = self.pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
        match self.stopped {
            true => write!(f, "the coordinator{pid} is stopped: by SIGSTOP, Ctrl+Z or a debugger"),
            false => write!(f, "the coordinator{pid} has not answered for {} s", SILENT_AFTER.as_secs()),
        }
    }
}

/// Ends only when whoever listens there has fallen silent. One that has gone is told by the answer that never comes.
pub async fn falls_silent(path: &Path) -> Silence {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        if let Some(silence) = look(path).await {
            return silence;
        }
    }
}

async fn look(path: &Path) -> Option<Silence> {
    let pid = listener(path).await;
    if pid.is_some_and(is_stopped) {
        return Some(Silence { pid, stopped: true });
    }
    let asked = tokio::time::timeout(SILENT_AFTER, ask(path, Asked::new(Method::GET, "/livez")));
    match asked.await {
        Ok(_) => None,
        Err(_) => Some(Silence { pid, stopped: pid.is_some_and(is_stopped) }),
    }
}

/// The process behind the socket: the kernel answers for it.
async fn listener(path: &Path) -> Option<u32> {
    let stream = tokio::time::timeout(LOOK_EVERY, socket::connect(path)).await.ok()?.ok()?;
    u32::try_from(stream.peer_cred().ok()?.pid()?).ok()
}
