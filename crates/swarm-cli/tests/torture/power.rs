//! The power is cut in the middle of runs, on real file systems: what was answered is there, what is recorded as done is
//! on trunk, git finds its repository whole. Without our `syncfs` the same test has to fail, or it proves nothing.

mod cuts;
mod ways;

use crate::ground::scaled;
use crate::loop_disk::{Kind, possible};
use crate::namespace::{Standing, enter, not_proven};
use cuts::Cuts;
use ways::Ways;

/// Cuts on each of the two file systems.
fn times() -> u64 {
    scaled(12, 500)
}

/// In a namespace of its own, or said loudly why not.
fn inside(test: &str, kind: Kind, act: impl FnOnce()) {
    let what = format!("{test} (a power cut on {kind:?})");
    if let Err(why) = possible(kind) {
        return not_proven(&what, &why);
    }
    match enter(&format!("power::{test}")) {
        Standing::Done => {}
        Standing::Inside => act(),
        Standing::NotHere(why) => not_proven(&what, &why),
    }
}

fn survives(test: &str, kind: Kind) {
    inside(test, kind, || {
        let mut cuts = Cuts::new(kind, false);
        for cut in 1..=times() {
            if let Err(why) = cuts.one_more() {
                panic!("{kind:?}, cut {cut}: {why}");
            }
        }
        cuts.end();
    });
}

#[test]
fn power_cuts_on_ext4_lose_nothing_that_was_answered_or_done() {
    survives("power_cuts_on_ext4_lose_nothing_that_was_answered_or_done", Kind::Ext4);
}

#[test]
fn power_cuts_on_xfs_lose_nothing_that_was_answered_or_done() {
    survives("power_cuts_on_xfs_lose_nothing_that_was_answered_or_done", Kind::Xfs);
}

/// Between two checkpoints, and while others are made.
fn leads_on(test: &str, kind: Kind) {
    inside(test, kind, || {
        let mut ways = Ways::new(kind);
        for cut in 1..=scaled(3, 200) {
            ways.one_more(cut);
        }
        ways.end();
    });
}

#[test]
fn power_cuts_in_checkpoints_and_rollbacks_on_ext4_leave_every_checkpoint_whole() {
    let test = "power_cuts_in_checkpoints_and_rollbacks_on_ext4_leave_every_checkpoint_whole";
    leads_on(test, Kind::Ext4);
}

#[test]
fn power_cuts_in_checkpoints_and_rollbacks_on_xfs_leave_every_checkpoint_whole() {
    let test = "power_cuts_in_checkpoints_and_rollbacks_on_xfs_leave_every_checkpoint_whole";
    leads_on(test, Kind::Xfs);
}

/// On XFS, where a renamed file without a sync comes back empty.
#[test]
fn with_the_sync_of_the_repository_left_out_power_cuts_are_found_to_lose_work() {
    let test = "with_the_sync_of_the_repository_left_out_power_cuts_are_found_to_lose_work";
    inside(test, Kind::Xfs, || {
        let mut cuts = Cuts::new(Kind::Xfs, true);
        let found = (1..=scaled(20, 500)).find_map(|cut| cuts.one_more().err().map(|why| (cut, why)));
        match found {
            Some((cut, why)) => println!("found at cut {cut}: {}", why.lines().next().unwrap_or_default()),
            None => panic!("the planted bug was not found: the power cuts prove nothing"),
        }
    });
}
