//! Gemini CLI: `gemini --output-format stream-json`.
//!
//! Its exit code is the HTTP status modulo 256, so 173 is 429 and no signal. Exit code 0 means little:
//! it also comes with SIGTERM, with an error in `result`, and after its own guard against loops.

mod start;

use serde_json::Value;
use swarm_protocol::failure::{Failure, FailureClass, Usage};

use super::call::{shown_input, whole_input};
use super::failing::{failed, failure, shown};
use super::heard::Heard;
use super::json::{count, event, field, text};
use super::reading::{Conclusion, ExitFacts, Transcript, gone, not_set_up};

pub use start::{invocation, pass_env, quiet, writable};

#[derive(Default)]
pub struct Gemini {
    result: Option<Value>,
    loops: Option<String>,
    /// A tool's own error follows on stderr: not the program's words.
    tool_complains: bool,
}

impl Transcript for Gemini {
    fn out(&mut self, line: &str, heard: &mut Heard) {
        let Some(event) = event(line) else { return };
        self.tool_complains = false;
        match text(&event, "type") {
            Some("init") => heard.session = text(&event, "session_id").map(str::to_owned),
            Some("message") if text(&event, "role") == Some("assistant") => {
                let content = text(&event, "content").unwrap_or_default();
                if event.get("delta").is_some() { heard.says_part(content) } else { heard.says(content) }
            }
            Some("tool_use") => {
                heard.steps();
                let id = text(&event, "tool_id").unwrap_or_default();
                let name = text(&event, "tool_name").unwrap_or("a tool");
                let input = field(&event, "parameters");
                heard.tool_starts(id, name, &shown_input(input), whole_input(name, input).as_deref());
            }
            Some("tool_result") => tool_result(&event, heard),
            Some("error") => {
                let message = text(&event, "message").unwrap_or_default();
                if message.contains("Loop detected") {
                    self.loops = Some(message.to_owned());
                }
            }
            Some("result") => {
                heard.steps();
                heard.usage = Usage { steps: heard.usage.steps, ..usage(field(&event, "stats")) };
                heard.said_all = true;
                self.result = Some(event);
            }
            _ => {}
        }
    }

    fn err(&mut self, line: &str, heard: &mut Heard) {
        heard.complains(line);
        if line.starts_with("Error executing tool") {
            self.tool_complains = true;
        }
        if line.starts_with("Error resuming session") {
            heard.session_unknown = true;
        }
        if self.tool_complains || heard.tool_runs() {
            return;
        }
        if let Some(failure) = asks_again(line) {
            heard.retries(failure, 1);
        }
    }

    fn conclude(&self, heard: &Heard, exit: &ExitFacts) -> Conclusion {
        let Some(result) = &self.result else { return Conclusion::Failed(without_result(heard, exit)) };
        let message = text(field(result, "error"), "message");
        if text(result, "status") != Some("success") || exit.code.is_some_and(|code| code != 0) {
            return Conclusion::Failed(self.failure(message, result, exit));
        }
        match &self.loops {
            Some(message) => Conclusion::Failed(failed(FailureClass::Looping, message)),
            None => Conclusion::Done { denied: heard.denied.clone() },
        }
    }
}

impl Gemini {
    fn failure(&self, message: Option<&str>, result: &Value, exit: &ExitFacts) -> Failure {
        let kind = text(field(result, "error"), "type").unwrap_or_default();
        if exit.code == Some(53) || kind == "FatalTurnLimitedError" {
            return failed(FailureClass::OwnLimit, message.unwrap_or_default());
        }
        match message {
            Some(message) => failure(http_status(exit), message),
            None => failed(FailureClass::Unknown, "the model gave an empty answer"),
        }
    }
}

/// The status behind the exit code: the codes of its own are small.
fn http_status(exit: &ExitFacts) -> Option<u16> {
    let code = u16::try_from(exit.code?).ok()?;
    (400..600).find(|status| status % 256 == code && code > 100)
}

fn without_result(heard: &Heard, exit: &ExitFacts) -> Failure {
    if exit.signal.is_some() {
        return gone(heard, exit);
    }
    let words = heard.last_words_text(60);
    match exit.code {
        Some(41) => failed(FailureClass::Key, &heard.last_words_text(2)),
        Some(42) => not_set_up(heard),
        Some(52 | 55) => failed(FailureClass::Configuration, &heard.last_words_text(2)),
        Some(53) => failed(FailureClass::OwnLimit, &heard.last_words_text(2)),
        // With another output format the error stands on stderr alone.
        Some(_) if http_status(exit).is_some() => {
            let mut failure = failure(http_status(exit), &words);
            let said = heard.last_words().find_map(|line| line.trim().strip_prefix("\"message\": "));
            failure.text = shown(said.unwrap_or(&heard.last_words_text(3)));
            failure
        }
        Some(1) if !heard.spoke => not_set_up(heard),
        _ => gone(heard, exit),
    }
}

/// " with status 503. Retrying …", ": You exceeded …", ". Retrying with backoff... Error: … fetch failed …".
/// Why it asks its service again, where the line says that it does; also behind ACP.
pub fn asks_again(line: &str) -> Option<Failure> {
    let (_, why) = line.strip_prefix("Attempt ")?.split_once(" failed")?;
    Some(retry(why))
}

fn retry(why: &str) -> Failure {
    let why = why.trim_start_matches([':', '.']).trim();
    let mut failure = failure(None, why);
    // Its daily quota is never tried again: what is, is the quota of a minute.
    let of_a_minute = failure.class == FailureClass::Quota
        || failure.class == FailureClass::Unknown && why.contains("exceeded your current quota");
    if of_a_minute {
        failure.class = FailureClass::Throttled;
    }
    failure
}

fn tool_result(event: &Value, heard: &mut Heard) {
    let error = field(event, "error");
    if matches!(text(error, "type"), Some("policy_violation" | "tool_not_registered")) {
        heard.denies(text(error, "message").unwrap_or("a tool"));
    }
    heard.tool_ends(text(event, "tool_id").unwrap_or_default(), text(event, "status") == Some("success"));
}

fn usage(stats: &Value) -> Usage {
    Usage {
        input_tokens: count(stats, "input_tokens"),
        output_tokens: count(stats, "output_tokens"),
        cached_tokens: count(stats, "cached"),
        cost_micros: 0,
        estimated_micros: 0,
        steps: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_that_is_asked_for_again_is_that_of_a_minute() {
        for why in [
            ": You have exhausted your capacity on this model. Your quota will reset after 2s.. Retrying after 2104ms...",
            ": You exceeded your current quota, please check your plan and billing details.",
            " with status 429. Retrying with backoff...",
        ] {
            let failure = asks_again(&format!("Attempt 1 failed{why}")).expect("a retry");
            assert_eq!(failure.class, FailureClass::Throttled, "{why}");
        }
    }
}
