//! A disk that is full, read-only or fails to sync, under the real file system.

use crate::world;

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use swarm_ledger::{AppendError, Batch, Ledger, LedgerWriter, Room};
use world::batch;
use world::faulty::faulty;

#[test]
fn a_full_disk_cuts_back_refuses_all_and_goes_on_when_there_is_room() {
    let (world, faults) = faulty();
    let (mut writer, _) = LedgerWriter::open(&world.write()).expect("opens");
    let before = world.main();
    let answers = Arc::new(std::sync::Mutex::new(Vec::new()));
    for n in 0..3 {
        let answers = answers.clone();
        let done = Box::new(move |answer| answers.lock().expect("no panic").push(answer));
        writer.submit(batch([n]), done).expect("taken");
    }
    faults.room.store(100, SeqCst);
    assert!(matches!(writer.commit(), Err(AppendError::NoRoom(_))));
    assert_eq!(world.main(), before, "cut back to the durable length");
    let answers = std::mem::take(&mut *answers.lock().expect("no panic"));
    assert_eq!(answers.len(), 3);
    assert!(answers.iter().all(|answer| matches!(answer, Err(AppendError::NoRoom(_)))));
    assert!(matches!(writer.append(batch([9])), Err(AppendError::NoRoom(_))), "refuses until resume");

    faults.room.store(u64::MAX, SeqCst);
    assert_eq!(writer.resume(), Ok(Room::Plenty));
    assert_eq!(writer.append(batch([9])).expect("appended").first_seq, 3);
    assert_eq!((world.read().head.seq, world.main()), (3, world.copy()));
}

#[test]
fn without_room_ahead_only_emergency_records_are_written() {
    let (world, faults) = faulty();
    let (ledger, _) = Ledger::open(&world.write()).expect("opens");
    faults.no_reserve.store(true, SeqCst);
    let before = world.main();
    assert!(matches!(ledger.append(batch([1])), Err(AppendError::NoRoom(_))));
    assert_eq!(world.main(), before, "nothing was even tried");
    assert_eq!(ledger.resume(), Ok(Room::ReserveOnly));
    assert!(matches!(ledger.append(batch([1])), Err(AppendError::NoRoom(_))));
    let paused = Batch { emergency: true, ..batch([1]) };
    assert_eq!(ledger.append(paused).expect("fits the reserve").first_seq, 3);
    faults.no_reserve.store(false, SeqCst);
    assert_eq!(ledger.resume(), Ok(Room::Plenty));
    assert_eq!(ledger.append(batch([2])).expect("appended").first_seq, 4);
    drop(ledger);
    assert_eq!(world.read().head.seq, 4);
}

#[test]
fn a_failed_sync_is_never_tried_again() {
    let (world, faults) = faulty();
    let (ledger, _) = Ledger::open(&world.write()).expect("opens");
    ledger.append(batch([1])).expect("appended");
    faults.sync_fails.store(true, SeqCst);
    assert!(matches!(ledger.append(batch([2])), Err(AppendError::SyncFailed(_))));
    let syncs = faults.syncs.load(SeqCst);
    assert!(matches!(ledger.append(batch([3])), Err(AppendError::SyncFailed(_))));
    assert!(matches!(ledger.resume(), Err(AppendError::SyncFailed(_))));
    drop(ledger);
    assert_eq!(faults.syncs.load(SeqCst), syncs, "no second try on a file whose sync failed");
    assert_eq!(world.copy().len(), world.lines()[2].end, "the copy never saw what was not durable");
    faults.sync_fails.store(true, SeqCst);
    let opened = world.try_open(swarm_ledger::Access::Write, swarm_ledger::OnDamage::Ask, &[]);
    assert!(matches!(opened, Err(swarm_ledger::OpenError::SyncFailed { .. })));
}

#[test]
fn a_crowd_shares_syncs() {
    let (world, faults) = faulty();
    let (ledger, _) = Ledger::open(&world.write()).expect("opens");
    let before = faults.syncs.load(SeqCst);
    let (answer, answers) = std::sync::mpsc::channel();
    let slow = faults.slow.lock();
    for n in 0..500 {
        let answer = answer.clone();
        ledger.submit(batch([n]), Box::new(move |done| drop(answer.send(done)))).expect("taken");
    }
    drop(slow);
    drop(answer);
    assert_eq!(answers.iter().filter(Result::is_ok).count(), 500);
    let syncs = faults.syncs.load(SeqCst) - before;
    assert!(syncs <= 2, "{syncs} syncs for what came before and during the first one");
}

#[test]
fn a_read_only_ledger_can_be_read_and_says_why_it_cannot_be_written() {
    let (world, faults) = faulty();
    faults.read_only.store(true, SeqCst);
    assert_eq!(world.read().head.seq, 2);
    let opened = world.try_open(swarm_ledger::Access::Write, swarm_ledger::OnDamage::Ask, &[]);
    assert!(matches!(opened, Err(swarm_ledger::OpenError::ReadOnly { .. })));
}
