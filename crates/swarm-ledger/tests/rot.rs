//! Rot that nobody meets while it is not read: in the middle of the second copy, before a snapshot's base, in the first batch.

use crate::world;

use swarm_ledger::salvage::salvage_unproven;
use swarm_ledger::{
    Access, Base, CopyState, Finding, LedgerWriter, OnDamage, OpenError, Recovered, Recovery, Witness,
    recover, verify,
};
use world::{World, kinds};

/// The records of `world`, and a base at the one with this index.
fn base_at(world: &World, index: usize) -> (Base, Witness) {
    let mut all = Vec::new();
    world.read().replay(1, &mut |line| all.push((line.seq, line.hash))).expect("replayed");
    let (seq, hash) = all[index];
    let base = Base { seq, hash, offset: world.lines()[index].start as u64 };
    let source = "state/snapshot.json".into();
    (base, Witness { seq, hash: Some(hash), ledger_id: Some("ledger-a".into()), source })
}

fn open(world: &World, base: &(Base, Witness)) -> Result<Recovered, OpenError> {
    let (bases, witnesses) = ([base.0], [base.1.clone()]);
    let request = Recovery {
        vfs: &world.vfs,
        paths: &world.paths,
        witnesses: &witnesses,
        bases: &bases,
        on_damage: OnDamage::Quarantine,
        access: Access::Write,
    };
    recover(&request, &mut |_| {})
}

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1;
    bytes
}

#[test]
fn rot_in_the_middle_of_the_copy_is_mended_when_asked_for() {
    let world = World::empty().with(&[1, 1, 1]);
    let good = world.main();
    world.set_copy(&flipped(&good, world.lines()[1].start + 60));
    let (mut writer, found) = LedgerWriter::open(&world.write()).expect("opens");
    assert_eq!(kinds(&found), Vec::<String>::new(), "an ordinary start looks at the last line");
    assert_ne!(world.copy(), good);
    assert_eq!(kinds(&writer.mend_copy()), ["CopyRebuilt"]);
    assert_eq!(world.copy(), good);
    assert_eq!(kinds(&writer.mend_copy()), Vec::<String>::new());
}

#[test]
fn rot_of_the_ledger_before_a_base_never_goes_over_the_good_copy() {
    // In the middle of a record, and its first byte.
    for at in [60, 0] {
        let world = World::empty().with(&[1, 1, 1]);
        let good = world.main();
        let base = base_at(&world, 3);
        let rotten = flipped(&good, world.lines()[1].start + at);
        world.set_main(&rotten);
        // The last line of the copy is torn, so the whole copy is compared.
        let torn = &good[..good.len() - 5];
        world.set_copy(torn);
        let (_, found) = LedgerWriter::open(&open(&world, &base).expect("opens")).expect("opens");
        let [Finding::CopyFailed { why }] = &found[..] else { panic!("byte {at}: {found:?}") };
        assert!(why.contains("swarm doctor --fix"), "{why}");
        assert_eq!((world.main(), world.copy()), (rotten, torn.to_vec()), "the good bytes are untouched");
        assert_eq!(kinds(&world.write().findings), ["Repaired"], "a walk from the first record repairs");
        assert_eq!(world.main(), good);
    }
}

#[test]
fn rot_at_the_start_of_the_copy_does_not_hide_that_only_the_copy_is_good_further_on() {
    let world = World::empty().with(&[1, 1, 1, 1]);
    let good = world.main();
    let base = base_at(&world, 4);
    let lines = world.lines();
    let rotten = flipped(&good, lines[2].start + 60);
    world.set_main(&rotten);
    let copy = flipped(&good[..good.len() - 5], lines[1].start + 60);
    world.set_copy(&copy);
    let (_, found) = LedgerWriter::open(&open(&world, &base).expect("opens")).expect("opens");
    assert_eq!(kinds(&found), ["CopyFailed"], "{found:?}");
    assert_eq!((world.main(), world.copy()), (rotten, copy), "the good bytes are untouched");
    let repaired = world.write();
    assert_eq!(kinds(&repaired.findings), ["Repaired"], "a walk from the first record repairs");
    assert_eq!(world.main(), good);
    LedgerWriter::open(&repaired).expect("opens");
    assert_eq!(world.copy(), good, "then the copy is made whole from the ledger");
}

#[test]
fn a_first_record_damaged_in_both_copies_is_gone_on_from_by_a_snapshot_and_said() {
    let world = World::empty().with(&[1, 1, 1]);
    let good = world.main();
    let base = base_at(&world, 2);
    world.set_main(&flipped(&good, 60));
    world.set_copy(&flipped(&good, 70));
    assert!(matches!(
        world.try_open(Access::Write, OnDamage::Quarantine, &[]),
        Err(OpenError::NothingValid(_))
    ));
    let recovered = open(&world, &base).expect("the snapshot serves");
    assert_eq!(recovered.findings, [Finding::StartDamaged { base: 3 }]);
    assert_eq!((recovered.head.seq, recovered.ledger_id.as_str()), (4, "ledger-a"));
    assert_eq!(world.main(), flipped(&good, 60), "nothing is cut");
}

#[test]
fn what_can_still_be_read_of_an_unproven_ledger_is_shown() {
    let world = World::empty().with(&[1, 2]);
    let good = world.main();
    world.set_main(&flipped(&good, 60));
    world.set_copy(&flipped(&flipped(&good, 60), world.lines()[1].start + 60));
    let mut seen = std::collections::BTreeSet::new();
    let files = salvage_unproven(&*world.vfs, &world.paths, &mut |_, line| {
        seen.insert(line.seq);
    });
    assert_eq!(files.expect("read").iter().map(|file| file.records).collect::<Vec<_>>(), [3, 2]);
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [2, 3, 4]);
}

#[test]
fn a_copy_that_cannot_be_opened_is_not_called_absent() {
    let world = World::empty().with(&[1]);
    let copy = world.paths.copy.clone().expect("a copy");
    std::fs::remove_file(&copy).expect("removed");
    // A link onto itself can be opened by nobody, not even by root.
    std::os::unix::fs::symlink(&copy, &copy).expect("a link");
    let found = verify(&world.vfs, &world.paths, &[], &mut |_| {}).expect("the ledger is read");
    assert!(matches!(found.copy, CopyState::Unreadable { .. }), "{:?}", found.copy);
    assert!(!found.is_sound());
}

#[test]
fn a_cut_end_is_told_by_its_records_and_not_by_bytes_that_nobody_has() {
    let world = World::empty().with(&[1, 1, 1]);
    let head = world.read().head;
    let cut = world.main()[..world.lines()[1].end].to_vec();
    world.set_main(&cut);
    world.set_copy(&cut);
    let knows = [world::witness(4, Some(head.hash))];
    let told = |recovered: &Recovered| recovered.findings.iter().map(ToString::to_string).collect::<Vec<_>>();
    let expected =
        ["The ledger ends at record 2, but refs/swarm/ledger knows of record 4: records 3 to 4 are missing"];
    let asked = world.try_open(Access::Write, OnDamage::Ask, &knows).expect("opens");
    assert_eq!(told(&asked), expected);
    let lost = world.try_open(Access::Write, OnDamage::Quarantine, &knows).expect("opens");
    assert_eq!(told(&lost), expected);
    assert_eq!(lost.notes.len(), 1, "noted until somebody records it");
}
