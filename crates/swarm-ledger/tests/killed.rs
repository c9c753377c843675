//! A process killed before any call it makes to the disk, and a second one that finds the rest.
//!
//! From one call on, every call fails and changes nothing: that is what the disk sees of a kill -9.
//! (What a power cut adds is the simulator's part.)

use crate::world;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use swarm_ledger::{Access, Finding, LedgerWriter, OnDamage, Open, Vfs, VfsFile, close};
use world::{Unsynced, World, batch, kinds};

/// Calls left to live.
#[derive(Clone)]
struct Mortal(Arc<AtomicI64>);

struct MortalFile(Arc<dyn VfsFile>, Mortal);

impl Mortal {
    fn new(calls: i64) -> Self {
        Self(Arc::new(AtomicI64::new(calls)))
    }

    fn live(&self) -> io::Result<()> {
        if self.0.fetch_sub(1, SeqCst) > 0 { Ok(()) } else { Err(io::Error::other("killed")) }
    }

    fn died(&self) -> bool {
        self.0.load(SeqCst) < 0
    }
}

impl Vfs for Mortal {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn VfsFile>> {
        self.live()?;
        Ok(Arc::new(MortalFile(Unsynced.open(path, how)?, self.clone())))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.live()?;
        Unsynced.rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.live()?;
        Unsynced.remove_file(path)
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.live()?;
        Unsynced.sync_dir(dir)
    }
    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.live()?;
        Unsynced.create_dir_all(dir)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.live()?;
        Unsynced.list(dir)
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.live()?;
        Unsynced.exists(path)
    }
}

impl VfsFile for MortalFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.1.live()?;
        self.0.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        // A large write may have got half way.
        let half = buf.len() / 2;
        if self.1.live().is_err() {
            return Err(io::Error::other("killed"));
        }
        if self.1.0.load(SeqCst) == 0 && half > 0 {
            self.0.write_at(&buf[..half], offset)?;
            return self.1.live().map(|()| half);
        }
        self.0.write_at(buf, offset)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.1.live()
    }
    fn len(&self) -> io::Result<u64> {
        self.1.live()?;
        self.0.len()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.1.live()?;
        self.0.set_len(len)
    }
    fn reserve(&self, _end: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    fn try_lock(&self) -> io::Result<bool> {
        self.0.try_lock()
    }
    fn lock(&self) -> io::Result<()> {
        self.0.lock()
    }
    fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }
    fn identity(&self) -> io::Result<(u64, u64)> {
        self.1.live()?;
        self.0.identity()
    }
}

/// Runs `life` killed at its first call, its second, … until it survives; `after` judges each time.
fn at_every_call(
    prepare: impl Fn() -> World,
    life: impl Fn(&World) -> Vec<u64>,
    after: impl Fn(&World, Vec<u64>),
) -> i64 {
    for calls in 0.. {
        let mortal = Mortal::new(calls);
        let mut world = prepare();
        world.vfs = Arc::new(mortal.clone());
        let answered = life(&world);
        world.vfs = Arc::new(Unsynced);
        after(&world, answered);
        if !mortal.died() {
            return calls;
        }
    }
    unreachable!("a life has an end")
}

fn open_and_append(world: &World) -> Vec<u64> {
    let Ok(recovered) = world.try_open(Access::Write, OnDamage::Quarantine, &[]) else { return vec![] };
    let Ok((mut writer, _)) = LedgerWriter::open(&recovered) else { return vec![] };
    (0..3).map_while(|n| writer.append(batch([n, n])).ok().map(|done| done.last_seq)).collect()
}

/// All that was answered is there, nothing of the old is gone, and the copy can be trusted again.
fn nothing_lost(world: &World, start: &[u8], answered: &[u64]) {
    let recovered = world.write();
    let (writer, _) = LedgerWriter::open(&recovered).expect("opens");
    assert!(writer.head().seq >= answered.last().copied().unwrap_or(0));
    let main = world.main();
    assert!(main.starts_with(start), "{} bytes left of {}", main.len(), start.len());
    assert_eq!(main, world.copy());
    assert_eq!(kinds(&world.write().findings), Vec::<String>::new());
}

