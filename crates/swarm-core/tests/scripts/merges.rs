//! Arcs of a merge: one at a time, waiting, losing races, going back to work.

use swarm_core::input::{Input, Report};
use swarm_core::{show, step};
use swarm_protocol::conflict::{Resolved, Way};
use swarm_protocol::record::body;

use crate::script::{Play, id, oid};
use crate::{check, played};

const APPROVED: &str = "plan a b | slots 2 | start | ready a | ready b | complete a | complete b | green a | green b | stopped a | stopped b";

fn after(approved: &str, expected: &str) {
    check(&format!("{APPROVED} | {approved}"), expected);
}

#[test]
fn the_trunk_is_granted_to_one_at_a_time() {
    after(
        "built a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging
            b: Pending → Preparing r2 → Active 1 → Checking → Approved
            owed: Verify r3
        ",
    );
    after(
        "built a | verified a | published a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done
            b: Pending → Preparing r2 → Active 1 → Checking → Approved → Merging
            owed: Build b, Remove a
        ",
    );
}

#[test]
fn one_commit_is_told_as_one() {
    after(
        "built a | audit a merge_built",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging
            b: Pending → Preparing r2 → Active 1 → Checking → Approved
            audit: merge_built 1 commit, cccccccc
            owed: Verify r3
        ",
    );
}

#[test]
fn a_blocked_merge_keeps_the_trunk_until_its_hand_has_left() {
    after(
        "block a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Blocked (human)
            b: Pending → Preparing r2 → Active 1 → Checking → Approved
            owed: Release a
        ",
    );
    after(
        "block a | released a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Blocked (human)
            b: Pending → Preparing r2 → Active 1 → Checking → Approved → Merging
            owed: Build b
        ",
    );
}

#[test]
fn a_publish_past_its_point_of_no_return_stands() {
    after(
        "built a | verified a | stopped a | cancel a | published a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Cancelled → Done
            b: Pending → Preparing r2 → Active 1 → Checking → Approved → Merging
            owed: Build b, Remove a
        ",
    );
    after(
        "built a | verified a | stopped a | block a | unblock a | published a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Blocked (human) → Approved → Done
            b: Pending → Preparing r2 → Active 1 → Checking → Approved → Merging
            owed: Build b, Remove a
        ",
    );
}

/// What a person says while trunk moves may come too late, and the answer says so.
#[test]
fn a_word_about_work_that_is_on_its_way_to_trunk_may_be_too_late_and_is_told_so() {
    let answer = |script: &str| {
        let mut play = Play::new();
        format!("{APPROVED} | {script}").split(" | ").for_each(|one| play.step(one));
        show::operations(&play.state).swap_remove(0).text
    };
    for word in ["cancel a", "defer a", "block a"] {
        let on_its_way = answer(&format!("built a | verified a | {word}"));
        assert!(on_its_way.contains("if it is there first, the task is done"), "{on_its_way}");
        let verified = answer(&format!("built a | {word}"));
        assert!(!verified.contains("first"), "{verified}");
    }
}

#[test]
fn a_busy_checkout_gives_the_trunk_to_the_next() {
    after(
        "built a | verified a | stopped a | busy a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved (waits)
            b: Pending → Preparing r2 → Active 1 → Checking → Approved → Merging
            owed: Build b, Watch a
        ",
    );
    after(
        "built a | verified a | stopped a | busy a | built b | verified b | stopped b | published b | free a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved (waits) → Merging
            b: Pending → Preparing r2 → Active 1 → Checking → Approved → Merging → Done
            owed: Build a, Remove b
        ",
    );
}

