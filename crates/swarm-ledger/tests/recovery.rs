//! Opening what a dead writer, a bad disk or a person left behind.

use crate::world;

use swarm_ledger::{Access, Base, Finding, LedgerWriter, OnDamage, OpenError, Recovered, recover};
use world::{World, batch, kinds, witness};

/// Opening again finds nothing more and changes no byte.
fn settled(world: &World, recovered: &Recovered) {
    let before = (world.main(), world.quarantine());
    let again = world.write();
    assert_eq!((again.head, kinds(&again.findings)), (recovered.head, vec![]));
    assert_eq!((world.main(), world.quarantine()), before);
    let (mut writer, _) = LedgerWriter::open(&again).expect("opens");
    let next = writer.append(batch([99])).expect("goes on");
    assert_eq!(next.first_seq, recovered.head.seq + 1);
    assert_eq!(world.main(), world.copy());
}

#[test]
fn a_torn_last_batch_is_cut_whole_and_kept() {
    let world = World::empty().with(&[1, 2]);
    let good = world.main();
    world.append(&[3]);
    let full = world.main();
    let line = world.lines()[4].clone();
    let tails: [Vec<u8>; 5] = [
        full[good.len()..full.len() - 1].to_vec(),
        full[good.len()..good.len() + 5].to_vec(),
        full[good.len()..line.end].to_vec(),
        vec![0; full.len() - good.len()],
        // A hole in the first record, the others are whole.
        [vec![0; line.len()], full[line.end..].to_vec()].concat(),
    ];
    for (case, tail) in tails.iter().enumerate() {
        world.set_main(&[&good[..], tail].concat());
        world.set_copy(&good);
        let read = world.read();
        assert_eq!((read.head.seq, kinds(&read.findings)), (4, vec!["BeingWritten".into()]), "case {case}");
        let recovered = world.write();
        let [Finding::TornTail { quarantine, bytes, .. }] = &recovered.findings[..] else {
            panic!("case {case}: {:?}", recovered.findings)
        };
        assert_eq!(*bytes, tail.len() as u64);
        assert_eq!(&std::fs::read(quarantine).expect("kept"), tail);
        assert_eq!(world.main(), good);
        settled(&world, &recovered);
    }
    let numbers: Vec<u64> = world.quarantine().into_iter().map(|(n, _)| n).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
}

#[test]
fn a_quarantine_file_of_the_highest_number_leaves_numbers_for_the_next_ones() {
    let world = World::empty().with(&[1]);
    let good = world.main();
    std::fs::write(world.paths.quarantine(u64::MAX - 1), "somebody's").expect("written");
    for (tail, number) in [("{\"len\"", u64::MAX), ("{\"le", 1), ("{\"", 2)] {
        world.set_main(&[&good[..], tail.as_bytes()].concat());
        let recovered = world.write();
        let [Finding::TornTail { quarantine, .. }] = &recovered.findings[..] else {
            panic!("{number}: {:?}", recovered.findings)
        };
        assert_eq!(*quarantine, world.paths.quarantine(number));
        assert_eq!(std::fs::read(quarantine).expect("kept"), tail.as_bytes());
        assert_eq!(world.main(), good);
    }
}

#[test]
fn damage_anywhere_is_repaired_from_the_copy_without_loss() {
    let world = World::empty().with(&[1, 3, 1, 2]);
    let good = world.main();
    for (case, line) in world.lines().into_iter().enumerate() {
        for damage in ["flip", "zero", "cut"] {
            let mut bad = good.clone();
            match damage {
                "flip" => bad[line.start + 40] ^= 1,
                "zero" => bad[line.clone()].fill(0),
                _ => bad.truncate(line.start + 3),
            }
            world.set_main(&bad);
            assert_eq!(world.read().head.seq, 8, "a reader sees all of it");
            assert_eq!(world.main(), bad, "and changes nothing");
            let recovered = world.write();
            assert_eq!(kinds(&recovered.findings), ["Repaired"], "{damage} in line {case}");
            assert_eq!(world.main(), good);
        }
    }
    settled(&world, &world.write());
}

#[test]
fn damage_in_both_files_at_different_places_is_repaired_too() {
    let world = World::empty().with(&[1, 1, 1, 1]);
    let good = world.main();
    let lines = world.lines();
    let (mut main, mut copy) = (good.clone(), good.clone());
    main[lines[1].start + 30] ^= 4;
    main[lines[3].start + 30] ^= 4;
    copy[lines[2].start + 30] ^= 4;
    world.set_main(&main);
    world.set_copy(&copy);
    let recovered = world.write();
    assert_eq!((recovered.head.seq, kinds(&recovered.findings)), (5, vec!["Repaired".into()]));
    assert_eq!(world.main(), good);
}

