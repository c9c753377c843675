//! Claude Code: `claude -p --output-format stream-json --verbose`.
//!
//! Failures come with `"subtype":"success"`, and SIGINT with exit code 0: only `is_error` and
//! `terminal_reason` of the final `result` count.

mod start;

use std::collections::BTreeMap;

use serde_json::Value;
use swarm_protocol::failure::{Failure, FailureClass, Usage};

use super::call::{shown_input, whole_input};
use super::failing::{class_of, failed, failure};
use super::heard::Heard;
use super::json::{array, count, event, field, micros, number, sum, text, truth};
use super::reading::{Conclusion, ExitFacts, Transcript, gone, not_set_up};

pub use start::{invocation, pass_env, writable};

/// Calls of the model in one run whose cost is remembered one by one.
const CALLS_MAX: usize = 2000;

#[derive(Default)]
pub struct Claude {
    result: Option<Value>,
    /// `error` of the last message that the program itself wrote.
    error_kind: Option<String>,
    /// What each call of the model cost, as far as it is told on the way; the final event has the true sum.
    calls: BTreeMap<String, Usage>,
    /// The service's own word that the allowance is used up, and when it is back.
    rejected_until: Option<Value>,
}

impl Transcript for Claude {
    fn out(&mut self, line: &str, heard: &mut Heard) {
        let Some(event) = event(line) else { return };
        if let Some(session) = text(&event, "session_id") {
            heard.session = Some(session.to_owned());
        }
        match text(&event, "type") {
            Some("assistant") => self.assistant(&event, heard),
            Some("user") => tool_results(&event, heard),
            Some("system") => system(&event, heard),
            Some("rate_limit_event") => {
                let info = field(&event, "rate_limit_info");
                // What is paid for beyond the allowance goes on; so does what is allowed again.
                let rejected = text(info, "status") == Some("rejected") && !truth(info, "isUsingOverage");
                self.rejected_until = rejected.then(|| field(info, "resetsAt").clone());
            }
            Some("result") => {
                heard.usage = Usage { steps: heard.usage.steps, ..usage(&event) };
                heard.cost_of_session = true;
                denials(&event, heard);
                heard.said_all = true;
                self.result = Some(event);
            }
            _ => {}
        }
    }

    fn err(&mut self, line: &str, heard: &mut Heard) {
        if line.starts_with("No conversation found with session ID") {
            heard.session_unknown = true;
        }
        heard.complains(line);
    }

    fn conclude(&self, heard: &Heard, exit: &ExitFacts) -> Conclusion {
        let Some(result) = &self.result else {
            let never_started =
                !heard.spoke && exit.signal.is_none() && exit.code.is_some_and(|code| code == 1);
            return Conclusion::Failed(if never_started { not_set_up(heard) } else { gone(heard, exit) });
        };
        if !truth(result, "is_error") {
            let done = text(result, "terminal_reason").is_none_or(|reason| reason == "completed");
            let said = text(result, "result").unwrap_or_default();
            return match (done, said.is_empty()) {
                (true, false) => Conclusion::Done { denied: heard.denied.clone() },
                (true, true) => {
                    Conclusion::Failed(failed(FailureClass::Unknown, "the model gave an empty answer"))
                }
                (false, _) => Conclusion::Failed(failed(FailureClass::Unknown, said)),
            };
        }
        if text(result, "terminal_reason").is_some_and(|reason| reason.starts_with("aborted_")) {
            return Conclusion::Interrupted;
        }
        Conclusion::Failed(self.failure(result, exit))
    }
}

