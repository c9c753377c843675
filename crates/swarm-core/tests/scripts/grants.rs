//! What is scarce: slots by the execution profile, dependencies, the order of the queue.

use crate::check;

#[test]
fn without_parallelization_one_task_runs_at_a_time() {
    check(
        "plan a b c | start",
        r"
            a: Pending → Preparing r1
            b: Pending
            c: Pending
            owed: Prepare r1
        ",
    );
}

#[test]
fn slots_bound_the_agents_until_their_processes_are_gone() {
    check(
        "plan a b c | slots 2 | start",
        r"
            a: Pending → Preparing r1
            b: Pending → Preparing r2
            c: Pending
            owed: Prepare r1, Prepare r2
        ",
    );
    check(
        "plan a b c | slots 2 | start | ready a | asks a",
        r"
            a: Pending → Preparing r1 → Active 1 → Blocked (human)
            b: Pending → Preparing r2
            c: Pending
            owed: Stop r1, Prepare r2
        ",
    );
    check(
        "plan a b c | slots 2 | start | ready a | asks a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Blocked (human)
            b: Pending → Preparing r2
            c: Pending → Preparing r3
            owed: Prepare r2, Prepare r3
        ",
    );
}

#[test]
fn a_locked_profile_is_not_changed_until_the_plan_is_reset() {
    check(
        "plan a | slots 2 | lock | slots 3",
        r"
            a: Pending
            refused: The execution profile is locked (try swarm plan reset)
        ",
    );
    check(
        "plan a | slots 2 | lock | reset | slots 3",
        r"
            a: Pending
        ",
    );
    check(
        "plan a | lock | start | ready a | reset",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending
            owed: Stop r1
        ",
    );
}

#[test]
fn a_task_waits_for_what_it_depends_on() {
    check(
        "plan a b:a | slots 2 | start",
        r"
            a: Pending → Preparing r1
            b: Pending
            owed: Prepare r1
        ",
    );
    check(
        "plan a b:a | slots 2 | start | ready a | complete a | green a | stopped a | built a | verified a | published a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done
            b: Pending → Preparing r3
            owed: Stop r2, Prepare r3
        ",
    );
}

#[test]
fn circles_and_unknown_names_are_refused() {
    check(
        "plan a:b b:a",
        r"
            refused: Dependency cycle: a → b → a (try swarm task list)
        ",
    );
    check(
        "plan a:x",
        r"
            refused: Task a depends on x, which does not exist (try swarm task show a)
        ",
    );
    check(
        "plan a b:a | depends a:b",
        r"
            a: Pending
            b: Pending
            refused: Dependency cycle: a → b → a (try swarm task list)
        ",
    );
    check(
        "plan a | depends a:a",
        r"
            a: Pending
            refused: Dependency cycle: a → a (try swarm task list)
        ",
    );
}

#[test]
fn a_dependency_on_a_cancelled_task_waits_until_a_person_lets_go_of_it() {
    check(
        "plan a b:a | cancel a | start",
        r"
            a: Pending → Cancelled
            b: Pending
        ",
    );
    check(
        "plan a b:a | cancel a | start | depends b:",
        r"
            a: Pending → Cancelled
            b: Pending → Preparing r1
            owed: Prepare r1
        ",
    );
}

#[test]
fn the_task_that_unblocks_most_goes_first_and_says_why() {
    check(
        "plan a b c:b d:b | why a | why b | start",
        r"
            a: Pending
            b: Pending → Preparing r1
            c: Pending
            d: Pending
            why a: next in the plan
            why b: unblocks 2
            owed: Prepare r1
        ",
    );
    check(
        "plan a b!0 | why b | start",
        r"
            a: Pending
            b: Pending → Preparing r1
            why b: priority 0
            owed: Prepare r1
        ",
    );
}

#[test]
fn a_task_that_waited_long_enough_goes_before_a_newer_more_urgent_one() {
    check(
        "plan a!4 | +1100s | add b!2 | start",
        r"
            a: Pending
            b: Pending → Preparing r1
            owed: Prepare r1
        ",
    );
    check(
        "plan a!4 | +1300s | add b!2 | start",
        r"
            a: Pending → Preparing r1
            b: Pending
            owed: Prepare r1
        ",
    );
}

#[test]
fn w6_tasks_that_name_the_same_files_are_not_at_work_together_while_another_one_is_ready() {
    check(
        "plan a@src/** b@src/x.rs c@docs | slots 2 | start",
        r"
            a: Pending → Preparing r1
            b: Pending
            c: Pending → Preparing r2
            owed: Prepare r1, Prepare r2
        ",
    );
    // Where nothing else is to be done they are: a slot that stands empty helps nobody.
    check(
        "plan a@src/** b@src/x.rs | slots 2 | start",
        r"
            a: Pending → Preparing r1
            b: Pending → Preparing r2
            owed: Prepare r1, Prepare r2
        ",
    );
    // Nor while its work waits for trunk.
    check(
        "plan a@src/** b@src/x.rs c@docs | start reviewed | ready a | complete a | green a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Review r2
            b: Pending
            c: Pending → Preparing r3
            owed: Review r2, Prepare r3
        ",
    );
}
