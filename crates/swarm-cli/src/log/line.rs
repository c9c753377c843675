//! One line of a log: of bounded length, without secrets, and without anything that a terminal would obey.

use std::io;

use super::secrets::redacted;
use crate::output;

/// Longer ones are cut: an agent may say whole files.
const LINE_MAX: usize = 4 << 10;

/// What is looked through at all. More than this is dropped unread.
pub const READ_MAX: usize = 64 << 10;

/// As it is written. Made harmless first, so that a key of many lines is one word for whoever looks for keys; cut last,
/// so that no half of a secret is left that nobody recognises.
pub fn fit(text: &str) -> String {
    let text = output::harmless(text.trim_end());
    let mut text = redacted(&text);
    if text.len() > LINE_MAX {
        text.truncate(text.floor_char_boundary(LINE_MAX));
        text.push_str(" … (cut)");
    }
    text
}

/// The beginning of the text, whole characters only.
pub fn beginning(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(READ_MAX)]).into_owned()
}

/// Takes whole lines and says them on stderr, above whatever moves at the foot of the terminal.
pub struct Stderr;

pub fn stderr() -> Stderr {
    Stderr
}

impl io::Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A note that is not said goes to the log, and would come back here as a line of it.
        if !output::is_covered() {
            output::note(&fit(&beginning(bytes)));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::secrets::hide;
    use super::*;
    use swarm_process::environment::secret_arguments;

    #[test]
    fn a_line_stays_one_line_and_is_cut_at_its_bound() {
        assert_eq!(fit("one\ntwo\u{1b}[2J\n"), "one | two\\u{1b}[2J");
        let long = fit(&"ä".repeat(LINE_MAX));
        assert!(long.len() < LINE_MAX + 20 && long.ends_with("(cut)"), "{}", long.len());
    }

    /// One test: what is hidden is hidden for the whole process.
    #[test]
    fn secrets_are_left_out_by_name_and_by_look_even_over_many_lines() {
        let given = ("OUR_TOKEN".into(), "correct-horse-battery".into());
        let words = ["--api-key", "staple-by-argument"].map(str::to_owned);
        hide([given].into_iter().chain(secret_arguments(&words)));
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----";
        for secret in ["correct-horse-battery", "staple-by-argument", key, "sk-0123456789abcdef0123"] {
            assert_eq!(fit(&format!("said: {secret} and on")), "said: [redacted] and on");
        }
    }
}
