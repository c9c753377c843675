//! Several agents judge the same work: one after the other or at the same time, with a quorum.

use crate::check;

const CHECKED: &str = "plan a | start council | ready a | complete a | green a | stopped a";

fn after(checked: &str, expected: &str) {
    check(&format!("{CHECKED} | {checked}"), expected);
}

#[test]
fn a_council_is_asked_one_after_the_other_until_it_is_certain() {
    after(
        "says-good a | stage a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Review
            stage a: waits for its review
            owed: Stop r2
        ",
    );
    after(
        "says-good a | stopped a | says-but a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Review → Review r3 → Approved → Merging
            owed: Build a
        ",
    );
    after(
        "says-bad a | stopped a | says-bad a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Review → Review r3 → Pending → Preparing r4
            owed: Prepare r4
        ",
    );
    after(
        "says-bad a | stopped a | says-good a | stopped a | says-bad a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Review → Review r3 → Review → Review r4 → Pending
            owed: Stop r4
        ",
    );
}

#[test]
fn a_council_speaks_at_the_same_time_where_the_profile_allows_it() {
    let script = "plan a | together | start council | ready a | complete a | green a | stopped a";
    check(
        &format!("{script} | stage a"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r4+r2+r3
            stage a: in review by the council, round 1: 0 of 3 heard
            owed: Review r2, Review r3, Review r4
        ",
    );
    check(
        &format!("{script} | says-good a | says-good a | stage a | says-bad a"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r4+r2+r3 → Review r3+r2 → Review r2 → Approved → Merging
            stage a: in review by the council, round 1: 2 of 3 heard
            owed: Stop r2, Stop r3, Stop r4
        ",
    );
    check(
        &format!("{script} | says-bad a | says-bad a | says-good a | stage a"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r4+r2+r3 → Review r3+r2 → Review r2 → Pending
            stage a: ready
            owed: Stop r2, Stop r3, Stop r4
        ",
    );
    check(
        &format!("{script} | unreviewed a | stopped a | +60s | stage a"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r4+r2+r3 → Review r3+r2 → Review r5+r2+r3
            stage a: in review by the council, round 1: 0 of 3 heard
            owed: Review r2, Review r3, Review r5
        ",
    );
    check(
        &format!("{script} | block a | says-good a | unblock a"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r4+r2+r3 → Blocked (human) → Review
            owed: Stop r2, Stop r3, Stop r4
        ",
    );
    check(
        &format!("{script} | drain"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r4+r2+r3 → Review
            owed: Stop r2, Stop r3, Stop r4
        ",
    );
}

#[test]
fn who_has_no_verdict_is_absent_and_lets_nothing_pass() {
    let lost = "says-nothing a | stopped a | +600s";
    let absent = format!("{lost} | {lost} | {lost}");
    after(
        &format!("{absent} | stage a"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Review (in 3 s) → Review r3 → Review (in 5 s) → Review r4 → Review → Review r5
            stage a: in review by the council, round 1: 1 of 3 heard
            owed: Review r5
        ",
    );
    after(
        &format!("{absent} | says-good a | stopped a | says-good a | stopped a"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Review (in 3 s) → Review r3 → Review (in 5 s) → Review r4 → Review → Review r5 → Review → Review r6 → Approved → Merging
            owed: Build a
        ",
    );
    after(
        &format!("{absent} | says-key a | stopped a | attention"),
        r#"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Review (in 3 s) → Review r3 → Review (in 5 s) → Review r4 → Review → Review r5 → Blocked (review)
            attention: Task a is blocked (review) (the council has no quorum: 0 of 3 let it pass, 2 must. Without a verdict: x: the answer holds no JSON object; y: the key or log-in is not accepted: no) ["swarm task show a", "swarm review show a", "swarm review approve a", "swarm review needs-changes a WHAT", "swarm task unblock a", "swarm task defer a", "swarm task cancel a"]
        "#,
    );
}

#[test]
fn a_member_whose_allowance_is_used_up_is_not_absent_for_it() {
    let all = ["says-quota a | stopped a"; 3].join(" | ");
    let used_up = (2..=10).map(|n| format!("Review r{n} → Review")).collect::<Vec<_>>().join(" → ");
    after(
        &format!("{all} | +600s | {all} | +600s | {all} | +600s | says-nothing a | stopped a | +600s | stage a"),
        &format!(
            "a: Pending → Preparing r1 → Active 1 → Checking → Review → {used_up} → Review r11 → Review (in 3 s) → Review r12
            stage a: in review by the council, round 1: 0 of 3 heard
            owed: Review r12"
        ),
    );
}

#[test]
fn a_person_is_quicker_than_a_council() {
    after(
        "person approves a b | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Approved → Merging
            owed: Build a
        ",
    );
    after(
        "waive a review",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Approved → Merging
            owed: Stop r2, Build a
        ",
    );
}
