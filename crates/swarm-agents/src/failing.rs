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
    ("prompt token count", FailureClass::Overflow),
    ("input is too long", FailureClass::Overflow),
    ("exceeds the context window", FailureClass::Overflow),
    ("exceed context limit", FailureClass::Overflow),
    ("context limit reached", FailureClass::Overflow),
    ("available context size", FailureClass::Overflow),
    ("maximum prompt length", FailureClass::Overflow),
    ("context length exceeded", FailureClass::Overflow),
    ("max context length", FailureClass::Overflow),
    ("model's context length", FailureClass::Overflow),
    ("greater than the context length", FailureClass::Overflow),
    ("context window exceeds", FailureClass::Overflow),
    ("exceeded model token limit", FailureClass::Overflow),
    ("reduce the length of the messages", FailureClass::Overflow),
    ("prompt too long", FailureClass::Overflow),
    ("conversation too long", FailureClass::Overflow),
    ("request too large", FailureClass::Overflow),
    ("request_too_large", FailureClass::Overflow),
    ("insufficient_quota", FailureClass::Billing),
    ("billing_hard_limit", FailureClass::Billing),
    ("billing hard limit", FailureClass::Billing),
    ("billing_error", FailureClass::Billing),
    ("requires billing", FailureClass::Billing),
    ("credit balance is too low", FailureClass::Billing),
    ("quota exceeded. check your plan", FailureClass::Billing),
    ("insufficient balance", FailureClass::Billing),
    ("insufficient credits", FailureClass::Billing),
    ("out of credits", FailureClass::Billing),
    ("no payment method", FailureClass::Billing),
    ("payment required", FailureClass::Billing),
    ("with your chatgpt plan", FailureClass::Billing),
    ("spend cap", FailureClass::Billing),
    ("spending cap", FailureClass::Billing),
    ("credits are depleted", FailureClass::Billing),
    ("requires more credits", FailureClass::Billing),
    ("creditserror", FailureClass::Billing),
    ("extra usage is required", FailureClass::Billing),
    ("check your account balance", FailureClass::Billing),
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
    ("hit your opus limit", FailureClass::Quota),
    ("hit your sonnet limit", FailureClass::Quota),
    ("hit your monthly limit", FailureClass::Quota),
    ("-hour limit reached", FailureClass::Quota),
    ("session limit reached", FailureClass::Quota),
    ("weekly limit reached", FailureClass::Quota),
    ("monthly usage limit", FailureClass::Quota),
    ("out of extra usage", FailureClass::Quota),
    ("quota will reset", FailureClass::Quota),
    ("monthly quota", FailureClass::Quota),
    ("subscription quota", FailureClass::Quota),
    ("regain access", FailureClass::Quota),
    ("daily quota", FailureClass::Quota),
    ("daily limit", FailureClass::Quota),
    ("daily rate limit", FailureClass::Quota),
    ("perday", FailureClass::Quota),
    ("requests per day", FailureClass::Quota),
    ("tokens per day", FailureClass::Quota),
    ("models-per-day", FailureClass::Quota),
    ("usagelimiterror", FailureClass::Quota),
    ("monthlylimiterror", FailureClass::Quota),
    ("free usage exceeded", FailureClass::Quota),
    ("premium request", FailureClass::Quota),
    ("content_filter", FailureClass::Refused),
    ("content filter", FailureClass::Refused),
    ("content_policy", FailureClass::Refused),
    ("content management policy", FailureClass::Refused),
    ("usage policy", FailureClass::Refused),
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
    ("please run /login", FailureClass::Key),
    ("failed to authenticate", FailureClass::Key),
    ("invalid authentication", FailureClass::Key),
    ("unauthenticated", FailureClass::Key),
    ("unauthorized", FailureClass::Key),
    ("api key expired", FailureClass::Key),
    ("api key not found", FailureClass::Key),
    ("api key is missing", FailureClass::Key),
    ("could not be refreshed", FailureClass::Key),
    ("sign in again", FailureClass::Key),
    ("token has expired", FailureClass::Key),
    ("token is expired", FailureClass::Key),
    ("invalid_grant", FailureClass::Key),
    ("missing environment variable", FailureClass::Key),
    ("permission_denied", FailureClass::Key),
    ("invalid_api_key", FailureClass::Key),
    ("oauth_org_not_allowed", FailureClass::Key),
    ("organization has been disabled", FailureClass::Key),
    ("disabled organization", FailureClass::Key),
    ("disabled claude subscription", FailureClass::Key),
    ("expiredtoken", FailureClass::Key),
    ("model_not_found", FailureClass::Configuration),
    ("does not exist or you do not have access", FailureClass::Configuration),
    ("is not found for api version", FailureClass::Configuration),
    ("is not supported when using codex", FailureClass::Configuration),
    ("location is not supported", FailureClass::Configuration),
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
    ("currently unavailable", FailureClass::Overloaded),
    ("temporarily unavailable", FailureClass::Overloaded),
    ("server had an error", FailureClass::Overloaded),
    ("web server is", FailureClass::Overloaded),
    ("rate_limit", FailureClass::Throttled),
    ("rate limit", FailureClass::Throttled),
    ("too many requests", FailureClass::Throttled),
    ("rate-limit", FailureClass::Throttled),
    ("ratelimit", FailureClass::Throttled),
    ("throttling", FailureClass::Throttled),
    ("too many tokens, please wait", FailureClass::Throttled),
    ("resource_exhausted", FailureClass::Throttled),
    ("resource exhausted", FailureClass::Throttled),
    ("resource has been exhausted", FailureClass::Throttled),
    ("stream disconnected", FailureClass::Network),
    ("waiting for network", FailureClass::Network),
    ("fetch failed", FailureClass::Network),
    ("terminated", FailureClass::Network),
    ("incomplete json segment", FailureClass::Network),
    ("model stream ended with an invalid", FailureClass::Network),
    ("model stream ended without", FailureClass::Network),
    ("model stream was invalid", FailureClass::Network),
    ("error while reading the server response", FailureClass::Network),
    ("error decoding response body", FailureClass::Network),
    ("operation was aborted", FailureClass::Network),
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
    ("unable to connect", FailureClass::Network),
    ("failed to connect", FailureClass::Network),
    ("typo in the url", FailureClass::Network),
    ("premature close", FailureClass::Network),
    ("other side closed", FailureClass::Network),
    ("und_err_", FailureClass::Network),
    ("broken pipe", FailureClass::Network),
    ("epipe", FailureClass::Network),
    ("timeout", FailureClass::Network),
    // The kind of many errors, the way to the service among them.
    ("server_error", FailureClass::Overloaded),
];

