//! What an error of a program or of its service means.
//!
//! Only for words that the *program* put into a field for errors. What a tool printed, or the agent
//! said, never comes here: a test suite that prints "quota exceeded" has no quota.

use std::sync::LazyLock;

use regex::Regex;
use swarm_protocol::failure::{Failure, FailureClass};

/// Characters of an error that are kept.
const TEXT_MAX: usize = 600;

/// Words of services and programs, and what they mean. The first that fits counts, so that the exact
/// come before the loose: codes before sentences, and a reason before the symptom around it.
const WORDS: &[(&str, FailureClass)] = &[
    ("context_length_exceeded", FailureClass::Overflow),
    ("contextwindowexceeded", FailureClass::Overflow),
    ("context_window_exceeded", FailureClass::Overflow),
    ("prompt is too long", FailureClass::Overflow),
    ("prompt_too_long", FailureClass::Overflow),
    ("ran out of room", FailureClass::Overflow),
    ("context window limit", FailureClass::Overflow),
    ("maximum context length", FailureClass::Overflow),
    ("context exceeds model limit", FailureClass::Overflow),
    ("input token count", FailureClass::Overflow),
    ("insufficient_quota", FailureClass::Billing),
    ("billing_hard_limit", FailureClass::Billing),
    ("billing hard limit", FailureClass::Billing),
    ("billing_error", FailureClass::Billing),
    ("requires billing", FailureClass::Billing),
    ("credit balance is too low", FailureClass::Billing),
    ("quota exceeded. check your plan", FailureClass::Billing),
    ("usage_limit_reached", FailureClass::Quota),
    ("usage_limit_exceeded", FailureClass::Quota),
    ("usagelimitexceeded", FailureClass::Quota),
    ("hit your usage limit", FailureClass::Quota),
    ("usage limit has been reached", FailureClass::Quota),
    ("usage limit reached", FailureClass::Quota),
    ("hit your limit", FailureClass::Quota),
    ("hit your 5-hour limit", FailureClass::Quota),
    ("hit your session limit", FailureClass::Quota),
    ("hit your weekly limit", FailureClass::Quota),
    ("regain access", FailureClass::Quota),
    ("daily quota", FailureClass::Quota),
    ("content_filter", FailureClass::Refused),
    ("content filter", FailureClass::Refused),
    ("max_output_tokens", FailureClass::OutputCut),
    ("api_key_invalid", FailureClass::Key),
    ("api key not valid", FailureClass::Key),
    ("invalid api key", FailureClass::Key),
    ("incorrect api key", FailureClass::Key),
    ("invalid x-api-key", FailureClass::Key),
    ("authentication_failed", FailureClass::Key),
    ("authentication_error", FailureClass::Key),
    ("authentication required", FailureClass::Key),
    ("not logged in", FailureClass::Key),
    ("missing environment variable", FailureClass::Key),
    ("permission_denied", FailureClass::Key),
    ("model_not_found", FailureClass::Configuration),
    ("does not exist or you do not have access", FailureClass::Configuration),
    ("is not found for api version", FailureClass::Configuration),
    ("server_is_overloaded", FailureClass::Overloaded),
    ("serveroverloaded", FailureClass::Overloaded),
    ("overloaded", FailureClass::Overloaded),
    ("at capacity", FailureClass::Overloaded),
    ("high demand", FailureClass::Overloaded),
    ("internalservererror", FailureClass::Overloaded),
    ("internal server error", FailureClass::Overloaded),
    ("api_error", FailureClass::Overloaded),
    ("bad gateway", FailureClass::Overloaded),
    ("service unavailable", FailureClass::Overloaded),
    ("gateway timeout", FailureClass::Overloaded),
    ("gateway time-out", FailureClass::Overloaded),
    ("rate_limit", FailureClass::Throttled),
    ("rate limit", FailureClass::Throttled),
    ("too many requests", FailureClass::Throttled),
    ("stream disconnected", FailureClass::Network),
    ("waiting for network", FailureClass::Network),
    ("fetch failed", FailureClass::Network),
    ("terminated", FailureClass::Network),
    ("incomplete json segment", FailureClass::Network),
    ("network error", FailureClass::Network),
    ("connection", FailureClass::Network),
    ("cannot connect", FailureClass::Network),
    ("timed out", FailureClass::Network),
    ("econnreset", FailureClass::Network),
    ("econnrefused", FailureClass::Network),
    ("enotfound", FailureClass::Network),
    ("etimedout", FailureClass::Network),
    ("enetunreach", FailureClass::Network),
    ("ehostunreach", FailureClass::Network),
    ("eai_again", FailureClass::Network),
    ("getaddrinfo", FailureClass::Network),
    ("dns error", FailureClass::Network),
    ("failed to lookup address", FailureClass::Network),
    ("name resolution", FailureClass::Network),
    ("socket hang up", FailureClass::Network),
    ("error sending request", FailureClass::Network),
    ("network is unreachable", FailureClass::Network),
    ("no route to host", FailureClass::Network),
    ("unexpected eof", FailureClass::Network),
];

/// "last status: 429", "unexpected status 401", "API Error: 500", "HTTP 502", `"code":503` of a service's own body.
static STATUS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?:status(?: code)?:? |error:? |http(?:/[0-9.]+)? |"code": ?)([45][0-9]{2})(?:[^0-9]|$)"#)
        .ok()
});

