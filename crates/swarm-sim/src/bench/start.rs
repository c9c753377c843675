//! G4: the start from a snapshot and a short tail.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use swarm_core::state::State;
use swarm_ledger::{Access, Base, LedgerPaths, RealFs, Vfs, parse_line};
use swarm_protocol::record::event_of;
use swarm_protocol::time::Timestamp;

use crate::bench::place::Place;
use crate::bench::report::{Report, Target, median_secs};
use crate::bench::sample;

const ROUNDS: usize = 9;
const STARTS: usize = 15;
const TAIL: u64 = 1_000;

/// A ledger with a snapshot that leaves [`TAIL`] events.
struct Resting {
    vfs: Arc<dyn Vfs>,
    paths: LedgerPaths,
    snapshot: PathBuf,
    base: Base,
}

impl Resting {
    fn new(place: &Place, name: &str, events: u64) -> Result<Self> {
        let vfs: Arc<dyn Vfs> = Arc::new(RealFs);
        let dir = place.dir(name)?;
        let paths = sample::make(&vfs, &dir, events)?;
        let mut state = State::default();
        let mut base = None;
        let mut offset = 0;
        sample::open(&vfs, &paths, Access::Read, &[], &mut |line| {
            if line.seq <= events - TAIL
                && let Ok(event) = event_of(line.body)
            {
                state.apply(&event, Timestamp::default());
                base = Some(Base { seq: line.seq, hash: line.hash, offset });
            }
            offset += line.bytes.len() as u64;
        })?;
        let snapshot = dir.join("snapshot.json");
        std::fs::write(&snapshot, state.to_json().get())?;
        Ok(Self { vfs, paths, snapshot, base: base.context("the sample has events")? })
    }

    /// What the product does: snapshot, proof that it lies on the chain, tail, state.
    fn start(&self) -> Result<Duration> {
        let started = Instant::now();
        let mut state = State::from_json(&std::fs::read_to_string(&self.snapshot)?)?;
        sample::open(&self.vfs, &self.paths, Access::Read, &[self.base], &mut |line| {
            if let Ok(event) = event_of(line.body) {
                state.apply(&event, Timestamp::default());
            }
        })?;
        anyhow::ensure!(state.seq == self.base.seq + TAIL, "the start took in another number of events");
        Ok(started.elapsed())
    }

    /// The limit: the same bytes read and parsed, nothing checked and nothing applied.
    fn bare(&self) -> Result<Duration> {
        let started = Instant::now();
        let state = State::from_json(&std::fs::read_to_string(&self.snapshot)?)?;
        let tail = tail_of(&self.paths, self.base.offset)?;
        let mut events = 0;
        for line in tail.split_inclusive(|byte| *byte == b'\n').skip(1) {
            let parsed = parse_line(line).context("the sample is whole")?;
            event_of(parsed.body).context("the sample is whole")?;
            events += 1;
        }
        anyhow::ensure!(events == TAIL && state.seq == self.base.seq, "the bare parse read something else");
        Ok(started.elapsed())
    }
}

fn tail_of(paths: &LedgerPaths, offset: u64) -> Result<Vec<u8>> {
    use std::os::unix::fs::FileExt as _;
    let file = std::fs::File::open(&paths.main)?;
    let mut tail = vec![0; usize::try_from(file.metadata()?.len() - offset)?];
    file.read_exact_at(&mut tail, offset)?;
    Ok(tail)
}

pub fn from_snapshot(place: &Place, report: &mut Report) -> Result<()> {
    let short = Resting::new(place, "g4-10k", 10_000)?;
    let long = Resting::new(place, "g4-100k", 100_000)?;
    let (mut against_limit, mut against_short) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (mut bares, mut shorts, mut longs) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..STARTS {
            bares.push(long.bare()?);
            longs.push(long.start()?);
            shorts.push(short.start()?);
        }
        against_limit.push(median_secs(&longs) / median_secs(&bares));
        against_short.push(median_secs(&longs) / median_secs(&shorts));
    }
    report.judge(
        "G4",
        "start, snapshot + 1,000 events / bare typed parse",
        &against_limit,
        Target::AtMost(1.5),
    );
    report.judge("G4", "start at 100k events / at 10k events", &against_short, Target::AtMost(1.3));
    report.note("G4", "peer opencode-swarm loadPlan: not measured here");
    Ok(())
}
