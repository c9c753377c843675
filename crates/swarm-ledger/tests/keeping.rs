//! Closing, salvaging, verifying, payloads.

use crate::world;

use std::collections::BTreeSet;
use std::path::Path;

use swarm_ledger::payload::{PayloadError, get, put};
use swarm_ledger::{CopyState, Hash, Line, OpenError, close, salvage, verify};
use world::{World, kinds, overwrite, witness};

#[test]
fn closing_moves_both_files_and_can_be_finished_after_a_crash() {
    let world = World::empty().with(&[1]);
    let bytes = world.main();
    let copy = world.paths.copy.clone().expect("has a copy");
    // Died after the copy was moved.
    let copy_archive = copy.with_file_name("archive").join("plan.jsonl");
    std::fs::create_dir_all(copy_archive.parent().expect("has a parent")).expect("made");
    std::fs::rename(&copy, &copy_archive).expect("moved");
    for _ in 0..2 {
        let closed = close(&*world.vfs, &world.paths, "plan").expect("closes");
        assert_eq!(closed.copy_archive.as_ref(), Some(&copy_archive));
        assert_eq!(std::fs::read(&closed.archive).expect("archived"), bytes);
    }
    assert_eq!(std::fs::read(&copy_archive).expect("archived"), bytes);
    let gone = world.try_open(swarm_ledger::Access::Write, swarm_ledger::OnDamage::Quarantine, &[]);
    assert!(matches!(gone, Err(OpenError::Missing { found, .. }) if found.len() == 1));
}

#[test]
fn an_archive_is_never_overwritten() {
    let world = World::empty().with(&[1]);
    let first = close(&*world.vfs, &world.paths, "plan").expect("closes");
    let before = std::fs::read(&first.archive).expect("archived");
    let world = world.with(&[2]);
    let second = close(&*world.vfs, &world.paths, "plan").expect("closes");
    assert_ne!(first.archive, second.archive);
    assert_eq!(std::fs::read(&first.archive).expect("archived"), before);
    for name in ["", "../plan", "a/b", ".hidden"] {
        assert!(close(&*world.vfs, &world.paths, name).is_err(), "{name:?}");
    }
}

#[test]
fn a_closed_plan_is_not_brought_back_by_a_copy_left_behind() {
    let world = World::empty().with(&[1]);
    let copy = world.copy();
    close(&*world.vfs, &world.paths, "plan").expect("closes");
    world.set_copy(&copy);
    let opened = world.try_open(swarm_ledger::Access::Write, swarm_ledger::OnDamage::Quarantine, &[]);
    assert!(matches!(opened, Err(OpenError::Missing { .. })));
    assert!(!world.paths.main.exists());
}

#[test]
fn salvage_finds_the_whole_records_of_a_quarantined_suffix() {
    let world = World::empty().without_copy().with(&[1, 1, 1, 2]);
    let lines = world.lines();
    let mut bad = world.main();
    bad[lines[2].start + 30] ^= 1;
    world.set_main(&bad);
    world.write();
    let mut seqs = Vec::new();
    let files = salvage(&*world.vfs, &world.paths, &mut |_, line| seqs.push(line.seq)).expect("read");
    assert_eq!(seqs, [4, 5, 6]);
    assert_eq!((files.len(), files[0].records, files[0].unreadable), (2, 3, lines[2].len() as u64));
}

fn hashes_in_quarantine(world: &World) -> BTreeSet<Hash> {
    let mut seen = BTreeSet::new();
    let mut visit = |_: &Path, line: &Line<'_>| {
        seen.insert(line.hash);
    };
    salvage(&*world.vfs, &world.paths, &mut visit).expect("read");
    seen
}

#[test]
fn no_changed_byte_and_no_cut_in_quarantine_touches_the_ledger_or_tells_of_what_never_was() {
    let world = World::unsynced().without_copy().with(&[1, 1, 1, 2]);
    let lines = world.lines();
    let mut bad = world.main();
    bad[lines[2].start + 30] ^= 1;
    world.set_main(&bad);
    let recovered = world.write();
    let (main, lost) = (world.main(), hashes_in_quarantine(&world));
    assert_eq!((recovered.notes.len(), lost.len()), (1, 3));
    let check = |what: &str| {
        let opened = world.write();
        assert_eq!((opened.head, world.main()), (recovered.head, main.clone()), "{what}");
        assert!(opened.findings.is_empty(), "{what}: {:?}", opened.findings);
        assert!(opened.notes.is_empty() || opened.notes == recovered.notes, "{what}: {:?}", opened.notes);
        assert!(hashes_in_quarantine(&world).is_subset(&lost), "{what}");
    };
    for (number, path) in world.quarantine() {
        let good = std::fs::read(&path).expect("kept");
        for at in 0..good.len() {
            let mut other = good.clone();
            other[at] ^= 1 << (at % 8);
            overwrite(&path, &other);
            check(&format!("file {number}, byte {at}"));
        }
        for at in (0..good.len()).step_by(23) {
            overwrite(&path, &good[..at]);
            check(&format!("file {number} cut at {at}"));
        }
        std::fs::remove_file(&path).expect("removed");
        check(&format!("without file {number}"));
        std::fs::write(&path, &good).expect("back");
    }
    assert_eq!(world.write().notes, recovered.notes);
    // Of a version that wrote no sum.
    let (_, path) = world.quarantine().pop().expect("the note");
    let note = std::fs::read_to_string(&path).expect("text");
    let plain = note.split_once(",\"sum\"").expect("a sum").0;
    std::fs::write(&path, format!("{plain}}}\n")).expect("written");
    assert_eq!(world.write().notes, recovered.notes);
}