/// The meaning of an error text and of the HTTP status, where the program named one.
pub fn class_of(status: Option<u16>, text: &str) -> Option<FailureClass> {
    let text = text.to_lowercase();
    let by_word = |classes: &[FailureClass]| {
        WORDS.iter().find(|(word, class)| classes.contains(class) && text.contains(word)).map(|(_, c)| *c)
    };
    // Reasons that a status is too coarse for: 429 is also an empty purse, 400 also a full window.
    by_word(&[
        FailureClass::Overflow,
        FailureClass::Billing,
        FailureClass::Quota,
        FailureClass::Refused,
        FailureClass::OutputCut,
    ])
    .or_else(|| by_status(status.or_else(|| status_in(&text))))
    .or_else(|| WORDS.iter().find(|(word, _)| text.contains(word)).map(|(_, class)| *class))
}

fn by_status(status: Option<u16>) -> Option<FailureClass> {
    match status? {
        401 | 403 => Some(FailureClass::Key),
        402 => Some(FailureClass::Billing),
        404 => Some(FailureClass::Configuration),
        408 => Some(FailureClass::Network),
        429 => Some(FailureClass::Throttled),
        500..=599 => Some(FailureClass::Overloaded),
        _ => None,
    }
}

fn status_in(text: &str) -> Option<u16> {
    STATUS.as_ref()?.captures(text)?.get(1)?.as_str().parse().ok()
}

/// A failure from an error text.
pub fn failure(status: Option<u16>, text: &str) -> Failure {
    failed(class_of(status, text).unwrap_or(FailureClass::Unknown), text)
}

/// A failure of a known class, with the text made fit to be shown.
pub fn failed(class: FailureClass, text: &str) -> Failure {
    Failure::new(class, shown(text))
}

/// Without colours and control characters, on one line, shortened.
pub fn shown(text: &str) -> String {
    let text = without_colours(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut text = words.join(" ");
    if let Some((at, _)) = text.char_indices().nth(TEXT_MAX) {
        text.truncate(at);
        text.push('…');
    }
    text
}

/// Programs colour their errors even where they are asked not to.
pub fn without_colours(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => {
                // ESC [ parameters letter; any other escape is two characters.
                if characters.next() == Some('[') {
                    let _ = characters.find(char::is_ascii_alphabetic);
                }
            }
            '\n' | '\t' => kept.push(character),
            other if other.is_control() => {}
            other => kept.push(other),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: Option<u16>, text: &str, expected: Option<FailureClass>) {
        assert_eq!(class_of(status, text), expected, "{status:?} {text}");
    }

    #[test]
    fn a_reason_counts_more_than_the_status_around_it() {
        check(Some(429), "insufficient_quota", Some(FailureClass::Billing));
        check(Some(429), "usage_limit_reached", Some(FailureClass::Quota));
        check(Some(400), "code: context_length_exceeded", Some(FailureClass::Overflow));
        check(Some(429), "please check your plan and billing details", Some(FailureClass::Throttled));
        check(
            None,
            "stream disconnected before completion: Incomplete response returned, reason: content_filter",
            Some(FailureClass::Refused),
        );
    }

    #[test]
    fn a_status_in_the_text_is_read() {
        check(
            None,
            "exceeded retry limit, last status: 429 Too Many Requests",
            Some(FailureClass::Throttled),
        );
        check(None, "unexpected status 403 Forbidden: not allowed", Some(FailureClass::Key));
        check(None, r#"[API Error: {"error":{"code":503,"message":"x"}}]"#, Some(FailureClass::Overloaded));
        check(
            None,
            r#"Internal error: API Error: 500 {"type":"error","error":{"type":"api_error"}}"#,
            Some(FailureClass::Overloaded),
        );
        check(None, "request failed: HTTP 502", Some(FailureClass::Overloaded));
        check(None, "Request failed with status code 401", Some(FailureClass::Key));
        check(None, "something else", None);
        check(None, "error: 5000 lines are too many", None);
    }

    #[test]
    fn weather_is_told_by_its_words_too() {
        for text in ["AI_APICallError: Bad Gateway", "Service Unavailable", "api_error: try later"] {
            check(None, text, Some(FailureClass::Overloaded));
        }
        for text in [
            "error sending request for url (https://example.invalid/v1/responses)",
            "dns error: failed to lookup address information: Temporary failure in name resolution",
            "getaddrinfo EAI_AGAIN example.invalid",
            "socket hang up",
        ] {
            check(None, text, Some(FailureClass::Network));
        }
    }

    #[test]
    fn an_allowance_with_a_date_is_used_up_whatever_else_is_said() {
        let text = "You have reached your specified API usage limits (rate limit). You will regain access on 2030-01-01";
        check(Some(429), text, Some(FailureClass::Quota));
        check(None, text, Some(FailureClass::Quota));
        check(None, "You've hit your 5-hour limit · resets 2:18am (UTC)", Some(FailureClass::Quota));
    }

    #[test]
    fn colours_are_taken_away() {
        assert_eq!(
            shown("\u{1b}[91m\u{1b}[1mError: \u{1b}[0mSession\n not found"),
            "Error: Session not found"
        );
    }
}
