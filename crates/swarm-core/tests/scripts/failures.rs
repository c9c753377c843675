//! What follows from each way in which an agent program fails.

use crate::check;

#[test]
fn what_is_left_of_an_attempt_and_resists_is_told_once_and_tried_again_until_it_is_gone() {
    check(
        "plan a | start | ready a | crash a | attention | unstopped a it sleeps in the kernel | unstopped a it sleeps in the kernel | attention | audit a agent_noted | stopped a | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s)
            attention: What is left of r1 of task a could not be ended; retrying (it sleeps in the kernel) ["swarm task show a", "swarm doctor"]
            audit: agent_noted it sleeps in the kernel
        "#,
    );
}

#[test]
fn a_failing_service_is_waited_out_and_not_held_against_the_task() {
    check(
        "plan a | start | ready a | fails a overloaded | stopped a | +60s | ready a | fails a network | stopped a | +60s | ready a",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s) → Preparing r2 → Active 1 → Pending (in 5 s) → Preparing r3 → Active 1
            owed: Work r3 Go { iteration: 1 }
        ",
    );
    check(
        "plan a | start | ready a | fails a throttled | stage a | attention",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s)
            stage a: the service throttles requests; retry at 10:00:02 UTC
            owed: Stop r1
        ",
    );
}

#[test]
fn after_too_many_failures_of_a_service_in_a_row_a_person_is_asked() {
    let again = "stopped a | +600s | ready a | fails a overloaded |";
    check(
        &format!("plan a | start | ready a | fails a overloaded | {again} {again} {again} stopped a"),
        r"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s) → Preparing r2 → Active 1 → Pending (in 5 s) → Preparing r3 → Active 1 → Pending (in 9 s) → Preparing r4 → Active 1 → Blocked (retries)
        ",
    );
    check(
        &format!(
            "plan a | start | ready a | fails a overloaded | {again} stopped a | +600s | ready a | unfinished a | fails a network | {again} stopped a"
        ),
        r"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s) → Preparing r2 → Active 1 → Pending (in 5 s) → Preparing r3 → Active 1 → Active 2 → Pending (in 3 s) → Preparing r4 → Active 1 → Pending (in 5 s)
        ",
    );
}

#[test]
fn a_missing_login_asks_a_person_at_once_and_names_the_command() {
    check(
        "plan a | start | ready a | fails a key | stopped a | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Blocked (setup)
            attention: Task a is blocked (setup) (the key or log-in is not accepted: output; `program login` helps) ["program login", "swarm task show a", "swarm task unblock a"]
        "#,
    );
}

#[test]
fn a_machine_without_room_is_waited_for_and_no_attempt_is_held_against_the_task() {
    let again = "stopped a | +600s | ready a | fails a shortage |";
    check(
        &format!(
            "plan a | start | ready a | fails a shortage | {again} {again} stopped a | +600s | ready a | complete a"
        ),
        r"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s) → Preparing r2 → Active 1 → Pending (in 5 s) → Preparing r3 → Active 1 → Pending (in 9 s) → Preparing r4 → Active 1 → Checking
            owed: Work r4 Check { iteration: 1, waived: false, scan_waived: false }
        ",
    );
}

#[test]
fn a_refused_answer_is_tried_once_more() {
    check(
        "plan a | start | ready a | fails a refused | stopped a | +60s | ready a | fails a output_cut | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s) → Preparing r2 → Active 1 → Blocked (human)
        ",
    );
}

#[test]
fn a_limit_reached_counts_as_an_attempt() {
    check(
        "plan a | start | ready a | fails a own_limit | stopped a | +60s | ready a | fails a own_limit | stopped a | +60s | ready a | fails a own_limit | stopped a | +60s | ready a | fails a own_limit | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s) → Preparing r2 → Active 1 → Pending (in 5 s) → Preparing r3 → Active 1 → Pending (in 9 s) → Preparing r4 → Active 1 → Timeout
        ",
    );
}

