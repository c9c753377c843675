//! Codex. `app-server` speaks JSON-RPC and names the kind of an error; `exec --json` has only sentences.
//! The reader takes both: which of the two was started is not part of what was recorded.

mod app_server;
mod exec;
mod native;
mod start;

use serde_json::Value;
use swarm_protocol::failure::{Failure, FailureClass};

use super::failing::failure;
use super::heard::Heard;
use super::json::event;
use super::reading::{Conclusion, ExitFacts, Outgoing, Transcript, not_set_up};

pub use app_server::{AppServer, Opening};
pub use exec::Exec;
pub use native::native_binary;
pub use start::{app_server_invocation, exec_invocation, pass_env, wants_exec, writable};

/// Reads either form: the first event decides.
#[derive(Default)]
pub enum Codex {
    #[default]
    NotYet,
    Exec(Exec),
    AppServer(Box<AppServer>),
}

impl Codex {
    /// To talk with an app-server that is about to be started.
    pub fn talking(opening: Opening) -> Self {
        Self::AppServer(Box::new(AppServer::talking(opening)))
    }
}

impl Transcript for Codex {
    fn out(&mut self, line: &str, heard: &mut Heard) {
        if let Self::NotYet = self {
            let Some(first) = event(line) else { return };
            *self = match first.get("type") {
                Some(_) => Self::Exec(Exec::default()),
                None => Self::AppServer(Box::default()),
            };
        }
        match self {
            Self::NotYet => {}
            Self::Exec(exec) => exec.out(line, heard),
            Self::AppServer(server) => server.out(line, heard),
        }
    }

    fn err(&mut self, line: &str, heard: &mut Heard) {
        // Rules, hooks and the sandbox say no only here.
        if let Some((_, what)) = line.split_once("codex_core::tools::router: error=") {
            heard.denies(what.trim());
        }
        if line.contains("no rollout found for thread id") {
            heard.session_unknown = true;
        }
        heard.complains(line);
    }

    fn outgoing(&mut self) -> Outgoing {
        match self {
            Self::AppServer(server) => server.outgoing(),
            Self::NotYet | Self::Exec(_) => Outgoing::Nothing,
        }
    }

    fn wants_fallback(&self) -> bool {
        matches!(self, Self::AppServer(server) if server.is_not_available())
    }

    fn conclude(&self, heard: &Heard, exit: &ExitFacts) -> Conclusion {
        match self {
            Self::Exec(exec) => exec.conclude(heard, exit),
            Self::AppServer(server) => server.conclude(heard, exit),
            // 2 is a bad argument, 1 anything else that came before the first event.
            Self::NotYet if matches!(exit.code, Some(1 | 2)) && exit.signal.is_none() => {
                Conclusion::Failed(not_set_up(heard))
            }
            Self::NotYet => Conclusion::Failed(super::reading::gone(heard, exit)),
        }
    }
}

/// A failed turn, from its message and, over the app-server, its kind.
fn turn_failed(message: &str, kind: &Value, exit: &ExitFacts) -> Failure {
    let kind = if kind.is_null() { String::new() } else { kind.to_string() };
    let mut failure = failure(status_of(&kind), &format!("{message}\n{kind}"));
    failure.text = super::failing::shown(message);
    if failure.class == FailureClass::Quota {
        failure.resets_in_secs = exit.now.until_said(message);
    }
    failure
}

/// `{"httpConnectionFailed":{"httpStatusCode":401}}`.
fn status_of(kind: &str) -> Option<u16> {
    let (_, rest) = kind.split_once("\"httpStatusCode\":")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// "Reconnecting... 2/5 (…)" and "Reconnecting... waiting for network (…)".
fn reconnecting(message: &str) -> Option<(Failure, u32)> {
    let why = message.strip_prefix("Reconnecting...")?;
    let failure = failure(None, why);
    // Said once a minute, without an end: two of them are enough.
    let weight = if why.contains("waiting for network") { 2 } else { 1 };
    Some((failure, weight))
}
