//! Arcs of an attempt: retry with backoff, stop, pause, block, defer, cancel.

use crate::check;

#[test]
fn a_task_goes_all_the_way_to_done() {
    check(
        "plan a | start | ready a | complete a | green a | stopped a | built a | verified a | published a | stopped a | removed a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done
        ",
    );
}

#[test]
fn a_crashed_agent_begins_again_after_a_delay_and_only_when_its_processes_are_gone() {
    check(
        "plan a | start | ready a | crash a | +60s",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s)
            owed: Stop r1
        ",
    );
    check(
        "plan a | start | ready a | crash a | +60s | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2
            owed: Prepare r2
        ",
    );
    check(
        "plan a | start | ready a | crash a | stopped a | +1s",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s)
        ",
    );
}

#[test]
fn after_three_retries_a_person_is_asked() {
    check(
        "plan a | start | ready a | orphaned a | stopped a | +60s | ready a | orphaned a | stopped a | +60s \
         | ready a | orphaned a | stopped a | +60s | ready a | orphaned a | stopped a | +600s",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s) → Preparing r2 → Active 1 → Pending (in 5 s) → Preparing r3 → Active 1 → Pending (in 10 s) → Preparing r4 → Active 1 → Blocked (retries)
        ",
    );
}

#[test]
fn an_attempt_without_a_result_ends_by_the_clock() {
    check(
        "plan a | start | ready a | +1799s",
        r"
            a: Pending → Preparing r1 → Active 1
            owed: Work r1 Go { iteration: 1 }
        ",
    );
    check(
        "plan a | start | ready a | +1800s",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s)
            owed: Stop r1
        ",
    );
}

#[test]
fn i1_the_time_for_which_a_pause_holds_an_agent_is_not_taken_from_its_attempt() {
    let held = "plan a | start | ready a | +600s | pause | unfinished a | +7200s | resume";
    check(
        &format!("{held} | +1199s"),
        r"
            a: Pending → Preparing r1 → Active 1 → Active 2
            owed: Work r1 Go { iteration: 2 }
        ",
    );
    check(
        &format!("{held} | +1200s"),
        r"
            a: Pending → Preparing r1 → Active 1 → Active 2 → Pending (in 3 s)
            owed: Stop r1
        ",
    );
    // Whoever is in the middle of an iteration works on.
    check(
        "plan a | start | ready a | +1s | pause | +1799s",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s)
            owed: Stop r1
        ",
    );
}

#[test]
fn red_checks_lead_to_the_next_iteration() {
    check(
        "plan a | start | ready a | complete a | red a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Active 2
            owed: Work r1 Go { iteration: 2 }
        ",
    );
}

#[test]
fn the_last_iteration_without_completion_counts_as_out_of_time() {
    check(
        "plan a | start | ready a | unfinished a | unfinished a | unfinished a",
        r"
            a: Pending → Preparing r1 → Active 1 → Active 2 → Active 3 → Pending (in 3 s)
            owed: Stop r1
        ",
    );
}

#[test]
fn an_agent_that_asks_or_cannot_waits_for_a_person() {
    check(
        "plan a | start | ready a | asks a | stopped a | attention | unblock a",
        r#"
            a: Pending → Preparing r1 → Active 1 → Blocked (human) → Pending → Preparing r2
            attention: Task a is blocked (human) (output) ["swarm task show a", "swarm agent message a \"…\"", "swarm task unblock a"]
            owed: Prepare r2
        "#,
    );
    // What a person has blocked since waits for that person, and no longer for an answer.
    check(
        "plan a | start | ready a | asks a | stopped a | pause | unblock a | block a | message a | stage a | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Blocked (human) → Pending → Blocked (human)
            stage a: blocked (human): wait for me
            attention: Task a is blocked (human) (wait for me) ["swarm task show a", "swarm task unblock a"]
        "#,
    );
    check(
        "plan a | start | ready a | cannot a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Failed
        ",
    );
}

#[test]
fn the_answer_to_an_agent_that_asks_lets_its_task_go_on_and_can_be_taken_back() {
    check(
        "plan a | start | ready a | asks a | stopped a | message a | ready a | heard a | messages a",
        r#"
            a: Pending → Preparing r1 → Active 1 → Blocked (human) → Pending → Preparing r2 → Active 1 → Active 2
            message: use the old parser r2 iteration 1
            owed: Work r2 Go { iteration: 2 }
        "#,
    );
    check(
        "plan a | start by hand | go a | ready a | asks a | stopped a | pause | message a | messages a | undo | messages a",
        r#"
            a: Pending → Preparing r1 → Active 1 → Blocked (human) → Pending → Blocked (human)
            message: use the old parser queued
        "#,
    );
}

#[test]
fn a_stopped_agent_costs_the_task_nothing() {
    check(
        "plan a | start | ready a | stop a",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending
            owed: Stop r1
        ",
    );
    check(
        "plan a | start | ready a | stop a | stopped a | go a",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending → Preparing r2
            owed: Prepare r2
        ",
    );
    check(
        "plan a | stop a",
        r"
            a: Pending
            refused: No agent is working on task a (try swarm status)
        ",
    );
}

#[test]
fn a_resume_for_another_reason_names_the_pauses_there_are() {
    check(
        "plan a | resume",
        r"
            a: Pending
            refused: The swarm is not paused (try swarm status)
        ",
    );
    check(
        "plan a | pause | resume trunk",
        r"
            a: Pending
            refused: The swarm is paused for another reason: user (`swarm resume`) (try swarm resume)
        ",
    );
}

