//! G6 and G7: a worktree for a task made, and given up, against raw git.
//!
//! Everything written before is put on the disk ahead of each measurement: the product ends in a sync of the
//! file system, which would otherwise pay for the files of raw git too.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use swarm_git::Git;
use swarm_protocol::ids::TaskId;
use swarm_sim::bench::report::{Report, Target};
use swarm_work::remove::{GivingUp, Removal, give_up};
use swarm_work::worktree::pool::{PoolRule, tend};
use swarm_work::worktree::{BaseRule, Wanted, prepare_as};
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
    recycled: Vec<f64>,
    pooled: Vec<f64>,
    trashed: Vec<f64>,
}

fn with_files(setting: &Setting, report: &mut Report, files: usize) -> Result<()> {
    let arena = Arena::new(setting, &format!("g6-{files}"), files, json!({}))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let git = runtime.block_on(Git::discover(&arena.root))?;
    let dir = arena.root.join(".swarm/worktrees");
    let pool = PoolRule { dir, max: 4, plan: "bench".into(), disposable: vec![], keep_caches: true };
    let mut ratios = Ratios::default();
    for round in 0..=ROUNDS {
        let raw = raw_round(&arena, round)?;
        let ours = our_round(&arena, &runtime, &git, &pool, round)?;
        // The first fills the caches.
        if round > 0 {
            let share = |ours: Duration, raw: Duration| ours.as_secs_f64() / raw.as_secs_f64();
            ratios.made.push(share(ours.made, raw.added));
            ratios.made_durable.push(share(ours.made, raw.added + raw.synced));
            ratios.recycled.push(share(ours.recycled, raw.added));
            ratios.pooled.push(share(ours.pooled, raw.removed));
            ratios.trashed.push(share(ours.trashed, raw.removed));
        }
    }
    let at = format!("{}k files", files / 1000);
    let mut line = |goal: &str, what: &str, ratios: &[f64], most: f64| {
        report.judge(goal, &format!("{what}, {at}"), ratios, Target::AtMost(most));
    };
    line("G6", "worktree made / git worktree add", &ratios.made, 1.10);
    line("G6", "worktree made / git worktree add + one syncfs", &ratios.made_durable, 1.10);
    line("G6", "worktree from the pool, settled / git worktree add", &ratios.recycled, 0.2);
    line("G7", "worktree given up to the pool / git worktree remove", &ratios.pooled, 0.05);
    line("G7", "worktree given up to the trash / git worktree remove", &ratios.trashed, 0.05);
    Ok(())
}

struct RawTimes {
    added: Duration,
    synced: Duration,
    removed: Duration,
}

fn raw_round(arena: &Arena, round: usize) -> Result<RawTimes> {
    let raw = arena.beside(&format!("raw{round}"));
    let raw = raw.to_str().context("a path of text")?;
    sync(&arena.root)?;
    let (added, _) = timed(|| arena.git(["worktree", "add", "--quiet", "-b", &format!("raw/{round}"), raw]))?;
    let (synced, ()) = timed(|| sync(&arena.root))?;
    let (removed, _) = timed(|| arena.git(["worktree", "remove", "--force", raw]))?;
    Ok(RawTimes { added, synced, removed })
}

struct OurTimes {
    made: Duration,
    pooled: Duration,
    recycled: Duration,
    trashed: Duration,
}

/// One made anew, given up to the pool, taken from there for the next task, and given up for good.
fn our_round(arena: &Arena, runtime: &Runtime, git: &Git, pool: &PoolRule, round: usize) -> Result<OurTimes> {
    let base = BaseRule::Trunk("main".into());
    let [first, next] = ["first", "next"].map(|name| TaskId::new(format!("{name}{round}")));
    let (first, next) = (first?, next?);
    let prepare = |task: &TaskId| {
        let wanted = Wanted {
            task,
            dir: &pool.dir,
            base: &base,
            begins: None,
            takes_up: None,
            pool: Some(pool),
            copy: None,
            max_file_bytes: 100 << 20,
        };
        Ok(runtime.block_on(prepare_as(git, &wanted))?)
    };
    let give_up = |task: &TaskId, pooled: bool| {
        let asked = GivingUp {
            task,
            dir: &pool.dir,
            disposable: &[],
            max_file_bytes: 100 << 20,
            pool: pooled.then_some(pool),
            only_look: false,
            remember: None,
            merged: None,
            force: false,
        };
        let removal = runtime.block_on(give_up(git, &asked))?;
        ensure!(removal == Removal::Removed, "the worktree stays: {removal:?}");
        Ok(())
    };
    sync(&arena.root)?;
    let (made, prepared) = timed(|| prepare(&first))?;
    ensure!(!prepared.reattached && !prepared.recycled, "the worktree was there already");
    sync(&arena.root)?;
    let (pooled, ()) = timed(|| give_up(&first, true))?;
    let tended = runtime.block_on(tend(git, pool))?;
    ensure!(tended.settled == 1, "nothing in the pool was settled: {tended:?}");
    // Meanwhile trunk has moved a little, as it does.
    std::fs::write(arena.root.join("README.md"), format!("hello {round}\n"))?;
    arena.git(["commit", "--quiet", "--all", "--message", "meanwhile"])?;
    sync(&arena.root)?;
    let (recycled, prepared) = timed(|| prepare(&next))?;
    ensure!(prepared.recycled, "the worktree does not come from the pool");
    sync(&arena.root)?;
    let (trashed, ()) = timed(|| give_up(&next, false))?;
    std::fs::remove_dir_all(arena.root.join(".swarm/trash"))?;
    Ok(OurTimes { made, pooled, recycled, trashed })
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