impl Claude {
    fn assistant(&mut self, event: &Value, heard: &mut Heard) {
        if let Some(kind) = text(event, "error") {
            self.error_kind = Some(kind.to_owned());
            return;
        }
        let message = field(event, "message");
        if text(message, "model") == Some("<synthetic>") {
            return;
        }
        let helper = text(event, "parent_tool_use_id").is_some();
        if let Some(id) = text(message, "id") {
            heard.steps_as(id);
            self.count(id, field(message, "usage"), heard);
        }
        for part in array(message, "content") {
            match text(part, "type") {
                // What a helper of the agent says is not what the agent says.
                Some("text") if !helper => heard.says(text(part, "text").unwrap_or_default()),
                Some("tool_use") => {
                    let name = text(part, "name").unwrap_or("a tool");
                    // A helper's own tools are told one by one: while it thinks, the clock for silence runs.
                    if !matches!(name, "Task" | "Agent") {
                        let input = field(part, "input");
                        let (id, whole) = (text(part, "id").unwrap_or_default(), whole_input(name, input));
                        heard.tool_starts(id, name, &shown_input(input), whole.as_deref());
                    }
                }
                _ => heard.goes_on(),
            }
        }
    }

    /// A run that is cut off has no final event: then this is all that is known of its cost.
    fn count(&mut self, id: &str, told: &Value, heard: &mut Heard) {
        if told.is_object() && (self.calls.len() < CALLS_MAX || self.calls.contains_key(id)) {
            self.calls.insert(id.to_owned(), tokens(told));
            let sum = self.calls.values().fold(Usage::default(), |sum, call| sum.plus(*call));
            heard.usage = Usage { steps: heard.usage.steps, ..sum };
        }
    }

    fn failure(&self, result: &Value, exit: &ExitFacts) -> Failure {
        let status = number(result, "api_error_status").and_then(|status| u16::try_from(status).ok());
        let said = text(result, "result").map(str::to_owned).unwrap_or_else(|| {
            array(result, "errors").iter().filter_map(Value::as_str).collect::<Vec<_>>().join("; ")
        });
        if let Some(until) = &self.rejected_until {
            let mut failure = failed(FailureClass::Quota, &said);
            failure.resets_in_secs = exit.now.until_field(until);
            return failure;
        }
        let by_reason = match (text(result, "terminal_reason"), text(result, "subtype")) {
            (Some("prompt_too_long"), _) => Some(FailureClass::Overflow),
            (Some("max_turns" | "budget_exhausted"), _)
            | (None, Some("error_max_turns" | "error_max_budget_usd")) => Some(FailureClass::OwnLimit),
            _ if text(result, "stop_reason") == Some("refusal") => Some(FailureClass::Refused),
            // Older versions give no reason at all: what they say in the end is all there is.
            (None, Some("success")) => None,
            // Its own errors without a reason come before any request: an unknown session.
            (None, _) => Some(FailureClass::Configuration),
            _ => None,
        };
        let class = by_reason.or_else(|| match (self.error_kind.as_deref()?, status) {
            // The same kind for a minute and for a week: the sentence tells them apart.
            ("rate_limit", _) => {
                let exact = text(result, "api_error").unwrap_or_default();
                Some(used_up(&format!("{said}\n{exact}")).unwrap_or(FailureClass::Throttled))
            }
            ("billing_error", _) => Some(FailureClass::Billing),
            ("authentication_failed" | "oauth_org_not_allowed", _) => Some(FailureClass::Key),
            ("model_not_found", _) => Some(FailureClass::Configuration),
            ("max_output_tokens", _) if said.contains("context window limit") => Some(FailureClass::Overflow),
            ("max_output_tokens", _) => Some(FailureClass::OutputCut),
            ("server_error" | "overloaded", None) => Some(FailureClass::Network),
            ("server_error" | "overloaded", Some(_)) => Some(FailureClass::Overloaded),
            _ => None,
        });
        match class {
            Some(class) => failed(class, &said),
            // Without a kind that tells it the words of the result are all there is.
            None => failure(status, &said),
        }
    }
}

/// Whether the sentence says that an allowance or the purse is empty.
fn used_up(said: &str) -> Option<FailureClass> {
    class_of(None, said).filter(|class| matches!(class, FailureClass::Quota | FailureClass::Billing))
}

