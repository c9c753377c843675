//! The review by command: after the attempt is gone, bound to the tip, in rounds.

use swarm_core::show;

use crate::check;
use crate::script::{Play, id};

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
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Blocked (human) → Review
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

const READ: &str = "plan a | start read | ready a | complete a | green a | stopped a";

fn read(said: &str, expected: &str) {
    check(&format!("{READ} | {said}"), expected);
}

#[test]
fn what_a_person_reviews_waits_for_that_person_and_lets_everything_else_rest() {
    read(
        "stage a | rests | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Checking → Review
            stage a: waits for your review: swarm review show a
            rests: true, waits for a start: false
            waits for a review
            attention: Task a waits for your review (submitted at bbbbbbbb, round 1) ["swarm review show a", "swarm review approve a", "swarm review needs-changes a WHAT"]
        "#,
    );
    read(
        "person approves a b",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Approved → Merging
            owed: Build a
        ",
    );
}

#[test]
fn a_person_approves_the_commit_that_was_submitted_and_no_other() {
    read(
        "person approves a e | stage a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review
            refused: Task a was submitted at bbbbbbbb, not at eeeeeeee (try swarm review show a)
            stage a: waits for your review: swarm review show a
        ",
    );
    check(
        "plan a | start read | person approves a b",
        r"
            a: Pending → Preparing r1
            refused: Task a is active and cannot be reviewed (try swarm agent stop a)
            owed: Prepare r1
        ",
    );
    check(
        &format!("{CHECKED} | person approves a b"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review
            refused: Task a is not reviewed by a person: its reviewer is command (try swarm task show a)
            owed: Stop r1
        ",
    );
}

#[test]
fn a_person_who_wants_changes_sends_the_task_back_and_after_the_rounds_it_is_blocked() {
    let again = "ready a | complete a | green a | stopped a";
    read(
        &format!("person rejects a off by one | {again} | person rejects a still"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Pending → Preparing r2 → Active 1 → Checking → Review → Blocked (review)
        ",
    );
    read(
        "person rejects a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review
            refused: A note of a review is not valid: it is empty (try swarm --help)
        ",
    );
}

#[test]
fn one_round_is_not_told_as_several() {
    check(
        "plan a | start once | ready a | complete a | green a | stopped a | person rejects a off by one | stage a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Blocked (review)
            stage a: blocked (review): the review wanted changes once
        ",
    );
}

#[test]
fn a_review_by_a_person_outlives_the_coordinator_and_may_be_waived() {
    read(
        "drain | leave | start read | stage a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review
            stage a: waits for your review: swarm review show a
        ",
    );
    read(
        "waive a review",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Approved → Merging
            owed: Build a
        ",
    );
}

#[test]
fn a_command_does_not_answer_for_a_person_who_was_asked_meanwhile() {
    after(
        "stopped a | reviewer a human | approves a | stopped a | stage a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Review
            stage a: waits for your review: swarm review show a
        ",
    );
}

#[test]
fn an_unknown_reviewer_is_refused() {
    check(
        "plan a | reviewer a nobody",
        r#"
            a: Pending
            refused: The review of task a is not valid: "nobody" is not a reviewer; known are none, command, agent, council, human (try swarm --help)
        "#,
    );
}

#[test]
fn that_nothing_changed_is_done_only_on_the_word_of_a_person() {
    read(
        "person approves a b | empty a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Approved → Merging → Done
            owed: Remove a
        ",
    );
    check(
        "plan a | reviewer a none | start | ready a | complete a | green a | stopped a | empty a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Pending → Preparing r2
            owed: Prepare r2
        ",
    );
}

#[test]
fn a_verdict_that_is_undone_has_cost_no_round() {
    read(
        "pause | person rejects a off by one | undo | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Pending → Review
            attention: Task a waits for your review (submitted at bbbbbbbb, round 1) ["swarm review show a", "swarm review approve a", "swarm review needs-changes a WHAT"]
        "#,
    );
}

/// Trunk may have moved, and only the report is not here yet.
#[test]
fn an_approval_is_undone_until_its_work_is_on_its_way_to_trunk() {
    read(
        "person approves a b | undo",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Approved → Merging → Review
            owed: Release a
        ",
    );
    read(
        "person approves a b | built a | verified a | stopped a | undo | published a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Approved → Merging → Done
            refused: Cannot undo `review approve a`, changed since: the work of task a is on its way to trunk (try swarm task show a)
            owed: Remove a
        ",
    );
}

#[test]
fn an_approval_of_work_that_a_rule_has_changed_since_is_not_undone() {
    read(
        "person approves a b | joined a | undo | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Approved → Merging → Review
            refused: Cannot undo `review approve a`, changed since: the approval of task a is void already: rules have resolved its conflicts since (try swarm review show a)
            attention: Task a waits for your review (submitted at cccccccc, round 1; rules resolved its conflicts after bbbbbbbb had been approved) ["swarm review show a", "swarm review approve a", "swarm review needs-changes a WHAT"]
        "#,
    );
}

#[test]
fn an_edit_that_takes_the_reviewer_away_says_that_it_approves() {
    read(
        "reviewer a none",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Approved → Merging
            owed: Build a
        ",
    );
}

const JUDGED: &str = "plan a | start judged | ready a | complete a | green a | stopped a";

fn judged(then: &str, expected: &str) {
    check(&format!("{JUDGED} | {then}"), expected);
}

#[test]
fn an_agent_approves_or_sends_back_and_after_its_rounds_a_person_decides() {
    judged(
        "stage a | says-good a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Approved → Merging
            stage a: in review by judge, round 1
            owed: Build a
        ",
    );
    judged(
        "says-bad a | stopped a | ready a | complete a | green a | stopped a | says-bad a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Pending → Preparing r3 → Active 1 → Checking → Review → Review r4 → Blocked (review)
        ",
    );
}

#[test]
fn an_agent_without_a_verdict_costs_no_round_and_the_third_time_asks_a_person() {
    let none = "says-nothing a | stopped a | +600s";
    judged(
        &format!("{none} | {none} | {none} | attention | unblock a"),
        r#"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Review (in 3 s) → Review r3 → Review (in 5 s) → Review r4 → Blocked (review) → Review → Review r5
            attention: Task a is blocked (review) (the review had no verdict 3 times in a row, the last time: the answer holds no JSON object) ["swarm task show a", "swarm review show a", "swarm review approve a", "swarm review needs-changes a WHAT", "swarm task unblock a", "swarm task defer a", "swarm task cancel a"]
            owed: Review r5
        "#,
    );
    // That its allowance is used up is no answer, and no try.
    let used_up = "says-quota a | stopped a | +600s";
    judged(
        &format!("{used_up} | {used_up} | {used_up} | {none}"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Review → Review r3 → Review → Review r4 → Review → Review r5 → Review (in 3 s) → Review r6
            owed: Review r6
        ",
    );
    judged(
        "says-key a | stopped a | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Blocked (review)
            attention: Task a is blocked (review) (the agent that reviews cannot work: the key or log-in is not accepted: no) ["swarm task show a", "swarm review show a", "swarm review approve a", "swarm review needs-changes a WHAT", "swarm task unblock a", "swarm task defer a", "swarm task cancel a"]
        "#,
    );
}

#[test]
fn where_a_review_came_to_no_end_a_person_decides_about_the_work_that_was_handed_in() {
    judged(
        "says-key a | stopped a | person approves a b",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Blocked (review) → Approved → Merging
            owed: Build a
        ",
    );
    // Also where its worktree was cleaned up meanwhile.
    judged(
        "says-key a | stopped a | cleaned a | person approves a b",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Blocked (review) → Approved → Merging
            owed: Build a
        ",
    );
    judged(
        "says-key a | stopped a | ways a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Blocked (review)
            way: approve it
            way: ask for changes
            way: back to its review
            way: defer it
            way: cancel it
        ",
    );
    // Taken back, it can be approved again.
    judged(
        "says-key a | stopped a | pause | person approves a b | undo | person approves a b | resume",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Blocked (review) → Approved → Blocked (review) → Approved → Merging
            owed: Build a
        ",
    );
    judged(
        "says-key a | stopped a | person rejects a no",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Blocked (review) → Pending → Preparing r3
            owed: Prepare r3
        ",
    );
    judged(
        "says-key a | stopped a | retry",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Blocked (review) → Review → Review r3
            owed: Review r3
        ",
    );
    judged(
        "says-key a | stopped a | defer a | unblock a | +1s",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Blocked (review) → Deferred → Review → Review r3
            owed: Review r3
        ",
    );
}

#[test]
fn work_in_review_that_is_put_off_for_a_while_is_reviewed_and_not_done_again() {
    judged(
        "defer a | stopped a | unblock a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Deferred → Review → Review r3
            owed: Review r3
        ",
    );
}

#[test]
fn reviews_by_an_agent_wait_for_its_quota_and_for_each_other() {
    judged(
        "says-quota a | stopped a | stage a | +600s",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Review → Review r3
            stage a: waits for its review
            owed: Review r3
        ",
    );
    let two = "plan a b | slots 2 | start judged | ready a | complete a | green a | stopped a | ready b | complete b | green b";
    check(
        &format!("{two} | stopped b | stage b | says-good a | stopped a"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r3 → Approved → Merging
            b: Pending → Preparing r2 → Active 1 → Checking → Review → Review r4
            stage b: waits for its review
            owed: Review r4, Build a
        ",
    );
}

#[test]
fn a_person_overrules_the_agent_that_reviews() {
    judged(
        "person approves a b | says-bad a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Approved → Merging
            owed: Build a
        ",
    );
}

#[test]
fn what_a_rule_made_of_reviewed_work_is_reviewed_before_it_is_merged() {
    after(
        "stopped a | approves a | stopped a | joined a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Approved → Merging → Review → Review r3
            owed: Review r3
        ",
    );
    after(
        "stopped a | approves a | stopped a | joined a | approves a | stopped a | built a | audit a merge_resolved",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Approved → Merging → Review → Review r3 → Approved → Merging
            audit: merge_resolved cccccccc for review; conflicts resolved: src/a.rs (imports)
            owed: Verify r4
        ",
    );
    // An executor that has not heard of the review: built again.
    after(
        "stopped a | approves a | stopped a | resolved a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Approved → Merging → Approved
            owed: Release a
        ",
    );
}

#[test]
fn a_branch_that_is_changed_after_its_approval_is_reviewed_again_and_no_round_is_counted() {
    // Seen before the merge is built.
    after(
        "stopped a | approves a | stopped a | branch-changed a | audit a approval_voided",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Approved → Merging → Review → Review r3
            audit: approval_voided bbbbbbbb was approved, the branch is at eeeeeeee
            owed: Review r3
        ",
    );
    // Seen while it is published: its verification took its time.
    after(
        "stopped a | approves a | stopped a | built a | verified a | stopped a | branch-changed a | approves a | stopped a | built a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Approved → Merging → Review → Review r4 → Approved → Merging
            owed: Publish a
        ",
    );
    // A verdict about what was there before counts as little as any other old one.
    after(
        "stopped a | approves a | stopped a | branch-changed a | branch-changed a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Approved → Merging → Review → Review r3
            owed: Review r3
        ",
    );
}

#[test]
fn a_branch_that_never_holds_still_is_a_persons_after_so_many_approvals() {
    let again = "branch-changed a | approves a | stopped a | ";
    after(
        &format!("stopped a | approves a | stopped a | {again}{again}branch-changed a | stage a"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Approved → Merging → Review → Review r3 → Approved → Merging → Review → Review r4 → Approved → Merging → Blocked (review)
            stage a: blocked (review): its branch was changed 3 times after it had been approved
        ",
    );
}

#[test]
fn protected_files_wait_for_a_person_whoever_has_approved_them() {
    // The agent that reviews has said yes; a person has not.
    judged(
        "says-good a | stopped a | built-protected a | stage a | audit a protected_touched",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Approved → Merging → Review
            stage a: waits for your review: swarm review show a
            audit: protected_touched changes protected files: .swarm/config.json
        ",
    );
    judged(
        "says-good a | stopped a | built-protected a | person approves a b | built-protected a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Approved → Merging → Review → Approved → Merging
            owed: Verify r3
        ",
    );
    // A waiver of before did not mean these; a person who has seen them approves them.
    judged(
        "says-good a | stopped a | waive a review | built-protected a | person approves a b | built-protected a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2 → Approved → Merging → Review → Approved → Merging
            owed: Verify r3
        ",
    );
}

#[test]
fn a_review_that_was_waived_before_is_not_offered_to_be_waived_again() {
    let offers = |then: &str| {
        let mut play = Play::new();
        format!("{JUDGED} | says-good a | stopped a | {then}").split(" | ").for_each(|step| play.step(step));
        let commands = show::review(&play.state, &id("a")).expect("it is reviewed").commands;
        commands.contains(&"swarm task waive a review --reason WHY".to_owned())
    };
    assert!(offers("built-protected a"));
    assert!(!offers("waive a review | built-protected a"), "it would be refused");
}
