//! `apply` decides nothing: it takes in what an event says. Whatever it looked up in a policy, a limit or a rule of
//! today would give an old ledger another meaning tomorrow. What old records left open is answered in
//! `apply/legacy.rs` and below it, which knows nothing of today's rules either.

use super::{Findings, Sources, shipped_files};
use crate::source::{Keep, blanked, lines_with_word};

const APPLY: [&str; 2] = ["crates/swarm-core/src/apply.rs", "crates/swarm-core/src/apply/"];
const LEGACY: [&str; 2] = ["crates/swarm-core/src/apply/legacy.rs", "crates/swarm-core/src/apply/legacy/"];

/// Words that stand nowhere in `apply`, not even where old records are read.
const NOWHERE: &[(&str, &str)] = &[
    ("crate::react", DECIDES),
    ("crate::settle", DECIDES),
    ("crate::dues", DECIDES),
    ("crate::hooks", DECIDES),
    ("crate::owed", DECIDES),
    ("crate::schedule", DECIDES),
    ("crate::setup", DECIDES),
    ("crate::planted", DECIDES),
    ("planted::", DECIDES),
    ("checkpoints::", DECIDES),
    ("consequence", CLASS),
    ("preferred_profile", POLICY),
    ("quota_group(", POLICY),
    ("profile_for", POLICY),
    ("after_crash", POLICY),
    ("uses_up", POLICY),
];
/// Words that stand only where old records are read.
const ONLY_LEGACY: &[(&str, &str)] = &[
    (".policy.", POLICY),
    ("plus_secs", CLOCK),
    ("plus_ms", CLOCK),
    ("secs_since", CLOCK),
    ("FailureClass", CLASS),
    ("EFFECT_FAILURES_MAX", LIMIT),
    ("SETUP_FAILURES_MAX", LIMIT),
    ("DEGRADED_MAX", LIMIT),
    ("CHECKOUT_RETRY_SECS", LIMIT),
    ("RESETS_MAX_SECS", LIMIT),
];
const DECIDES: &str =
    "that decides: do it before the event is written, and put what was decided into the event";
const POLICY: &str = "a policy is asked before the event is written: put its answer into the event";
const CLASS: &str = "what a class of failures means is decided before the event is written";
const CLOCK: &str = "a moment that follows from a rule stands in the event";
const LIMIT: &str = "whether a limit was reached stands in the event";
const FROZEN: &str =
    "the meaning of old records must not follow today's limits: write the number that it was";

pub fn check(sources: &Sources) -> Findings {
    let mut findings = Findings::default();
    for (path, text) in shipped_files(sources, "swarm-core") {
        let is_below = |places: [&str; 2]| path == places[0] || path.starts_with(places[1]);
        if !is_below(APPLY) {
            continue;
        }
        let code = blanked(text, Keep::CodeOnly);
        let mut banned: Vec<(&str, &str)> = NOWHERE.to_vec();
        if is_below(LEGACY) {
            banned.push(("crate::limits", FROZEN));
        } else {
            banned.extend(ONLY_LEGACY);
        }
        for (word, instead) in banned {
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

    fn failures(path: &str, text: &str) -> usize {
        check(&Sources::from([(path.into(), text.into())])).failures.len()
    }

    #[test]
    fn a_decision_in_apply_is_found_and_one_outside_is_not() {
        let decides = "use crate::react::is_crash;\nfn f(t: T) {\n    t.plus_secs(CHECKOUT_RETRY_SECS)\n}\n";
        assert_eq!(failures("crates/swarm-core/src/apply/merge.rs", decides), 3);
        assert_eq!(
            failures("crates/swarm-core/src/apply.rs", "fn f(s: &S) -> bool { s.policy.dispatch }\n"),
            1
        );
        assert_eq!(failures("crates/swarm-core/src/react/merge.rs", decides), 0);
    }

    #[test]
    fn old_records_may_be_read_by_numbers_of_their_own_but_not_by_the_limits_of_today() {
        let frozen = "fn f(t: T) -> T {\n    t.plus_secs(60)\n}\n";
        assert_eq!(failures("crates/swarm-core/src/apply/legacy.rs", frozen), 0);
        let moving = "use crate::limits::CHECKOUT_RETRY_SECS;\nfn f(c: C) { c.consequence() }\n";
        assert_eq!(failures("crates/swarm-core/src/apply/legacy/due.rs", moving), 2);
    }
}
