//! A red merged tree: whose fault is it?

use crate::check;

const BUILT: &str = "plan a b | slots 2 | start | ready a | ready b | complete a | complete b | green a | green b | stopped a | stopped b | built a";

fn after(built: &str, expected: &str) {
    check(&format!("{BUILT} | {built}"), expected);
}

#[test]
fn trunk_alone_is_verified_once_the_red_verification_is_gone() {
    after(
        "unverified a | stage a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging
            b: Pending → Preparing r2 → Active 1 → Checking → Approved
            stage a: merging: red, verifying trunk alone
            owed: Stop r3
        ",
    );
    after(
        "unverified a | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging
            b: Pending → Preparing r2 → Active 1 → Checking → Approved
            owed: Verify r4
        ",
    );
}

#[test]
fn a_red_trunk_pauses_the_swarm_and_blames_nobody() {
    after(
        "unverified a | stopped a | trunk red a | stopped a | released a | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved
            b: Pending → Preparing r2 → Active 1 → Checking → Approved
            attention: Paused until trunk moves (trunk fails its verification at aaaaaaaa: trunk) ["swarm resume --reason trunk"]
            owed: WatchTrunk a
        "#,
    );
    after(
        "unverified a | stopped a | trunk red a | stopped a | released a | trunk stays | trunk moved",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved → Merging
            b: Pending → Preparing r2 → Active 1 → Checking → Approved
            owed: Build a
        ",
    );
    after(
        "unverified a | stopped a | trunk red a | stopped a | released a | resume trunk",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved → Merging
            b: Pending → Preparing r2 → Active 1 → Checking → Approved
            owed: Build a
        ",
    );
}

#[test]
fn each_commit_of_trunk_is_verified_alone_only_once() {
    after(
        "unverified a | stopped a | trunk green a | stopped a | built b | unverified b | stopped b",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Pending → Preparing r5
            b: Pending → Preparing r2 → Active 1 → Checking → Approved → Merging → Pending → Preparing r7
            owed: Prepare r5, Prepare r7
        ",
    );
}

#[test]
fn a_trial_can_be_lost_stopped_or_cancelled() {
    after(
        "unverified a | drain | stopped a | released a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved
            b: Pending → Preparing r2 → Active 1 → Checking → Approved
        ",
    );
    after(
        "unverified a | stopped a | cancel a | trunk red a",
        r"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Cancelled
            b: Pending → Preparing r2 → Active 1 → Checking → Approved
            owed: Stop r4, Release a
        ",
    );
}

#[test]
fn a_merge_that_loses_every_race_is_put_off_and_shown() {
    let lost = "moved a | built a | verified a | stopped a";
    after(
        &format!("verified a | stopped a | {lost} | {lost} | moved a | attention"),
        r#"
            a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Approved
            b: Pending → Preparing r2 → Active 1 → Checking → Approved → Merging
            attention: The merge of task a was postponed and is retried (trunk moved 3 times while the merge was verified) ["swarm task show a"]
            owed: Build b
        "#,
    );
}
