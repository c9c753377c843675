//! A task that is too large: tried once more with a fresh session, then split into parts.

use crate::{check, played};

#[test]
fn a_full_context_is_tried_once_more_without_penalty_and_then_a_person_splits_the_task() {
    check(
        "plan a | start | ready a | fails a overflow | stopped a | ready a | fails a overflow | stopped a | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Pending → Preparing r2 → Active 1 → Blocked (overflow)
            attention: Task a is blocked (overflow) (the context window is full: output; also with a fresh session: the task has to be split) ["swarm task show a", "swarm task split a", "swarm task unblock a", "swarm task defer a", "swarm task cancel a"]
        "#,
    );
    check(
        "plan a b:a | start | ready a | fails a overflow | stopped a | ready a | fails a overflow | stopped a | split a x y | stage a | agents",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending → Preparing r2 → Active 1 → Blocked (overflow) → Split
            b: Pending
            x: Pending → Preparing r3
            y: Pending
            stage a: split: waits for x, y
            agent ed-001: x preparing
            owed: Prepare r3
        ",
    );
}

#[test]
fn a_split_task_is_done_when_its_parts_are_and_its_dependents_wait_for_it() {
    check(
        "plan a b:a | slots 2 | start | ready a | cannot a | stopped a | split a x y | ready x | complete x | green x | stopped x | built x | verified x | published x | stopped x | removed x | ready y | complete y | green y | stopped y | built y | verified y | published y | found y | stopped y | removed y",
        r"
            a: Pending → Preparing r1 → Active 1 → Failed → Split → Done
            b: Pending → Preparing r6
            x: Pending → Preparing r2 → Active 1 → Checking → Approved → Merging → Done
            y: Pending → Preparing r4 → Active 1 → Checking → Approved → Merging → Done
            owed: Prepare r6, Remove a
        ",
    );
}

#[test]
fn a_split_task_whose_part_is_cancelled_waits_for_a_person() {
    check(
        "plan a | start | ready a | cannot a | stopped a | split a x y | cancel x | stage a | attention | unblock a",
        r#"
            a: Pending → Preparing r1 → Active 1 → Failed → Split
            x: Pending → Preparing r2 → Cancelled
            y: Pending
            stage a: blocked (children): its part x is cancelled
            attention: Task a waits for its parts (blocked (children): its part x is cancelled) ["swarm task show x", "swarm task unblock a", "swarm task show a", "swarm task cancel a"]
            attention: Task y waits for x, which is cancelled (it would wait forever) ["swarm task edit y --depends ''"]
            owed: Stop r2
        "#,
    );
    check(
        "plan a | start | ready a | cannot a | stopped a | split a x y | cancel x | cancel y | unblock a",
        r"
            a: Pending → Preparing r1 → Active 1 → Failed → Split → Pending
            x: Pending → Preparing r2 → Cancelled
            y: Pending → Cancelled
            owed: Stop r2
        ",
    );
    check(
        "plan a | start | ready a | cannot a | stopped a | split a x y | stopped x | cancel a",
        r"
            a: Pending → Preparing r1 → Active 1 → Failed → Split → Cancelled
            x: Pending → Preparing r2 → Cancelled
            y: Pending → Cancelled
            owed: Stop r2, Remove a
        ",
    );
}

#[test]
fn a_split_task_that_was_put_aside_waits_for_its_parts_again() {
    check(
        "plan a | start | ready a | cannot a | stopped a | split a x y | block a | unblock a | defer a | reset",
        r"
            a: Pending → Preparing r1 → Active 1 → Failed → Split → Blocked (human) → Split → Deferred → Split
            x: Pending → Preparing r2 → Pending
            y: Pending
            owed: Stop r2
        ",
    );
}

#[test]
fn what_is_no_split_is_refused() {
    check(
        "plan a | start | split a x y | ready a | cannot a | stopped a | split a x | split a x x | split a x a | split a x y:a",
        r"
            a: Pending → Preparing r1 → Active 1 → Failed
            refused: Task a is active and cannot be split (try swarm agent stop a)
            refused: The split of task a is not valid: it needs at least two parts (try swarm --help)
            refused: The split of task a is not valid: there are two parts x (try swarm --help)
            refused: Task a already exists (try swarm task show a)
            refused: Dependency cycle: a → y → a (try swarm task list)
        ",
    );
    check(
        "plan a c:a | start | ready a | cannot a | stopped a | split a x:c y",
        r"
            a: Pending → Preparing r1 → Active 1 → Failed
            c: Pending
            refused: Dependency cycle: a → x → c → a (try swarm task list)
        ",
    );
    check(
        "plan a | start | ready a | cannot a | stopped a | split a x y | split a z w | stop x | stopped x | go x | stop x | stopped x | go x | defer x | split x p q | stop p | defer p | split p u v",
        r"
            a: Pending → Preparing r1 → Active 1 → Failed → Split
            p: Pending → Deferred
            q: Pending
            x: Pending → Preparing r2 → Pending → Preparing r3 → Pending → Preparing r4 → Deferred → Split
            y: Pending
            refused: Task a is active and cannot be split (try swarm task show a)
            refused: No agent is working on task p (try swarm status)
            refused: The split of task p is not valid: it is a part of a part; at most 2 levels are possible (try swarm --help)
            owed: Stop r4
        ",
    );
}

#[test]
fn a_task_that_was_split_is_not_counted_as_active() {
    check(
        "plan a | start by hand | go a | ready a | cannot a | stopped a | split a x y | counts",
        r"
            a: Pending → Preparing r1 → Active 1 → Failed → Split
            x: Pending → Preparing r2
            y: Pending
            counts: 1 active, 1 split, 0 ready
            owed: Prepare r2
        ",
    );
}