#[test]
fn a_pause_holds_agents_at_their_boundary_and_starts_nothing() {
    check(
        "plan a b | start | ready a | pause | complete a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking
            b: Pending
            owed: Work r1 Hold
        ",
    );
    check(
        "plan a | pause | start",
        r"
            a: Pending
        ",
    );
    check(
        "plan a | pause | start | resume",
        r"
            a: Pending → Preparing r1
            owed: Prepare r1
        ",
    );
}

#[test]
fn a_block_stops_the_agent_and_keeps_the_worktree() {
    check(
        "plan a | start | ready a | block a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Blocked (human)
        ",
    );
    check(
        "plan a | start | ready a | block a | block a",
        r"
            a: Pending → Preparing r1 → Active 1 → Blocked (human)
            refused: Task a is already blocked (try swarm task unblock a)
            owed: Stop r1
        ",
    );
}

#[test]
fn a_deferred_task_waits_for_a_person_and_a_cancelled_one_loses_its_worktree() {
    check(
        "plan a | start | ready a | defer a | stopped a | +600s",
        r"
            a: Pending → Preparing r1 → Active 1 → Deferred
        ",
    );
    check(
        "plan a | start | ready a | cancel a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Cancelled
            owed: Remove a
        ",
    );
    check(
        "plan a | start | cancel a | stopped a",
        r"
            a: Pending → Preparing r1 → Cancelled
            owed: Remove a
        ",
    );
}

/// Whoever asked may die at once, and so may the coordinator: what is owed is both, by one record.
#[test]
fn a_checkpoint_and_the_end_are_one_wish_that_nobody_can_leave_half() {
    let owed = "owed: Work r1 Drain, Save checkpoint-2026-01-13T10-00-00";
    check(
        "plan a | start | ready a | hello a | drain checkpoint",
        &format!("a: Pending → Preparing r1 → Active 1\n{owed}"),
    );
    check(
        "plan a | start | ready a | hello a | drain checkpoint | ended a | stopped a | leave | start by hand",
        "
        a: Pending → Preparing r1 → Active 1 → Pending
        owed: Save checkpoint-2026-01-13T10-00-00
        ",
    );
    check(
        "plan a | drain checkpoint | start | drain | drain checkpoint",
        "
        a: Pending → Preparing r1 → Pending
        refused: No swarm is running here: nothing would change (try swarm status)
        refused: The swarm is stopping (try swarm status)
        owed: Stop r1
        ",
    );
}

#[test]
fn a_drain_ends_agents_at_their_boundary_and_the_next_coordinator_goes_on() {
    check(
        "plan a | start | ready a | drain",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending
            owed: Stop r1
        ",
    );
    check(
        "plan a | start | ready a | hello a | drain",
        r"
            a: Pending → Preparing r1 → Active 1
            owed: Work r1 Drain
        ",
    );
    check(
        "plan a | start | ready a | hello a | drain | ended a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending
        ",
    );
    check(
        "plan a | start | drain | stopped a | leave | start",
        r"
            a: Pending → Preparing r1 → Pending → Preparing r2
            owed: Prepare r2
        ",
    );
}

#[test]
fn a_report_of_an_attempt_that_is_over_changes_nothing() {
    check(
        "plan a | start | ready a | stop a | complete a | ended a",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending
            owed: Stop r1
        ",
    );
}

/// One try at a task, however often a program has to be started for it.
#[test]
fn a_restart_a_service_that_was_away_and_a_stopped_swarm_go_on_with_the_attempt() {
    for (broken_off, on) in [
        ("crash a | stopped a | +60s", "an agent that begins again"),
        ("fails a network | stopped a | +60s", "a network that is back"),
        ("fails a overloaded | stopped a | +60s", "a service that is back"),
        ("drain | ended a | stopped a | leave | start", "a swarm that was stopped"),
        ("unready a | stopped a | +60s", "a worktree that could not be made"),
    ] {
        let ready = if broken_off.starts_with("unready") { "" } else { "ready a | " };
        let said = crate::played(&format!("plan a | start | {ready}{broken_off} | audit a task_claimed"));
        let claims: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("audit: ")).collect();
        assert_eq!(
            claims,
            ["task_claimed attempt 1 by ed-001 (r1)", "task_claimed attempt 1 goes on with ed-001 (r2)"],
            "{on}: {said}"
        );
    }
}

#[test]
fn an_end_that_says_something_of_the_work_and_a_persons_stop_begin_another_attempt() {
    for ended in [
        "ready a | orphaned a | stopped a | +60s",
        "ready a | fails a refused | stopped a | +60s",
        "ready a | fails a overflow | stopped a | +60s",
        "ready a | +1800s | stopped a | +60s",
        "ready a | stop a | stopped a | go a",
        "ready a | complete a | red a | unfinished a | unfinished a | stopped a | +60s",
    ] {
        let said = crate::played(&format!("plan a | start | {ended} | audit a task_claimed"));
        let claims: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("audit: ")).collect();
        assert_eq!(claims.len(), 2, "{ended}: {said}");
        assert!(claims[1].starts_with("task_claimed attempt 2 by "), "{ended}: {said}");
    }
}

/// What a person reads when the last try is over: so many attempts, and all of them failed.
#[test]
fn the_attempts_that_failed_are_as_many_as_there_were() {
    let said = crate::played(
        "plan a | start | ready a | fails a network | stopped a | +60s | ready a | crash a | stopped a | +60s \
         | ready a | orphaned a | stopped a | +60s | ready a | fails a network | stopped a | +600s \
         | ready a | orphaned a | stopped a | +60s | ready a | orphaned a | stopped a | +60s | ready a | orphaned a \
         | stopped a | +600s | audit a task_claimed | attention",
    );
    let last = said.lines().rfind(|line| line.contains("task_claimed")).expect("a claim");
    assert!(last.contains("attempt 4 "), "{said}");
    assert!(said.contains("4 attempts failed"), "{said}");
}
