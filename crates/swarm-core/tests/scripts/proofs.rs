//! What is done, asked again: gone from trunk, back on it, merged again, accepted; and work that changes nothing.

use crate::script::check;

/// A task that is on trunk, and whose worktree is gone.
const DONE: &str = "plan a b:a | start | ready a | complete a | green a | stopped a | built a | verified a | published a | stopped a | removed a";

fn after(more: &str, expected: &str) {
    check(&format!("{DONE} | {more}"), expected);
}

#[test]
fn w7_work_that_has_gone_from_trunk_is_shown_and_nothing_is_built_on_it() {
    after(
        "moved c e | gone a | stage a | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done → Gone
            b: Pending → Preparing r3
            stage a: gone from trunk: main was reset
            attention: The work of task a is gone from trunk (main was reset) ["swarm task show a", "swarm run --retry", "swarm task unblock a", "swarm task rollback a --cascade", "swarm task cancel a", "swarm task accept a --reason WHY"]
            owed: Prepare r3
        "#,
    );
    check(
        "plan a b:a | start by hand | go a | ready a | complete a | green a | stopped a | built a | verified a | published a | stopped a | removed a | moved c e | gone a | go b | stage b",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done → Gone
            b: Pending
            stage b: waits for a
        ",
    );
}

#[test]
fn w7_work_that_is_on_trunk_again_is_done_again() {
    after(
        "moved c e | gone a | moved e c | found a | stage a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done → Gone → Done
            b: Pending → Preparing r3
            stage a: on main at cccccccc
            owed: Prepare r3
        ",
    );
}

#[test]
fn f13_a_retry_merges_what_has_gone_without_paying_an_agent() {
    check(
        "plan a | start | ready a | complete a | green a | stopped a | built a | verified a | published a | stopped a | removed a | moved c e | gone a | retry | built a | verified a | published a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done → Gone → Approved → Merging → Done
            owed: Remove a
        ",
    );
}

#[test]
fn w7_a_person_accepts_what_has_gone_and_can_take_that_back() {
    check(
        "plan a | start | ready a | complete a | green a | stopped a | built a | verified a | published a | stopped a | removed a | moved c e | gone a | accept a | stage a | undo",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done → Gone → Done → Gone
            stage a: accepted as it is: seen
            owed: Prove
        ",
    );
}

#[test]
fn w7_a_branch_that_changes_nothing_is_told_to_its_agent_once_and_then_to_a_person() {
    check(
        "plan a | start | ready a | complete a | green a | stopped a | empty a | ready a | complete a | green a | stopped a | empty a | stage a | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Pending → Preparing r2 → Active 1 → Checking → Approved → Merging → Blocked (empty)
            stage a: blocked (empty): complete 2 times without any change
            attention: Task a is blocked (empty) (complete 2 times without any change) ["swarm task show a", "swarm task unblock a", "swarm task edit a --allow-empty", "swarm task defer a", "swarm task cancel a", "swarm task accept a --reason WHY"]
        "#,
    );
}

#[test]
fn l4_a_phase_is_open_again_when_a_task_of_it_has_gone() {
    check(
        "plan a | start | ready a | complete a | green a | stopped a | built a | verified a | published a | stopped a | removed a | phases | moved c e | gone a | phases",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done → Gone
            phase 1 complete
            phase 1 open
        ",
    );
}

#[test]
fn w7_what_builds_on_other_work_gives_its_turn_back_when_trunk_has_moved_since_it_was_looked_up() {
    after(
        "ready b | complete b | green b | stopped b | built-elsewhere b | released b | gone a | stage b",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done → Gone
            b: Pending → Preparing r3 → Active 1 → Checking → Approved → Merging → Approved
            stage b: approved, is merged when a is on trunk
        ",
    );
    after(
        "ready b | complete b | green b | stopped b | built-elsewhere b | released b | found a | built b | verified b | published b | stopped b | removed b",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done
            b: Pending → Preparing r3 → Active 1 → Checking → Approved → Merging → Approved → Merging → Done
        ",
    );
}

#[test]
fn f13_work_that_goes_on_before_it_is_merged_again_lies_in_its_worktree_first() {
    let gone = "plan a | start | ready a | complete a | green a | stopped a | built a | verified a | published a | stopped a | removed a | moved c e | gone a";
    check(
        &format!("{gone} | pause | retry | message a | resume"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done → Gone → Approved → Pending
            owed: Revive a
        ",
    );
    check(
        &format!("{gone} | pause | retry | message a | resume | revived a | again a"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done → Gone → Approved → Pending → Preparing r3 → Active 1
            owed: Work r3 Go { iteration: 1 }
        ",
    );
    check(
        &format!("{gone} | retry | built-protected a | person rejects a no"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done → Gone → Approved → Merging → Review → Pending
            owed: Revive a
        ",
    );
}

#[test]
fn a_message_to_work_that_was_put_off_is_heard_before_it_is_merged() {
    check(
        "plan a | start | ready a | complete a | pause | green a | stopped a | defer a | message a | unblock a | messages a | resume",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Deferred → Pending → Preparing r2
            message: use the old parser queued
            owed: Prepare r2
        ",
    );
    let gone = "plan a | start | ready a | complete a | green a | stopped a | built a | verified a | published a | stopped a | removed a | moved c e | gone a";
    check(
        &format!("{gone} | pause | retry | defer a | message a | unblock a | resume"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done → Gone → Approved → Deferred → Pending
            owed: Revive a
        ",
    );
}
