//! Codex. `app-server` speaks JSON-RPC and names the kind of an error; `exec --json` has only sentences.
//! The reader takes both: which of the two was started is not part of what was recorded.

mod app_server;
mod exec;
mod native;
mod start;

use std::time::Instant;

use serde_json::Value;
use swarm_protocol::failure::{Failure, FailureClass};

use super::failing::{failure, shown};
use super::heard::Heard;
use super::json::event;
use super::reading::{Conclusion, ExitFacts, Outgoing, Transcript, not_set_up};

pub use app_server::{AppServer, Opening};
pub use exec::Exec;
pub use native::native_binary;
pub use start::{app_server_invocation, exec_invocation, pass_env, settings, wants_exec, writable};

/// More tries than this are no end that anybody waits for.
const TRIES_MAX: u32 = 10;

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

/// A failed turn, from its message and, over the app-server, its kind and the cause behind it.
fn turn_failed(message: &str, details: &str, kind: &Value, heard: &Heard) -> Failure {
    let kind = if kind.is_null() { String::new() } else { kind.to_string() };
    let mut failure = failure(status_of(&kind), &format!("{message}\n{details}\n{kind}"));
    // It gave up asking, and says only that: what it asked again for is the reason.
    if let (FailureClass::Unknown, Some(retry)) = (failure.class, heard.last_retry()) {
        failure.class = retry.class;
    }
    failure.text = told(message, details);
    failure
}

/// The message, with the cause where that says more.
fn told(message: &str, details: &str) -> String {
    let details = details.trim();
    match details.is_empty() || message.contains(details) {
        true => shown(message),
        false => shown(&format!("{message} ({details})")),
    }
}

/// `{"httpConnectionFailed":{"httpStatusCode":401}}`.
fn status_of(kind: &str) -> Option<u16> {
    let (_, rest) = kind.split_once("\"httpStatusCode\":")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// "Reconnecting... 2/5 (…)" has an end, "Reconnecting... waiting for network (…)" is said once a minute without one:
/// two of those are enough.
fn reconnects(message: &str, failure: Failure, heard: &mut Heard) {
    match message {
        message if has_an_end(message) => heard.retries_to_an_end(failure, Instant::now()),
        message if message.contains("waiting for network") => heard.retries(failure, 2),
        _ => heard.retries(failure, 1),
    }
}

/// `Reconnecting... 2/5`, with an end that is worth the wait.
fn has_an_end(message: &str) -> bool {
    let counted = message.strip_prefix("Reconnecting...").and_then(|rest| rest.trim_start().split_once('/'));
    let Some((nth, rest)) = counted else { return false };
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    nth.parse::<u32>().is_ok() && digits.parse::<u32>().is_ok_and(|times| times <= TRIES_MAX)
}

#[cfg(test)]
mod tests {
    use super::super::reading::Ending;
    use super::super::resets::Moment;
    use super::*;

    /// Noon, by a clock that shows UTC.
    const NOW: Moment = Moment { unix_secs: 1_794_744_000, minute_of_day: 12 * 60 };

    /// What is judged while it tries again, if anything is, and what its end says.
    fn check(message: &str, details: &str, last: &str, expected: FailureClass) {
        let error = |message: &str, retry: bool, details: &str| {
            let error = serde_json::json!({ "message": message, "codexErrorInfo": { "responseStreamDisconnected": { "httpStatusCode": null } }, "additionalDetails": details });
            serde_json::json!({ "method": "error", "params": { "error": error, "willRetry": retry } })
                .to_string()
        };
        let (mut codex, mut heard) = (Codex::AppServer(Box::default()), Heard::default());
        for nth in 1..=5 {
            codex.out(&error(&message.replace('#', &nth.to_string()), true, details), &mut heard);
            assert_eq!(heard.enough, None, "{details}: judged before its end");
        }
        assert_eq!(
            heard.last_retry().map(|failure| failure.class),
            Some(expected),
            "{details}: while it tries"
        );
        let turn = serde_json::json!({ "status": "failed", "error": { "message": last } });
        let end = serde_json::json!({ "method": "turn/completed", "params": { "turn": turn } });
        codex.out(&end.to_string(), &mut heard);
        let exit = ExitFacts { code: Some(0), signal: None, ending: Ending::ByItself, now: NOW };
        let Conclusion::Failed(failure) = codex.conclude(&heard, &exit) else {
            panic!("{details}: no failure")
        };
        assert_eq!(failure.class, expected, "{details}: {last}");
    }

    #[test]
    fn what_is_known_while_it_reconnects_is_what_its_end_says() {
        let message = "Reconnecting... #/5";
        let bad_gateway =
            "unexpected status 502 Bad Gateway: upstream, url: http://example.invalid/v1/responses";
        check(
            message,
            bad_gateway,
            "exceeded retry limit, last status: 502 Bad Gateway",
            FailureClass::Overloaded,
        );
        check(message, bad_gateway, "the turn failed", FailureClass::Overloaded);
        let dns = "stream disconnected before completion: error sending request for url (http://example.invalid/): dns error";
        check(message, dns, dns, FailureClass::Network);
        check(message, "", "stream disconnected before completion", FailureClass::Network);
        check(message, "something new", "something else", FailureClass::Network);
    }

    #[test]
    fn a_refused_key_and_a_wait_without_an_end_are_not_waited_for() {
        let (mut codex, mut heard) = (Codex::Exec(Exec::default()), Heard::default());
        let line = r#"{"type":"error","message":"Reconnecting... waiting for network (Connection failed)"}"#;
        codex.out(line, &mut heard);
        assert_eq!(heard.enough, None);
        codex.out(line, &mut heard);
        assert_eq!(heard.enough.map(|failure| failure.class), Some(FailureClass::Network));
        let (mut codex, mut heard) = (Codex::Exec(Exec::default()), Heard::default());
        let line = r#"{"type":"error","message":"Reconnecting... 1/5 (unexpected status 401 Unauthorized)"}"#;
        codex.out(line, &mut heard);
        assert_eq!(heard.enough.map(|failure| failure.class), Some(FailureClass::Key));
        assert!(has_an_end("Reconnecting... 1/5") && has_an_end("Reconnecting... 2/5 (why)"));
        assert!(!has_an_end("Reconnecting... 1/1000") && !has_an_end("Reconnecting... a/b"));
    }
}
