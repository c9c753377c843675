//! G9: a finished task on trunk, built and published, against the three bare git commands.

use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::json;
use swarm_git::Git;
use swarm_protocol::ids::{AgentId, Oid, TaskId};
use swarm_sim::bench::report::{Report, Target, median, median_secs};
use swarm_work::build::{BuildOutcome, Work, build};
use swarm_work::publish::{Intent, Publication, publish};
use tokio::runtime::Runtime;

use super::worktree::{sync, timed};
use crate::arena::Arena;
use crate::setting::{ROUNDS, Setting};

/// Merges of each kind in one round.
const MERGES: usize = 5;

pub fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    let mut sizes = vec![200, 5_000];
    if setting.large {
        sizes.push(75_000);
    }
    let mut shops = Vec::new();
    for files in &sizes {
        shops.push(Shop::new(setting, *files)?);
    }
    let mut rounds = vec![Vec::new(); sizes.len()];
    for round in 0..=ROUNDS {
        for (context, rounds) in shops.iter_mut().zip(&mut rounds) {
            let times = context.round()?;
            // The first fills the caches.
            if round > 0 {
                rounds.push(times);
            }
        }
    }
    for (files, rounds) in sizes.iter().zip(&rounds) {
        tell(report, *files, rounds);
    }
    for (files, rounds_of_more) in sizes.iter().zip(&rounds).skip(1) {
        let growth: Vec<f64> =
            rounds_of_more.iter().zip(&rounds[0]).map(|(more, few)| more.product / few.product).collect();
        let what = format!("merge at {} / at {}", shown(*files), shown(sizes[0]));
        report.judge("G9", &what, &growth, Target::AtMost(1.3));
    }
    Ok(())
}

/// Medians of one round, in seconds.
#[derive(Clone, Copy)]
struct Times {
    bare: f64,
    synced: f64,
    product: f64,
    picked: f64,
}

fn shown(files: usize) -> String {
    if files < 1000 { format!("{files} files") } else { format!("{}k files", files / 1000) }
}

fn tell(report: &mut Report, files: usize, rounds: &[Times]) {
    let at = shown(files);
    let against = |limit: fn(&Times) -> f64| -> Vec<f64> {
        rounds.iter().map(|times| times.product / limit(times)).collect()
    };
    let what = format!("build + publish / merge-tree + commit-tree + update-ref, {at}");
    report.judge("G9", &what, &against(|times| times.bare), Target::AtMost(2.0));
    let what = format!("the same / those three + one syncfs, {at}");
    report.judge("G9", &what, &against(|times| times.synced), Target::AtMost(2.0));
    let what = format!("build + publish / cherry-pick in a checkout, {at}");
    let picks = against(|times| times.picked);
    if files >= 75_000 {
        report.judge("G9", &what, &picks, Target::AtMost(0.2));
    } else {
        report.note("G9", &format!("{what}: {:.2} (the target, 0.2, is for 75k files)", median(&picks)));
    }
}

/// A repository whose trunk nobody has checked out, and tasks that change one file each.
struct Shop {
    arena: Arena,
    runtime: Runtime,
    git: Git,
    start: String,
    tasks: usize,
}

impl Shop {
    fn new(setting: &Setting, files: usize) -> Result<Self> {
        let arena = Arena::new(setting, &format!("g9-{files}"), files, json!({}))?;
        for branch in ["trunk-bare", "trunk-product"] {
            arena.git(["branch", branch])?;
        }
        let picking = arena.beside("picking");
        let picking = picking.to_str().context("a path of text")?;
        arena.git(["worktree", "add", "--quiet", "-b", "trunk-picked", picking])?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let git = runtime.block_on(Git::discover(&arena.root))?;
        let start = arena.git(["rev-parse", "HEAD"])?.trim().to_owned();
        Ok(Self { arena, runtime, git, start, tasks: 0 })
    }

