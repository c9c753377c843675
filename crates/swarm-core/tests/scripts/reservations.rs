//! Files for oneself: granted with the claim, waited for, given back, and asked about before a merge.

use crate::{check, played};

#[test]
fn w3_a_task_whose_files_somebody_has_waits_and_others_go_on() {
    check(
        "plan a#src/** b#src/a.rs c#docs/** | slots 3 | start | stage b | reservations",
        r"
            a: Pending → Preparing r1
            b: Pending
            c: Pending → Preparing r2
            stage b: waits for files of task a (reservation 1)
            reservation 1: task a has src/**, b waits
            reservation 2: task c has docs/**
            owed: Prepare r1, Prepare r2
        ",
    );
}

#[test]
fn w3_both_directions_of_two_globs_and_sharing() {
    check(
        "plan a#src/a.rs b#**/*.rs c~src/** d~src/a.rs | slots 4 | start | reservations",
        r"
            a: Pending → Preparing r1
            b: Pending
            c: Pending
            d: Pending
            reservation 1: task a has src/a.rs, b c d waits
            owed: Prepare r1
        ",
    );
    check(
        "plan c~src/** d~src/a.rs e#src/a.rs | slots 4 | start | reservations",
        r"
            c: Pending → Preparing r1
            d: Pending → Preparing r2
            e: Pending
            reservation 1: task c has src/**, e waits
            reservation 2: task d has src/a.rs, e waits
            owed: Prepare r1, Prepare r2
        ",
    );
}

#[test]
fn w3_an_agent_gets_more_files_at_once_or_not_at_all() {
    check(
        "plan a#src/** b#docs/** | slots 2 | start | ready a | ready b | needs a docs/x.md | needs a lib/** | needs a lib/** | needs b lib/c.rs | needs b ** | needs b ./*/x | needs b *.md | reservations",
        r"
            a: Pending → Preparing r1 → Active 1
            b: Pending → Preparing r2 → Active 1
            reservation 2: task b has docs/**
            reservation 3: task a has src/** lib/**
            owed: Work r1 Go { iteration: 1 }, Work r2 Go { iteration: 1 }
        ",
    );
    // Sharing is not having: what nobody may have alone can still be shared.
    check(
        "plan a#src/** b#docs/** | slots 2 | start | ready a | ready b | needs shared a lib/** | needs shared b lib/c.rs | needs b lib/d.rs | reservations",
        r"
            a: Pending → Preparing r1 → Active 1
            b: Pending → Preparing r2 → Active 1
            reservation 3: task a has src/** lib/**
            reservation 4: task b has docs/** lib/c.rs
            owed: Work r1 Go { iteration: 1 }, Work r2 Go { iteration: 1 }
        ",
    );
    // Nobody works on it any more.
    check(
        "plan a#src/** | slots 2 | start | ready a | complete a | needs a lib/** | reservations",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking
            reservation 1: task a has src/**
            owed: Work r1 Check { iteration: 1, waived: false, scan_waived: false }
        ",
    );
}

#[test]
fn w3_the_files_are_kept_until_the_work_is_merged() {
    check(
        "plan a#src/** b#src/** | slots 2 | start | ready a | complete a | green a | stopped a | reservations",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging
            b: Pending
            reservation 1: task a has src/**, b waits
            owed: Build a
        ",
    );
    check(
        "plan a#src/** b#src/** | slots 2 | start | ready a | complete a | green a | stopped a | built a | verified a | published a | reservations",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done
            b: Pending → Preparing r3
            reservation 2: task b has src/**
            owed: Stop r2, Prepare r3
        ",
    );
}

#[test]
fn w3_they_are_released_when_the_attempt_fails_and_its_processes_are_gone() {
    check(
        "plan a#src/** b#src/** | slots 2 | start | ready a | asks a | reservations",
        r"
            a: Pending → Preparing r1 → Active 1 → Blocked (human)
            b: Pending
            reservation 1: task a has src/**, b waits
            owed: Stop r1
        ",
    );
    check(
        "plan a#src/** b#src/** | slots 2 | start | ready a | asks a | stopped a | reservations",
        r"
            a: Pending → Preparing r1 → Active 1 → Blocked (human)
            b: Pending → Preparing r2
            reservation 2: task b has src/**
            owed: Prepare r2
        ",
    );
}

#[test]
fn w3_an_agent_at_work_keeps_them_for_as_long_as_it_works() {
    check(
        "plan a#src/** b#src/** | slots 2 | start | ready a | +1700s | reservations",
        r"
            a: Pending → Preparing r1 → Active 1
            b: Pending
            reservation 1: task a has src/**, b waits
            owed: Work r1 Go { iteration: 1 }
        ",
    );
}

#[test]
fn w3_work_that_waits_for_a_person_keeps_them_for_an_hour() {
    check(
        "plan a#src/** b#src/** | slots 2 | start read | ready a | complete a | green a | stopped a | +3500s | reservations",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review
            b: Pending
            reservation 1: task a has src/**, b waits
        ",
    );
    check(
        "plan a#src/** b#src/** | slots 2 | start read | ready a | complete a | green a | stopped a | +3601s | reservations",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review
            b: Pending → Preparing r2
            reservation 2: task b has src/**
            owed: Prepare r2
        ",
    );
}

#[test]
fn w3_a_person_reserves_and_releases_and_both_can_be_undone() {
    check(
        "plan a#src/** | reserve src/ui | start | reservations",
        r"
            a: Pending
            reservation 1: person:cli has src/ui, a waits
        ",
    );
    check(
        "plan a#src/** | reserve src/ui | start | release 1",
        r"
            a: Pending → Preparing r1
            owed: Prepare r1
        ",
    );
    check(
        "plan a | reserve src/ui | reserve src/ui/button.rs | reserve ../x | release 7 | reservations",
        r#"
            a: Pending
            refused: src/ui belongs to person:cli (reservation 1) (try swarm reservations release 1)
            refused: The files to reserve is not valid: "../x" leaves the repository: write it from the top of the repository on (try swarm --help)
            refused: There is no reservation 7 (try swarm reservations list)
            reservation 1: person:cli has src/ui
        "#,
    );
    check(
        "plan a | reserve src/ui | undo | reservations",
        r"
            a: Pending
        ",
    );
    check(
        "plan a | reserve src/ui | release 1 | undo | reservations",
        r"
            a: Pending
            reservation 1: person:cli has src/ui
        ",
    );
    check(
        "plan a | reserve src/ui | release 1 | reserve src | undo c3 | reservations",
        r"
            a: Pending
            refused: Cannot undo `reservations release 1`, changed since: its files belong to person:cli now (reservation 2) (try swarm op show 7)
            reservation 2: person:cli has src
        ",
    );
}

#[test]
fn w3_a_persons_reservation_ends_by_the_clock() {
    check(
        "plan a#src/** | reserve src | start | +3599s",
        r"
            a: Pending
        ",
    );
    check(
        "plan a#src/** | reserve src | start | +3600s",
        r"
            a: Pending → Preparing r1
            owed: Prepare r1
        ",
    );
}

#[test]
fn w3_what_was_really_changed_is_asked_before_the_merge() {
    check(
        "plan a | start | ready a | complete a | green a | stopped a | reserve src | built a | audit a merge_held | reservations",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved
            audit: merge_held src/a.rs is reserved by person:cli (reservation 1)
            reservation 1: person:cli has src, a waits
        ",
    );
    check(
        "plan a | start | ready a | complete a | green a | stopped a | reserve src | built a | stage a | release 1",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved → Merging
            stage a: approved, not merged yet: src/a.rs is reserved by person:cli (reservation 1)
            owed: Build a
        ",
    );
    // Put off and wanted back, it is built anew: it may change other files by now, or say again whose it waits for.
    check(
        "plan a | start | ready a | complete a | green a | stopped a | reserve src | built a | defer a | unblock a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved → Deferred → Approved → Merging
            owed: Build a
        ",
    );
    check(
        "plan a | start | ready a | complete a | green a | stopped a | reserve src | built a | message a | ready a | heard a | complete a | green a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved → Pending → Preparing r2 → Active 1 → Active 2 → Checking → Approved → Merging
            owed: Build a
        ",
    );
    check(
        "plan a | start | ready a | complete a | green a | stopped a | reserve docs | built a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging
            owed: Verify r2
        ",
    );
}

#[test]
fn w3_a_person_who_reserves_later_than_the_task_is_waited_for_too() {
    check(
        "plan a#docs/** | start | ready a | reserve src | complete a | green a | stopped a | built a | reservations",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved
            reservation 1: task a has docs/**
            reservation 2: person:cli has src, a waits
        ",
    );
}

#[test]
fn w3_work_in_files_that_another_task_has_waits_whoever_was_first() {
    // Whoever is merged has changed src/a.rs.
    check(
        "plan a#src/** b#docs/** | slots 2 | start | ready a | ready b | complete b | green b | stopped b | built b | reservations",
        r"
            a: Pending → Preparing r1 → Active 1
            b: Pending → Preparing r2 → Active 1 → Checking → Approved → Merging → Approved
            reservation 1: task a has src/**, b waits
            reservation 2: task b has docs/**
            owed: Work r1 Go { iteration: 1 }
        ",
    );
    check(
        "plan a#docs/** b#src/** | slots 2 | start | ready a | ready b | complete a | green a | stopped a | built a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved
            b: Pending → Preparing r2 → Active 1
            owed: Work r2 Go { iteration: 1 }
        ",
    );
}

#[test]
fn w3_denied_means_blocked_and_warned_means_both() {
    check(
        "plan a#src/** b#src/a.rs | slots 2 | start denying | attention",
        r#"
            a: Pending → Preparing r1
            b: Pending → Blocked (reserved)
            attention: Task b is blocked (reserved) (its files are reserved by task a (reservation 1)) ["swarm task show b", "swarm task unblock b"]
            owed: Prepare r1
        "#,
    );
    check(
        "plan a#src/** b#src/a.rs | slots 2 | start warning | reservations",
        r"
            a: Pending → Preparing r1
            b: Pending → Preparing r2
            reservation 1: task a has src/**
            reservation 2: task b has src/a.rs
            owed: Prepare r1, Prepare r2
        ",
    );
}

#[test]
fn w3_the_files_that_tasks_name_are_reserved_where_that_is_configured() {
    check(
        "plan a@src/** b@src/a.rs | slots 2 | start named | reservations",
        r"
            a: Pending → Preparing r1
            b: Pending
            reservation 1: task a has src/**, b waits
            owed: Prepare r1
        ",
    );
}

#[test]
fn w3_files_that_were_reserved_during_the_verification_are_asked_about_before_the_merge() {
    check(
        "plan a | start | ready a | complete a | green a | stopped a | built a | reserve src | verified a | released a | stopped a | built a | reservations",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved → Merging → Approved
            reservation 1: person:cli has src, a waits
        ",
    );
    check(
        "plan a | start | ready a | complete a | green a | stopped a | built a | reserve docs | verified a | released a | stopped a | built a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved → Merging
            owed: Publish a
        ",
    );
}

#[test]
fn w3_whoever_waits_for_files_of_others_is_not_overtaken_by_those_behind() {
    check(
        "plan s~src/** r#src/** t~src/** u~docs/** | slots 4 | start | reservations | stage t",
        r"
            r: Pending
            s: Pending → Preparing r1
            t: Pending
            u: Pending → Preparing r2
            reservation 1: task s has src/**, r waits
            reservation 2: task u has docs/**
            stage t: waits behind task r, which waits for the same files
            owed: Prepare r1, Prepare r2
        ",
    );
    // A person may take long: nobody waits behind somebody who waits for that.
    check(
        "plan r#src/** t~src/api/** | reserve src/ui | slots 4 | start | reservations",
        r"
            r: Pending
            t: Pending → Preparing r1
            reservation 1: person:cli has src/ui, r waits
            reservation 2: task t has src/api/**, r waits
            owed: Prepare r1
        ",
    );
}

#[test]
fn w3_the_parts_of_a_task_have_its_files() {
    check(
        "plan a#src/** b#src/b.rs | slots 2 | split a p q | start | reservations",
        r"
            a: Pending → Split
            b: Pending
            p: Pending → Preparing r1
            q: Pending
            reservation 1: task p has src/**, b waits
            owed: Prepare r1
        ",
    );
}

#[test]
fn w3_a_reservation_whose_time_is_over_stands_in_nobodys_way_though_nobody_runs() {
    check(
        "plan a | reserve src | +3600s | reservations | reserve src/ui | reservations",
        r"
            a: Pending
            reservation 2: person:cli has src/ui
        ",
    );
    check(
        "plan a | reserve src | reserve src | reservations",
        r"
            a: Pending
            reservation 2: person:cli has src
        ",
    );
}

#[test]
fn w3_a_release_is_not_undone_once_the_reservation_would_have_ended() {
    check(
        "plan a | reserve src | release 1 | +3600s | reserve docs | undo c3 | reservations",
        r"
            a: Pending
            refused: Cannot undo `reservations release 1`, changed since: its time is over (try swarm op show 7)
            reservation 2: person:cli has docs
        ",
    );
}

#[test]
fn w1_in_one_tree_no_two_have_the_same_files_whatever_else_is_allowed() {
    check(
        "plan a#src/** b#src/a.rs c#docs/** | slots 3 | start sharing | reservations",
        r"
            a: Pending → Preparing r1
            b: Pending
            c: Pending → Preparing r2
            reservation 1: task a has src/**, b waits
            reservation 2: task c has docs/**
            owed: Prepare r1, Prepare r2
        ",
    );
    check(
        "plan a b@docs/** c | slots 3 | start sharing | reservations",
        r"
            a: Pending → Preparing r1
            b: Pending
            c: Pending
            reservation 1: task a has **, b c waits
            owed: Prepare r1
        ",
    );
}

#[test]
fn w1_files_in_the_shared_tree_are_not_released_while_an_agent_works_in_them() {
    check(
        "plan a#src/** b#src/** | slots 2 | start sharing | ready a | release 1 | complete a | green a | stopped a | release 1",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging
            b: Pending → Preparing r2
            refused: Task a is active and cannot be left without its files in the shared tree (try swarm agent stop a)
            owed: Prepare r2, Build a
        ",
    );
}

#[test]
fn w1_another_isolation_counts_from_the_next_attempt_on() {
    // Whoever is at work stays in the tree where they began, with their files, and that is said.
    check(
        "plan a#src/** | start sharing | ready a | isolate a worktree | answers | release 1",
        r"
            a: Pending → Preparing r1 → Active 1
            answer: Task a changed; the new isolation takes effect at the next attempt
            refused: Task a is active and cannot be left without its files in the shared tree (try swarm agent stop a)
            owed: Work r1 Go { iteration: 1 }
        ",
    );
    check(
        "plan a#src/** | start | ready a | isolate a reservation | answers | release 1",
        r"
            a: Pending → Preparing r1 → Active 1
            answer: Task a changed; the new isolation takes effect at the next attempt
            owed: Work r1 Go { iteration: 1 }
        ",
    );
}

#[test]
fn w3_a_task_that_waits_for_files_is_not_shown_as_ready() {
    check(
        "plan a#src/** b#src/a.rs | slots 3 | start | board b",
        r"
            a: Pending → Preparing r1
            b: Pending
            board b: Waits: waits for files of task a (reservation 1)
            owed: Prepare r1
        ",
    );
}

#[test]
fn w3_however_many_wait_for_the_same_files_whoever_wants_others_starts() {
    let tasks: Vec<String> = (0..300).map(|n| format!("t{n}#src/**")).collect();
    let told = played(&format!("plan {} d#docs/** | slots 2 | start", tasks.join(" ")));
    assert!(told.contains("d: Pending → Preparing r2"), "{told}");
    // Each for a file of its own, below what a person has.
    let tasks: Vec<String> = (0..300).map(|n| format!("t{n}#src/{n}.rs")).collect();
    let told = played(&format!("plan {} d#docs/** | reserve src/** | start", tasks.join(" ")));
    assert!(told.contains("d: Pending → Preparing r1"), "{told}");
}