#[test]
fn a_killed_writer_loses_nothing_it_answered() {
    let start = World::unsynced().with(&[1, 2]).main();
    let calls = at_every_call(
        || World::unsynced().with(&[1, 2]),
        open_and_append,
        |world, answered| nothing_lost(world, &start, &answered),
    );
    assert!(calls > 30, "{calls} calls are too few to be the whole story");
}

#[test]
fn a_killed_repair_loses_nothing() {
    let sizes = [1, 2, 1];
    let world = World::unsynced().with(&sizes);
    let (good, lines) = (world.main(), world.lines());
    let damages: [(&str, Vec<u8>); 4] = [
        ("flipped", {
            let mut bad = good.clone();
            bad[lines[2].start + 40] ^= 1;
            bad
        }),
        ("truncated", good[..lines[2].start + 7].to_vec()),
        ("emptied", vec![]),
        ("torn", [&good[..], &good[lines[1].clone()]].concat()),
    ];
    for (name, bad) in damages {
        at_every_call(
            || {
                let world = World::unsynced().with(&sizes);
                world.set_main(&bad);
                world
            },
            open_and_append,
            |world, answered| {
                nothing_lost(world, &good, &answered);
                assert!(!world.quarantine().is_empty() || name == "truncated" || name == "emptied", "{name}");
            },
        );
    }
}

#[test]
fn a_killed_restore_loses_nothing() {
    let good = World::unsynced().with(&[1, 2]).main();
    at_every_call(
        || {
            let world = World::unsynced().with(&[1, 2]);
            std::fs::remove_dir_all(world.paths.dir()).expect("removed");
            world
        },
        open_and_append,
        |world, answered| nothing_lost(world, &good, &answered),
    );
}

#[test]
fn a_killed_quarantine_keeps_every_byte_and_never_hides_the_loss() {
    let prepare = || {
        let world = World::unsynced().with(&[1, 2, 1]);
        let place = world.lines()[2].start + 40;
        for (bytes, set) in [(world.main(), true), (world.copy(), false)] {
            let mut bad = bytes;
            bad[place] ^= 1;
            if set { world.set_main(&bad) } else { world.set_copy(&bad) }
        }
        world
    };
    let bad = prepare().main();
    let lines = prepare().lines();
    at_every_call(prepare, open_and_append, |world, _| {
        let recovered = world.write();
        assert_eq!(recovered.notes.len(), 1, "the caller is told");
        assert!(matches!(&recovered.notes[0].loss.quarantine[..], [first, ..]
            if std::fs::read(first).expect("kept") == bad[lines[1].end..]));
        assert!(world.main().starts_with(&bad[..lines[1].end]));
        assert!(recovered.findings.iter().all(|f| matches!(f, Finding::Loss(_) | Finding::TornTail { .. })));
    });
}

#[test]
fn a_killed_close_is_finished_by_the_next_one() {
    let good = World::unsynced().with(&[1, 2]).main();
    at_every_call(
        || World::unsynced().with(&[1, 2]),
        |world| {
            let _ = close(&*world.vfs, &world.paths, "plan");
            vec![]
        },
        |world, _| {
            let closed = close(&*world.vfs, &world.paths, "plan").expect("finishes");
            assert_eq!(std::fs::read(closed.archive).expect("archived"), good);
            assert_eq!(std::fs::read(closed.copy_archive.expect("has a copy")).expect("archived"), good);
            assert!(!world.paths.main.exists());
        },
    );
}

#[test]
fn a_killed_creation_leaves_a_whole_ledger_or_none() {
    at_every_call(
        World::unsynced,
        |world| {
            let first =
                swarm_ledger::Fragment::first("ledger-a", "\"type\":\"plan_created\",\"by\":\"test\"");
            let first = swarm_ledger::Batch::new(vec![first], "t", 1);
            swarm_ledger::create(&world.vfs, &world.paths, &first)
                .map(|done| vec![done.last_seq])
                .unwrap_or_default()
        },
        |world, answered| match world.try_open(Access::Write, OnDamage::Ask, &[]) {
            Ok(recovered) => assert_eq!((recovered.head.seq, recovered.findings.len()), (1, 0)),
            Err(swarm_ledger::OpenError::NoLedger(_)) => {
                assert_eq!(answered, [0; 0]);
                world.create();
            }
            Err(error) => panic!("{error}"),
        },
    );
}