#[test]
fn a_quarantine_file_that_cannot_be_read_is_named_and_keeps_nobody_from_the_ledger_and_from_other_files() {
    let world = World::empty().without_copy().with(&[1, 1, 1, 2]);
    let lines = world.lines();
    let mut bad = world.main();
    bad[lines[2].start + 30] ^= 1;
    world.set_main(&bad);
    let recovered = world.write();
    // A folder is opened and cannot be read; a link to itself cannot be opened either.
    let unread = [world.paths.quarantine(3), world.paths.quarantine(4)];
    std::fs::create_dir_all(unread[0].join("a folder")).expect("made");
    std::os::unix::fs::symlink(&unread[1], &unread[1]).expect("linked");
    for opened in [world.write(), world.read()] {
        assert_eq!((opened.head, &opened.notes), (recovered.head, &recovered.notes));
        assert_eq!(kinds(&opened.findings), ["QuarantineUnreadable", "QuarantineUnreadable"]);
        for (finding, path) in opened.findings.iter().zip(&unread) {
            assert!(finding.to_string().contains(&path.display().to_string()), "{finding}");
        }
    }
    let mut seqs = Vec::new();
    let files = salvage(&*world.vfs, &world.paths, &mut |_, line| seqs.push(line.seq)).expect("read");
    assert_eq!(seqs, [4, 5, 6]);
    let failed: Vec<bool> = files.iter().map(|file| file.failed.is_some()).collect();
    assert_eq!(failed, [false, false, true, true]);
}

#[test]
fn verification_tells_soundness_from_completeness() {
    let world = World::empty().with(&[1, 1, 1]);
    let good = world.main();
    let head = world.read().head;
    let check = |integrity: &[&str], completeness: &[&str], copy: CopyState| {
        let found =
            verify(&world.vfs, &world.paths, &[witness(4, Some(head.hash))], &mut |_| {}).expect("read");
        assert_eq!(
            (kinds(&found.integrity), kinds(&found.completeness)),
            (own(integrity), own(completeness))
        );
        assert_eq!(found.copy, copy);
    };
    check(&[], &[], CopyState::Agrees { behind: 0 });
    let cut = world.lines()[2].end;
    world.set_copy(&good[..cut]);
    check(&[], &[], CopyState::Agrees { behind: (good.len() - cut) as u64 });
    world.set_main(&good[..cut]);
    check(&[], &["Damage"], CopyState::Agrees { behind: 0 });
    let mut rotten = good[..cut].to_vec();
    rotten[60] ^= 1;
    world.set_main(&good);
    world.set_copy(&rotten);
    check(&[], &[], CopyState::Differs { at: 60 });
    world.set_main(&[&rotten[..], &good[cut..]].concat());
    world.set_copy(&good);
    check(&["Repairable"], &[], CopyState::Differs { at: 60 });
}

#[test]
fn a_payload_reads_back_or_is_called_damaged() {
    let world = World::empty();
    let payload = vec![7; 300_000];
    let hash = put(&*world.vfs, &world.paths, &payload).expect("kept");
    assert_eq!(put(&*world.vfs, &world.paths, &payload).expect("kept"), hash);
    assert_eq!(get(&*world.vfs, &world.paths, &hash, 1 << 20).expect("read"), payload);
    assert!(matches!(get(&*world.vfs, &world.paths, &hash, 10), Err(PayloadError::TooLarge { .. })));
    let path = world.paths.payload_dir().join(hash.as_str());
    std::fs::write(&path, b"rot").expect("written");
    assert!(matches!(get(&*world.vfs, &world.paths, &hash, 1 << 20), Err(PayloadError::Damaged(_))));
    put(&*world.vfs, &world.paths, &payload).expect("kept again");
    assert_eq!(get(&*world.vfs, &world.paths, &hash, 1 << 20).expect("read"), payload);
}

fn own(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