#[test]
fn damage_without_a_copy_is_moved_aside_and_noted() {
    let world = World::empty().without_copy().with(&[1, 2, 1, 1]);
    let good = world.main();
    let lines = world.lines();
    let mut bad = good.clone();
    bad[lines[2].start + 50] ^= 1;
    world.set_main(&bad);

    let read = world.read();
    assert_eq!((read.head.seq, kinds(&read.findings)), (2, vec!["Damage".into()]));
    let asked = world.try_open(Access::Write, OnDamage::Ask, &[]).expect("opens");
    assert_eq!((asked.access, kinds(&asked.findings)), (Access::Read, vec!["Damage".into()]));
    assert!(matches!(LedgerWriter::open(&asked), Err(OpenError::ReadOnlyUntilSalvage(_))));
    assert_eq!(world.main(), bad);

    let recovered = world.write();
    let [Finding::Loss(loss)] = &recovered.findings[..] else { panic!("{:?}", recovered.findings) };
    assert_eq!((loss.last_good.seq, loss.known_seq, loss.bytes), (2, 5, (bad.len() - lines[1].end) as u64));
    assert_eq!((loss.next_valid.map(|m| m.seq), loss.last_valid.map(|m| m.seq)), (Some(4), Some(6)));
    assert_eq!(std::fs::read(&loss.quarantine[0]).expect("kept"), bad[lines[1].end..]);
    assert_eq!(world.main(), good[..lines[1].end]);
    assert_eq!(recovered.notes.len(), 1);
    assert_eq!(world.write().notes, recovered.notes, "told again until the caller has a record of it");
}

#[test]
fn a_witness_that_knows_more_proves_a_truncation_once() {
    for hash in [true, false] {
        let world = World::empty().without_copy().with(&[1, 1]);
        let head = world.read().head;
        world.set_main(&world.main()[..world.lines()[1].end]);
        assert_eq!(world.write().findings, [], "nobody knows");
        let knows = [witness(3, hash.then_some(head.hash))];
        let asked = world.try_open(Access::Write, OnDamage::Ask, &knows).expect("opens");
        assert_eq!(kinds(&asked.findings), ["Damage"]);
        let open = || world.try_open(Access::Write, OnDamage::Quarantine, &knows).expect("opens");
        let recovered = open();
        let [Finding::Loss(loss)] = &recovered.findings[..] else { panic!("{:?}", recovered.findings) };
        assert_eq!((loss.last_good.seq, loss.known_seq, loss.known_by.as_str()), (2, 3, "refs/swarm/ledger"));
        assert_eq!(kinds(&open().findings), Vec::<String>::new(), "the witness has been heard");
        world.append(&[2]);
        assert_eq!(kinds(&open().findings), Vec::<String>::new(), "nor does it disagree for ever");
        let other = [witness(2, Some(head.hash))];
        let unheard = world.try_open(Access::Write, OnDamage::Quarantine, &other).expect("opens");
        assert_eq!(kinds(&unheard.findings), ["WitnessDisagrees"]);
    }
}

#[test]
fn a_missing_ledger_is_restored_from_its_copy() {
    let world = World::empty().with(&[1, 2]);
    let good = world.main();
    std::fs::remove_dir_all(world.paths.dir()).expect("git clean -fdx");
    let read = world.read();
    assert_eq!((read.head.seq, kinds(&read.findings)), (4, vec!["ReadFromCopy".into()]));
    assert!(!world.paths.main.exists());
    let recovered = world.write();
    assert_eq!(kinds(&recovered.findings), ["RestoredFromCopy"]);
    assert_eq!(world.main(), good);
    settled(&world, &recovered);
}

