//! G8: a checkpoint of a dirty worktree of 75,000 files, and the way back, against raw git.
//!
//! The limit of a checkpoint: a copy of the index, `add -A`, `write-tree`, `commit-tree`, a tag, and one sync of
//! one file. The limit of the way back: `reset --hard` and `clean`. Ours saves first what it takes away, which
//! raw git does not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::json;
use swarm_git::Git;
use swarm_protocol::ids::{CommandId, Oid, TaskId};
use swarm_protocol::operation::{Plan, RefMove, Saved, Says, TrunkHow, TrunkMove, WorktreeMove, WorktreeTo};
use swarm_protocol::time::Timestamp;
use swarm_sim::bench::report::{Report, Target, median};
use swarm_work::operation::checkpoint::{Checkpointing, save};
use swarm_work::operation::moving::{MoveOutcome, Places, carry_out};
use swarm_work::operation::restore_tree::{Restore, Restored, restore};
use swarm_work::worktree::{BaseRule, Prepared, prepare};
use tokio::runtime::Runtime;

use super::worktree::{sync, timed};
use crate::arena::{Arena, output_of};
use crate::setting::{ROUNDS, Setting};

const FILES: usize = 75_000;

/// Dirty worktrees whose every content is looked for at the end.
const CROWD: usize = 8;

/// Changed, new and deleted files of a dirty worktree, each.
const DIRTY: usize = 25;

pub fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    let ground = Ground::new(setting)?;
    let mut rounds = Vec::new();
    for round in 0..=ROUNDS {
        let times = ground.round(round)?;
        // The first fills the caches.
        if round > 0 {
            rounds.push(times);
        }
    }
    tell(report, &rounds);
    report.note(
        "G8",
        "known dirty paths (0.7): nobody in the product knows them for sure, so none are believed",
    );
    report.note(
        "G8",
        "jj op restore (0.5): not installed by this repository; measured once at 4.7 x git reset",
    );
    ground.crowd(report)
}

/// One round, in seconds.
struct Times {
    raw_checkpoint: f64,
    stash: f64,
    checkpoint: f64,
    after_a_commit: f64,
    raw_reset: f64,
    back: f64,
    raw_trunk: f64,
    trunk: f64,
}

fn tell(report: &mut Report, rounds: &[Times]) {
    let mut line = |what: &str, ours: fn(&Times) -> f64, limit: fn(&Times) -> f64, most: f64| {
        let ratios: Vec<f64> = rounds.iter().map(|times| ours(times) / limit(times)).collect();
        report.judge("G8", &format!("{what}, 75k files"), &ratios, Target::AtMost(most));
    };
    line(
        "checkpoint / raw add -A, write-tree, commit, tag, sync",
        |t| t.checkpoint,
        |t| t.raw_checkpoint,
        1.2,
    );
    line("the same right after a commit of the agent / raw", |t| t.after_a_commit, |t| t.raw_checkpoint, 1.2);
    line("checkpoint / git stash create", |t| t.checkpoint, |t| t.stash, 1.0);
    line("worktree back, what was there saved / reset --hard + clean", |t| t.back, |t| t.raw_reset, 1.2);
    line("trunk back under a checkout / reset --hard", |t| t.trunk, |t| t.raw_trunk, 1.2);
    let middle = |of: fn(&Times) -> f64| 1000.0 * median(&rounds.iter().map(of).collect::<Vec<_>>());
    report.note(
        "G8",
        &format!(
            "in ms: checkpoint {:.0} (raw {:.0}, stash create {:.0}), worktree back {:.0} (raw {:.0}), trunk back {:.0} (raw {:.0})",
            middle(|t| t.checkpoint),
            middle(|t| t.raw_checkpoint),
            middle(|t| t.stash),
            middle(|t| t.back),
            middle(|t| t.raw_reset),
            middle(|t| t.trunk),
            middle(|t| t.raw_trunk),
        ),
    );
}

/// A repository, a worktree for the product, one for raw git, a checkout of trunk for each.
struct Ground {
    arena: Arena,
    runtime: Runtime,
    git: Git,
    dir: PathBuf,
    task: TaskId,
    place: Prepared,
    raw: PathBuf,
}

