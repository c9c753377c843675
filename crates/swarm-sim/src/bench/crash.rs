//! G5: after kill -9 and after a torn tail nothing acknowledged is gone, and work goes on at once.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use swarm_ledger::{Access, Base, Ledger, LedgerPaths, RealFs, Vfs};

use crate::bench::place::Place;
use crate::bench::report::{Report, Target};
use crate::bench::sample;

const ROUNDS: u64 = 9;

/// The child of a kill round: appends for ever and says each seq once it is durable.
pub fn append_for_ever(dir: &Path) -> Result<()> {
    let vfs: Arc<dyn Vfs> = Arc::new(RealFs);
    let recovered = sample::open(&vfs, &sample::paths(dir), Access::Write, &[], &mut |_| {})?;
    let (ledger, _) = Ledger::open(&recovered)?;
    let mut out = std::io::stdout().lock();
    for number in 1_000.. {
        writeln!(out, "{}", ledger.append(sample::batch(number))?.last_seq)?;
        out.flush()?;
    }
    Ok(())
}

pub fn killed_and_torn(place: &Place, report: &mut Report) -> Result<()> {
    let vfs: Arc<dyn Vfs> = Arc::new(RealFs);
    let paths = sample::make(&vfs, &place.dir("g5-kill")?, 1_000)?;
    let mut lost = Vec::new();
    for round in 0..ROUNDS {
        let acknowledged = kill_after(paths.dir(), 5 + 7 * round)?;
        let recovered = sample::open(&vfs, &paths, Access::Write, &[], &mut |_| {})?;
        lost.push(acknowledged.saturating_sub(recovered.head.seq) as f64);
    }
    let total = lost.iter().sum::<f64>();
    report.judge("G5", "acknowledged events lost in 9 rounds of kill -9", &[total], Target::AtMost(0.0));
    torn(place, report)
}

fn kill_after(dir: &Path, answers: u64) -> Result<u64> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("append-for-ever")
        .arg(dir)
        .stdout(Stdio::piped())
        .spawn()
        .context("Cannot start the writer to be killed")?;
    let lines = BufReader::new(child.stdout.take().context("the child has an output")?).lines();
    let mut last = 0;
    for (count, line) in (1..).zip(lines) {
        last = line?.parse()?;
        if count == answers {
            child.kill()?;
        }
    }
    child.wait()?;
    Ok(last)
}

/// Opens and appends once, with the base a snapshot would give.
fn open_and_append(
    vfs: &Arc<dyn Vfs>,
    paths: &LedgerPaths,
    base: Base,
    number: u64,
) -> Result<(Duration, Base)> {
    let started = Instant::now();
    let recovered = sample::open(vfs, paths, Access::Write, &[base], &mut |_| {})?;
    let (ledger, _) = Ledger::open(&recovered)?;
    let committed = ledger.append(sample::batch(number))?;
    let time = started.elapsed();
    let head = committed.head;
    Ok((time, Base { seq: head.seq, hash: head.hash, offset: head.offset }))
}

fn torn(place: &Place, report: &mut Report) -> Result<()> {
    let vfs: Arc<dyn Vfs> = Arc::new(RealFs);
    let paths = sample::make(&vfs, &place.dir("g5-torn")?, 100_000)?;
    let head = sample::open(&vfs, &paths, Access::Read, &[], &mut |_| {})?.head;
    let mut base = Base { seq: head.seq, hash: head.hash, offset: head.offset };
    let mut ratios = Vec::new();
    for round in 0..ROUNDS {
        let (normal, next) = open_and_append(&vfs, &paths, base, 2_000 + round)?;
        tear(&paths, round)?;
        let (after, next_after) = open_and_append(&vfs, &paths, next, 3_000 + round)?;
        anyhow::ensure!(next_after.seq == next.seq + 1, "an acknowledged record is gone");
        base = next_after;
        ratios.push(after.as_secs_f64() / normal.as_secs_f64());
    }
    report.judge("G5", "next append after a torn tail / after a normal open", &ratios, Target::AtMost(2.0));
    Ok(())
}

/// Half a record behind the end, as a power cut leaves it; every other time as NUL bytes.
fn tear(paths: &LedgerPaths, round: u64) -> Result<()> {
    let file = std::fs::OpenOptions::new().write(true).open(&paths.main)?;
    let end = file.metadata()?.len();
    let half = b"{\"len\":\"0000300\",\"seq\":1";
    let nul = [0; 300];
    let bytes: &[u8] = if round.is_multiple_of(2) { half } else { &nul[..usize::try_from(200 + round)?] };
    file.write_all_at(bytes, end)?;
    file.sync_data()?;
    Ok(())
}
