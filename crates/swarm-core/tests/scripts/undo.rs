//! Facts, undo and redo of what is one batch.

use super::check;

#[test]
fn c8_an_undo_sets_back_what_the_newest_operation_did_and_a_redo_does_it_again() {
    check(
        "plan a | start by hand | block a | undo | redo | undo",
        "a: Pending → Blocked (human) → Pending → Blocked (human) → Pending",
    );
}

#[test]
fn c8_an_agent_that_was_stopped_comes_back_as_a_queued_task() {
    check(
        "plan a | start | ready a | pause | block a | stopped a | undo",
        "a: Pending → Preparing r1 → Active 1 → Blocked (human) → Pending",
    );
}

#[test]
fn c8_what_has_changed_since_is_refused_by_name_with_the_operation_to_undo_first() {
    check(
        "plan a b | start by hand | edit a | block a | edit a again | undo c2 | undo c4 | undo c3 | undo c2",
        "
        a: Pending → Blocked (human) → Pending
        b: Pending
        refused: Cannot undo `task edit a`, changed since: task a was edited (try swarm undo 11)
        ",
    );
}

#[test]
fn c8_a_stage_that_moved_on_by_itself_counts_as_changed() {
    check(
        "plan a | start by hand | block a | unblock a | go a | undo c3",
        "
        a: Pending → Blocked (human) → Pending → Preparing r1
        refused: Cannot undo `task unblock a`, changed since: task a is active (try swarm undo 10 --set-aside)
        owed: Prepare r1
        ",
    );
}

#[test]
fn c8_what_an_agent_has_begun_since_is_stopped_and_set_aside_where_a_person_says_so() {
    check(
        "plan a | block a | start | unblock a | ready a | undo c3 | undo c3 aside | stopped a",
        "
        a: Pending → Blocked (human) → Pending → Preparing r1 → Active 1 → Pending
        refused: Cannot undo `task unblock a`, changed since: task a is active (try swarm undo 8 --set-aside)
        owed: Survey c5
        ",
    );
}

#[test]
fn c8_undo_and_redo_go_back_and_forth_as_often_as_one_likes() {
    check(
        "plan a | start by hand | block a | undo | redo | undo | redo | undo c2",
        "a: Pending → Blocked (human) → Pending → Blocked (human) → Pending → Blocked (human) → Pending",
    );
}

#[test]
fn c8_what_was_undone_is_not_undone_twice() {
    check(
        "plan a | start by hand | block a | undo c2 | undo c2",
        "
        a: Pending → Blocked (human) → Pending
        refused: Operation 6 was already undone by 8 (try swarm op show 8)
        ",
    );
}

#[test]
fn i3_a_killed_agents_worktree_goes_back_before_anybody_takes_it_up() {
    check(
        "plan a | start | ready a | kill a | stopped a",
        "
        a: Pending → Preparing r1 → Active 1 → Pending
        owed: Rewind a
        ",
    );
}

#[test]
fn i4_a_refused_redirect_gives_the_reason() {
    check(
        "plan a b:a | start | ready a | redirect a b | redirect a a | redirect b a",
        "
        a: Pending → Preparing r1 → Active 1
        b: Pending
        refused: Task b is pending and cannot be taken up now: b waits for a (try swarm task show b)
        refused: ed-001 works on task a already: nothing would change (try swarm status)
        refused: No agent is working on task b (try swarm status)
        owed: Work r1 Go { iteration: 1 }
        ",
    );
}

#[test]
fn i4_a_redirected_agent_takes_up_the_other_task_first() {
    check(
        "plan a b c | start | ready a | redirect a c | stopped a",
        "
        a: Pending → Preparing r1 → Active 1 → Pending
        b: Pending
        c: Pending → Preparing r2
        owed: Prepare r2
        ",
    );
}

