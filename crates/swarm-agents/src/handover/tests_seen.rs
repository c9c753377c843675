//! How many tests passed and failed, where the output of a check tells it.

use std::sync::LazyLock;

use regex::Regex;

use super::TestStatus;

/// The summaries of common runners. In each, the group `p` is what passed and `f` what failed.
static SUMMARIES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        // cargo test, one per binary: they are added up.
        r"test result: \w+\. (?P<p>\d+) passed; (?P<f>\d+) failed",
        // cargo nextest.
        r"Summary \[[^\]]*\] *\d+(?:/\d+)? tests? run: (?P<p>\d+) passed(?: \([^)]*\))?(?:, (?P<f>\d+) failed)?",
        // jest, vitest: `Tests: 2 failed, 4 passed, 6 total`, `Tests  2 failed | 4 passed (6)`.
        r"(?m)^\s*Tests:?\s+(?:(?P<f>\d+) failed[,| ]+)?(?:\d+ (?:skipped|todo)[,| ]+)*(?P<p>\d+) passed",
        // pytest.
        r"(?m)^=+ (?:(?P<f>\d+) failed, )?(?P<p>\d+) passed",
        // Maven, Gradle.
        r"Tests run: (?P<t>\d+), Failures: (?P<f>\d+)",
        // mocha.
        r"(?m)^\s*(?P<p>\d+) passing\b(?:[^\n]*\n+\s*(?P<f>\d+) failing)?",
        // TAP, node's own runner.
        r"(?m)^(?:#|ℹ) pass (?P<p>\d+)\n(?:#|ℹ) fail (?P<f>\d+)",
        // Python's unittest.
        r"(?m)^Ran (?P<t>\d+) tests? in [^\n]*\n+(?:FAILED \((?:failures=(?P<f>\d+))?|OK)",
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

/// The sum over all summaries of the first runner that is recognised.
pub fn tests_in(output: &str) -> Option<TestStatus> {
    SUMMARIES.iter().find_map(|summary| {
        let mut found = None;
        for seen in summary.captures_iter(output) {
            let number = |name: &str| seen.name(name).and_then(|n| n.as_str().parse::<u64>().ok());
            let failed = number("f").unwrap_or(0);
            let passed = number("p").or_else(|| number("t").map(|all| all.saturating_sub(failed)))?;
            let before = found.unwrap_or(TestStatus { passed: 0, failed: 0 });
            found = Some(TestStatus {
                passed: before.passed.saturating_add(passed),
                failed: before.failed.saturating_add(failed),
            });
        }
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, expected: Option<(u64, u64)>) {
        assert_eq!(tests_in(output).map(|tests| (tests.passed, tests.failed)), expected, "{output}");
    }

    #[test]
    fn the_summaries_of_common_runners_are_read() {
        check(
            "test result: ok. 3 passed; 0 failed; 0 ignored\n\ntest result: FAILED. 1 passed; 2 failed; 0 ignored",
            Some((4, 2)),
        );
        check("     Summary [   1.2s] 6 tests run: 4 passed (1 slow), 2 failed, 0 skipped", Some((4, 2)));
        check("     Summary [   1.2s] 6 tests run: 6 passed, 0 skipped", Some((6, 0)));
        check("Test Suites: 1 failed, 1 total\nTests:       2 failed, 4 passed, 6 total\n", Some((4, 2)));
        check(" Tests  2 failed | 4 passed (6)\n", Some((4, 2)));
        check("=== short summary ===\n========= 2 failed, 4 passed in 0.12s =========", Some((4, 2)));
        check("======== 6 passed in 0.12s ========", Some((6, 0)));
        check("Tests run: 6, Failures: 2, Errors: 0", Some((4, 2)));
        check("  4 passing (20ms)\n  2 failing\n", Some((4, 2)));
        check("# tests 6\n# pass 4\n# fail 2\n", Some((4, 2)));
        check("Ran 6 tests in 0.001s\n\nFAILED (failures=2)", Some((4, 2)));
        check("Ran 6 tests in 0.001s\n\nOK", Some((6, 0)));
        check("all 12 passed our expectations", None);
        check("", None);
    }
}
