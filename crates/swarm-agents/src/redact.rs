//! Secrets do not belong into logs, journals and reports: what is known to be one, and what looks like one.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use regex::{Captures, Regex};

use crate::journal::Stream;
use swarm_process::environment;

const INSTEAD: &str = "[redacted]";

/// A shorter value would be found in ordinary words.
const KNOWN_MIN: usize = 8;
/// The same of one line of a value that has several.
const KNOWN_LINE_MIN: usize = 20;
/// A longer one is a file, and known as it stands only: each form more costs several times its length.
const ENCODED_MAX: usize = 4096;

/// Longest key in lines that is taken for one.
const KEY_LINES_MAX: u32 = 200;

/// Every alternative begins with letters that are rare in ordinary text, so that a line without them
/// costs one fast search.
static LOOKS: LazyLock<Regex> = LazyLock::new(|| {
    let alternatives = [
        r"(?<key>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$))",
        r"sk-[A-Za-z0-9_-]{16,}",
        r"gh[pousr]_[A-Za-z0-9]{20,}",
        r"github_pat_[A-Za-z0-9_]{20,}",
        r"glpat-[A-Za-z0-9_-]{16,}",
        r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
        r"A(?:KIA|SIA)[0-9A-Z]{16}",
        r"AIza[0-9A-Za-z_-]{30,}",
        r"npm_[A-Za-z0-9]{30,}",
        r"hf_[A-Za-z0-9]{30,}",
        r"(?<bearer>[Bb]earer +)[A-Za-z0-9._~+/=-]{16,}",
        r"(?<scheme>://)[^/\s:@]*:[^/\s@]+@",
    ];
    Regex::new(&alternatives.join("|")).expect("a tested expression")
});

/// Knows the secrets of one run.
#[derive(Debug, Default)]
pub struct Redactor {
    known: Option<AhoCorasick>,
    /// Lines that may still belong to a key, on stdout and on stderr.
    in_key: [AtomicU32; 2],
}

impl Redactor {
    /// With the values of those variables of an environment whose names say that they are secret.
    pub fn for_environment<'a>(all: impl IntoIterator<Item = (&'a OsString, &'a OsString)>) -> Self {
        let secret = |name: &OsStr, value: &OsStr| {
            environment::is_secret(name) && !value.as_encoded_bytes().starts_with(b"/")
        };
        let values = all.into_iter().filter(|(name, value)| secret(name, value));
        Self::new(values.filter_map(|(_, value)| value.to_str()))
    }

    /// With these values, as they are and as programs write them down: in JSON, in hexadecimal and in base64.
    pub fn new<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        // Programs take a line's end off before they use it, and print it without one.
        let values = values.into_iter().map(str::trim).filter(|value| value.len() >= KNOWN_MIN);
        let mut values: Vec<String> = values.flat_map(forms).collect();
        values.sort_unstable();
        values.dedup();
        let known = if values.is_empty() { None } else { Some(searched(&values)) };
        Self { known, in_key: Default::default() }
    }

    /// Whether it holds a value that is known to be secret.
    pub fn knows(&self, text: &str) -> bool {
        self.known.as_ref().is_some_and(|known| known.is_match(text))
    }

    /// The text without secrets.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text = match &self.known {
            Some(known) if known.is_match(text) => Cow::Owned(without(known, text)),
            _ => Cow::Borrowed(text),
        };
        match text {
            Cow::Borrowed(text) => LOOKS.replace_all(text, instead),
            Cow::Owned(text) => Cow::Owned(LOOKS.replace_all(&text, instead).into_owned()),
        }
    }

    /// One line of output, which may be in the middle of a key that has many.
    pub fn line<'a>(&self, stream: Stream, text: &'a str) -> Cow<'a, str> {
        let in_key = match stream {
            Stream::Out => &self.in_key[0],
            Stream::Err => &self.in_key[1],
            Stream::Swarm => return self.redact(text),
        };
        let left = in_key.load(Ordering::Relaxed);
        if left > 0 {
            let over = text.contains("-----END") || !could_be_key(text);
            in_key.store(if over { 0 } else { left - 1 }, Ordering::Relaxed);
            if could_be_key(text) {
                return Cow::Borrowed(INSTEAD);
            }
        }
        if begins_key(text) {
            in_key.store(KEY_LINES_MAX, Ordering::Relaxed);
        }
        self.redact(text)
    }
}

