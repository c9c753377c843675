//! opencode: `opencode run --format json`.
//!
//! It has no final event: the last `step_finish` with reason `stop` is the end. Its retries are silent, and
//! an answer that is no answer sends it round and round.

mod start;

use serde_json::Value;
use swarm_protocol::failure::{Consequence, Failure, FailureClass, Usage};

use super::call::{shown_input, whole_input};
use super::failing::{failed, failure, shown};
use super::heard::Heard;
use super::json::{count, event, field, micros, number, sum, text};
use super::reading::{Conclusion, ExitFacts, Transcript, gone, not_set_up};

pub use start::{invocation, pass_env, quiet, writable};

/// Steps in a row that brought nothing at all.
const EMPTY_STEPS_MAX: u32 = 5;

/// The tool that has begun, of which no more is known yet.
const A_TOOL: &str = "begun";

#[derive(Default)]
pub struct Opencode {
    /// Reason of the last finished step, as long as nothing came after it.
    last_reason: Option<String>,
    error: Option<Value>,
    empty_steps: u32,
    auto_rejected: Option<String>,
}

impl Transcript for Opencode {
    fn out(&mut self, line: &str, heard: &mut Heard) {
        let Some(event) = event(line) else { return };
        if let Some(session) = text(&event, "sessionID") {
            heard.session = Some(session.to_owned());
        }
        let part = field(&event, "part");
        match text(&event, "type") {
            Some("step_start") => {
                heard.tool_ends(A_TOOL, false);
                heard.steps();
                heard.goes_on();
                self.last_reason = None;
            }
            Some("text") => heard.says(text(part, "text").unwrap_or_default()),
            Some("tool_use") => {
                heard.tool_ends(A_TOOL, false);
                tool_used(part, heard);
            }
            Some("step_finish") => {
                heard.tool_ends(A_TOOL, false);
                self.last_reason = text(part, "reason").map(str::to_owned);
                if self.last_reason.as_deref() == Some("stop") {
                    // It had trouble, got over it, and came to a clean end: the exit code is still 1.
                    self.error = None;
                }
                let step = usage(part);
                self.count_empty(&step, heard);
                heard.usage = heard.usage.plus(step);
            }
            Some("error") => self.error = Some(field(&event, "error").clone()),
            _ => {}
        }
    }

    fn err(&mut self, line: &str, heard: &mut Heard) {
        let line = super::failing::without_colours(line);
        if line.starts_with("timestamp=") {
            logged(&line, heard);
            return;
        }
        heard.complains(&line);
        if let Some((_, what)) = line.split_once("permission requested: ")
            && line.contains("auto-rejecting")
        {
            self.auto_rejected = Some(what.trim().to_owned());
            heard.denies(what.trim());
        }
        if line.contains("Session not found") {
            heard.session_unknown = true;
        }
    }

    fn conclude(&self, heard: &Heard, exit: &ExitFacts) -> Conclusion {
        if let Some(error) = &self.error {
            return Conclusion::Failed(error_of(error, exit));
        }
        let done = Conclusion::Done { denied: heard.denied.clone() };
        match self.last_reason.as_deref() {
            _ if exit.signal.is_some() => Conclusion::Failed(gone(heard, exit)),
            Some("stop") if heard.has_said_anything() => done,
            Some("stop") => {
                Conclusion::Failed(failed(FailureClass::Unknown, "the model gave an empty answer"))
            }
            Some("length") => {
                Conclusion::Failed(failed(FailureClass::OutputCut, "the last step ended with reason length"))
            }
            Some("content-filter") => Conclusion::Failed(failed(
                FailureClass::Refused,
                "the last step ended with reason content-filter",
            )),
            // A permission that nobody was there to give ends the run in good order: nothing comes after it.
            Some("tool-calls") if self.auto_rejected.is_some() => done,
            None if !heard.spoke && exit.code == Some(1) => Conclusion::Failed(not_set_up(heard)),
            _ => Conclusion::Failed(gone(heard, exit)),
        }
    }
}

impl Opencode {
    fn count_empty(&mut self, step: &Usage, heard: &mut Heard) {
        let empty = self.last_reason.as_deref() == Some("unknown") && step.is_none();
        self.empty_steps = if empty { self.empty_steps + 1 } else { 0 };
        if self.empty_steps >= EMPTY_STEPS_MAX {
            let text = "the service answers with something that is not its protocol: a proxy, perhaps";
            heard.enough.get_or_insert_with(|| failed(FailureClass::Network, text));
        }
    }
}