/// "last status: 429", "unexpected status 401", "API Error: 500", "error code: 524", "HTTP 502", "Request rejected (429)",
/// "503 status code", and
/// `"code":503` or `"statusCode":503` of a service's own body.
static STATUS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let before = r#"(?:(?:status|error)(?:[ _]?code)?"?(?:: ?| )|http(?:/[0-9.]+)? |rejected \(|"code": ?)"#;
    let behind = r"(?:^|[^0-9])([45][0-9]{2}) status code";
    Regex::new(&format!(r"{before}([45][0-9]{{2}})(?:[^0-9]|$)|{behind}")).ok()
});

/// "hit your Opus limit", "reached your specified API usage limits", "reached its monthly spending limit": names of
/// allowances come and go with the plans.
static LIMIT_REACHED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let verb = "(?:hit|reached|exceeded|used up|exhausted)";
    Regex::new(&format!(r"{verb} (?:your|its) (?P<which>(?:[a-z0-9.'’-]+ ){{0,5}})limits?\b")).ok()
});

/// Limits of a moment or of one request: nothing of an allowance.
const NO_ALLOWANCE: &[&str] =
    &["rate", "request", "minute", "concurren", "context", "token", "output", "turn"];

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
    .or_else(|| is_used_up(&text).then_some(FailureClass::Quota))
    .or_else(|| by_status(status.or_else(|| status_in(&text))))
    .or_else(|| WORDS.iter().find(|(word, _)| text.contains(word)).map(|(_, class)| *class))
}

/// An allowance has reached its limit, whatever its name.
fn is_used_up(text: &str) -> bool {
    let Some(limit) = LIMIT_REACHED.as_ref() else { return false };
    limit.captures_iter(text).any(|found| {
        let which = found.name("which").map_or("", |which| which.as_str());
        !NO_ALLOWANCE.iter().any(|word| which.contains(word))
    })
}