#[test]
fn i4_a_task_that_an_agent_was_sent_to_does_not_wait_for_later_agents_of_the_other_one() {
    check(
        "plan a c#src/** | slots 2 | reserve src | start | ready a | redirect a c | stopped a | release 1",
        "
        a: Pending → Preparing r1 → Active 1 → Pending → Preparing r2
        c: Pending → Preparing r3
        owed: Prepare r2, Prepare r3
        ",
    );
}

#[test]
fn i1_a_forced_pause_stops_agents_and_they_go_on_first() {
    check(
        "plan a!4 b!0 | start | ready b | force | stopped b | resume",
        "
        a: Pending
        b: Pending → Preparing r1 → Active 1 → Pending → Preparing r2
        owed: Prepare r2
        ",
    );
}

#[test]
fn c8_a_worktree_that_was_given_up_comes_back_before_anybody_takes_the_task_up() {
    check(
        "plan a | start | ready a | cancel a | stopped a | removed a | undo",
        "
        a: Pending → Preparing r1 → Active 1 → Cancelled → Pending
        owed: Revive a
        ",
    );
    check(
        "plan a | start | ready a | cancel a | stopped a | removed a | undo | revived a",
        "
        a: Pending → Preparing r1 → Active 1 → Cancelled → Pending → Preparing r2
        owed: Prepare r2
        ",
    );
}

#[test]
fn c8_a_task_that_is_wanted_back_while_its_worktree_goes_waits_for_that() {
    check(
        "plan a | start | ready a | cancel a | stopped a | undo",
        "
        a: Pending → Preparing r1 → Active 1 → Cancelled → Pending
        owed: Remove a
        ",
    );
    check(
        "plan a | start | ready a | cancel a | stopped a | undo | removed a",
        "
        a: Pending → Preparing r1 → Active 1 → Cancelled → Pending
        owed: Revive a
        ",
    );
    // What cannot go is still there to be worked in.
    check(
        "plan a | start | ready a | cancel a | stopped a | undo | kept a",
        "
        a: Pending → Preparing r1 → Active 1 → Cancelled → Pending → Preparing r2
        owed: Prepare r2
        ",
    );
}

#[test]
fn c5_an_operation_waits_for_worktrees_that_are_on_their_way_out() {
    check(
        "plan a | start | ready a | cancel a | stopped a | back a",
        "
        a: Pending → Preparing r1 → Active 1 → Cancelled
        owed: Remove a
        ",
    );
    check(
        "plan a | start | ready a | cancel a | stopped a | back a | removed a",
        "
        a: Pending → Preparing r1 → Active 1 → Cancelled
        owed: Survey c3
        ",
    );
}

#[test]
fn c8_the_first_choice_of_a_mode_is_undone_and_not_what_was_before_it() {
    for mode in ["auto", "semi"] {
        check(
            &format!("plan a | mode {mode} | undo | stage a | undo | plan b"),
            "
            a: Pending
            b: Pending
            stage a: ready
            ",
        );
    }
}

#[test]
fn c8_what_was_seen_can_be_unseen() {
    check(
        "plan a | start by hand | go a | ready a | oversteps a | seen overstep/a/1 | attention | undo | attention",
        r#"
        a: Pending → Preparing r1 → Active 1
        attention: An agent overstepped on task a (moved another branch) ["swarm task show a", "swarm agent stop a", "swarm attention --seen overstep/a/1"]
        owed: Work r1 Go { iteration: 1 }
        "#,
    );
}

#[test]
fn a_closed_plan_is_reopened_as_it_was() {
    check(
        "plan a b c | start by hand | block a | defer b | leave | close | reopen | stage a | stage b | stage c | undo",
        "
        a: Pending → Blocked (human) → Cancelled → Blocked (human)
        b: Pending → Deferred → Cancelled → Deferred → Pending
        c: Pending → Cancelled → Pending
        stage a: blocked (human): wait for me
        stage b: deferred
        stage c: ready: waits for swarm task start c
        ",
    );
}

