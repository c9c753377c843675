//! Secrets in what is about to be merged: once on trunk they are pushed, and no rollback takes that back.

use std::ffi::OsString;
use std::path::Path;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use crate::redact::Redactor;

/// One that is named is enough to look for the others.
const NAMED_MAX: usize = 20;

/// A file of settings is small.
const SETTINGS_BYTES_MAX: u64 = 64 * 1024;

/// Shorter values of settings are words that people choose (`postgres`).
const SECRET_MIN: usize = 12;

/// Files that show others what to write.
const SAMPLES: [&str; 4] = [".example", ".sample", ".template", ".dist"];

/// What it is, and what it looks like. Stricter than what is kept out of logs: here a person is asked.
const KINDS: [(&str, &str); 11] = [
    ("a private key", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----"),
    ("an API key", r"\bsk-[A-Za-z0-9_-]{20,}"),
    ("a GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{36,}"),
    ("a GitHub token", r"\bgithub_pat_[A-Za-z0-9_]{40,}"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{20,}"),
    ("an AWS key", r"\bA(?:KIA|SIA)[0-9A-Z]{16}\b"),
    ("a Google key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{34,}"),
    ("a Stripe key", r"\b[rs]k_live_[A-Za-z0-9]{24,}"),
];

static ANY: LazyLock<RegexSet> =
    LazyLock::new(|| RegexSet::new(KINDS.map(|(_, looks)| looks)).expect("tested expressions"));
static EACH: LazyLock<Vec<Regex>> =
    LazyLock::new(|| KINDS.iter().map(|(_, looks)| Regex::new(looks).expect("tested")).collect());

/// What this line holds that should be nowhere in a repository.
pub fn in_line(known: &Redactor, line: &str) -> Option<&'static str> {
    if known.knows(line) {
        return Some("a secret of your environment");
    }
    let found = ANY.matches(line);
    found.into_iter().find(|n| EACH[*n].find_iter(line).any(|one| is_real(one.as_str()))).map(|n| KINDS[n].0)
}

/// Words that only look like a key, and those that manuals print, are none.
fn is_real(found: &str) -> bool {
    let is_header = found.starts_with("-----");
    let mixed = found.bytes().any(|b| b.is_ascii_digit()) && found.bytes().any(|b| b.is_ascii_uppercase());
    (is_header || mixed) && !found.ends_with("EXAMPLE")
}

/// What the added lines of a patch hold: `FILE: line N holds WHAT`, each file once for each kind.
pub fn in_patch(known: &Redactor, patch: &[u8]) -> Vec<String> {
    let (mut found, mut told): (Vec<String>, Vec<(String, &str)>) = (Vec::new(), Vec::new());
    let (mut path, mut at, mut left) = (String::new(), 0_u64, 0_u64);
    for line in patch.split(|byte| *byte == b'\n') {
        let text = String::from_utf8_lossy(line);
        // Inside a hunk a line that begins like a header is a changed one.
        if left == 0 {
            if let Some(name) = text.strip_prefix("+++ ") {
                path = name.trim_end().trim_matches('"').strip_prefix("b/").unwrap_or(name).to_owned();
            } else if let Some((from, count)) = text.strip_prefix("@@ ").and_then(new_side) {
                (at, left) = (from, count);
            }
            continue;
        }
        if let Some(added) = text.strip_prefix('+') {
            if let Some(what) = in_line(known, added)
                && !told.contains(&(path.clone(), what))
                && found.len() < NAMED_MAX
            {
                told.push((path.clone(), what));
                found.push(format!("{path}: line {at} holds {what}"));
            }
        } else if text.starts_with(['-', '\\']) {
            continue;
        }
        (at, left) = (at + 1, left - 1);
    }
    found
}

/// First line and number of lines on the new side: `-a,b +c,d @@`.
fn new_side(header: &str) -> Option<(u64, u64)> {
    let plus = header.split(' ').find_map(|word| word.strip_prefix('+'))?;
    let (from, count) = plus.split_once(',').unwrap_or((plus, "1"));
    Some((from.parse().ok()?, count.parse().ok()?))
}

/// Names and values in the files of settings that lie in this folder (`.env` and `.env.local` and the like), as far as the
/// values could be secret: what is an ordinary word would be found everywhere.
pub fn settings_in(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_sample = |name: &str| SAMPLES.iter().any(|end| name.ends_with(end));
    let is_meant = |name: &str| (name == ".env" || name.starts_with(".env.")) && !is_sample(name);
    let files = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_meant));
    let small = files.filter(|entry| {
        // Not followed: an agent may have put a link there.
        std::fs::symlink_metadata(entry.path())
            .is_ok_and(|meta| meta.is_file() && meta.len() <= SETTINGS_BYTES_MAX)
    });
    small
        .filter_map(|entry| std::fs::read_to_string(entry.path()).ok())
        .flat_map(|text| text.lines().filter_map(setting).collect::<Vec<_>>())
        .filter(|(_, value)| could_be_secret(value))
        .collect()
}