#[test]
fn a_plan_file_from_before_the_split_leaves_its_parts_whatever_else_it_adds() {
    check(
        "plan a b | split a p q | plan a b z",
        r"
            a: Pending → Split
            b: Pending
            p: Pending
            q: Pending
            z: Pending
        ",
    );
}

#[test]
fn what_parts_wait_for_counts_also_where_the_plan_file_does_not_know_them() {
    // A dependency that points to nothing would keep all others from being edited.
    check(
        "plan a b:a | split b x y | plan b | add z | depends z:b",
        r"
            a: Pending → Cancelled
            b: Pending → Split
            x: Pending
            y: Pending
            z: Pending
        ",
    );
    // Each would wait for the other, and nobody would be asked.
    check(
        "plan a b:a | split b x y | plan a:b b",
        r"
            a: Pending
            b: Pending → Split
            x: Pending
            y: Pending
            refused: Dependency cycle: a → b → x → a (try swarm task list)
        ",
    );
}

#[test]
fn an_undo_makes_no_circle_through_the_parts_of_a_task() {
    check(
        "plan a b | split b x y | depends x:a | depends x | depends a:b | undo c4",
        r"
            a: Pending
            b: Pending → Split
            x: Pending
            y: Pending
            refused: Cannot undo `task edit x`, changed since: task x would depend on itself (try swarm undo 14)
        ",
    );
}

#[test]
fn the_parts_of_a_task_wait_until_its_work_lies_where_they_go_on() {
    check(
        "plan a | start | ready a | cancel a | stopped a | removed a | undo | split a x y",
        r"
            a: Pending → Preparing r1 → Active 1 → Cancelled → Pending → Split
            x: Pending
            y: Pending
            owed: Revive a
        ",
    );
    // Finished work without a branch is put off, and too large after all.
    let gone = "plan a | start | ready a | complete a | green a | stopped a | built a | verified a | published a | stopped a | removed a | moved c e | gone a";
    let split = format!("{gone} | pause | retry | defer a | resume | split a x y");
    let way = "a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done → Gone → Approved → Deferred → Split";
    check(&split, &format!("{way}\nx: Pending\ny: Pending\nowed: Revive a"));
    check(
        &format!("{split} | revived a"),
        &format!("{way}\nx: Pending → Preparing r3\ny: Pending\nowed: Prepare r3"),
    );
}

#[test]
fn what_cannot_be_put_back_is_told_and_waited_for_and_nobody_begins_without_it() {
    let gone = "plan a | start | ready a | complete a | green a | stopped a | built a | verified a | published a | stopped a | removed a | moved c e | gone a";
    let split = format!("{gone} | pause | retry | defer a | resume | split a x y");
    let tries = |n| " | not back a taken".repeat(n);
    let way = "a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done → Gone → Approved → Deferred → Split";
    let told = "attention: The work of task a cannot be put back; retrying (taken; `swarm worktree cleanup a` lets it begin anew instead) [\"git switch --detach\", \"swarm task show a\", \"swarm worktree cleanup a\"]";
    let waits = format!("{way}\nx: Pending\ny: Pending");
    // It may be over in a moment.
    check(&format!("{split}{} | attention", tries(4)), &format!("{waits}\nowed: Revive a"));
    check(
        &format!("{split}{} | stage x | attention | rests", tries(9)),
        &format!(
            "{waits}\nstage x: waits until the work of a can be put back: swarm attention\n{told}\nrests: false, waits for a start: false\nowed: Revive a"
        ),
    );
    let begins = format!("{way}\nx: Pending → Preparing r3\ny: Pending\nowed: Prepare r3");
    check(&format!("{split}{} | revived a | attention", tries(5)), &begins);
    // Or a person does without it; not while it may come.
    check(&format!("{split}{} | cleaned a | attention", tries(5)), &begins);
    check(
        &format!("{split} | not back a taken | cleaned a"),
        &format!(
            "{waits}\nrefused: Task a has no worktree: nothing would change (try swarm status)\nowed: Revive a"
        ),
    );
}

#[test]
fn in_every_open_stage_what_cannot_be_put_back_stays_owed_and_has_tries_of_its_own() {
    let gone = "plan a | start | ready a | complete a | green a | stopped a | built a | verified a | published a | stopped a | removed a | moved c e | gone a";
    let tries = |n| " | unrevived a".repeat(n);
    let told = |stage: &str, n: usize| {
        let script = format!("{gone} | {stage}{} | stage a | attention | rests", tries(n));
        let all = played(&script);
        let list = ["stage a:", "attention: The work", "rests:", "owed:"];
        all.lines()
            .filter(|line| list.iter().any(|one| line.starts_with(one)))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let line = "attention: The work of task a cannot be put back; retrying (git broke; `swarm worktree cleanup a` lets it begin anew instead) [\"swarm task show a\", \"swarm worktree cleanup a\"]";
    // After five merges that the world failed.
    let merges =
        "retry | unbuilt a | +600s | unbuilt a | +600s | unbuilt a | +600s | unbuilt a | +600s | unbuilt a";
    for (stage, words, rests) in [
        ("retry | built-protected a | person rejects a no", "ready", false),
        (merges, "blocked (setup): git broke", true),
    ] {
        let wanted = |stage: &str, more: &[&str], rests: bool| {
            let mut lines = vec![format!("stage a: {stage}")];
            lines.extend(more.iter().map(|line| (*line).to_owned()));
            lines.push(format!("rests: {rests}, waits for a start: false"));
            lines.push("owed: Revive a".into());
            lines
        };
        assert_eq!(told(stage, 4), wanted(words, &[], false), "{stage}");
        let later = if rests { words } else { "waits until the work of a can be put back: swarm attention" };
        assert_eq!(told(stage, 5), wanted(later, &[line], rests), "{stage}");
    }
}