#[test]
fn only_a_closed_plan_is_reopened_and_a_closed_one_takes_nothing_else() {
    check(
        "plan a | reopen | close | block a | reopen | block a",
        "
        a: Pending → Cancelled → Pending → Blocked (human)
        refused: The plan is open already: nothing would change (try swarm status)
        refused: The plan is closed and its ledger is being archived (try swarm plan save FILE)
        ",
    );
}

#[test]
fn w8_a_worktree_that_a_person_has_removed_waits_for_nobody() {
    check(
        "plan a | start | ready a | complete a | green a | stopped a | built a | verified a | published a | stopped a | kept a | attention | cleaned a | attention",
        r#"
        a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done
        attention: The worktree of task a was kept (.env is ignored by git) ["swarm task show a", "swarm worktree cleanup a --force"]
        "#,
    );
}

#[test]
fn c8_a_message_that_a_cancel_gave_up_waits_again_when_the_task_is_back() {
    check(
        "plan a | start by hand | message a | cancel a | messages a | undo | messages a | redo | messages a",
        "
        a: Pending → Cancelled → Pending → Cancelled
        message: use the old parser not delivered: the task is cancelled
        message: use the old parser queued
        message: use the old parser not delivered: the task is cancelled
        ",
    );
    check(
        "plan a | message a | close | reopen | messages a",
        "
        a: Pending → Cancelled → Pending
        message: use the old parser queued
        ",
    );
}

#[test]
fn c8_a_hint_does_not_lead_to_the_undo_of_an_undo_and_back() {
    // What was deferred and undeferred since is not in the way; the agent is, and can be set aside.
    check(
        "plan a | block a | unblock a | defer a | undo | start | undo c3",
        "
        a: Pending → Blocked (human) → Pending → Deferred → Pending → Preparing r1
        refused: Cannot undo `task unblock a`, changed since: task a is active (try swarm undo 7 --set-aside)
        owed: Prepare r1
        ",
    );
}

/// Undone under a swarm that goes on, the merge would be made again at once, and the hint would lead to the next one.
#[test]
fn c8_whoever_is_to_undo_a_merge_is_told_to_pause_first() {
    let merged = "plan a | start | ready a | asks a | stopped a | unblock a | ready a | complete a | green a | stopped a | built a | verified a | published a | stopped a";
    check(
        &format!("{merged} | undo c2"),
        r"
            a: Pending → Preparing r1 → Active 1 → Blocked (human) → Pending → Preparing r2 → Active 1 → Checking → Approved → Merging → Done
            refused: Cannot undo `task unblock a`, changed since: task a is done (try swarm pause)
            owed: Remove a
        ",
    );
    check(
        &format!("{merged} | pause | undo c2"),
        r"
            a: Pending → Preparing r1 → Active 1 → Blocked (human) → Pending → Preparing r2 → Active 1 → Checking → Approved → Merging → Done
            refused: Cannot undo `task unblock a`, changed since: task a is done (try swarm undo 26)
            owed: Remove a
        ",
    );
}

#[test]
fn c8_finished_work_is_merged_and_not_done_again_whatever_is_undone_about_its_block() {
    let approved = "plan a | start | ready a | complete a | pause | green a | stopped a";
    for (steps, way) in [
        ("block a | undo | redo | unblock a", "Blocked (human) → Approved → Blocked (human) → Approved"),
        ("defer a | unblock a | undo | unblock a", "Deferred → Approved → Deferred → Approved"),
        ("defer a | block a | unblock a", "Deferred → Blocked (human) → Approved"),
        ("block a | defer a | unblock a", "Blocked (human) → Deferred → Approved"),
    ] {
        check(
            &format!("{approved} | {steps} | resume"),
            &format!(
                "a: Pending → Preparing r1 → Active 1 → Checking → Approved → {way} → Merging
                owed: Build a"
            ),
        );
    }
}