/// Its events tell a tool only at its end, and its retries not at all: its log on stderr tells both.
fn logged(line: &str, heard: &mut Heard) {
    // timestamp=… level=… run=… message=…: before anything that a command or a service has worded.
    let Some(rest) = line.splitn(4, ' ').nth(3) else { return };
    if rest.starts_with("message=evaluated permission=") && line.contains(" action.action=allow") {
        heard.tool_starts(A_TOOL, "a tool", "", None);
    }
    if let Some(failure) = asks_again(line) {
        heard.retries(failure, 1);
    }
    if line.contains(" level=ERROR ") {
        heard.complains(rest);
    }
}

/// Why it asks its service again, where the line of its log says that it does; also behind ACP.
pub fn asks_again(line: &str) -> Option<Failure> {
    let rest = line.strip_prefix("timestamp=")?.splitn(4, ' ').nth(3)?;
    // `small`: the title of the session, which nobody waits for.
    let asks = rest.starts_with("message=\"stream error\"") && rest.contains(" small=false ");
    let error = rest.split_once("error.error=").map_or(rest, |(_, error)| error);
    asks.then(|| failure(None, error))
}

fn tool_used(part: &Value, heard: &mut Heard) {
    let state = field(part, "state");
    let name = text(part, "tool").unwrap_or("a tool");
    let input = shown_input(field(state, "input"));
    let error = text(state, "error").unwrap_or_default();
    let denied = error.starts_with("The user has specified a rule which prevents")
        || error.starts_with("The user rejected permission");
    if denied {
        heard.denies(format!("{name} {input}"));
    }
    let whole = whole_input(name, field(state, "input"));
    heard.tool_ran(name, &input, whole.as_deref(), text(state, "status") == Some("completed"));
}

fn error_of(error: &Value, exit: &ExitFacts) -> Failure {
    let data = field(error, "data");
    let message = text(data, "message").unwrap_or_default();
    let status = number(data, "statusCode").and_then(|status| u16::try_from(status).ok());
    let body = text(data, "responseBody").unwrap_or_default();
    let class = match text(error, "name") {
        Some("ContextOverflowError") => FailureClass::Overflow,
        Some("ContentFilterError") => FailureClass::Refused,
        Some("ProviderAuthError") => FailureClass::Key,
        Some("MessageOutputLengthError") => FailureClass::OutputCut,
        Some("MessageAbortedError") => FailureClass::Crashed,
        Some("APIError") => match (status, failure(status, &format!("{message}\n{body}")).class) {
            (None, FailureClass::Unknown) => FailureClass::Network,
            (_, class) => class,
        },
        // An unknown model or provider; or, as the message of it, an error of the service inside the stream.
        Some("UnknownError") => match failure(None, message).class {
            // Its library asked the service and got no answer that it knows.
            FailureClass::Unknown if is_of_a_request(message) => FailureClass::Network,
            FailureClass::Unknown => FailureClass::Configuration,
            class => class,
        },
        _ => FailureClass::Unknown,
    };
    let mut failure = failed(class, message);
    if matches!(class.consequence(), Consequence::Quota | Consequence::Transient) {
        failure.resets_in_secs = resets(body, exit).or_else(|| retry_after(data, exit));
    }
    if failure.text.is_empty() {
        failure.text = shown(&error.to_string());
    }
    failure
}

/// Errors of its library that only a request can have.
fn is_of_a_request(message: &str) -> bool {
    ["AI_APICallError", "AI_RetryError", "AI_NoOutputGeneratedError"]
        .iter()
        .any(|name| message.contains(name))
}

/// The service's own body says when it is back.
fn resets(body: &str, exit: &ExitFacts) -> Option<u64> {
    let body: Value = serde_json::from_str(body).ok()?;
    let error = field(&body, "error");
    exit.now.until_field(field(error, "resets_at")).or_else(|| number(error, "resets_in_seconds"))
}

/// So does the head of its answer.
fn retry_after(data: &Value, exit: &ExitFacts) -> Option<u64> {
    let header = text(field(data, "responseHeaders"), "retry-after")?;
    exit.now.until_said(&format!("Retry-After: {header}"))
}

