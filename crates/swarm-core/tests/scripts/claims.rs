//! Nothing is claimed again and again: who may start a task after a stop, and how often it may come to nothing.

use crate::check;

#[test]
fn a_task_whose_agent_a_person_stopped_waits_for_a_persons_word_in_autopilot_too() {
    check(
        "plan a | start | ready a | stop a | stopped a | +600s | stage a | rests | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Pending
            stage a: a person stopped its agent: waits for swarm task start a
            rests: true, waits for a start: true
            attention: Task a waits to be started again (a person stopped its agent) ["swarm task start a", "swarm task show a"]
        "#,
    );
    check(
        "plan a | start | ready a | kill a | stopped a | +600s | stage a",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending
            stage a: a person killed its agent: waits for swarm task start a
            owed: Rewind a
        ",
    );
    check(
        "plan a | start by hand | go a | ready a | stop a | stopped a | mode auto | go | go",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending → Preparing r2
            refused: Every ready task starts automatically: nothing would change (try swarm status)
            owed: Prepare r2
        ",
    );
}

#[test]
fn whoever_stops_or_kills_an_agent_is_told_what_the_task_waits_for() {
    check(
        "plan a | start | ready a | stop a | answers",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending
            answer: Agent of task a stopped, its worktree stays; the task waits for `swarm task start a`
            owed: Stop r1
        ",
    );
    check(
        "plan a | start | ready a | kill a | answers",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending
            answer: Agent of task a killed; changes of its iteration are kept on a ref, the task waits for `swarm task start a`
            owed: Stop r1
        ",
    );
}

#[test]
fn a_stop_can_be_undone_and_so_can_the_word_after_it() {
    check(
        "plan a | start | ready a | stop a | stopped a | undo",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending → Preparing r2
            owed: Prepare r2
        ",
    );
    check(
        "plan a | start | ready a | stop a | pause | go a | undo | resume | stopped a | stage a",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending
            stage a: a person stopped its agent: waits for swarm task start a
        ",
    );
}

#[test]
fn a_task_that_comes_to_nothing_too_often_waits_for_a_person() {
    // Its daemon ends without a word, again and again: later each time, and not for ever.
    check(
        "plan a | start three | ready a | ended a | stopped a | +60s | ready a | ended a | stopped a | +60s | ready a | ended a | stopped a | +60s | stage a",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s) → Preparing r2 → Active 1 → Pending (in 5 s) → Preparing r3 → Active 1 → Pending (in 10 s) → Blocked (retries)
            stage a: blocked (retries): 3 starts without any progress; the last attempt: stopped
        ",
    );
    // The same for sessions that are ended before anything came of them.
    check(
        "plan a | start three | ready a | drain | stopped a | leave | start three | drain | stopped a | leave | start three | drain | stopped a | leave | start three | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Pending → Preparing r2 → Pending → Preparing r3 → Pending → Blocked (retries)
            attention: Task a is blocked (retries) (3 starts without any progress; the last attempt: stopped) ["swarm task show a", "swarm task unblock a"]
        "#,
    );
}

#[test]
fn a_sign_of_progress_lets_the_claims_begin_anew() {
    check(
        "plan a | start three | ready a | ended a | stopped a | +60s | ready a | unfinished a | ended a | stopped a | +60s | ready a | ended a | stopped a | +60s",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s) → Preparing r2 → Active 1 → Active 2 → Pending (in 2 s) → Preparing r3 → Active 1 → Pending (in 3 s) → Preparing r4
            owed: Prepare r4
        ",
    );
}

#[test]
fn all_means_what_is_ready_now_and_the_rest_waits_for_its_own_word() {
    check(
        "plan a b c:a d:c | slots 4 | start by hand | go | ready a | complete a | green a | stopped a | built a | verified a | published a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done
            b: Pending → Preparing r2
            c: Pending
            d: Pending
            owed: Stop r3, Prepare r2
        ",
    );
    check(
        "plan a b:a | start by hand | go a | go | answers",
        r"
            a: Pending → Preparing r1
            b: Pending
            refused: No ready task waits to be started (1 not ready: b waits for a): nothing would change (try swarm status)
            answer: Task a is started
            owed: Prepare r1
        ",
    );
    check(
        "plan a b c:a,b | slots 2 | start by hand | go | go c | answers",
        r"
            a: Pending → Preparing r1
            b: Pending → Preparing r2
            c: Pending
            answer: 2 tasks are started; 1 not ready: c waits for a and b
            answer: Task c is started; c begins when a and b are done
            owed: Prepare r1, Prepare r2
        ",
    );
}

#[test]
fn closing_a_plan_stops_everybody_at_once_and_nothing_starts_before_it_is_over() {
    check(
        "plan a b c | slots 2 | start | ready a | closing | stopped a | stopped b | +60s",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending
            b: Pending → Preparing r2 → Pending
            c: Pending
        ",
    );
    // Whoever wanted to close it is dead: the hold lapses, and those that were stopped go first.
    check(
        "plan a b c | slots 2 | start | ready a | closing | stopped a | stopped b | +301s",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending → Preparing r3
            b: Pending → Preparing r2 → Pending → Preparing r4
            c: Pending
            owed: Prepare r3, Prepare r4
        ",
    );
    // A merge is broken off too, and goes on if the plan stays open.
    check(
        "plan a | start | ready a | complete a | green a | stopped a | closing | released a | attention | resume close",
        r#"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved → Merging
            attention: Paused: the plan is being closed (close) ["swarm close --stop", "swarm resume --reason close"]
            owed: Build a
        "#,
    );
}

#[test]
fn of_the_tasks_an_agent_could_take_up_one_is_first_in_the_queue() {
    check(
        "plan a b c d:a | start | ready a | instead a",
        r"
            a: Pending → Preparing r1 → Active 1
            b: Pending
            c: Pending
            d: Pending
            instead: b (first in the queue)
            instead: c (nothing waits for it)
            owed: Work r1 Go { iteration: 1 }
        ",
    );
}

#[test]
fn weather_is_nobodys_attempt() {
    let again = "stopped a | +600s | ready a | fails a overloaded |";
    check(
        &format!(
            "plan a | start three | ready a | fails a overloaded | {again} {again} stopped a | +600s | ready a"
        ),
        r"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s) → Preparing r2 → Active 1 → Pending (in 5 s) → Preparing r3 → Active 1 → Pending (in 9 s) → Preparing r4 → Active 1
            owed: Work r4 Go { iteration: 1 }
        ",
    );
}
