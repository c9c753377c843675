//! Each planted bug, switched on, breaks exactly the promise it is named for.
//!
//! One test in a file of its own: the switch is one for the whole process.
#![cfg(debug_assertions)]

use crate::world;

use std::sync::atomic::Ordering::SeqCst;

use swarm_ledger::planted::{self, Bug};
use swarm_ledger::{AppendError, Batch, LedgerWriter, close};
use world::faulty::faulty;
use world::{World, batch};

#[test]
fn planted_bugs_bite_and_can_be_taken_out_again() {
    for (bug, taken) in [(Bug::None, false), (Bug::EpochNotChecked, true)] {
        planted::set(bug);
        let world = World::unsynced().with(&[]);
        let (mut writer, _) = LedgerWriter::open(&world.write()).expect("opens");
        assert_eq!(writer.append(Batch { epoch: 0, ..batch([1]) }).is_ok(), taken, "{bug:?}");
    }
    for (bug, answered, ended) in
        [(Bug::None, false, true), (Bug::SyncLeftOut, true, false), (Bug::AnswerBeforeSync, true, true)]
    {
        planted::set(bug);
        let (world, faults) = faulty();
        let (mut writer, _) = LedgerWriter::open(&world.write()).expect("opens");
        faults.sync_fails.store(true, SeqCst);
        assert_eq!(writer.append(batch([1])).is_ok(), answered, "{bug:?}");
        assert_eq!(matches!(writer.append(batch([2])), Err(AppendError::SyncFailed(_))), ended, "{bug:?}");
    }
    for (bug, left) in [(Bug::None, 2), (Bug::HalfABatchKept, 3)] {
        planted::set(Bug::None);
        let world = World::unsynced().without_copy().with(&[1, 2]);
        world.set_main(&world.main()[..world.lines()[2].end]);
        planted::set(bug);
        assert_eq!(world.write().head.seq, left, "{bug:?}");
    }
    for (bug, archives) in [(Bug::None, 2), (Bug::ArchiveOverwritten, 1)] {
        planted::set(bug);
        let mut world = World::unsynced();
        for sizes in [[1, 1], [2, 2]] {
            world = world.with(&sizes);
            close(&*world.vfs, &world.paths, "plan").expect("closes");
        }
        assert_eq!(world.vfs.list(&world.paths.archive_dir()).expect("listed").len(), archives, "{bug:?}");
    }
    planted::set(Bug::None);
}