/// However many and long they are: an expression would be refused above some size, and then nothing would be found.
fn searched(values: &[String]) -> AhoCorasick {
    // The longer one counts, where one is the beginning of another; a table of states would be quicker and far larger.
    let mut builder = AhoCorasick::builder();
    builder.match_kind(MatchKind::LeftmostLongest).kind(Some(AhoCorasickKind::ContiguousNFA));
    builder.build(values).expect("an environment has fewer bytes than states can be counted")
}

fn without(known: &AhoCorasick, text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    known.replace_all_with(text, &mut shown, |_, _, shown| {
        shown.push_str(INSTEAD);
        true
    });
    shown
}

/// Of a value of several lines, which programs print one by one, each that cannot be an ordinary one.
fn lines_of(value: &str) -> impl Iterator<Item = &str> {
    let several = value.contains('\n');
    value.lines().map(str::trim).filter(move |line| several && line.len() >= KNOWN_LINE_MIN)
}

fn forms(value: &str) -> Vec<String> {
    let mut all = vec![value.to_owned()];
    // What programs print is JSON, and what their services answered is JSON inside of it.
    let once = in_json(value);
    all.extend(once.as_deref().and_then(in_json));
    all.extend(once);
    all.extend(lines_of(value).map(str::to_owned));
    if value.len() > ENCODED_MAX {
        return all;
    }
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    all.extend([hex.to_uppercase(), hex]);
    // Its bits begin at one of three places in a longer text, and what stands before and behind changes the letters there.
    for before in 0..3 {
        let padded = [&b"\0\0"[..before], value.as_bytes()].concat();
        let whole = padded.len() / 3 * 4;
        let first = if before == 0 { 0 } else { 4 };
        for alphabet in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            all.extend(alphabet.encode(&padded).get(first..whole).map(str::to_owned));
        }
    }
    all.retain(|form| form.len() >= KNOWN_MIN);
    all
}

/// As it stands between the quotes of a JSON text.
fn in_json(value: &str) -> Option<String> {
    let written = serde_json::to_string(value).ok()?;
    Some(written.strip_prefix('"')?.strip_suffix('"')?.to_owned())
}

fn instead(found: &Captures<'_>) -> String {
    match (found.name("bearer"), found.name("scheme")) {
        (Some(word), _) => format!("{}{INSTEAD}", word.as_str()),
        (_, Some(scheme)) => format!("{}{INSTEAD}@", scheme.as_str()),
        _ => INSTEAD.to_owned(),
    }
}

fn begins_key(text: &str) -> bool {
    let Some(at) = text.rfind("-----BEGIN ") else { return false };
    text[at..].contains("PRIVATE KEY-----") && !text[at..].contains("-----END")
}