    fn round(&mut self) -> Result<Times> {
        let (mut bare, mut synced, mut product, mut picked) = (vec![], vec![], vec![], vec![]);
        for _ in 0..MERGES {
            let (time, with_sync) = self.bare_merge()?;
            bare.push(time);
            synced.push(with_sync);
            product.push(self.product_merge()?);
            picked.push(self.cherry_pick()?);
        }
        let [bare, synced, product, picked] =
            [bare, synced, product, picked].map(|times| median_secs(&times));
        Ok(Times { bare, synced, product, picked })
    }

    /// A commit on the first one that adds a file of its own.
    fn task(&mut self) -> Result<String> {
        self.tasks += 1;
        let index = self.arena.beside("task-index");
        let index = index.to_str().context("a path of text")?;
        let text = self.arena.beside("text");
        std::fs::write(&text, format!("task {}\n", self.tasks))?;
        let blob = self.arena.git(["hash-object", "-w", text.to_str().context("a path of text")?])?;
        let entry = format!("100644,{},src/part0000/new{:05}.txt", blob.trim(), self.tasks);
        let with_index = |args: &[&str]| {
            let mut command = std::process::Command::new("git");
            self.arena.with_home(&mut command);
            command.current_dir(&self.arena.root).env("GIT_INDEX_FILE", index).args(args);
            crate::arena::output_of(command)
        };
        with_index(&["read-tree", &self.start])?;
        with_index(&["update-index", "--add", "--cacheinfo", &entry])?;
        let tree = with_index(&["write-tree"])?;
        let message = format!("task {}", self.tasks);
        let commit = self.arena.git(["commit-tree", "-p", &self.start, "-m", &message, tree.trim()])?;
        Ok(commit.trim().to_owned())
    }

    /// Without and with the sync that makes it durable.
    fn bare_merge(&mut self) -> Result<(Duration, Duration)> {
        let tip = self.task()?;
        let trunk = self.tip_of("trunk-bare")?;
        sync(&self.arena.root)?;
        let (time, ()) = timed(|| {
            let base = format!("--merge-base={}", self.start);
            let tree = self.arena.git(["merge-tree", "--write-tree", &base, &trunk, &tip])?;
            let commit = self.arena.git(["commit-tree", "-p", &trunk, "-m", "task", tree.trim()])?;
            self.arena.git(["update-ref", "refs/heads/trunk-bare", commit.trim(), &trunk])?;
            Ok(())
        })?;
        let (syncing, ()) = timed(|| sync(&self.arena.root))?;
        Ok((time, time + syncing))
    }

    fn cherry_pick(&mut self) -> Result<Duration> {
        let tip = self.task()?;
        sync(&self.arena.root)?;
        Ok(timed(|| self.arena.git_in(&self.arena.beside("picking"), ["cherry-pick", &tip]))?.0)
    }

    fn product_merge(&mut self) -> Result<Duration> {
        let tip = self.task()?;
        let trunk = self.tip_of("trunk-product")?;
        let work = Work {
            task: TaskId::new(format!("t{}", self.tasks))?,
            agent: Some(AgentId::nth(1)),
            base: Oid::new(&self.start)?,
            tip: Oid::new(&tip)?,
            trunk: Oid::new(&trunk)?,
            at_secs: 1_700_000_000,
            reviewed: false,
            regenerate: vec![],
        };
        sync(&self.arena.root)?;
        let (time, ()) = timed(|| self.runtime.block_on(build_and_publish(&self.git, &work)))?;
        let now = self.tip_of("trunk-product")?;
        ensure!(now != trunk, "trunk has not moved");
        Ok(time)
    }

    fn tip_of(&self, branch: &str) -> Result<String> {
        Ok(self.arena.git(["rev-parse", branch])?.trim().to_owned())
    }
}

async fn build_and_publish(git: &Git, work: &Work) -> Result<()> {
    let BuildOutcome::Built(built) = build(git, work).await? else { bail!("nothing was built") };
    let intent = Intent { trunk: "trunk-product".into(), old: built.base_trunk, new: built.result };
    match publish(git, &intent).await? {
        Publication::Published => Ok(()),
        other => bail!("not published: {other:?}"),
    }
}