#[test]
fn each_ledger_that_cannot_be_opened_has_its_own_error() {
    let open = |world: &World| match world.try_open(Access::Write, OnDamage::Quarantine, &[]) {
        Ok(_) => panic!("opened"),
        Err(error) => error,
    };
    assert!(matches!(open(&World::empty()), OpenError::NoLedger(_)));

    let world = World::empty().without_copy();
    let only = world.try_open(Access::Write, OnDamage::Ask, &[witness(7, None)]);
    assert!(matches!(only, Err(OpenError::Missing { found, .. }) if found.len() == 1));

    let world = World::empty().without_copy().with(&[1]);
    let good = world.main();
    world.set_main(b"");
    assert!(matches!(open(&world), OpenError::Empty(_)));
    let mut bad = good.clone();
    bad[60] ^= 1;
    world.set_main(&bad);
    assert!(matches!(open(&world), OpenError::NothingValid(_)));
    let newer = String::from_utf8(good).expect("UTF-8").replace("\"format\":1", "\"format\":2");
    world.set_main(newer.as_bytes());
    assert!(matches!(open(&world), OpenError::NewerFormat { format: 2, .. }));
    assert_eq!(world.main(), newer.as_bytes(), "untouched");

    let world = World::empty().with(&[1]);
    let other = String::from_utf8(World::empty().without_copy().with(&[]).main()).expect("UTF-8");
    let mut line = Vec::new();
    let body = other.replace("ledger-a", "ledger-b");
    let body = swarm_ledger::Fragment::first(
        "ledger-b",
        &body[body.find("\"type\"").expect("has")..body.find(",\"prev\"").expect("has")],
    )
    .body;
    let header = swarm_ledger::frame::Header { seq: 1, batch: 1, synced: 0, epoch: 1, ts: "t" };
    swarm_ledger::frame::seal(&mut line, &header, &body, &swarm_ledger::Hash::of(b"ledger-b"));
    world.set_main(&line);
    assert!(
        matches!(open(&world), OpenError::AnotherLedger { here, other, .. } if here == "ledger-b" && other == "ledger-a")
    );
}

#[test]
fn a_base_on_the_chain_saves_the_walk_and_a_wrong_one_does_not_hurt() {
    let world = World::empty().with(&[1, 2, 1]);
    let lines = world.lines();
    let mut all = Vec::new();
    world.read().replay(1, &mut |l| all.push((l.seq, l.hash))).expect("replayed");
    let base =
        |index: usize| Base { seq: all[index].0, hash: all[index].1, offset: lines[index].start as u64 };
    let wrong_hash = Base { hash: all[0].1, ..base(3) };
    let wrong_place = Base { offset: 7, ..base(3) };
    let cases = [
        (vec![base(3)], 5),
        (vec![wrong_hash], 1),
        (vec![wrong_place, base(1)], 3),
        (vec![base(2)], 1),
        (vec![base(4)], 6),
    ];
    for (bases, first) in cases {
        let mut seen = Vec::new();
        let request = world.request(Access::Write, OnDamage::Ask, &[], &bases);
        let recovered = recover(&request, &mut |line| seen.push(line.seq)).expect("opens");
        assert_eq!(seen, (first..=5).collect::<Vec<_>>(), "{bases:?}");
        assert_eq!((recovered.head.seq, recovered.epoch, recovered.ledger_id.as_str()), (5, 1, "ledger-a"));
        let mut tail = Vec::new();
        recovered.replay(5, &mut |line| tail.push(line.seq)).expect("replayed");
        assert_eq!(tail, [5]);
    }
}

#[test]
fn a_copy_that_differs_is_made_anew() {
    let world = World::empty().with(&[1, 1, 1]);
    let good = world.main();
    let mut flipped = good.clone();
    flipped[good.len() - 9] ^= 1;
    let copies = [good[..good.len() - 9].to_vec(), flipped, [&good[..], &[0; 300]].concat(), vec![]];
    for (case, copy) in copies.iter().enumerate() {
        world.set_copy(copy);
        let recovered = world.write();
        assert_eq!(kinds(&recovered.findings), Vec::<String>::new(), "case {case}");
        LedgerWriter::open(&recovered).expect("opens");
        assert_eq!(world.copy(), good, "case {case}");
    }
    assert_eq!(world.quarantine(), []);
}

#[test]
fn a_copy_with_records_of_its_own_is_kept_aside_first() {
    let world = World::empty().with(&[1]);
    let common = world.main();
    world.append(&[2]);
    let other = world.main();
    world.set_main(&common);
    world.set_copy(&common);
    world.append(&[1, 1, 1]);
    let good = world.main();
    world.set_copy(&other);
    let (_, findings) = LedgerWriter::open(&world.write()).expect("opens");
    let [Finding::CopyRebuilt { quarantine: Some(kept), .. }] = &findings[..] else { panic!("{findings:?}") };
    assert!(other.ends_with(&std::fs::read(kept).expect("kept")));
    let mut seqs = Vec::new();
    swarm_ledger::salvage(&*world.vfs, &world.paths, &mut |_, line| seqs.push(line.seq)).expect("read");
    assert!(seqs.ends_with(&[3, 4]), "{seqs:?}");
    assert_eq!((world.main(), world.copy()), (good.clone(), good));
}