/// Told all at once at the end. What was tried and done after the last of them is more than the denial.
fn denials(result: &Value, heard: &mut Heard) {
    let mut last = false;
    for denial in array(result, "permission_denials") {
        let tool = text(denial, "tool_name").unwrap_or("a tool");
        heard.denies(format!("{tool} {}", shown_input(field(denial, "tool_input"))));
        last |= heard.ended_last.is_none() || text(denial, "tool_use_id") == heard.ended_last.as_deref();
    }
    heard.denied_last = last;
}

fn system(event: &Value, heard: &mut Heard) {
    if text(event, "subtype") != Some("api_retry") {
        return;
    }
    let status = number(event, "error_status").and_then(|status| u16::try_from(status).ok());
    let kind = text(event, "error").unwrap_or("unknown");
    let class = match (kind, status) {
        ("authentication_failed", _) | (_, Some(401 | 403)) => FailureClass::Key,
        ("billing_error", _) => FailureClass::Billing,
        ("rate_limit", _) => FailureClass::Throttled,
        ("overloaded" | "server_error", Some(_)) => FailureClass::Overloaded,
        (_, None) => FailureClass::Network,
        _ => FailureClass::Unknown,
    };
    let status = status.map_or_else(String::new, |status| format!(" ({status})"));
    heard.retries(failed(class, &format!("{kind}{status}")), 1);
}

fn tool_results(event: &Value, heard: &mut Heard) {
    for part in array(field(event, "message"), "content") {
        if text(part, "type") == Some("tool_result") {
            heard.tool_ends(text(part, "tool_use_id").unwrap_or_default(), !truth(part, "is_error"));
        }
    }
}

/// The tokens are this run's, the cost is the session's.
fn usage(result: &Value) -> Usage {
    let cost = field(result, "total_cost_usd").as_f64().unwrap_or_default();
    Usage { cost_micros: micros(cost), ..tokens(field(result, "usage")) }
}

