//! `swarm status` over a ledger of 100,000 events, against a program that only reads snapshot and tail.

use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use swarm_core::State;
use swarm_engine::paths::Paths;
use swarm_ledger::{Access, Batch, Fragment, Ledger, RealFs, Vfs, create, parse_line};
use swarm_protocol::record::event_of;
use swarm_protocol::time::Timestamp;
use swarm_sim::bench::report::{Report, Target, median, median_secs};
use swarm_sim::bench::sample;

use super::worktree::timed;
use crate::arena::Arena;
use crate::setting::{ROUNDS, Setting};

const EVENTS: u64 = 100_000;
const STARTS: usize = 10;

pub fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    let arena = Arena::new(setting, "status", 20, json!({}))?;
    make_ledger(&arena)?;
    // The first that writes leaves a snapshot.
    arena.ok(&["task", "edit", "1.1", "--title", "another title"])?;
    arena.ok(&["status"])?;
    let (mut ratios, mut limits, mut products) = (vec![], vec![], vec![]);
    for round in 0..=ROUNDS {
        let (mut bare, mut product) = (vec![], vec![]);
        for _ in 0..STARTS {
            bare.push(timed(|| run(bare_reader(&arena)?))?.0);
            product.push(timed(|| run(arena.command(&["status", "--json"])))?.0);
        }
        if round > 0 {
            let (bare, product) = (median_secs(&bare), median_secs(&product));
            ratios.push(product / bare);
            limits.push(bare);
            products.push(product);
        }
    }
    let what = format!("swarm status at {}k events / reading snapshot + tail", EVENTS / 1000);
    report.judge("also", &what, &ratios, Target::AtMost(2.0));
    let (limit, product) = (median(&limits) * 1e3, median(&products) * 1e3);
    report.note(
        "also",
        &format!(
            "limit {limit:.1} ms, product {product:.1} ms, both from the start of the program to its end"
        ),
    );
    Ok(())
}

fn make_ledger(arena: &Arena) -> Result<()> {
    let paths = Paths::new(&arena.root, &arena.root.join(".git")).ledger_paths();
    std::fs::create_dir_all(arena.root.join(".git/swarm"))?;
    let vfs: Arc<dyn Vfs> = Arc::new(RealFs);
    create(&vfs, &paths, &event(0)).context("Cannot make a ledger to measure")?;
    let (ledger, _) = Ledger::open(&sample::open(&vfs, &paths, Access::Write, &[], &mut |_| {})?)?;
    for number in 1..EVENTS - 1 {
        ledger.submit(event(number), Box::new(|_| {}))?;
    }
    ledger.append(event(EVENTS - 1))?;
    ledger.close();
    Ok(())
}

/// Epoch 0: no coordinator has ever run here.
fn event(number: u64) -> Batch {
    Batch::new(vec![Fragment::new(sample::body(number))], sample::TS, 0)
}

fn bare_reader(arena: &Arena) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--read-base").arg(&arena.root);
    Ok(command)
}

fn run(mut command: Command) -> Result<()> {
    let status = command.stdout(Stdio::null()).stdin(Stdio::null()).status()?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}

/// What the limit takes out of the snapshot.
#[derive(serde::Deserialize)]
struct Base {
    offset: u64,
    state: State,
}

/// The limit itself: a process of its own that reads and parses the same bytes, and no more.
pub fn read_base(root: &Path) -> Result<()> {
    let paths = Paths::new(root, &root.join(".git"));
    let base: Base = serde_json::from_slice(&std::fs::read(&paths.snapshot)?)?;
    let ledger = std::fs::File::open(&paths.ledger)?;
    let mut tail = vec![0; usize::try_from(ledger.metadata()?.len() - base.offset)?];
    ledger.read_exact_at(&mut tail, base.offset)?;
    let mut state = base.state;
    for line in tail.split_inclusive(|byte| *byte == b'\n').skip(1) {
        let Ok(line) = parse_line(line) else { break };
        state.apply(&event_of(line.body)?, Timestamp::default());
    }
    println!("{}", state.seq);
    Ok(())
}