/// Nobody watched the checkout while no coordinator ran.
#[test]
fn what_waited_for_a_checkout_is_tried_at_once_by_the_next_coordinator() {
    let busy = "plan a | start | ready a | complete a | green a | stopped a | built a | verified a | stopped a | busy a";
    check(
        &format!("{busy} | start"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved (waits) → Merging
            owed: Build a
        ",
    );
}

#[test]
fn a_moved_trunk_means_built_and_verified_again() {
    after(
        "built a | verified a | stopped a | moved a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging
            b: Pending → Preparing r2 → Active 1 → Checking → Approved
            owed: Build a
        ",
    );
}

#[test]
fn a_red_verification_sends_the_task_back_to_work() {
    after(
        "built a | unverified a | stopped a | trunk green a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Pending
            b: Pending → Preparing r2 → Active 1 → Checking → Approved
            owed: Stop r4
        ",
    );
    after(
        "built a | unverified a | stopped a | trunk green a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Pending → Preparing r5
            b: Pending → Preparing r2 → Active 1 → Checking → Approved → Merging
            owed: Prepare r5, Build b
        ",
    );
}

#[test]
fn a_conflict_asks_a_person_and_nothing_to_merge_is_done() {
    after(
        "conflict a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Blocked (conflict)
            b: Pending → Preparing r2 → Active 1 → Checking → Approved → Merging
            owed: Build b
        ",
    );
    after(
        "known a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done
            b: Pending → Preparing r2 → Active 1 → Checking → Approved → Merging
            owed: Build b, Remove a
        ",
    );
}

#[test]
fn an_agent_resolves_what_conflicts_so_often_and_then_a_person_is_asked() {
    let submitted = "ready a | complete a | green a | stopped a | person approves a b";
    let script = format!("plan a | start resolved | {submitted} | conflict a");
    check(
        &script,
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Approved → Merging → Pending → Preparing r2
            owed: Prepare r2
        ",
    );
    let again = format!("released a | {submitted}");
    check(
        &format!("{script} | {again} | built a"),
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Approved → Merging → Pending → Preparing r2 → Active 1 → Checking → Review → Approved → Merging
            owed: Verify r3
        ",
    );
    // It conflicts again; or what was to be joined with trunk is not there any more.
    for end in ["conflict a", "known a"] {
        check(
            &format!("{script} | {again} | {end}"),
            r"
                a: Pending → Preparing r1 → Active 1 → Checking → Review → Approved → Merging → Pending → Preparing r2 → Active 1 → Checking → Review → Approved → Merging → Blocked (conflict)
            ",
        );
    }
    // Where nothing is left of the work there is no conflict to look at.
    check(
        &format!("{script} | {again} | known a | attention"),
        r#"
            a: Pending → Preparing r1 → Active 1 → Checking → Review → Approved → Merging → Pending → Preparing r2 → Active 1 → Checking → Review → Approved → Merging → Blocked (conflict)
            attention: Task a is blocked (conflict) (approved, not merged: resolving its conflict with trunk left none of its work on its branch: `swarm restore` shows where it is kept; merge main into swarm/a in its worktree and then merge it by hand, or unblock it for an agent to do so) ["swarm worktree merge a", "swarm task show a", "swarm task unblock a"]
        "#,
    );
    // Nobody would look at what an agent made of two sides.
    check(
        "plan a | start resolved | reviewer a none | ready a | complete a | green a | stopped a | conflict a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Blocked (conflict)
        ",
    );
}

#[test]
fn a_branch_that_was_set_to_trunk_has_no_work_of_its_own() {
    after(
        "built a | verified a | published a | stopped a | set-to-trunk b",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done
            b: Pending → Preparing r2 → Active 1 → Checking → Approved → Merging → Pending → Preparing r4
            owed: Prepare r4, Remove a
        ",
    );
}

#[test]
fn what_a_rule_resolved_is_verified_and_a_red_one_is_a_persons() {
    after(
        "resolved a | audit a merge_built",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging
            b: Pending → Preparing r2 → Active 1 → Checking → Approved
            audit: merge_built 1 commit, cccccccc; conflicts resolved: src/a.rs (imports)
            owed: Verify r3
        ",
    );
    after(
        "resolved a | unverified a | stopped a | trunk green a | stage a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Blocked (conflict)
            b: Pending → Preparing r2 → Active 1 → Checking → Approved
            stage a: blocked (conflict): rules resolved its conflicts with trunk in src/a.rs (imports), and that fails its verification
            owed: Stop r4
        ",
    );
}

#[test]
fn a_merge_without_room_is_tried_again_however_often_and_one_that_breaks_waits_for_a_person() {
    let told = |once: &str| {
        let ready = "plan a | start | ready a | complete a | green a | stopped a";
        played(&format!("{ready} | {}", once.repeat(6)))
    };
    let full = told("disk low | unbuilt a | disk fine | +600s | ");
    assert!(!full.contains("Blocked") && full.contains("Build a"), "{full}");
    let broken = told("unbuilt a | +600s | ");
    assert!(broken.contains("Blocked (setup)"), "{broken}");
    // The work is as good as it was: it is merged again, and that may fail as often as before.
    let again = told("unbuilt a | +600s | unblock a | ");
    assert!(again.contains("Blocked (setup) → Approved → Merging → Approved → Merging"), "{again}");
}

/// As where two tasks have formatted all of it.
fn each_file_of_a_large_repository() -> Vec<String> {
    (0..20_000).map(|n| format!("{}{n}.rs", "packages/".repeat(8))).collect()
}

#[test]
fn what_is_in_the_way_in_each_file_of_a_large_repository_fits_into_a_record() {
    let (paths, why) = (each_file_of_a_large_repository, || "it is changed".to_owned());
    let conflict = Report::BuildConflict { task: id("a"), paths: paths(), why: None };
    let waits = Report::PublishWaits { task: id("a"), why: why(), paths: paths(), hint: why() };
    let way = Way::AsAWhole;
    let built = Report::Built {
        task: id("a"),
        base: oid('a'),
        result: oid('c'),
        commits: vec![oid('c')],
        squashed: true,
        resolved: paths().into_iter().map(|path| Resolved { path, way }).collect(),
        protected: vec![],
        changed: vec![],
        found: vec![],
    };
    for (before, report) in [("", conflict), ("", built), ("built a | verified a | stopped a", waits)] {
        let mut play = Play::new();
        let script = format!("{APPROVED} | {before}");
        script.split('|').map(str::trim).filter(|said| !said.is_empty()).for_each(|said| play.step(said));
        let events = step(&mut play.state, Input::Report(report), play.now).expect("it is taken in");
        let longest = events.iter().map(|event| body(event, "test", None).len()).max();
        assert!(longest.is_some_and(|bytes| (10_000..1_000_000).contains(&bytes)), "{before}: {longest:?}");
    }
}
