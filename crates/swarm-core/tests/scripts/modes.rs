//! Semi-auto: a ready task waits for a person; and a person's own work.

use crate::check;

#[test]
fn in_semi_auto_a_ready_task_waits_until_a_person_starts_it() {
    check(
        "plan a b | slots 2 | start by hand | stage a | rests | attention",
        r#"
            a: Pending
            b: Pending
            stage a: ready: waits for swarm task start a
            rests: true, waits for a start: true
            attention: 2 ready tasks wait to be started (the mode is semi-auto) ["swarm task start a", "swarm task start --all"]
        "#,
    );
    check(
        "plan a b | slots 2 | start by hand | go b | rests",
        r"
            a: Pending
            b: Pending → Preparing r1
            rests: false, waits for a start: true
            owed: Prepare r1
        ",
    );
    check(
        "plan a b:a | slots 2 | start by hand | go | rests",
        r"
            a: Pending → Preparing r1
            b: Pending
            rests: false, waits for a start: false
            owed: Prepare r1
        ",
    );
}

#[test]
fn a_started_task_goes_on_through_its_retries_until_the_plan_is_reset() {
    check(
        "plan a | start by hand | go a | ready a | crash a | stopped a | +60s",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2
            owed: Prepare r2
        ",
    );
    check(
        "plan a | start by hand | go a | ready a | asks a | stopped a | unblock a",
        r"
            a: Pending → Preparing r1 → Active 1 → Blocked (human) → Pending → Preparing r2
            owed: Prepare r2
        ",
    );
    check(
        "plan a | start by hand | go a | ready a | reset | stopped a | +60s",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending
        ",
    );
}

#[test]
fn the_mode_can_be_changed_and_nothing_is_started_twice() {
    check(
        "plan a | start by hand | mode semi | mode auto | go a | go",
        r"
            a: Pending → Preparing r1
            refused: The mode is semi-auto already: nothing would change (try swarm status)
            refused: Task a is already active (try swarm task show a)
            refused: Every ready task starts automatically: nothing would change (try swarm status)
            owed: Prepare r1
        ",
    );
    check(
        "plan a b | start | mode semi | ready a | complete a | green a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging
            b: Pending
            owed: Build a
        ",
    );
    check(
        "plan a b:a | start by hand | go b | go b | go c | block a | go a",
        r"
            a: Pending → Blocked (human)
            b: Pending
            refused: No pending task waits to be started: nothing would change (try swarm status)
            refused: There is no task c (try swarm task show a)
            refused: Task a is blocked and cannot be started (try swarm task unblock a)
        ",
    );
}

#[test]
fn a_task_can_be_started_before_anybody_coordinates() {
    check(
        "plan a | mode semi | go a | start",
        r"
            a: Pending → Preparing r1
            owed: Prepare r1
        ",
    );
    check(
        "plan a | mode semi | start",
        r"
            a: Pending
        ",
    );
}

#[test]
fn work_of_a_person_is_verified_and_merged_like_an_agents() {
    check(
        "plan a | start by hand | submit a | built a | verified a | stopped a | published a | removed a",
        r"
            a: Pending → Approved → Merging → Done
        ",
    );
    check(
        "plan a | start | ready a | complete a | green a | stopped a | conflict a | attention | submit a",
        r#"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Blocked (conflict) → Approved → Merging
            attention: Task a is blocked (conflict) (the work conflicts with trunk in src/a.rs; merge main into swarm/a in its worktree and then merge it by hand, or unblock it for an agent to do so) ["swarm task diff a --conflict", "swarm worktree merge a", "swarm task show a", "swarm task unblock a"]
            owed: Build a
        "#,
    );
}

#[test]
fn work_of_a_person_waits_until_nobody_else_is_at_the_branch() {
    check(
        "plan a | start | ready a | submit a | stop a | submit a",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending
            refused: Task a is active and cannot be merged by hand (try swarm agent stop a)
            refused: Task a is pending and cannot be merged by hand before its last attempt has come to rest (try swarm task start a)
            owed: Stop r1
        ",
    );
    check(
        "plan a | submit empty a",
        r"
            a: Pending
            refused: The branch of task a has no new commits: nothing would change (try swarm status)
        ",
    );
}

#[test]
fn an_agent_that_oversteps_is_on_the_list_until_a_person_has_seen_it() {
    check(
        "plan a | start | ready a | oversteps a | oversteps a | attention",
        r#"
            a: Pending → Preparing r1 → Active 1
            attention: An agent overstepped on task a (moved another branch (2 times so far)) ["swarm task show a", "swarm agent stop a", "swarm attention --seen overstep/a/2"]
            owed: Work r1 Go { iteration: 1 }
        "#,
    );
    // The end of the task says nothing about what its agent tried, nor does a plan that starts over.
    check(
        "plan a | start | ready a | oversteps a | cancel a | stopped a | removed a | attention | reset | revived a | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Cancelled → Pending → Preparing r2
            attention: An agent overstepped on task a (moved another branch) ["swarm task show a", "swarm attention --seen overstep/a/1"]
            attention: An agent overstepped on task a (moved another branch) ["swarm task show a", "swarm agent stop a", "swarm attention --seen overstep/a/1"]
            owed: Prepare r2
        "#,
    );
}

#[test]
fn what_came_after_the_look_at_the_list_is_still_unseen() {
    check(
        "plan a | start | ready a | oversteps a | oversteps a | seen overstep/a/1 | attention | seen overstep/a/2 | attention | seen overstep/a/2",
        r#"
            a: Pending → Preparing r1 → Active 1
            attention: An agent overstepped on task a (moved another branch (2 times so far)) ["swarm task show a", "swarm agent stop a", "swarm attention --seen overstep/a/2"]
            refused: There is no entry with this name: nothing would change (try swarm status)
            owed: Work r1 Go { iteration: 1 }
        "#,
    );
}

#[test]
fn a_pause_says_how_many_runs_go_on() {
    check(
        "plan a b | slots 2 | start | pause | answers",
        "
        a: Pending → Preparing r1
        b: Pending → Preparing r2
        answer: Paused; 2 runs go on to their next boundary and are held there
        owed: Prepare r1, Prepare r2
        ",
    );
    check(
        "plan a | start | pause | answers",
        "
        a: Pending → Preparing r1
        answer: Paused; 1 run goes on to its next boundary and is held there
        owed: Prepare r1
        ",
    );
}

#[test]
fn a_branch_that_was_put_right_is_no_charge_against_an_agent() {
    check(
        "plan a | start | ready a | righted a | attention | seen overstep/a/1 | attention | oversteps a | attention",
        r#"
            a: Pending → Preparing r1 → Active 1
            attention: Somebody changed the branch of task a (its branch was deleted) ["swarm task show a", "swarm agent stop a", "swarm attention --seen overstep/a/1"]
            attention: An agent overstepped on task a (moved another branch (2 times so far)) ["swarm task show a", "swarm agent stop a", "swarm attention --seen overstep/a/2"]
            owed: Work r1 Go { iteration: 1 }
        "#,
    );
}
