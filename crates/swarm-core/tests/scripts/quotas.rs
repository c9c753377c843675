//! Used-up allowances: the gate of a group closes, one probe at a time asks, opening it happens once.

use crate::check;

#[test]
fn a_used_up_quota_is_asked_for_when_it_should_be_back() {
    check(
        "plan a | start | ready a | fails a quota | stopped a | attention | stage a | +119s | +1s",
        r#"
            a: Pending → Preparing r1 → Active 1 → Pending
            attention: The quota of default is used up: resets at 10:02:00 (the quota is used up: output) ["swarm quota open default", "swarm quota hold default"]
            stage a: waits for the quota of default until 10:02:00
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
            attention: The quota of default is used up: next probe at 10:10:00 (it failed for an unknown reason: its daemon vanished) ["swarm quota open default", "swarm quota hold default"]
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
            stage b: waits for the quota of one until 10:02:00
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
