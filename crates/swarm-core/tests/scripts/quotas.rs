//! Used-up allowances: the gate of a group closes, one probe at a time asks, opening it happens once.

use crate::check;

#[test]
fn a_used_up_quota_is_asked_for_when_it_should_be_back() {
    check(
        "plan a | start | ready a | fails a quota | stopped a | attention | stage a | +119s | +1s",
        r#"
            a: Pending → Preparing r1 → Active 1 → Pending
            attention: The quota of default is used up: resets at 10:02:00 UTC (the quota is used up: output) ["swarm quota open default", "swarm quota hold default"]
            stage a: waits for the quota of default until 10:02:00 UTC
            owed: Probe r2 default
        "#,
    );
    check(
        "plan a | start | ready a | fails a quota silent | stopped a | +300s | probe quota | probe stopped | +59s | +1s",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending
            owed: Probe r3 default
        ",
    );
    check(
        "plan a | start | ready a | fails a quota silent | stopped a | +300s | probe lost | probe stopped | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Pending
            attention: The quota of default is used up: next probe at 10:10:00 UTC (it failed for an unknown reason: its daemon vanished) ["swarm quota open default", "swarm quota hold default"]
        "#,
    );
}

#[test]
fn when_it_is_back_everything_that_waited_goes_on_without_penalty() {
    check(
        "plan a b | slots 2 | start | ready a | ready b | fails a quota | stopped a | fails b quota silent | stopped b | +120s | probe fine | probe stopped",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending → Preparing r4
            b: Pending → Preparing r2 → Active 1 → Pending → Preparing r5
            owed: Prepare r4, Prepare r5
        ",
    );
}

#[test]
fn a_late_report_of_before_does_not_close_a_gate_that_was_opened() {
    check(
        "plan a b | slots 2 | start | ready a | ready b | fails a quota | stopped a | quota open default | fails b quota | agents",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending → Preparing r3
            b: Pending → Preparing r2 → Active 1 → Pending
            agent ada-002: b stopping
            agent ed-001: a preparing
            owed: Stop r2, Prepare r3
        ",
    );
}

#[test]
fn a_person_can_hold_a_gate_closed_and_open_it() {
    check(
        "plan a | start | ready a | fails a quota | stopped a | quota hold default | quota hold default | attention | +999s | quota open default",
        r#"
            a: Pending → Preparing r1 → Active 1 → Pending → Preparing r2
            refused: The quota of default is held already: nothing would change (try swarm status)
            attention: The quota of default is held closed (the quota is used up: output) ["swarm quota open default"]
            owed: Prepare r2
        "#,
    );
    check(
        "plan a | start | ready a | fails a quota | stopped a | +120s | quota open default | probe stopped",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending → Preparing r3
            owed: Prepare r3
        ",
    );
    check(
        "plan a | start | ready a | fails a quota | stopped a | +120s | quota hold default | probe fine",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending
            owed: Stop r2
        ",
    );
    check(
        "plan a | start | quota open default | quota hold default",
        r"
            a: Pending → Preparing r1
            refused: The quota of default is not used up: nothing would change (try swarm status)
            refused: The quota of default is not used up: nothing would change (try swarm status)
            owed: Prepare r1
        ",
    );
}

#[test]
fn a_profile_of_another_group_stands_in_and_its_own_gate_closes_too() {
    check(
        "plan a b | slots 2 | start profiles | ready a | fails a quota | stopped a | agents | ready a | fails a quota | stopped a | agents",
        r"
            a: Pending → Preparing r1 main → Active 1 → Pending → Preparing r3 spare → Active 1 → Pending
            b: Pending → Preparing r2 main
            agent ada-002: b preparing
            agent ed-001: a preparing
            quota one: 0 waiting
            agent ada-002: b preparing
            quota one: 1 waiting
            quota two: 0 waiting
            owed: Prepare r2
        ",
    );
}

#[test]
fn one_used_up_group_can_be_told_to_stop_everything() {
    check(
        "plan a b | start strict | ready a | fails a quota | stopped a | stage b",
        r"
            a: Pending → Preparing r1 main → Active 1 → Pending
            b: Pending
            stage b: waits for the quota of one until 10:02:00 UTC
        ",
    );
}

#[test]
fn a_gate_that_nobody_waits_for_opens_by_the_clock() {
    check(
        "plan a | start | ready a | fails a quota | stopped a | defer a | +120s | attention",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending → Deferred
        ",
    );
}

