//! Bytes of a small ledger on a real disk, changed and cut: nothing undetected, nothing silently lost.
//!
//! Every byte with every value is the simulator's part, whose disk syncs for free; here a step that
//! shares no factor with the lines' lengths meets every member of a line.

use crate::world;

use swarm_ledger::{Access, Finding, OnDamage};
use world::World;

const STEP: usize = 23;
const SIZES: [u64; 5] = [1, 3, 1, 2, 1];

/// Opens a damaged ledger and says how many records are left; panics if any is wrong or lost unsaid.
fn judge(world: &World, good: &[u8], ends: &[usize], bad: &[u8], what: &str) -> Option<u64> {
    world.set_main(bad);
    let opened = world.try_open(Access::Write, OnDamage::Quarantine, &[]);
    let Ok(recovered) = opened else {
        assert_eq!(world.main(), bad, "{what}: refused, so untouched");
        return None;
    };
    let main = world.main();
    assert!(good.starts_with(&main), "{what}: the ledger holds what was never written");
    assert!(ends.contains(&main.len()), "{what}: half a batch is left");
    let said = recovered
        .findings
        .iter()
        .any(|f| matches!(f, Finding::Loss(_) | Finding::TornTail { .. } | Finding::Repaired { .. }));
    let silent = main.len() < bad.len() || main != bad;
    assert!(said || !silent, "{what}: changed without a word");
    // Losing more than the last batch is a loss, and is called one.
    let last_but_one = ends[ends.len() - 2];
    let lost = recovered.findings.iter().any(|f| matches!(f, Finding::Loss(_)));
    assert!(lost || main.len() >= last_but_one.min(bad.len()), "{what}: taken for a torn tail");
    for (_, path) in world.quarantine() {
        std::fs::remove_file(path).expect("removed");
    }
    Some(recovered.head.seq)
}

fn batch_ends(world: &World) -> Vec<usize> {
    let lines = world.lines();
    let mut ends = vec![lines[0].end];
    let mut last = 0;
    for size in SIZES {
        last += size as usize;
        ends.push(lines[last].end);
    }
    ends
}

#[test]
fn a_changed_byte_without_a_copy_is_found() {
    let world = World::unsynced().without_copy().with(&SIZES);
    let (good, ends) = (world.main(), batch_ends(&world));
    for at in 0..good.len() {
        for value in [good[at] ^ 1, 0, b'\n'] {
            let mut bad = good.clone();
            bad[at] = value;
            if bad == good {
                continue;
            }
            let left = judge(&world, &good, &ends, &bad, &format!("byte {at} := {value}"));
            let first_hit = ends.iter().take_while(|end| **end <= at).count();
            assert_eq!(
                left.is_none(),
                first_hit == 0,
                "byte {at}: only the first record cannot be done without"
            );
        }
    }
}

#[test]
fn a_cut_with_and_without_zeros_is_found() {
    let world = World::unsynced().without_copy().with(&SIZES);
    let (good, ends) = (world.main(), batch_ends(&world));
    for at in (1..good.len()).step_by(STEP) {
        let zeros = [&good[..at], &vec![0; good.len() - at][..]].concat();
        for (bad, what) in [(good[..at].to_vec(), "cut"), (zeros, "zeros")] {
            world.set_main(&bad);
            let left = world.try_open(Access::Write, OnDamage::Quarantine, &[]).map(|r| r.head.end).ok();
            let expected = ends.iter().rev().find(|end| **end <= at).map(|end| *end as u64);
            assert_eq!(left, expected, "{what} at {at}");
            for (_, path) in world.quarantine() {
                std::fs::remove_file(path).expect("removed");
            }
        }
    }
}

#[test]
fn with_the_copy_intact_nothing_is_lost_at_all() {
    let world = World::unsynced().with(&SIZES);
    let good = world.main();
    for at in (0..good.len()).step_by(STEP) {
        let mut flipped = good.clone();
        flipped[at] ^= 1 << (at % 8);
        for bad in [flipped, good[..at].to_vec()] {
            world.set_main(&bad);
            world.write();
            assert_eq!(world.main(), good, "byte {at}");
        }
    }
}
