//! A file is one idea: small, and named for the question it answers.

use super::{Findings, Sources};
use crate::source;

/// Above this a file is asked to look for the noun that hides in it.
const LINES_WARN: usize = 300;
/// Above this nobody reads it as one thing any more.
const LINES_MAX: usize = 350;

/// Names that say nothing, and so collect everything.
const EMPTY_NAMES: &[&str] =
    &["utils", "util", "helpers", "helper", "common", "misc", "shared", "stuff", "imp", "prelude", "manager"];

pub fn check(sources: &Sources) -> Findings {
    let mut findings = Findings::default();
    for (path, text) in sources {
        for part in path.split('/') {
            let stem = part.strip_suffix(".rs").unwrap_or(part);
            if EMPTY_NAMES.contains(&stem) {
                findings.fail(format!("{path}: `{stem}` says nothing; name it for the question it answers"));
            }
        }
        if source::is_test_file(path) {
            continue;
        }
        let lines = source::shipped(text).lines().count();
        if lines > LINES_MAX {
            findings.fail(format!("{path}: {lines} lines, at most {LINES_MAX}"));
        } else if lines > LINES_WARN {
            findings.warn(format!("{path}: {lines} lines; aim at {LINES_WARN}"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, lines: usize, test_lines: usize) -> Findings {
        let mut text = "x\n".repeat(lines);
        text.push_str("#[cfg(test)]\nmod tests {\n");
        text.push_str(&"x\n".repeat(test_lines));
        check(&Sources::from([(path.into(), text)]))
    }

    #[test]
    fn long_files_are_named_and_their_tests_do_not_count() {
        assert!(of("a.rs", 300, 900).failures.is_empty());
        assert!(of("a.rs", 300, 900).warnings.is_empty());
        assert_eq!(of("a.rs", 301, 0).warnings, ["a.rs: 301 lines; aim at 300"]);
        assert_eq!(of("a.rs", 351, 0).failures, ["a.rs: 351 lines, at most 350"]);
        assert!(of("crates/x/tests/a.rs", 900, 0).failures.is_empty());
    }

    #[test]
    fn names_that_say_nothing_are_refused_for_files_and_folders() {
        for path in ["crates/x/src/utils.rs", "crates/x/src/common/mod.rs", "crates/x/tests/helpers.rs"] {
            assert_eq!(of(path, 1, 0).failures.len(), 1, "{path}");
        }
    }
}