impl Ground {
    #[allow(
        clippy::disallowed_methods,
        reason = "what git believes of a file depends on the second it was written in"
    )]
    fn new(setting: &Setting) -> Result<Self> {
        let arena = Arena::new(setting, "g8", FILES, json!({}))?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let git = runtime.block_on(Git::discover(&arena.root))?;
        let (dir, task, raw) = (arena.root.join(".swarm/worktrees"), TaskId::new("t1")?, arena.beside("raw"));
        let place = runtime.block_on(prepare(&git, &task, &dir, &BaseRule::Trunk("main".into())))?;
        arena.git(["worktree", "add", "--quiet", "-b", "raw", raw.to_str().context("a path of text")?])?;
        // Times of files and index in different seconds, as after any real while.
        std::thread::sleep(Duration::from_millis(1100));
        for folder in [&place.path, &raw, &arena.root] {
            arena.git_in(folder, ["status", "--short"])?;
        }
        Ok(Self { arena, runtime, git, dir, task, place, raw })
    }

    fn round(&self, round: usize) -> Result<Times> {
        for folder in [&self.raw, &self.place.path] {
            make_dirty(folder, round)?;
        }
        let raw_checkpoint = self.raw_checkpoint(round)?;
        sync(&self.arena.root)?;
        let (stash, _) = timed(|| self.arena.git_in(&self.raw, ["stash", "create"]))?;
        let (checkpoint, saved) = self.checkpoint(&format!("round-{round}"))?;
        ensure!(saved.dirty.contains_key(&self.task), "nothing was dirty");
        for folder in [&self.raw, &self.place.path] {
            std::fs::write(folder.join("committed.txt"), format!("{round}\n"))?;
            self.arena.git_in(folder, ["add", "committed.txt"])?;
            self.arena.git_in(folder, ["commit", "--quiet", "-m", "a step"])?;
        }
        let (after_a_commit, _) = self.checkpoint(&format!("later-{round}"))?;
        let (raw_reset, back) = (self.raw_reset()?, self.back()?);
        let (raw_trunk, trunk) = self.trunk_back(round)?;
        Ok(Times {
            raw_checkpoint,
            stash: stash.as_secs_f64(),
            checkpoint,
            after_a_commit,
            raw_reset,
            back,
            raw_trunk,
            trunk,
        })
    }

    fn raw_checkpoint(&self, round: usize) -> Result<f64> {
        let (index, state) = (self.arena.beside("raw-index"), self.arena.beside("raw-state"));
        let own =
            self.arena.git_in(&self.raw, ["rev-parse", "--path-format=absolute", "--git-path", "index"])?;
        sync(&self.arena.root)?;
        let (time, ()) = timed(|| {
            std::fs::copy(own.trim(), &index)?;
            let times = std::fs::metadata(own.trim())?.modified()?;
            std::fs::File::options().write(true).open(&index)?.set_modified(times)?;
            let with_index = |args: &[&str]| {
                let mut command = std::process::Command::new("git");
                self.arena.with_home(&mut command);
                command.current_dir(&self.raw).env("GIT_INDEX_FILE", &index).args(args);
                output_of(command)
            };
            with_index(&["add", "-A"])?;
            let tree = with_index(&["write-tree"])?;
            let commit = with_index(&["commit-tree", "-p", "HEAD", "-m", "checkpoint", tree.trim()])?;
            with_index(&["update-ref", &format!("refs/tags/raw-{round}"), commit.trim()])?;
            let mut file = std::fs::File::create(&state)?;
            std::io::Write::write_all(&mut file, b"{}\n")?;
            file.sync_data()?;
            Ok(())
        })?;
        Ok(time.as_secs_f64())
    }

    fn checkpoint(&self, name: &str) -> Result<(f64, Saved)> {
        let moving = BTreeSet::new();
        let asked = Checkpointing { name, trunk: "main", moving: &moving, tag: true };
        sync(&self.arena.root)?;
        let (time, saved) = timed(|| Ok(self.runtime.block_on(save(&self.git, &asked))?))?;
        Ok((time.as_secs_f64(), saved))
    }

    fn raw_reset(&self) -> Result<f64> {
        sync(&self.arena.root)?;
        let (time, ()) = timed(|| {
            self.arena.git_in(&self.raw, ["reset", "--quiet", "--hard", "HEAD~1"])?;
            self.arena.git_in(&self.raw, ["clean", "-fdq"])?;
            Ok(())
        })?;
        Ok(time.as_secs_f64())
    }

    fn back(&self) -> Result<f64> {
        let now = Oid::new(self.arena.git_in(&self.place.path, ["rev-parse", "HEAD"])?.trim())?;
        let asked = Restore {
            task: &self.task,
            dir: &self.dir,
            old: Some(&now),
            tip: &self.place.tip,
            base: None,
            dirty: None,
            save_as: None,
        };
        sync(&self.arena.root)?;
        let (time, outcome) = timed(|| Ok(self.runtime.block_on(restore(&self.git, &asked))?))?;
        ensure!(matches!(outcome, Restored::Done { saved: Some(_), .. }), "{outcome:?}");
        let left = self.arena.git_in(&self.place.path, ["status", "--porcelain"])?;
        ensure!(left.is_empty(), "the worktree is not clean: {left}");
        Ok(time.as_secs_f64())
    }

    /// One commit of many files taken back, by raw git and by us, in the person's own checkout.
    fn trunk_back(&self, round: usize) -> Result<(f64, f64)> {
        let root = &self.arena.root;
        let start = Oid::new(self.arena.git(["rev-parse", "HEAD"])?.trim())?;
        make_dirty(root, round)?;
        self.arena.git(["add", "--all"])?;
        self.arena.git(["commit", "--quiet", "-m", "merged"])?;
        let merged = Oid::new(self.arena.git(["rev-parse", "HEAD"])?.trim())?;
        sync(root)?;
        let (raw, _) = timed(|| self.arena.git(["reset", "--quiet", "--hard", start.as_str()]))?;
        self.arena.git(["reset", "--quiet", "--hard", merged.as_str()])?;
        let trunk =
            TrunkMove { branch: "main".into(), old: merged, how: TrunkHow::Set { new: start.clone() } };
        sync(root)?;
        let (ours, ()) = timed(|| self.carry_out(&plan(Some(trunk))))?;
        ensure!(self.arena.git(["rev-parse", "HEAD"])?.trim() == start.as_str(), "trunk has not moved");
        Ok((raw.as_secs_f64(), ours.as_secs_f64()))
    }

    fn carry_out(&self, plan: &Plan) -> Result<()> {
        let places =
            Places { worktrees: &self.dir, disposable: &[], max_file_bytes: 100 << 20, regenerate: &[] };
        let op = CommandId::new("bench")?;
        match self.runtime.block_on(carry_out(&self.git, &op, plan, &places))? {
            MoveOutcome::Moved(_) => Ok(()),
            other => bail!("not moved: {other:?}"),
        }
    }

    /// Many dirty worktrees set back by one operation: is every content that lay in them still reachable?
    fn crowd(&self, report: &mut Report) -> Result<()> {
        let mut plan = plan(None);
        let mut contents = BTreeSet::new();
        for n in 0..CROWD {
            let task = TaskId::new(format!("crowd{n}"))?;
            let base = BaseRule::Trunk("main".into());
            let place = self.runtime.block_on(prepare(&self.git, &task, &self.dir, &base))?;
            for path in make_dirty(&place.path, 100 + n)? {
                let path = path.to_str().context("a path of text")?;
                contents.insert(self.arena.git_in(&place.path, ["hash-object", path])?.trim().to_owned());
            }
            let name = format!("refs/heads/{}", task.branch());
            let tip = Some(place.tip.clone());
            plan.refs.push(RefMove { name, old: tip.clone(), new: tip });
            plan.worktrees.push(WorktreeMove { task, to: WorktreeTo::Clean { tip: place.tip } });
        }
        let (saving, _) = self.checkpoint("crowd")?;
        let (moving, ()) = timed(|| self.carry_out(&plan))?;
        self.arena.git(["reflog", "expire", "--expire=now", "--all"])?;
        let reachable = self.arena.git(["rev-list", "--objects", "--glob=refs/swarm"])?;
        let reachable: BTreeSet<&str> = reachable.lines().filter_map(|line| line.split(' ').next()).collect();
        let lost = contents.iter().filter(|oid| !reachable.contains(oid.as_str())).count();
        let what = format!(
            "{CROWD} dirty worktrees: saved in {saving:.1} s, set back in {:.1} s; {} contents, lost",
            moving.as_secs_f64(),
            contents.len()
        );
        report.judge("G8", &what, &[lost as f64], Target::AtMost(0.0));
        Ok(())
    }
}

fn plan(trunk: Option<TrunkMove>) -> Plan {
    Plan {
        checkpoint: "before".into(),
        trunk,
        refs: Vec::new(),
        worktrees: Vec::new(),
        facts: Vec::new(),
        tasks: Default::default(),
        save_local: Vec::new(),
        local: None,
        says: Says::default(),
        at: Timestamp(1_700_000_000_000),
    }
}

/// Changes, adds and deletes files; answers with those that hold something of their own.
fn make_dirty(folder: &Path, salt: usize) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for n in 0..DIRTY {
        let file = |n: usize| folder.join(format!("src/part{:04}/file{n:05}.txt", n / 50));
        let changed = file((salt * 131 + n * 2_000) % FILES);
        let fresh = folder.join(format!("src/part{:04}/new {salt} {n}.txt", n * 7));
        for path in [changed, fresh] {
            std::fs::write(&path, format!("{} {salt} {n}\n", folder.display()))?;
            written.push(path);
        }
        let deleted = file((salt * 131 + n * 2_000 + 1_000) % FILES);
        if deleted.exists() {
            std::fs::remove_file(deleted)?;
        }
    }
    Ok(written)
}
