//! G3: the whole ledger read, its chain checked and every event parsed.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};
use swarm_ledger::frame::parse_line;
use swarm_ledger::{Access, RealFs, Vfs};
use swarm_protocol::record::event_of;

use crate::bench::place::Place;
use crate::bench::report::{Report, Target, cpu};
use crate::bench::sample;

const ROUNDS: usize = 9;
const EVENTS: u64 = 100_000;

pub fn full(place: &Place, report: &mut Report) -> Result<()> {
    let vfs: Arc<dyn Vfs> = Arc::new(RealFs);
    let paths = sample::make(&vfs, &place.dir("g3")?, EVENTS)?;
    let (mut whole, mut chain, mut parse) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let limit = read_only(&paths.main)?.as_secs_f64();
        let mut bad = None;
        let started = cpu();
        sample::open(&vfs, &paths, Access::Read, &[], &mut |line| {
            if let Err(error) = event_of(line.body) {
                bad.get_or_insert(error);
            }
        })?;
        whole.push((cpu() - started).as_secs_f64() / limit);
        if let Some(error) = bad {
            return Err(error).context("An event of the sample does not parse");
        }
        let started = cpu();
        sample::open(&vfs, &paths, Access::Read, &[], &mut |_| {})?;
        chain.push((cpu() - started).as_secs_f64() / limit);
        parse.push(whole[whole.len() - 1] - chain[chain.len() - 1]);
    }
    report.judge(
        "G3",
        "cpu of full replay, chain and typed events / cpu of read(2)",
        &whole,
        Target::AtMost(10.0),
    );
    let shares = [crate::bench::report::median(&chain), crate::bench::report::median(&parse)];
    report.note(
        "G3",
        &format!("of which framing and SHA-256 {:.1}x, typed parse {:.1}x", shares[0], shares[1]),
    );
    let (sha, serde) = bare(&paths.main)?;
    report.note(
        "G3",
        &format!("limit here: bare SHA-256 of the same lines {:.1}x, bare typed parse {:.1}x", sha, serde),
    );
    report.note("G3", "peers opencode-swarm, swarm-mail: not measured here");
    Ok(())
}

fn read_only(path: &Path) -> Result<Duration> {
    let file = File::open(path)?;
    let mut buffer = vec![0; 256 * 1024];
    let mut offset = 0;
    let started = cpu();
    loop {
        let read = file.read_at(&mut buffer, offset)?;
        if read == 0 {
            return Ok(cpu() - started);
        }
        offset += read as u64;
    }
}

/// What hashing and parsing alone cost, as multiples of reading: the floor of any reader that does both.
fn bare(path: &Path) -> Result<(f64, f64)> {
    let (mut shas, mut parses) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let limit = read_only(path)?.as_secs_f64();
        let text = std::fs::read(path)?;
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let started = cpu();
        let mut sum = 0u64;
        for line in &lines {
            sum += u64::from(Sha256::digest(line)[0]);
        }
        shas.push((cpu() - started).as_secs_f64() / limit);
        let started = cpu();
        for line in &lines {
            event_of(parse_line(line).context("the sample is whole")?.body).context("the sample parses")?;
        }
        parses.push((cpu() - started).as_secs_f64() / limit);
        anyhow::ensure!(sum > 0, "nothing was hashed");
    }
    Ok((crate::bench::report::median(&shas), crate::bench::report::median(&parses)))
}
