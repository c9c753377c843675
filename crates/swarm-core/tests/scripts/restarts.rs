//! Crashes: the task stays with its agent, which begins again later each time, until it is taken out of service.

use crate::check;

#[test]
fn an_agent_that_crashed_keeps_its_task_and_its_slot() {
    check(
        "plan a b | start | ready a | crash a | stopped a | agents | +1s | +2s | agents",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2
            b: Pending
            agent ed-001: a crashed, restarts at 10:00:02
            agent ed-001: a preparing
            owed: Prepare r2
        ",
    );
    check(
        "plan a | start | ready a | lost a | stopped a | +60s",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2
            owed: Prepare r2
        ",
    );
}

#[test]
fn during_the_delay_people_can_do_what_they_can_do_with_a_working_agent() {
    check(
        "plan a | start | ready a | crash a | stopped a | block a | unblock a",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Blocked (human) → Pending → Preparing r2
            owed: Prepare r2
        ",
    );
    check(
        "plan a | start | ready a | crash a | stopped a | stop a | go a",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Pending → Preparing r2
            owed: Prepare r2
        ",
    );
    check(
        "plan a | start | ready a | crash a | stop a | defer a | cancel a",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Pending → Deferred → Cancelled
            owed: Stop r1
        ",
    );
    check(
        "plan a | start | ready a | crash a | stopped a | pause | +60s | resume",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2
            owed: Prepare r2
        ",
    );
    check(
        "plan a | start | ready a | crash a | stopped a | drain | leave | start",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Pending (in 3 s)
        ",
    );
}

#[test]
fn a_run_that_lived_long_enough_starts_the_count_anew() {
    check(
        "plan a | start | ready a | +400s | crash a | stopped a | +60s | ready a | +400s | crash a | stopped a | +60s | agents",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r3
            agent ed-001: a preparing
            owed: Prepare r3
        ",
    );
}

#[test]
fn after_more_than_five_crashes_in_half_an_hour_the_agent_is_out_of_service_and_another_one_takes_the_task() {
    check(
        "plan a | start | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | agents | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2 → Active 1 → Restarting ed-001 (in 5 s) → Preparing r3 → Active 1 → Restarting ed-001 (in 9 s) → Preparing r4 → Active 1 → Restarting ed-001 (in 18 s) → Preparing r5 → Active 1 → Restarting ed-001 (in 39 s) → Preparing r6 → Active 1 → Pending (in 3 s) → Preparing r7
            agent ada-002: a preparing
            out of service: ed-001 (6 crashes within 30 minutes, the last one: crashed with exit code 1: output)
            attention: Agent ed-001 is out of service (6 crashes within 30 minutes, the last one: crashed with exit code 1: output) ["swarm agent revive ed-001"]
            owed: Prepare r7
        "#,
    );
    check(
        "plan a | start | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | revive ed-001 | +60s | agents | revive ed-001 | revive ed-009",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2 → Active 1 → Restarting ed-001 (in 5 s) → Preparing r3 → Active 1 → Restarting ed-001 (in 9 s) → Preparing r4 → Active 1 → Restarting ed-001 (in 18 s) → Preparing r5 → Active 1 → Restarting ed-001 (in 39 s) → Preparing r6 → Active 1 → Pending (in 3 s) → Preparing r7
            agent ed-001: a preparing
            refused: Agent ed-001 is in service: nothing would change (try swarm status)
            refused: There is no agent ed-009: nothing would change (try swarm status)
            owed: Prepare r7
        ",
    );
}

#[test]
fn a_task_that_crashes_its_agent_slowly_costs_a_retry_all_the_same() {
    check(
        "plan a | start | ready a | +400s | crash a | stopped a | +60s | ready a | +400s | crash a | stopped a | +60s | ready a | +400s | crash a | stopped a | +60s | ready a | +400s | crash a | stopped a | +60s | ready a | +400s | crash a | stopped a | +60s | ready a | +400s | crash a | stopped a | agents",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r3 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r4 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r5 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r6 → Active 1 → Pending (in 3 s)
        ",
    );
}

#[test]
fn a_task_whose_owner_was_found_dead_is_tried_again_and_pays_for_it() {
    check(
        "plan a | start | ready a | orphaned a | stopped a | +60s",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s) → Preparing r2
            owed: Prepare r2
        ",
    );
}

#[test]
fn silence_is_told_to_the_agent_once_and_is_a_crash_the_second_time() {
    check(
        "plan a | start | ready a | fails a stalled | stage a | fails a stalled | stopped a | +60s",
        r"
            a: Pending → Preparing r1 → Active 1 → Active 2 → Restarting ed-001 (in 3 s) → Preparing r2
            stage a: working, iteration 2
            owed: Prepare r2
        ",
    );
}

#[test]
fn a_tool_loop_is_told_to_the_agent_once_and_is_a_timeout_the_second_time() {
    check(
        "plan a | start | ready a | notes a | notes a | fails a looping | fails a looping | stopped a | +60s",
        r"
            a: Pending → Preparing r1 → Active 1 → Active 2 → Pending (in 3 s) → Preparing r2
            owed: Prepare r2
        ",
    );
    check(
        "plan a | start | ready a | fails a looping | fails a stalled",
        r"
            a: Pending → Preparing r1 → Active 1 → Active 2 → Restarting ed-001 (in 3 s)
            owed: Stop r1
        ",
    );
}

#[test]
fn an_orphan_waits_for_a_person_where_that_is_wanted() {
    check(
        "plan a | start orphaning | ready a | orphaned a | stopped a | stage a",
        r"
            a: Pending → Preparing r1 → Active 1 → Blocked (human)
            stage a: blocked (human): its owner was found dead: no exit record; `recovery.autoResetOrphaned` is off
        ",
    );
}