#[test]
fn a_session_goes_on_over_iterations_and_throttling_but_not_after_an_overflow() {
    check(
        "plan a | start | ready a | said a",
        r#"
            a: Pending → Preparing r1 → Active 1 → Active 2
            owed: Work r1 Go { iteration: 2, session: Some("s1") }
        "#,
    );
    check(
        "plan a | start | ready a | said a | fails a throttled | stopped a | +60s | ready a",
        r#"
            a: Pending → Preparing r1 → Active 1 → Active 2 → Pending (in 3 s) → Preparing r2 → Active 1
            owed: Work r2 Go { iteration: 1, session: Some("s1") }
        "#,
    );
    check(
        "plan a | start | ready a | said a | fails a overflow | stopped a | +60s | ready a",
        r"
            a: Pending → Preparing r1 → Active 1 → Active 2 → Pending → Preparing r2 → Active 1
            owed: Work r2 Go { iteration: 1 }
        ",
    );
}

#[test]
fn what_is_broken_off_goes_on_in_its_session_unless_that_is_full() {
    check(
        "plan a | start | ready a | lost a | stopped a s2 | +60s | ready a",
        r#"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2 → Active 1
            owed: Work r2 Go { iteration: 1, session: Some("s2") }
        "#,
    );
    check(
        "plan a | start | ready a | said a | fails a overflow | stopped a s2 | +60s | ready a",
        r"
            a: Pending → Preparing r1 → Active 1 → Active 2 → Pending → Preparing r2 → Active 1
            owed: Work r2 Go { iteration: 1 }
        ",
    );
}

#[test]
fn a_full_disk_is_held_against_no_task() {
    check(
        "plan a b c d | slots 4 | start | disk low | unready a | unready b | unready c | stopped a | stopped b | stopped c | attention | unready d | stopped d | disk fine",
        r#"
            a: Pending → Preparing r1 → Pending → Preparing r5
            b: Pending → Preparing r2 → Pending → Preparing r6
            c: Pending → Preparing r3 → Pending → Preparing r7
            d: Pending → Preparing r4 → Pending → Preparing r8
            attention: Paused: the disk is full or read-only (900 MiB left) ["swarm doctor"]
            owed: Prepare r5, Prepare r6, Prepare r7, Prepare r8
        "#,
    );
}

#[test]
fn three_worktrees_in_a_row_that_cannot_be_set_up_pause_the_swarm() {
    check(
        "plan a b c d | slots 4 | start | unready a | unready b | stopped a | stopped b | unready c | stopped c | +60s | attention",
        r#"
            a: Pending → Preparing r1 → Pending (in 3 s)
            b: Pending → Preparing r2 → Pending (in 3 s)
            c: Pending → Preparing r3 → Pending (in 3 s)
            d: Pending → Preparing r4
            attention: Paused: worktree setup (a worktree could not be set up 3 times in a row: output) ["swarm resume --reason setup"]
            owed: Prepare r4
        "#,
    );
    check(
        "plan a b c | slots 3 | start | unready a | unready b | ready c | stopped a | +60s | unready a | stopped b | +9s",
        r"
            a: Pending → Preparing r1 → Pending (in 3 s) → Preparing r4 → Pending (in 5 s)
            b: Pending → Preparing r2 → Pending (in 3 s) → Pending → Preparing r5
            c: Pending → Preparing r3 → Active 1
            owed: Stop r4, Work r3 Go { iteration: 1 }, Prepare r5
        ",
    );
    check(
        "plan a b c | slots 3 | start | unready a | unready b | unready c | stopped a | stopped b | stopped c | +60s | resume setup",
        r"
            a: Pending → Preparing r1 → Pending (in 3 s) → Preparing r4
            b: Pending → Preparing r2 → Pending (in 3 s) → Preparing r5
            c: Pending → Preparing r3 → Pending (in 3 s) → Preparing r6
            owed: Prepare r4, Prepare r5, Prepare r6
        ",
    );
}

#[test]
fn f13_a_retry_tries_again_what_failed_and_leaves_what_a_person_blocked() {
    check(
        "plan a b | block b | start | ready a | fails a key | stopped a | retry | retry",
        r"
            a: Pending → Preparing r1 → Active 1 → Blocked (setup) → Pending → Preparing r2
            b: Pending → Blocked (human)
            refused: No work failed, was rolled back or is gone: nothing would change (try swarm status)
            owed: Prepare r2
        ",
    );
}
