//! G1 and G2: what a durable append costs, alone and among many.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use swarm_ledger::{Access, Batch, Ledger, LedgerPaths, RealFs, Vfs};

use crate::bench::counting::CountingFs;
use crate::bench::place::Place;
use crate::bench::report::{Report, Target, median_secs};
use crate::bench::sample;

const ROUNDS: usize = 9;
const APPENDS: u64 = 60;
const CLIENTS: u64 = 64;
const APPENDS_EACH: u64 = 200;

/// The limit: the same bytes, one write and one fdatasync.
struct Bare {
    file: File,
    end: u64,
}

impl Bare {
    fn new(path: &Path) -> Result<Self> {
        Ok(Self { file: File::create(path)?, end: 0 })
    }

    fn append(&mut self, bytes: &[u8]) -> Result<Duration> {
        let started = Instant::now();
        self.file.write_all_at(bytes, self.end)?;
        self.file.sync_data()?;
        self.end += bytes.len() as u64;
        Ok(started.elapsed())
    }
}

fn reopen(vfs: &Arc<dyn Vfs>, paths: &LedgerPaths) -> Result<Ledger> {
    Ok(Ledger::open(&sample::open(vfs, paths, Access::Write, &[], &mut |_| {})?)?.0)
}

fn timed(ledger: &Ledger, number: u64) -> Result<(Duration, u64)> {
    let batch = sample::batch(number);
    let started = Instant::now();
    let committed = ledger.append(batch)?;
    Ok((started.elapsed(), committed.bytes))
}

pub fn one_client(place: &Place, report: &mut Report) -> Result<()> {
    let vfs: Arc<dyn Vfs> = Arc::new(RealFs);
    let short = reopen(&vfs, &sample::make(&vfs, &place.dir("g1-short")?, 1_000)?)?;
    let long = reopen(&vfs, &sample::make(&vfs, &place.dir("g1-long")?, 100_000)?)?;
    let mut bare = Bare::new(&place.dir("g1-bare")?.join("bytes"))?;
    let (mut against_limit, mut against_short) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let (mut bares, mut shorts, mut longs) = (Vec::new(), Vec::new(), Vec::new());
        let mut bytes = 400;
        for number in 0..APPENDS {
            // Whoever comes behind a sync of another file waits for the same journal: take turns.
            for turn in number..number + 3 {
                match turn % 3 {
                    0 => {
                        let (time, written) = timed(&short, 1_000 + number)?;
                        shorts.push(time);
                        bytes = written;
                    }
                    1 => bares.push(bare.append(&vec![b'x'; usize::try_from(bytes)?])?),
                    _ => longs.push(timed(&long, 1_000 + number)?.0),
                }
            }
        }
        if round > 0 {
            against_limit.push(median_secs(&shorts) / median_secs(&bares));
            against_short.push(median_secs(&longs) / median_secs(&shorts));
        }
    }
    report.judge(
        "G1",
        "durable append, 1 client / bare write+fdatasync",
        &against_limit,
        Target::AtMost(1.5),
    );
    report.judge("G1", "append at 100k events / at 1k events", &against_short, Target::AtMost(1.2));
    report.note("G1", "peer opencode-swarm: not measured here");
    Ok(())
}

pub fn many_clients(place: &Place, report: &mut Report) -> Result<()> {
    let counting = CountingFs::default();
    let vfs: Arc<dyn Vfs> = Arc::new(counting.clone());
    let ledger = reopen(&vfs, &sample::make(&vfs, &place.dir("g2")?, 1_000)?)?;
    let (mut ratios, mut syncs_per_batch, mut single_syncs) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        // What the clients want to say is not the ledger's work.
        let lone: Vec<Batch> = (0..APPENDS).map(|n| sample::batch(1_000 + n)).collect();
        let wishes: Vec<Batch> = (0..CLIENTS * APPENDS_EACH).map(|n| sample::batch(1_000 + n)).collect();
        let before = counting.syncs();
        let started = Instant::now();
        for batch in lone {
            ledger.append(batch)?;
        }
        let single_rate = APPENDS as f64 / started.elapsed().as_secs_f64();
        let between = counting.syncs();
        let started = Instant::now();
        crowd(&ledger, wishes)?;
        let crowd_rate = (CLIENTS * APPENDS_EACH) as f64 / started.elapsed().as_secs_f64();
        if round > 0 {
            ratios.push(crowd_rate / single_rate);
            single_syncs.push((between - before) as f64 / APPENDS as f64);
            syncs_per_batch.push((counting.syncs() - between) as f64 / (CLIENTS * APPENDS_EACH) as f64);
        }
    }
    report.judge(
        "G2",
        "durable appends/s, 64 clients of one loop / 1 client",
        &ratios,
        Target::AtLeast(30.0),
    );
    report.judge("G2", "fdatasync per batch, 1 client", &single_syncs, Target::AtMost(1.0));
    report.judge("G2", "fdatasync per batch, 64 clients", &syncs_per_batch, Target::AtMost(1.0));
    report.note("G2", "peer swarm-mail: not measured here");
    Ok(())
}

/// Clients that each wait for the answer before they ask again, served by one loop as the coordinator
/// serves its agents: what has become durable is answered together, and the next wishes are taken together.
fn crowd(ledger: &Ledger, wishes: Vec<Batch>) -> Result<()> {
    let (answer, answers) = std::sync::mpsc::channel();
    let mut wishes = wishes.into_iter();
    let ask = |batch: Batch| {
        let answer = answer.clone();
        ledger.submit(batch, Box::new(move |result| drop(answer.send(result.map(drop))))).map(drop)
    };
    let mut open = 0;
    for batch in wishes.by_ref().take(usize::try_from(CLIENTS)?) {
        ask(batch)?;
        open += 1;
    }
    while open > 0 {
        answers.recv()??;
        match wishes.next() {
            Some(batch) => ask(batch)?,
            None => open -= 1,
        }
    }
    Ok(())
}