/// A line inside a key: letters of base64 and little else.
fn could_be_key(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=-,: \t\r".contains(&byte);
    text.len() <= 100 && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(Redactor::new(["correct horse battery"]).redact(text), expected);
    }

    /// Put together here, so that no scanner takes this file for a leak.
    fn fake(prefix: &str) -> String {
        format!("{prefix}{}", "A1b2C3d4E5f6G7h8".repeat(3))
    }

    #[test]
    fn what_looks_like_a_secret_is_replaced_and_the_rest_stays() {
        for prefix in
            ["sk-", "sk-ant-api03-", "ghp_", "github_pat_", "glpat-", "xoxb-", "AIza", "npm_", "hf_"]
        {
            check(&format!("key {} end", fake(prefix)), "key [redacted] end");
            check(&format!("{{\"key\":\"{}\"}}", fake(prefix)), "{\"key\":\"[redacted]\"}");
        }
        check(&format!("id {}IOSFODNN7EXAMPLE", "AKIA"), "id [redacted]");
        check(&format!("Authorization: Bearer {}", fake("")), "Authorization: Bearer [redacted]");
        check("clone https://me:hunter2@example.org/x", "clone https://[redacted]@example.org/x");
        let key = "-----BEGIN OPENSSH PRIVATE KEY-----\\nabc\\n-----END OPENSSH PRIVATE KEY-----";
        check(&format!("{{\"k\":\"{key}\"}}"), "{\"k\":\"[redacted]\"}");
        check("it is correct horse battery staple", "it is [redacted] staple");
    }

    #[test]
    fn a_known_value_is_found_also_in_hexadecimal_and_in_base64() {
        let known = Redactor::new(["correct horse battery"]);
        let hex: String = b"correct horse battery".iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(known.knows(&hex) && known.knows(&hex.to_uppercase()));
        for before in ["", "a", "ab", "abc", "a longer text, "] {
            let text = STANDARD_NO_PAD.encode(format!("{before}correct horse battery and more"));
            assert!(known.knows(&text), "{before:?}: {text}");
            let shown = known.redact(&text);
            assert!(!shown.contains(&STANDARD_NO_PAD.encode("correct horse")[4..12]), "{shown}");
        }
        assert!(!known.knows(&STANDARD_NO_PAD.encode("something else altogether")));
    }

    #[test]
    fn a_known_value_is_found_as_it_stands_in_the_json_that_programs_print() {
        let value = "pass\"word\\with\nlines";
        let known = Redactor::new([value]);
        let line = serde_json::json!({ "type": "text", "text": format!("it is {value} here") }).to_string();
        let inside = serde_json::json!({ "responseBody": line }).to_string();
        for text in [line, inside] {
            assert!(text.contains("with"), "{text}");
            let shown = known.redact(&text);
            assert!(!shown.contains("with") && shown.contains("it is [redacted] here"), "{shown}");
        }
    }

    #[test]
    fn values_of_any_length_and_number_are_known() {
        let mut values: Vec<String> = (0..40).map(|n| format!("{n:02}-").repeat(700)).collect();
        values.push("a whole file; ".repeat(8_000));
        let known = Redactor::new(values.iter().map(String::as_str));
        for value in &values {
            assert_eq!(known.redact(&format!("it is {} here", value.trim())), "it is [redacted] here");
        }
        assert!(!known.knows("00-00-00-00-01-"));
    }

    #[test]
    fn a_value_of_several_lines_is_known_by_each_long_one_and_no_value_by_the_blanks_around_it() {
        let known = Redactor::new(["user: robot\n  token: 8f2f9a6c1b3d4e5f\n}\n", "of one line only\n"]);
        assert_eq!(known.redact("| token: 8f2f9a6c1b3d4e5f |"), "| [redacted] |");
        assert_eq!(known.redact("user: robot"), "user: robot");
        assert_eq!(known.redact("it is of one line only."), "it is [redacted].");
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "task-1 is done, risk-free",
            "see https://example.org:8080/a@b and http://localhost:3000/",
            "Bearer of bad news",
            "the sk- prefix and ghp_ too",
            "a commit 4f1c2d9e8b7a6c5d4e3f2a1b0c9d8e7f6a5b4c3d",
            "AKIA is a prefix; BEGIN PUBLIC KEY is not secret",
        ] {
            assert!(
                matches!(Redactor::default().redact(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }

    #[test]
    fn a_key_in_many_lines_is_replaced_to_its_end_and_no_further() {
        let redactor = Redactor::default();
        let lines = [
            "here it is",
            "-----BEGIN RSA PRIVATE KEY-----",
            "MIIEpAIBAAKCAQEA1234",
            "abcd+/==",
            "-----END RSA PRIVATE KEY-----",
            "after",
            "-----BEGIN PRIVATE KEY-----",
            "That header was only quoted!",
            "abcd",
        ];
        let out: Vec<_> = lines.iter().map(|line| redactor.line(Stream::Out, line)).collect();
        let red = INSTEAD;
        let last = "That header was only quoted!";
        assert_eq!(out, ["here it is", red, red, red, red, "after", red, last, "abcd"]);
        assert_eq!(redactor.line(Stream::Err, "abcd"), "abcd");
    }

    #[test]
    fn values_of_an_environment_are_known_by_the_names_of_the_variables() {
        let all = [
            ("MY_TOKEN", "tok-tok-tok"),
            ("HOME", "/home/someone"),
            ("X_KEY", "short"),
            ("K_KEY", "/a/key/file"),
        ];
        let all: Vec<(OsString, OsString)> = all.map(|(name, value)| (name.into(), value.into())).into();
        let redactor = Redactor::for_environment(all.iter().map(|(name, value)| (name, value)));
        let text = "tok-tok-tok /home/someone short /a/key/file";
        assert_eq!(redactor.redact(text), "[redacted] /home/someone short /a/key/file");
    }
}