#[test]
fn nothing_is_asked_while_the_swarm_is_paused_or_stops() {
    check(
        "plan a | start | ready a | fails a quota | stopped a | pause | +120s | resume",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending
            owed: Probe r2 default
        ",
    );
    check(
        "plan a | start | ready a | fails a quota | stopped a | drain | +120s | leave | start",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending
            owed: Probe r2 default
        ",
    );
}

#[test]
fn a_service_that_two_tasks_cannot_reach_is_asked_for_by_one_probe_and_then_all_go_on() {
    check(
        "plan a b | slots 2 | start | ready a | ready b | fails a network | stopped a | fails b overloaded | stopped b | attention | +60s | probe overloaded | probe stopped | +60s | probe fine | probe stopped",
        r#"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s) → Pending → Preparing r5
            b: Pending → Preparing r2 → Active 1 → Pending (in 3 s) → Pending → Preparing r6
            attention: The service of default is not to be had: next probe at 10:00:02 UTC (the service is overloaded: output) ["swarm quota open default", "swarm quota hold default"]
            owed: Prepare r5, Prepare r6
        "#,
    );
}

#[test]
fn what_the_probe_of_a_service_knows_better_is_believed() {
    let storm = "plan a b | slots 2 | start | ready a | ready b | fails a network | stopped a | fails b overloaded | stopped b | +60s |";
    // The service answers again: what is wrong now the tasks find out themselves.
    check(
        &format!("{storm} probe configuration | probe stopped | attention"),
        r"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s) → Pending → Preparing r4
            b: Pending → Preparing r2 → Active 1 → Pending (in 3 s) → Pending → Preparing r5
            owed: Prepare r4, Prepare r5
        ",
    );
    check(
        &format!("{storm} probe quota | probe stopped | attention"),
        r#"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s) → Pending
            b: Pending → Preparing r2 → Active 1 → Pending (in 3 s) → Pending
            attention: The quota of default is used up: resets at 10:02:00 UTC (the quota is used up: not yet) ["swarm quota open default", "swarm quota hold default"]
        "#,
    );
}

#[test]
fn a_refused_key_asks_a_person_once_and_the_others_wait_until_it_is_accepted() {
    check(
        "plan a b c | slots 2 | start | ready a | ready b | fails a key | stopped a | fails b key | stopped b | attention | +300s | probe key | probe stopped | +300s | probe fine | probe stopped",
        r#"
            a: Pending → Preparing r1 → Active 1 → Blocked (setup) → Pending
            b: Pending → Preparing r2 → Active 1 → Pending → Preparing r5
            c: Pending → Preparing r6
            attention: The key or log-in of default is not accepted: next probe at 10:05:00 UTC (the key or log-in is not accepted: output) ["swarm quota open default", "swarm quota hold default"]
            attention: Task a is blocked (setup) (the key or log-in is not accepted: output; `program login` helps) ["program login", "swarm task show a", "swarm task unblock a"]
            owed: Prepare r5, Prepare r6
        "#,
    );
}

#[test]
fn whoever_says_that_a_blocked_task_may_go_on_opens_the_gate_of_its_key() {
    check(
        "plan a b | start | ready a | fails a key | stopped a | attention | unblock a | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Blocked (setup) → Pending → Preparing r2
            b: Pending
            attention: The key or log-in of default is not accepted: next probe at 10:05:00 UTC (the key or log-in is not accepted: output) ["swarm quota open default", "swarm quota hold default"]
            attention: Task a is blocked (setup) (the key or log-in is not accepted: output; `program login` helps) ["program login", "swarm task show a", "swarm task unblock a"]
            owed: Prepare r2
        "#,
    );
    // Nobody has to say anything to a swarm that is started again: it asks at once.
    check(
        "plan a b | start | ready a | fails a key | stopped a | drain | leave | start | probe fine | probe stopped",
        r"
            a: Pending → Preparing r1 → Active 1 → Blocked (setup) → Pending → Preparing r3
            b: Pending
            owed: Prepare r3
        ",
    );
}

#[test]
fn an_allowance_that_is_back_in_days_is_asked_for_once_an_hour_until_then() {
    check(
        "plan a | start | ready a | fails a quota far | stopped a | attention | +3599s | +1s",
        r#"
            a: Pending → Preparing r1 → Active 1 → Pending
            attention: The quota of default is used up: resets at 2026-01-15 10:00:00 UTC (the quota is used up: output) ["swarm quota open default", "swarm quota hold default"]
            owed: Probe r2 default
        "#,
    );
}
