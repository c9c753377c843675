//! What the lines of `cargo test` and of `cargo nextest` say.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::generate::{PRINTED, is_a_printed_test};

/// The outcome of one run of tests.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Outcome {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
    /// Tests that compare a document with what the code prints.
    pub printed: u64,
    /// Time by group: the tests of one crate or of one test binary.
    pub groups: BTreeMap<String, Duration>,
    /// The line with which the runner itself closes.
    pub closing_line: String,
    pub leaky: Vec<String>,
    /// Tests that failed at first and passed when they were asked again.
    pub flaky: Vec<String>,
    /// What the tests that failed said of it.
    pub reasons: Vec<String>,
}

/// Lines of a reason: a message with what was seen, not all that led to it.
const REASON_LINES: usize = 12;
const REASONS: usize = 20;

impl Outcome {
    pub fn is_green(&self) -> bool {
        self.failed == 0 && self.passed > 0
    }
}

/// Reads along, line by line.
#[derive(Default)]
pub struct Reading {
    outcome: Outcome,
    /// Where each file of tests lies, because `cargo test` does not say of which crate it is.
    test_files: Vec<String>,
    /// The binary `cargo test` is running.
    current: String,
    /// Nextest repeats what failed below its summary; it must not count twice.
    closed: bool,
    /// Lines that still belong to the reason heard last.
    reason_lines: usize,
}

impl Reading {
    pub fn new(files: Vec<String>) -> Reading {
        Reading { test_files: files, ..Reading::default() }
    }

    pub fn line(&mut self, line: &str) {
        let trimmed = line.trim_start();
        self.reason(trimmed);
        if let Some(group) = started_binary(trimmed, &self.test_files) {
            self.current = group;
        } else if is_a_printed_test(line) {
            self.outcome.printed += 1;
        } else if line.starts_with("test result: ") {
            self.cargo_result(line);
        } else if trimmed.starts_with("Summary [") {
            self.nextest_summary(trimmed);
        } else if !self.closed {
            self.nextest_test(trimmed);
        }
    }

    pub fn finish(self, success: bool) -> Outcome {
        let mut outcome = self.outcome;
        if !success && outcome.failed == 0 {
            // A test binary that died without a word of its own has failed none the less.
            outcome.failed = 1;
        }
        if !self.closed {
            let verdict = if outcome.failed == 0 { "ok" } else { "FAILED" };
            let took: Duration = outcome.groups.values().sum();
            outcome.closing_line = format!(
                "test result: {verdict}. {} passed; {} failed; {} ignored; 0 measured; 0 filtered out; finished in {:.2}s",
                outcome.passed,
                outcome.failed,
                outcome.skipped,
                took.as_secs_f64()
            );
        }
        outcome
    }

    fn cargo_result(&mut self, line: &str) {
        self.outcome.passed += count_before(line, " passed");
        self.outcome.failed += count_before(line, " failed");
        self.outcome.skipped += count_before(line, " ignored");
        if let Some(took) = line.rsplit_once("finished in ").and_then(|(_, text)| seconds(text)) {
            self.add_time(&self.current.clone(), took);
        }
    }

    /// `Summary [ 0.2s] 6 tests run: 4 passed (1 leaky), 2 failed, 1 skipped`
    fn nextest_summary(&mut self, line: &str) {
        self.closed = true;
        self.outcome.passed = count_before(line, " passed");
        // Failed, timed out, could not be started: all that ran and did not pass.
        let run = count_before(line, " tests run").max(count_before(line, " test run"));
        self.outcome.failed = run.saturating_sub(self.outcome.passed);
        self.outcome.skipped = count_before(line, " skipped");
        self.outcome.closing_line = line.to_owned();
    }

    /// `thread 'name' (17) panicked at file.rs:1:2:`, and what stands below it.
    fn reason(&mut self, line: &str) {
        if line.starts_with("thread '") && line.contains(" panicked at ") {
            self.reason_lines = REASON_LINES;
            if !self.closed && self.outcome.reasons.len() < REASONS {
                self.outcome.reasons.push(line.to_owned());
            } else {
                self.reason_lines = 0;
            }
        } else if line.starts_with("note: run with") {
            self.reason_lines = 0;
        } else if let (Some(left), Some(reason)) =
            (self.reason_lines.checked_sub(1), self.outcome.reasons.last_mut())
        {
            self.reason_lines = left;
            reason.push_str("\n    ");
            reason.extend(line.chars().take(300));
        }
    }

    /// `PASS [   0.006s] (4/6) swarm-core::model every_state_has_a_way_out`
    fn nextest_test(&mut self, line: &str) {
        let Some((status, rest)) = line.split_once(" [") else { return };
        let of_status = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-' || c == ' ';
        let is_status = !status.is_empty() && status.chars().all(of_status);
        let Some((time, rest)) = rest.split_once("] ") else { return };
        let (true, Some(took)) = (is_status, seconds(time)) else { return };
        let rest = rest.trim_start();
        let named = match rest.strip_prefix('(').and_then(|counted| counted.split_once(") ")) {
            Some((_, named)) => named.trim_start(),
            None => rest,
        };
        let group = named.split_whitespace().next().unwrap_or_default();
        self.add_time(group, took);
        self.outcome.printed += u64::from(status != "SLOW" && named.contains(PRINTED));
        if status.starts_with("TRY 2 ") && status.ends_with("PASS") {
            self.outcome.flaky.push(named.to_owned());
        }
        if status.contains("LEAK") {
            self.outcome.leaky.push(named.to_owned());
        }
    }