fn tokens(told: &Value) -> Usage {
    let cached = count(told, "cache_read_input_tokens");
    let input = [count(told, "input_tokens"), count(told, "cache_creation_input_tokens"), cached];
    Usage {
        input_tokens: sum(input),
        output_tokens: count(told, "output_tokens"),
        cached_tokens: cached,
        cost_micros: 0,
        estimated_micros: 0,
        steps: 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::reading::Ending;
    use super::super::resets::Moment;
    use super::*;

    /// 00:16, by a clock that shows UTC.
    const EXIT: ExitFacts = ExitFacts {
        code: Some(1),
        signal: None,
        ending: Ending::ByItself,
        now: Moment { unix_secs: 1_794_701_760, minute_of_day: 16 },
    };

    fn concluded(events: &[Value]) -> FailureClass {
        let (mut claude, mut heard) = (Claude::default(), Heard::default());
        events.iter().for_each(|event| claude.out(&event.to_string(), &mut heard));
        match claude.conclude(&heard, &EXIT) {
            Conclusion::Failed(failure) => failure.class,
            other => panic!("{other:?} of {events:?}"),
        }
    }

    fn kind(kind: &str) -> Value {
        json!({ "type": "assistant", "error": kind, "message": { "model": "<synthetic>" } })
    }

    fn result(said: &str) -> Value {
        json!({ "type": "result", "subtype": "success", "is_error": true, "terminal_reason": "api_error", "result": said })
    }

    #[test]
    fn a_kind_of_error_that_is_too_coarse_is_told_apart_by_its_sentence() {
        for (of, said, class) in [
            ("rate_limit", "You've hit your weekly limit · resets Nov 20, 3pm (UTC)", FailureClass::Quota),
            ("rate_limit", "You have exceeded your account's rate limit", FailureClass::Throttled),
            ("rate_limit", "You've hit your Fable 5 limit · resets 3pm", FailureClass::Quota),
            ("rate_limit", "Extra usage is required for 1M context", FailureClass::Billing),
            ("oauth_org_not_allowed", "Not for this organization", FailureClass::Key),
            (
                "invalid_request",
                "API Error: 400 You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
                FailureClass::Quota,
            ),
            (
                "invalid_request",
                "API Error: 400 input length and `max_tokens` exceed context limit",
                FailureClass::Overflow,
            ),
            ("unknown", "API Error: Connection error.", FailureClass::Network),
            ("invalid_request", "API Error: 400 messages.3: no such member", FailureClass::Unknown),
        ] {
            assert_eq!(concluded(&[kind(of), result(said)]), class, "{said}");
        }
    }

    #[test]
    fn the_moment_of_a_reset_may_be_in_thousandths_and_counts_before_the_sentence() {
        let rejected = |at: Value| json!({ "type": "rate_limit_event", "rate_limit_info": { "status": "rejected", "resetsAt": at } });
        let said = result("You've hit your limit · resets 1:16am (UTC)");
        for at in [json!(1_794_709_080_u64), json!(1_794_709_080_000_u64), json!("2026-11-15T02:18:00Z")] {
            let (mut claude, mut heard) = (Claude::default(), Heard::default());
            claude.out(&rejected(at.clone()).to_string(), &mut heard);
            claude.out(&said.to_string(), &mut heard);
            let Conclusion::Failed(failure) = claude.conclude(&heard, &EXIT) else { panic!("no failure") };
            assert_eq!((failure.class, failure.resets_in_secs), (FailureClass::Quota, Some(7320)), "{at}");
        }
    }

    #[test]
    fn counts_beyond_all_measure_stay_the_largest() {
        let most =
            tokens(&json!({ "input_tokens": u64::MAX, "cache_read_input_tokens": 5, "output_tokens": 1.5 }));
        assert_eq!((most.input_tokens, most.cached_tokens, most.output_tokens), (u64::MAX, 5, 0));
    }

    #[test]
    fn a_field_that_names_the_used_up_allowance_counts_without_its_sentence() {
        let mut result = result("API Error: Request rejected (429)");
        result["api_error"] = json!("usage_limit_reached");
        assert_eq!(concluded(&[kind("rate_limit"), result]), FailureClass::Quota);
    }

    #[test]
    fn an_older_version_without_a_reason_is_read_by_what_it_says() {
        let old = |subtype: &str, said: &str| json!({ "type": "result", "subtype": subtype, "is_error": true, "result": said });
        for (subtype, said, class) in [
            ("success", "Claude AI usage limit reached|1794916800", FailureClass::Quota),
            ("success", "API Error: 529 {\"type\":\"overloaded_error\"}", FailureClass::Overloaded),
            ("success", "Invalid API key · Please run /login", FailureClass::Key),
            ("success", "Prompt is too long", FailureClass::Overflow),
            ("error_max_turns", "", FailureClass::OwnLimit),
            ("error_during_execution", "", FailureClass::Configuration),
        ] {
            assert_eq!(concluded(&[old(subtype, said)]), class, "{subtype} {said}");
        }
    }

    #[test]
    fn an_allowance_that_is_paid_beyond_or_open_again_is_not_why_it_failed() {
        let told = |status: &str, paid: bool| {
            let info = json!({ "status": status, "resetsAt": 1_794_709_080, "isUsingOverage": paid });
            json!({ "type": "rate_limit_event", "rate_limit_info": info })
        };
        let failed = [kind("server_error"), result("API Error: Connection dropped (ECONNRESET)")];
        for (events, class) in [
            (vec![told("rejected", false)], FailureClass::Quota),
            (vec![told("rejected", true)], FailureClass::Network),
            (vec![told("rejected", false), told("allowed", false)], FailureClass::Network),
        ] {
            let all: Vec<Value> = events.into_iter().chain(failed.clone()).collect();
            assert_eq!(concluded(&all), class, "{all:?}");
        }
    }
}