fn by_status(status: Option<u16>) -> Option<FailureClass> {
    match status? {
        401 | 403 => Some(FailureClass::Key),
        402 => Some(FailureClass::Billing),
        404 => Some(FailureClass::Configuration),
        408 => Some(FailureClass::Network),
        // What was sent is too large, and the conversation is what has grown.
        413 => Some(FailureClass::Overflow),
        429 => Some(FailureClass::Throttled),
        500..=599 => Some(FailureClass::Overloaded),
        _ => None,
    }
}

fn status_in(text: &str) -> Option<u16> {
    let found = STATUS.as_ref()?.captures(text)?;
    found.get(1).or_else(|| found.get(2))?.as_str().parse().ok()
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
                // ESC [ parameters and a last character, ESC ] and a text; any other escape is two characters.
                match characters.next() {
                    Some('[') => {
                        let _ = characters.find(|last| ('@'..='~').contains(last));
                    }
                    Some(']') => characters = behind_text(characters.as_str()).chars(),
                    _ => {}
                }
            }
            '\n' | '\t' => kept.push(character),
            other if other.is_control() => {}
            other => kept.push(other),
        }
    }
    kept
}

/// Behind the title of a window or the address of a link; all of it where it has no end.
fn behind_text(rest: &str) -> &str {
    let Some(at) = rest.find(['\u{7}', '\u{1b}']) else { return rest };
    let end = &rest[at..];
    end.strip_prefix('\u{7}').or_else(|| end.strip_prefix("\u{1b}\\")).unwrap_or(end)
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
        check(None, "error code: 524", Some(FailureClass::Overloaded));
        check(None, "503 status code (no body)", Some(FailureClass::Overloaded));
        check(None, r#"{"statusCode":429,"message":"slow down"}"#, Some(FailureClass::Throttled));
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
    fn sentences_that_name_no_code_are_known() {
        for (text, class) in [
            ("Your input exceeds the context window of this model.", FailureClass::Overflow),
            (
                "input length and `max_tokens` exceed context limit: 199998 + 20000 > 200000",
                FailureClass::Overflow,
            ),
            ("Context limit reached · /compact or /clear to continue", FailureClass::Overflow),
            ("Your workspace is out of credits. Add credits to continue.", FailureClass::Billing),
            ("To use Codex with your ChatGPT plan, upgrade to Plus", FailureClass::Billing),
            ("5-hour limit reached ∙ resets 3pm", FailureClass::Quota),
            ("Opus weekly limit reached ∙ resets Oct 6, 1pm", FailureClass::Quota),
            ("You're out of extra usage · resets 3pm (UTC)", FailureClass::Quota),
            ("GenerateRequestsPerDayPerProjectPerModel-FreeTier", FailureClass::Quota),
            ("Your prompt was flagged as potentially violating our usage policy", FailureClass::Refused),
            ("OAuth token revoked · Please run /login", FailureClass::Key),
            ("API key expired. Please renew the API key.", FailureClass::Key),
            (
                "Your access token could not be refreshed because your refresh token has expired.",
                FailureClass::Key,
            ),
            (
                "The 'x' model is not supported when using Codex with a ChatGPT account.",
                FailureClass::Configuration,
            ),
            ("User location is not supported for the API use.", FailureClass::Configuration),
            ("The service is currently unavailable.", FailureClass::Overloaded),
            ("The server had an error while processing your request.", FailureClass::Overloaded),
            ("Resource has been exhausted (e.g. check quota).", FailureClass::Throttled),
            ("Unable to connect. Is the computer able to access the url?", FailureClass::Network),
            ("Was there a typo in the url or port?", FailureClass::Network),
            ("Invalid response body: Premature close", FailureClass::Network),
            ("Headers Timeout Error", FailureClass::Network),
            ("server_error: getaddrinfo ENOTFOUND example.invalid", FailureClass::Network),
            ("server_error", FailureClass::Overloaded),
        ] {
            check(None, text, Some(class));
        }
        check(
            Some(429),
            "You have exhausted your capacity on this model. Your quota will reset after 3h15m.",
            Some(FailureClass::Quota),
        );
    }

    #[test]
    fn an_allowance_with_a_date_is_used_up_whatever_else_is_said() {
        let text = "You have reached your specified API usage limits (rate limit). You will regain access on 2030-01-01";
        check(Some(429), text, Some(FailureClass::Quota));
        check(None, text, Some(FailureClass::Quota));
        check(None, "You've hit your 5-hour limit · resets 2:18am (UTC)", Some(FailureClass::Quota));
    }

    #[test]
    fn an_allowance_is_used_up_whatever_its_name() {
        for text in [
            "You've hit your Fable 5 limit · resets 3pm (Europe/Berlin)",
            "You\u{2019}ve hit your limit for Claude messages. Limits will reset at 9:30 AM.",
            "API Error: Request rejected (429) · You have reached your specified API usage limits.",
            "You have reached your daily gemini-2.5-pro quota limit.",
            "Your workspace has reached its monthly spending limit of $20.",
            "Quota exceeded for quota metric 'Gemini 2.5 Pro Requests' and limit 'Gemini 2.5 Pro Requests per day per user per tier'",
            "quotaId: GenerateContentInputTokensPerModelPerDay-FreeTier",
            "Rate limit reached for model `m` on tokens per day (TPD): Limit 100000, Used 99000. Please try again in 28m48s.",
            "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests",
            "Free usage exceeded, subscribe to Go",
            r#"{"type":"error","error":{"type":"FreeUsageLimitError","message":"Rate limit exceeded."}}"#,
        ] {
            check(Some(429), text, Some(FailureClass::Quota));
            check(None, text, Some(FailureClass::Quota));
        }
        // Of a moment, or none of the account's.
        for text in [
            "API Error: Server is temporarily limiting requests (not your usage limit) · Rate limited",
            "API Error: Request rejected (429) · this may be a temporary capacity issue.",
            "You have exceeded your account's rate limit",
            "This request would exceed your organization's rate limit of 50 requests per minute.",
            "Rate limit reached for m in organization o on tokens per min (TPM): Limit 30000, Used 29000.",
            "ThrottlingException: Too many tokens, please wait before trying again.",
            "Sorry, you have been rate-limited.",
        ] {
            check(Some(429), text, Some(FailureClass::Throttled));
        }
        check(None, "ThrottlingException: slow down", Some(FailureClass::Throttled));
        check(None, "API Error: Request rejected (429) · try later", Some(FailureClass::Throttled));
        check(None, "the model exceeded its output limit", None);
    }

    #[test]
    fn a_purse_a_key_and_a_request_that_is_too_large_are_told_from_the_weather() {
        for (text, class) in [
            ("You hit your spend cap set by the owner of your workspace.", FailureClass::Billing),
            ("Your project has exceeded its monthly spending cap.", FailureClass::Billing),
            ("Your prepayment credits are depleted.", FailureClass::Billing),
            ("Extra usage is required for 1M context", FailureClass::Billing),
            ("This request requires more credits, or fewer max_tokens.", FailureClass::Billing),
            ("API Error: 400 This organization has been disabled.", FailureClass::Key),
            ("Your ANTHROPIC_API_KEY belongs to a disabled organization", FailureClass::Key),
            ("Error during compaction: Conversation too long", FailureClass::Overflow),
            ("Please reduce the length of the messages or completion.", FailureClass::Overflow),
            ("Your request exceeded model token limit: 262144", FailureClass::Overflow),
            (
                "Request too large for m on tokens per min (TPM): Limit 6000, Requested 7000",
                FailureClass::Overflow,
            ),
            ("413 status code (no body)", FailureClass::Overflow),
            (
                "[API Error: Model stream ended with an invalid chunk or missing finish reason.]",
                FailureClass::Network,
            ),
            ("Error while reading the server response: error decoding response body", FailureClass::Network),
            ("This operation was aborted", FailureClass::Network),
        ] {
            check(None, text, Some(class));
        }
    }

    #[test]
    fn titles_and_links_are_taken_away_with_what_they_say() {
        let link = "\u{1b}]8;;https://example.invalid/a\u{7}the page\u{1b}]8;;\u{1b}\\ helps";
        assert_eq!(shown(link), "the page helps");
        assert_eq!(shown("\u{1b}[200~pasted\u{1b}[201~"), "pasted");
        assert_eq!(shown("\u{1b}]never ended"), "never ended");
        assert_eq!(shown("torn \u{1b}[3"), "torn");
    }

    #[test]
    fn colours_are_taken_away() {
        assert_eq!(
            shown("\u{1b}[91m\u{1b}[1mError: \u{1b}[0mSession\n not found"),
            "Error: Session not found"
        );
    }
}
