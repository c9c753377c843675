//! Checks that can never pass, checks that were broken off, and words that come while work is checked.

use crate::check;

#[test]
fn the_same_failure_again_and_again_stops_the_task_and_shows_it() {
    check(
        "plan a | start alike | ready a | complete a | red a | complete a | red a | stage a | stopped a | unblock a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Active 2 → Checking → Active 3 → Blocked (retries) → Pending → Preparing r2
            stage a: blocked (retries): its checks failed 2 times in a row in the same way:
            output
            owed: Prepare r2
        ",
    );
    // Another failure is news.
    check(
        "plan a | start alike | ready a | complete a | red a | complete a | red otherwise a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Active 2 → Checking → Active 3
            owed: Work r1 Go { iteration: 3 }
        ",
    );
}

#[test]
fn checks_that_fail_are_tried_once_where_the_task_began_before_anybody_is_paid_again() {
    check(
        "plan a | start tried | ready a | complete a | red a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Active 2
            owed: Work r1 Hold, Verify r2
        ",
    );
    check(
        "plan a | start tried | ready a | complete a | red a | trunk green a | stopped a | complete a | red a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Active 2 → Checking → Active 3
            owed: Work r1 Go { iteration: 3 }
        ",
    );
    // A trial without a verdict is begun again.
    check(
        "plan a | start tried | ready a | complete a | red a | drain | ended a | stopped a | stopped a | leave | start tried",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Active 2 → Pending
            owed: Verify r3
        ",
    );
}

#[test]
fn checks_that_are_red_before_any_work_blame_nobody_and_ask_a_person_once() {
    check(
        "plan a b | start tried | ready a | complete a | red a | trunk red a | stopped a | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Checking → Active 2
            b: Pending
            attention: Paused: failing checks (the checks fail at aaaaaaaa, before any work is done: trunk) ["swarm resume --reason checks"]
            owed: Work r1 Hold
        "#,
    );
    check(
        "plan a | start tried | ready a | complete a | red a | trunk red a | stopped a | resume checks | complete a | red a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Active 2 → Checking → Active 3
            owed: Work r1 Go { iteration: 3 }
        ",
    );
}

#[test]
fn work_whose_checks_were_broken_off_is_checked_again_and_not_done_again() {
    for broken_off in [
        "drain | ended a | stopped a | leave | start",
        "stop a | stopped a | go a",
        "force | stopped a | resume",
    ] {
        check(
            &format!("plan a | start | ready a | complete a | {broken_off} | again a"),
            r"
                a: Pending → Preparing r1 → Active 1 → Checking → Pending → Preparing r2 → Active 1 → Checking
                owed: Work r2 Check { iteration: 0, waived: false, scan_waived: false }
            ",
        );
    }
    check(
        "plan a | start | ready a | complete a | lost a | stopped a | +60s | again a | green a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Restarting ed-001 (in 3 s) → Preparing r2 → Active 1 → Checking → Approved → Merging
            owed: Stop r2, Build a
        ",
    );
    check(
        "plan a | start | ready a | complete a | stop a | stopped a | go a | again a | red a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Pending → Preparing r2 → Active 1 → Checking → Active 1
            owed: Work r2 Go { iteration: 1 }
        ",
    );
    // The branch is not where it was: there is other work now.
    check(
        "plan a | start | ready a | complete a | stop a | stopped a | go a | ready a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Pending → Preparing r2 → Active 1
            owed: Work r2 Go { iteration: 1 }
        ",
    );
}

#[test]
fn a_message_that_comes_while_work_is_checked_brings_one_more_iteration() {
    check(
        "plan a | start | ready a | complete a | message a | green a | heard a | messages a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Active 2 → Active 3
            message: use the old parser r1 iteration 2
            owed: Work r1 Go { iteration: 3 }
        ",
    );
    // The checks were broken off as well: the word goes first.
    check(
        "plan a | start | ready a | complete a | message a | stop a | stopped a | go a | again a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Pending → Preparing r2 → Active 1
            owed: Work r2 Go { iteration: 1 }
        ",
    );
}

#[test]
fn a_message_to_finished_work_brings_it_back_before_its_merge_or_its_sender_is_told() {
    check(
        "plan a b | slots 2 | start | ready a | ready b | complete a | green a | stopped a | complete b | green b | stopped b | message b",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging
            b: Pending → Preparing r2 → Active 1 → Checking → Approved → Pending → Preparing r3
            owed: Prepare r3, Build a
        ",
    );
    check(
        "plan a | start | ready a | complete a | green a | stopped a | built a | message a | verified a | published a | messages a | attention | seen messages/a | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done
            message: use the old parser not delivered: the task is done
            attention: A message to task a was not delivered (the task is done: use the old parser) ["swarm task show a", "swarm attention --seen messages/a"]
            owed: Stop r2
        "#,
    );
}

#[test]
fn a_scan_that_finds_the_same_again_and_again_has_words_of_its_own() {
    check(
        "plan a | start alike | ready a | complete a | leaks a | complete a | leaks a | stage a | stopped a | waive a scan | unblock a | ready a | complete a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Active 2 → Checking → Active 3 → Blocked (retries) → Pending → Preparing r2 → Active 1 → Checking
            stage a: blocked (retries): its scan found the same 2 times in a row:
            output
            owed: Work r2 Check { iteration: 1, waived: false, scan_waived: true }
        ",
    );
}

#[test]
fn v1_without_a_signal_it_goes_on_and_after_the_last_iteration_it_is_a_try_that_ran_out() {
    check(
        "plan a | start | ready a | said a | said a | said a | stopped a | +60s | ready a | complete a | red a | said a | said a",
        r"
            a: Pending → Preparing r1 → Active 1 → Active 2 → Active 3 → Pending (in 3 s) → Preparing r2 → Active 1 → Checking → Active 2 → Active 3 → Pending (in 5 s)
            owed: Stop r2
        ",
    );
}
