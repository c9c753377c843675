//! Appending: order, group commit, refusals, and that what is written stays as it is.

use crate::world;

use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use swarm_ledger::{
    Acquired, AppendError, Batch, Fragment, Ledger, LedgerWriter, OpenError, OwnerInfo, acquire_for_write,
    create,
};
use world::{World, batch, record};

#[test]
fn what_was_appended_is_replayed_in_order() {
    let world = World::empty().with(&[1, 3, 2]);
    let recovered = world.read();
    assert_eq!((recovered.head.seq, recovered.epoch, recovered.ledger_id.as_str()), (7, 1, "ledger-a"));
    assert_eq!(recovered.findings, []);
    let mut seen = Vec::new();
    recovered.replay(3, &mut |line| seen.push((line.seq, line.batch, line.synced))).expect("replayed");
    assert_eq!(seen, [(3, 5, 2), (4, 5, 2), (5, 5, 2), (6, 7, 5), (7, 7, 5)]);
    assert_eq!(world.main(), world.copy());
}

#[test]
fn many_threads_make_one_dense_chain_and_share_syncs() {
    let world = World::empty().with(&[]);
    let (ledger, _) = Ledger::open(&world.write()).expect("opens");
    let answered = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for n in 0..50 {
                    let done = ledger.append(batch([n, n])).expect("appended");
                    assert_eq!(done.last_seq, done.first_seq + 1);
                    assert!(ledger.head().seq >= done.last_seq || ledger.head().seq >= 1);
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let head = ledger.close();
    assert_eq!((answered.into_inner(), head.seq), (400, 801));
    let recovered = world.read();
    assert_eq!((recovered.head, recovered.findings.len()), (head, 0));
    assert_eq!(world.main(), world.copy());
}

#[test]
fn submitted_batches_get_their_seqs_at_once_and_their_answers_in_order() {
    let world = World::empty().with(&[]);
    let (ledger, _) = Ledger::open(&world.write()).expect("opens");
    let (answer, answers) = std::sync::mpsc::channel();
    let mut expected = Vec::new();
    for n in 0..100 {
        let answer = answer.clone();
        let done = Box::new(move |result: Result<swarm_ledger::Committed, _>| {
            answer.send(result).expect("test listens")
        });
        let assigned = ledger.submit(batch([n]), done).expect("taken");
        expected.push((assigned.first_seq, assigned.last_seq));
    }
    drop(ledger);
    drop(answer);
    let got: Vec<_> =
        answers.iter().map(|a| a.map(|c| (c.first_seq, c.last_seq)).expect("durable")).collect();
    assert_eq!(got, expected);
}

#[test]
fn a_thousand_appends_leave_inode_and_prefix_unchanged() {
    let world = World::empty().with(&[1]);
    let inode = std::fs::metadata(&world.paths.main).expect("there").ino();
    let recovered = world.write();
    let (mut writer, _) = LedgerWriter::open(&recovered).expect("opens");
    let mut before = world.main();
    for n in 0..1000 {
        writer.append(batch([n])).expect("appended");
        if n % 100 == 0 {
            let now = world.main();
            assert!(now.starts_with(&before), "append {n} changed what was written");
            before = now;
        }
    }
    assert!(world.main().starts_with(&before));
    assert_eq!(std::fs::metadata(&world.paths.main).expect("there").ino(), inode);
}

#[test]
fn what_cannot_be_a_record_is_refused_before_it_has_a_seq() {
    let world = World::empty().with(&[]);
    let (mut writer, _) = LedgerWriter::open(&world.write()).expect("opens");
    let with = |body: &str| Batch::new(vec![record(1), Fragment::new(body)], "t", 1);
    for body in ["", "{}", "\"a\":", "\"a\":1}", "\"a\":1,", "\"a\":\"\n\"", " \"a\":1", "\"a\":1},{\"b\":2"]
    {
        assert!(matches!(writer.append(with(body)), Err(AppendError::BadRecord(_))), "{body:?}");
    }
    let huge = format!("\"a\":\"{}\"", "x".repeat(1 << 20));
    assert!(matches!(writer.append(with(&huge)), Err(AppendError::TooLarge { .. })));
    for ts in ["\"", "\\", "é", &"9".repeat(65)] {
        assert!(
            matches!(writer.append(Batch::new(vec![record(1)], ts, 1)), Err(AppendError::BadRecord(_))),
            "{ts}"
        );
    }
    assert!(matches!(writer.append(batch([])), Err(AppendError::BadRecord(_))));
    assert_eq!(writer.append(batch([1])).expect("appended").first_seq, 2);
    let largest = format!("\"a\":\"{}\"", "x".repeat(swarm_ledger::frame::BODY_MAX - 6));
    writer.append(with(&largest)).expect("the largest body fits");
    assert_eq!(world.read().head.seq, 4);
}

#[test]
fn an_older_epoch_is_refused_and_a_newer_one_stays() {
    let world = World::empty().with(&[]);
    let (mut writer, _) = LedgerWriter::open(&world.write()).expect("opens");
    let at = |epoch| Batch { epoch, ..batch([1]) };
    writer.append(at(5)).expect("a coordinator raises it");
    assert_eq!(writer.append(at(4)), Err(AppendError::StaleEpoch { given: 4, current: 5 }));
    drop(writer);
    let recovered = world.write();
    assert_eq!((recovered.epoch, recovered.head.seq), (5, 2));
    let (mut writer, _) = LedgerWriter::open(&recovered).expect("opens");
    assert!(matches!(writer.append(at(4)), Err(AppendError::StaleEpoch { .. })));
}

#[test]
fn a_foreign_writer_and_a_replaced_file_end_the_writer() {
    let world = World::empty().with(&[1]);
    let (mut writer, _) = LedgerWriter::open(&world.write()).expect("opens");
    let mut grown = world.main();
    grown.extend_from_slice(b"x");
    world.set_main(&grown);
    assert!(matches!(writer.append(batch([1])), Err(AppendError::ForeignWriter { .. })));
    assert!(matches!(writer.append(batch([1])), Err(AppendError::ForeignWriter { .. })), "for ever");

    let world = World::empty().with(&[1]);
    let (mut writer, _) = LedgerWriter::open(&world.write()).expect("opens");
    writer.check_path().expect("ours");
    std::fs::rename(&world.paths.main, world.dir.path().join("aside")).expect("renamed");
    assert!(matches!(writer.check_path(), Err(AppendError::Replaced(_))));
    assert!(matches!(writer.append(batch([1])), Err(AppendError::Replaced(_))));
}

#[test]
fn a_ledger_is_made_once_and_only_with_a_name() {
    let world = World::empty();
    let nameless = create(&world.vfs, &world.paths, &batch([1]));
    assert!(matches!(nameless, Err(OpenError::BadFirstBatch(_))));
    world.create();
    let again =
        create(&world.vfs, &world.paths, &Batch::new(vec![Fragment::first("b", "\"type\":\"x\"")], "t", 1));
    assert!(matches!(again, Err(OpenError::Exists(_))));
    assert_eq!(world.read().ledger_id, "ledger-a");
}

#[test]
fn a_copy_that_cannot_be_written_is_a_finding_and_catches_up_later() {
    let world = World::empty().with(&[1]);
    let copy = world.paths.copy.clone().expect("has a copy");
    std::fs::remove_file(&copy).expect("removed");
    std::fs::create_dir(&copy).expect("in the way");
    let (ledger, findings) = Ledger::open(&world.write()).expect("opens");
    assert_eq!(world::kinds(&findings), ["CopyFailed"]);
    ledger.append(batch([1])).expect("the ledger itself is fine");
    std::fs::remove_dir(&copy).expect("out of the way");
    ledger.append(batch([2])).expect("appended");
    let ledger = Arc::new(ledger);
    let findings = {
        ledger.append(batch([3])).expect("appended");
        ledger.take_findings()
    };
    assert_eq!(world::kinds(&findings), ["CopyCaughtUp"]);
    drop(ledger);
    assert_eq!(world.main(), world.copy());
}

#[test]
fn a_git_directory_that_was_moved_away_is_not_made_anew_and_the_copy_catches_up_later() {
    let world = World::empty().with(&[1]);
    let (git, away) = (world.dir.path().join("git"), world.dir.path().join("git.away"));
    let (mut writer, _) = LedgerWriter::open(&world.write()).expect("opens");
    std::fs::rename(&git, &away).expect("moved away");
    writer.check_path().expect("the ledger itself is there");
    writer.append(batch([2])).expect("the ledger itself is fine");
    assert_eq!(world::kinds(&writer.take_findings()), ["CopyFailed"]);
    assert!(!git.exists(), "nothing is in its way");
    std::fs::rename(&away, &git).expect("moved back");
    writer.append(batch([3])).expect("appended");
    assert_eq!(world::kinds(&writer.take_findings()), ["CopyCaughtUp"]);
    drop(writer);
    assert_eq!(world.main(), world.copy());
}

#[test]
fn nothing_is_written_any_more_once_the_owner_has_lost_its_lock() {
    let world = World::empty().with(&[]);
    let me = OwnerInfo::of_this_process("coordinator");
    let acquired = acquire_for_write(&world.vfs, world.dir.path(), &me, Duration::ZERO);
    let Ok(Acquired::Writer(locks)) = acquired else { panic!("nobody has it") };
    let (ledger, _) = Ledger::open(&world.write()).expect("opens");
    let owner = locks.become_owner();
    ledger.write_only_while(owner.claim().expect("it can be looked at"));
    ledger.append(batch([1])).expect("it is the owner");
    // The length of the file is as it was: only the lock tells.
    let lock = world.dir.path().join("owner.lock");
    std::fs::remove_file(&lock).expect("removed");
    std::fs::write(&lock, "somebody else").expect("replaced");
    let before = world.main();
    assert_eq!(ledger.append(batch([2])), Err(AppendError::NotOwner(lock)));
    assert!(ledger.append(batch([3])).is_err_and(|error| error.is_final()));
    drop(ledger);
    assert_eq!(world.main(), before);
}
