//! The core has no clock, no randomness, no I/O, no threads, no logging and no order that changes
//! from run to run. Without this the simulator would prove nothing.

use super::{Findings, Sources, shipped_files};
use crate::source::{Keep, blanked, lines_with_word};

/// Words that must not stand in the core, and what to do instead.
const BANNED: &[(&str, &str)] = &[
    ("std::time", CLOCK),
    ("SystemTime", CLOCK),
    ("Instant", CLOCK),
    ("::now(", CLOCK),
    ("std::fs", INPUT_OUTPUT),
    ("std::io", INPUT_OUTPUT),
    ("std::net", INPUT_OUTPUT),
    ("std::env", INPUT_OUTPUT),
    ("std::process", INPUT_OUTPUT),
    ("rustix", INPUT_OUTPUT),
    ("std::thread", THREADS),
    ("Mutex", THREADS),
    ("RwLock", THREADS),
    ("Condvar", THREADS),
    ("mpsc", THREADS),
    ("tokio", THREADS),
    ("async", THREADS),
    ("HashMap", "its order differs from run to run: use BTreeMap"),
    ("HashSet", "its order differs from run to run: use BTreeSet"),
    ("rand::", RANDOMNESS),
    ("getrandom", RANDOMNESS),
    ("::generate(", RANDOMNESS),
    ("tracing", LOGGING),
    ("log::", LOGGING),
    ("println!", LOGGING),
    ("print!", LOGGING),
    ("eprintln!", LOGGING),
    ("dbg!", LOGGING),
];
const CLOCK: &str = "the core has no clock: `now` is an argument";
const INPUT_OUTPUT: &str = "the core does nothing: owe an effect, and let a hand report";
const THREADS: &str = "the core is one plain function call: no threads, no shared memory, no waiting";
const RANDOMNESS: &str = "the core has no randomness: take the value from the input";
const LOGGING: &str = "the core does not log: what matters is an event";

pub fn check(sources: &Sources) -> Findings {
    let mut findings = Findings::default();
    for (path, text) in shipped_files(sources, "swarm-core") {
        let code = blanked(text, Keep::CodeOnly);
        for (word, instead) in BANNED {
            for line in lines_with_word(&code, word) {
                findings.fail(format!("{path}:{line}: `{word}`: {instead}"));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures(text: &str) -> Vec<String> {
        check(&Sources::from([("crates/swarm-core/src/state.rs".into(), text.into())])).failures
    }

    #[test]
    fn every_banned_word_is_found_where_it_is_used() {
        for (word, instead) in BANNED {
            let found = failures(&format!("fn f() {{\n    {word} x\n}}\n"));
            assert!(
                found.iter().any(|line| line.contains(":2: ") && line.ends_with(instead)),
                "{word}: {found:?}"
            );
        }
    }

    #[test]
    fn words_in_comments_strings_and_tests_are_free() {
        let text =
            "// HashMap\nfn f() -> &'static str { \"tokio\" }\n#[cfg(test)]\nmod tests {\n use std::fs;\n}\n";
        assert_eq!(failures(text), [""; 0]);
    }
}