    fn add_time(&mut self, group: &str, took: Duration) {
        *self.outcome.groups.entry(group.to_owned()).or_default() += took;
    }
}

/// Tests that passed, if this is the closing line of one test binary.
pub fn passed_in(line: &str) -> u64 {
    if line.starts_with("test result: ") { count_before(line, " passed") } else { 0 }
}

/// `Running unittests src/lib.rs (target/debug/deps/swarm_core-0123)` or `Doc-tests swarm_core`
fn started_binary(line: &str, files: &[String]) -> Option<String> {
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(format!("{} (documentation)", name.replace('_', "-")));
    }
    let (source, binary) = line.strip_prefix("Running ")?.strip_suffix(')')?.split_once(" (")?;
    let (name, _hash) = binary.rsplit('/').next()?.rsplit_once('-')?;
    let in_crate = |path: &String| {
        Some(path.strip_prefix("crates/")?.strip_suffix(source)?.strip_suffix('/')?.to_owned())
    };
    match files.iter().filter(|_| source.starts_with("tests/")).find_map(in_crate) {
        Some(member) => Some(format!("{member}::{name}")),
        None => Some(name.replace('_', "-")),
    }
}

/// The number that stands right before `word`; of `6/7` the first.
fn count_before(line: &str, word: &str) -> u64 {
    let Some(at) = line.find(word) else { return 0 };
    let number = line[..at].rsplit(' ').next().unwrap_or_default();
    number.split('/').next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, success: bool) -> Outcome {
        let mut reading = Reading::new(vec!["crates/swarm-core/tests/model.rs".to_owned()]);
        text.lines().for_each(|line| reading.line(line));
        reading.finish(success)
    }

    #[test]
    fn nextest_is_read_with_its_leaks_and_without_counting_failures_twice() {
        let outcome = read(
            "    Starting 6 tests across 3 binaries (1 test skipped)
        PASS [   0.250s] (1/6) nx a
        FAIL [   0.500s] (2/6) nx b
     SIGABRT [   0.250s] (3/6) nx sig
        PASS [   0.006s] (4/6) nx::it t::printed_page
        SLOW [> 60.000s] (5/6) nx leak
        LEAK [   1.000s] (6/6) nx leak
────────────
     Summary [   0.217s] 6 tests run: 4 passed (1 leaky), 2 failed, 1 skipped
        FAIL [   0.500s] (2/6) nx b
error: test run failed",
            false,
        );
        assert_eq!((outcome.passed, outcome.failed, outcome.skipped), (4, 2, 1));
        assert_eq!(outcome.groups["nx"], Duration::from_secs(2));
        assert_eq!(outcome.groups.len(), 2);
        assert_eq!(outcome.leaky, ["nx leak"]);
        assert_eq!(outcome.printed, 1);
        assert!(outcome.closing_line.starts_with("Summary [") && !outcome.is_green());
    }

    #[test]
    fn what_passes_only_when_asked_again_is_told_with_the_reason_it_failed_for() {
        let outcome = read(
            "  TRY 1 FAIL [   0.500s] (1/1) nx::it b
    thread 'b' (17) panicked at tests/it.rs:3:5:
    left is not right
      left: 1
    note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

    something else
  TRY 2 PASS [   0.500s] (1/1) nx::it b
     Summary [   1.0s] 1 test run: 1 passed (1 flaky), 0 skipped",
            true,
        );
        assert!(outcome.is_green());
        assert_eq!(outcome.flaky, ["nx::it b"]);
        assert_eq!(outcome.reasons.len(), 1);
        let reason = &outcome.reasons[0];
        assert!(reason.contains("left is not right") && reason.contains("left: 1"), "{reason}");
    }

    #[test]
    fn a_timed_out_or_cancelled_run_of_nextest_is_not_green() {
        let outcome = read("     Summary [ 60.2s] 6/7 tests run: 5 passed, 1 timed out, 0 skipped", false);
        assert_eq!((outcome.passed, outcome.failed), (5, 1));
    }

    #[test]
    fn the_results_of_all_binaries_of_cargo_test_are_added() {
        let outcome = read(
            "     Running unittests src/lib.rs (target/debug/deps/swarm_core-72ee6507dc2c5010)
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.50s
test printed_page ... ok
     Running tests/model.rs (target/debug/deps/model-b8c558c90436d70c)
test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.50s
   Doc-tests swarm_core
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            false,
        );
        assert_eq!((outcome.passed, outcome.failed, outcome.skipped), (5, 2, 1));
        assert_eq!(outcome.printed, 1);
        let groups: Vec<&str> = outcome.groups.keys().map(String::as_str).collect();
        assert_eq!(groups, ["swarm-core", "swarm-core (documentation)", "swarm-core::model"]);
        assert!(outcome.closing_line.starts_with("test result: FAILED. 5 passed; 2 failed; 1 ignored;"));
    }

    #[test]
    fn a_binary_that_dies_without_a_result_has_failed() {
        let outcome = read("running 5 tests\ntest a ... ok", false);
        assert_eq!(outcome.failed, 1);
        assert!(!read("", true).is_green(), "a run of no tests proves nothing");
    }
}
