//! G6 and G7: a worktree for a task made, and given up, against raw git.
//!
//! Everything written before is put on the disk ahead of each measurement: the product ends in a sync of the
//! file system, which would otherwise pay for the files of raw git too.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use swarm_engine::git::Git;
use swarm_engine::hands::remove::{Removal, remove};
use swarm_engine::hands::worktree::{BaseRule, prepare};
use swarm_protocol::ids::TaskId;
use swarm_sim::bench::report::{Report, Target};
use tokio::runtime::Runtime;

use crate::arena::Arena;
use crate::setting::{ROUNDS, Setting};

pub fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    with_files(setting, report, 5_000)?;
    if setting.large {
        with_files(setting, report, 75_000)?;
    } else {
        report.note("G6", "at 75k files: only with --large");
    }
    Ok(())
}

#[derive(Default)]
struct Ratios {
    made: Vec<f64>,
    made_durable: Vec<f64>,
    given_up: Vec<f64>,
}

fn with_files(setting: &Setting, report: &mut Report, files: usize) -> Result<()> {
    let arena = Arena::new(setting, &format!("g6-{files}"), files, json!({}))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let git = runtime.block_on(Git::discover(&arena.root))?;
    let mut ratios = Ratios::default();
    for round in 0..=ROUNDS {
        let times = one_round(&arena, &runtime, &git, round)?;
        // The first fills the caches.
        if round > 0 {
            ratios.made.push(times.product_add.as_secs_f64() / times.raw_add.as_secs_f64());
            let raw_durable = (times.raw_add + times.raw_sync).as_secs_f64();
            ratios.made_durable.push(times.product_add.as_secs_f64() / raw_durable);
            ratios.given_up.push(times.product_remove.as_secs_f64() / times.raw_remove.as_secs_f64());
        }
    }
    let at = format!("{}k files", files / 1000);
    let what = format!("worktree made / raw git worktree add, {at}");
    report.judge("G6", &what, &ratios.made, Target::AtMost(1.10));
    let what = format!("worktree made / raw git worktree add + one syncfs, {at}");
    report.judge("G6", &what, &ratios.made_durable, Target::AtMost(1.10));
    let what = format!("worktree given up / raw git worktree remove, {at}");
    report.judge("G7", &what, &ratios.given_up, Target::AtMost(0.05));
    Ok(())
}

struct Times {
    raw_add: Duration,
    raw_sync: Duration,
    product_add: Duration,
    raw_remove: Duration,
    product_remove: Duration,
}

fn one_round(arena: &Arena, runtime: &Runtime, git: &Git, round: usize) -> Result<Times> {
    let dir = arena.root.join(".swarm/worktrees");
    let task = TaskId::new(format!("t{round}")).context("a task id")?;
    let raw = arena.beside(&format!("raw{round}"));
    sync(&arena.root)?;
    let (raw_add, _) = timed(|| {
        let args = ["worktree", "add", "--quiet", "-b", &format!("raw/{round}")];
        arena.git(args.map(str::as_ref).into_iter().chain([raw.as_os_str()]))
    })?;
    let (raw_sync, ()) = timed(|| sync(&arena.root))?;
    let base = BaseRule::Trunk("main".into());
    let (product_add, made) = timed(|| Ok(runtime.block_on(prepare(git, &task, &dir, &base))?))?;
    ensure!(!made.reattached, "the worktree was there already");
    sync(&arena.root)?;
    let (raw_remove, _) = timed(|| {
        arena.git(["worktree", "remove", "--force"].map(str::as_ref).into_iter().chain([raw.as_os_str()]))
    })?;
    sync(&arena.root)?;
    let (product_remove, removal) = timed(|| Ok(runtime.block_on(remove(git, &task, &dir, &[]))?))?;
    ensure!(removal == Removal::Removed, "the worktree stays: {removal:?}");
    std::fs::remove_dir_all(arena.root.join(".swarm/trash"))?;
    Ok(Times { raw_add, raw_sync, product_add, raw_remove, product_remove })
}

pub fn timed<T>(deed: impl FnOnce() -> Result<T>) -> Result<(Duration, T)> {
    let started = Instant::now();
    let done = deed()?;
    Ok((started.elapsed(), done))
}

/// Puts the file system on the disk.
pub fn sync(dir: &Path) -> Result<()> {
    Ok(rustix::fs::syncfs(std::fs::File::open(dir)?)?)
}