fn usage(part: &Value) -> Usage {
    let tokens = field(part, "tokens");
    let cached = count(field(tokens, "cache"), "read");
    Usage {
        input_tokens: sum([count(tokens, "input"), count(field(tokens, "cache"), "write"), cached]),
        output_tokens: sum([count(tokens, "output"), count(tokens, "reasoning")]),
        cached_tokens: cached,
        cost_micros: micros(field(part, "cost").as_f64().unwrap_or_default()),
        estimated_micros: 0,
        steps: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_log_tells_that_a_tool_runs_and_that_the_service_is_asked_again() {
        let mut heard = Heard::default();
        let mut opencode = Opencode::default();
        let log = |level: &str, text: &str| {
            format!("timestamp=2026-11-15T06:21:05.391Z level={level} run=82a7459f {text}")
        };
        let allowed =
            "message=evaluated permission=bash pattern=\"sleep 300\" action.permission=* action.action=allow";
        opencode.err(&log("INFO", allowed), &mut heard);
        assert!(heard.tool_runs());
        opencode
            .out(r#"{"type":"tool_use","part":{"tool":"bash","state":{"status":"completed"}}}"#, &mut heard);
        assert!(!heard.tool_runs());
        let failing = "message=\"stream error\" providerID=p small=false error.error=\"AI_APICallError: Rate limit reached\"";
        for _ in 0..3 {
            assert_eq!(heard.enough, None);
            opencode.err(&log("ERROR", failing), &mut heard);
        }
        assert_eq!(heard.enough.map(|failure| failure.class), Some(FailureClass::Throttled));
    }

    #[test]
    fn an_error_of_a_request_is_the_weather_and_no_mistake_in_its_configuration() {
        let exit = ExitFacts {
            code: Some(1),
            signal: None,
            ending: super::super::reading::Ending::ByItself,
            now: super::super::resets::Moment { unix_secs: 0, minute_of_day: 0 },
        };
        for (message, class) in [
            ("AI_APICallError: Bad Gateway", FailureClass::Overloaded),
            ("AI_APICallError: something new", FailureClass::Network),
            (
                "AI_RetryError: Failed after 3 attempts. Last error: Unauthorized (status 401)",
                FailureClass::Key,
            ),
            ("Model not found: p/m", FailureClass::Configuration),
        ] {
            let error = serde_json::json!({ "name": "UnknownError", "data": { "message": message } });
            assert_eq!(error_of(&error, &exit).class, class, "{message}");
        }
    }

    #[test]
    fn the_head_of_an_answer_says_how_long_to_wait() {
        let now = super::super::resets::Moment { unix_secs: 1_794_916_800, minute_of_day: 12 * 60 };
        let exit =
            ExitFacts { code: Some(1), signal: None, ending: super::super::reading::Ending::ByItself, now };
        let ended = |status: u16, body: &str, after: &str| {
            let headers = serde_json::json!({ "retry-after": after });
            let data = serde_json::json!({ "message": "Try later", "statusCode": status, "responseHeaders": headers, "responseBody": body });
            let failure = error_of(&serde_json::json!({ "name": "APIError", "data": data }), &exit);
            (failure.class, failure.resets_in_secs)
        };
        let used_up = r#"{"error":{"type":"usage_limit_reached","resets_at":1794920400000}}"#;
        for (status, body, after, expected) in [
            (429, "", "90", (FailureClass::Throttled, Some(90))),
            (503, "", "Tue, 17 Nov 2026 12:05:00 GMT", (FailureClass::Overloaded, Some(300))),
            (429, r#"{"error":{"type":"FreeUsageLimitError"}}"#, "22560", (FailureClass::Quota, Some(22560))),
            (429, used_up, "90", (FailureClass::Quota, Some(3600))),
            (401, "", "90", (FailureClass::Key, None)),
        ] {
            assert_eq!(ended(status, body, after), expected, "{status} {body} {after}");
        }
    }

    #[test]
    fn a_service_that_does_not_speak_its_protocol_is_not_asked_for_ever() {
        let mut heard = Heard::default();
        let mut opencode = Opencode::default();
        for _ in 0..EMPTY_STEPS_MAX {
            assert_eq!(heard.enough, None);
            opencode.out(r#"{"type":"step_start"}"#, &mut heard);
            opencode.out(
                r#"{"type":"step_finish","part":{"reason":"unknown","tokens":{"total":0}}}"#,
                &mut heard,
            );
        }
        assert_eq!(heard.enough.map(|failure| failure.class), Some(FailureClass::Network));
    }
}