/// What knows the secrets of our own environment, and those of the settings that lie in this folder.
pub fn known_at(folder: &Path) -> Redactor {
    let settings = settings_in(folder).into_iter().map(|(name, value)| (name.into(), value.into()));
    let all: Vec<(OsString, OsString)> = std::env::vars_os().chain(settings).collect();
    Redactor::for_environment(all.iter().map(|(name, value)| (name, value)))
}

fn could_be_secret(value: &str) -> bool {
    let has = |what: fn(&u8) -> bool| value.bytes().any(|byte| what(&byte));
    value.len() >= SECRET_MIN
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !has(u8::is_ascii_whitespace)
}

fn setting(line: &str) -> Option<(String, String)> {
    let line = line.trim().strip_prefix("export ").unwrap_or(line.trim());
    let (name, value) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
    let value = value.trim();
    let quoted = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    Some((name.trim().to_owned(), quoted.unwrap_or(value).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Put together here, so that no scanner takes this file for a leak.
    fn fake(prefix: &str) -> String {
        format!("{prefix}{}", "A1b2C3d4E5f6G7h8".repeat(3))
    }

    #[test]
    fn added_lines_are_looked_at_and_named_by_file_and_line() {
        let known = Redactor::new(["correct horse battery"]);
        let (token, header) = (fake("ghp_"), format!("-----BEGIN {} PRIVATE KEY-----", "RSA"));
        let patch = format!(
            "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n old\n-{token}\n+say correct horse battery\n+++ b/{token}\n\
             diff --git a/k b/k\n--- /dev/null\n+++ b/dir/k\n@@ -0,0 +7 @@\n+{header}\n\\ No newline at end of file\n"
        );
        let found = in_patch(&known, patch.as_bytes());
        assert_eq!(
            found,
            [
                "a.txt: line 2 holds a secret of your environment",
                "a.txt: line 3 holds a GitHub token",
                "dir/k: line 7 holds a private key",
            ]
        );
    }

    #[test]
    fn what_only_looks_like_one_and_what_manuals_print_is_none() {
        let known = Redactor::default();
        for line in [
            "sk-fading-circle-container-with-a-long-name",
            &format!("{}IOSFODNN7EXAMPLE", "AKIA"),
            "-----BEGIN PUBLIC KEY-----",
            "commit 4f1c2d9e8b7a6c5d4e3f2a1b0c9d8e7f6a5b4c3d",
        ] {
            assert_eq!(in_line(&known, line), None, "{line}");
        }
        for prefix in [
            "sk-",
            "sk-ant-api03-",
            "ghp_",
            "github_pat_",
            "glpat-",
            "xoxb-",
            "AIza",
            "npm_",
            "hf_",
            "sk_live_",
        ] {
            assert!(in_line(&known, &format!("key = '{}'", fake(prefix))).is_some(), "{prefix}");
        }
    }

    #[test]
    fn settings_are_read_from_the_files_that_people_keep_them_in() {
        let dir = tempfile::tempdir().expect("a folder");
        let text = "# no\nexport A_TOKEN=\"one-two-three-4\"\nB=2\nPASSWORD=postgres\n\nnothing\n";
        std::fs::write(dir.path().join(".env"), text).expect("written");
        std::fs::write(dir.path().join(".env.local"), "C_KEY='5five6six7seven'\n").expect("written");
        std::fs::write(dir.path().join(".env.example"), "D_KEY=write-your-key-1-here\n").expect("written");
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join(".env.linked")).expect("linked");
        let mut found = settings_in(dir.path());
        found.sort();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(found, [pair("A_TOKEN", "one-two-three-4"), pair("C_KEY", "5five6six7seven")]);
    }
}
