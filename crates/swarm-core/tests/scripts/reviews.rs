//! The review by command: after the attempt is gone, bound to the tip, in rounds.

use crate::check;

const CHECKED: &str = "plan a | start reviewed | ready a | complete a | green a";

fn after(checked: &str, expected: &str) {
    check(&format!("{CHECKED} | {checked}"), expected);
}

#[test]
fn a_review_starts_when_the_attempt_is_gone_from_the_worktree() {
    after(
        "stage a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review
            stage a: waits for its review
            owed: Stop r1
        ",
    );
    after(
        "stopped a | stage a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2
            stage a: in review, round 1
            owed: Review r2
        ",
    );
    after(
        "stopped a | approves a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Approved → Merging
            owed: Build a
        ",
    );
}

#[test]
fn a_review_that_wants_changes_sends_the_task_back_and_after_its_rounds_to_a_person() {
    let round = "stopped a | ready a | complete a | green a | stopped a";
    after(
        &format!("stopped a | rejects a | {round} | approves a | stopped a"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Pending → Preparing r3 → Active 1 → Checking → Review → Review r4 → Approved → Merging
            owed: Build a
        ",
    );
    after(
        &format!("stopped a | rejects a | {round} | rejects a | stopped a"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Pending → Preparing r3 → Active 1 → Checking → Review → Review r4 → Blocked (review)
        ",
    );
}

#[test]
fn a_verdict_about_an_earlier_tip_is_not_believed() {
    after(
        "stopped a | rejects a | stopped a | ready a | complete a | green a | stopped a | approved-before a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Pending → Preparing r3 → Active 1 → Checking → Review → Review r4
            owed: Review r4
        ",
    );
}

#[test]
fn a_lost_review_is_tried_again_and_costs_no_round() {
    after(
        "stopped a | unreviewed a | stopped a | +60s | rejects a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Review (in 3 s) → Review r3 → Pending
            owed: Stop r3
        ",
    );
    let lost = "unreviewed a | stopped a | +600s";
    after(
        &format!("stopped a | {lost} | {lost} | {lost} | {lost}"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Review (in 3 s) → Review r3 → Review (in 5 s) → Review r4 → Review (in 10 s) → Review r5 → Blocked (review)
        ",
    );
}

#[test]
fn a_person_may_waive_block_or_cancel_while_it_is_reviewed() {
    after(
        "stopped a | waive a review",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Approved → Merging
            owed: Stop r2, Build a
        ",
    );
    after(
        "stopped a | block a | approves a | unblock a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Blocked (human) → Pending
            owed: Stop r2
        ",
    );
    after(
        "stopped a | cancel a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Cancelled
            owed: Remove a
        ",
    );
    after(
        "stopped a | stop a | reset | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Pending → Preparing r3
            refused: No agent is working on task a (try swarm status)
            owed: Prepare r3
        ",
    );
}

#[test]
fn a_pause_starts_no_review_and_a_drain_breaks_one_off() {
    after(
        "pause | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review
        ",
    );
    after(
        "stopped a | drain | stopped a | leave | start reviewed",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Review → Review r3
            owed: Review r3
        ",
    );
    after(
        "stopped a | drain | stopped a | leave | start",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Review → Approved → Merging
            owed: Build a
        ",
    );
}
