//! T-I1: making a worktree killed at each step, git and ourselves; the next call makes it and loses nothing.

use crate::git_kill_points;
use crate::git_scratch;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use git_kill_points::{Point, someone_was_killed, spread, under_strace, write_shim};
use git_scratch::{Scratch, commit_all, git_in, task, write};
use swarm_git::Git;
use swarm_work::remove::{DISPOSABLE, GivingUp, Removal, give_up};
use swarm_work::worktree::pool::{PoolRule, tend};
use swarm_work::worktree::{BaseRule, Wanted, prepare, prepare_as};

fn trunk() -> BaseRule {
    BaseRule::Trunk("main".into())
}

/// Started by the tests below under another environment; on its own it does nothing.
#[test]
fn preparer() {
    let Some(repo) = std::env::var_os("PREPARE_REPO").map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let made = runtime.block_on(async {
        let git = Git::discover(&repo).await.expect("a fit repository");
        prepare(&git, &task("t1"), &repo.join(".swarm/worktrees"), &trunk()).await
    });
    println!("made: {made:?}");
}

fn run_preparer(scratch: &Scratch, command: &str, at: Option<&Point>) -> String {
    let (shims, log) = (scratch.dir.path().join("shims"), scratch.dir.path().join("strace.log"));
    write_shim(&shims, command, &log, at, true);
    let path = std::env::var("PATH").expect("tests have a PATH");
    let mut preparer = Command::new(std::env::current_exe().expect("a test program has a path"));
    preparer.args(["--exact", "git_kill::preparer", "--test-threads=1", "--nocapture"]);
    preparer.env("PATH", format!("{}:{path}", shims.display())).env("PREPARE_REPO", &scratch.repo);
    preparer.stdin(Stdio::null()).output().expect("the test program starts again");
    std::fs::read_to_string(log).unwrap_or_default()
}

/// A repository in which the branch of the task has, or has not, commits of an earlier attempt.
async fn begin(with_commits: bool) -> (Scratch, Option<swarm_protocol::ids::Oid>) {
    let scratch = Scratch::new();
    if !with_commits {
        return (scratch, None);
    }
    let git = scratch.open().await;
    let made = prepare(&git, &task("t1"), &scratch.worktrees(), &trunk()).await.expect("an earlier attempt");
    write(&made.path, "earlier.txt", b"earlier work\n");
    let tip = commit_all(&made.path, "earlier work");
    // Its folder was deleted by hand since, so that it has to be filled anew.
    std::fs::remove_dir_all(&made.path).expect("removed");
    (scratch, Some(tip))
}

async fn check(command: &str, with_commits: bool, some: usize) {
    let (scratch, _) = begin(with_commits).await;
    let points = Point::all_in(&run_preparer(&scratch, command, None));
    assert!(!points.is_empty(), "strace saw nothing: this machine does not let it trace; allow ptrace");
    let mut killed = 0;
    for point in spread(&points, some, 0) {
        let told = format!("git {command} killed at {point:?}");
        let (scratch, tip) = begin(with_commits).await;
        killed += usize::from(someone_was_killed(&run_preparer(&scratch, command, Some(point))));
        let git = scratch.open().await;
        let made = prepare(&git, &task("t1"), &scratch.worktrees(), &trunk())
            .await
            .unwrap_or_else(|error| panic!("{told}: {error}"));
        assert_eq!(made.tip, tip.unwrap_or_else(|| scratch.oid("main")), "{told}");
        assert_eq!(git_in(&made.path, ["status", "--porcelain", "--branch"]), "## swarm/t1", "{told}");
        work_and_come_back(&git, &scratch, &made.path, &told).await;
    }
    println!("git {command}: {killed} deaths survived");
    assert!(killed > 0);
}

/// What was made can be worked in, and is found again.
async fn work_and_come_back(git: &Git, scratch: &Scratch, path: &Path, told: &str) {
    write(path, "x.txt", b"x\n");
    let tip = commit_all(path, "work");
    let found = prepare(git, &task("t1"), &scratch.worktrees(), &trunk()).await.unwrap();
    assert_eq!((found.tip, found.reattached), (tip, true), "{told}");
    let listed = scratch.git(["worktree", "list", "--porcelain"]);
    assert_eq!(listed.matches("worktree ").count(), 2, "{told}: {listed}");
    assert!(!listed.contains("locked") && !listed.contains("prunable"), "{told}: {listed}");
}

#[tokio::test]
async fn the_filling_killed_at_each_step_is_done_again() {
    check("read-tree", false, 8).await;
}

#[tokio::test]
async fn the_filling_killed_at_each_step_keeps_the_commits_of_an_earlier_attempt() {
    check("read-tree", true, 4).await;
}

#[tokio::test]
async fn the_branch_killed_while_being_made_is_made_again() {
    check("update-ref", false, 4).await;
}

fn rule(repo: &Path) -> PoolRule {
    PoolRule {
        dir: repo.join(".swarm/worktrees"),
        max: 2,
        plan: "p".into(),
        disposable: DISPOSABLE.map(String::from).to_vec(),
        keep_caches: true,
    }
}

/// One life: a worktree made from the pool where there is one, work in it, given up into the pool, the pool tended.
async fn life(repo: &Path, name: &str) -> Result<(), String> {
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let git = Git::discover(repo).await.map_err(|e| words(&e))?;
    let (task, dir, pool) = (task(name), repo.join(".swarm/worktrees"), rule(repo));
    let base = trunk();
    let wanted = Wanted {
        task: &task,
        dir: &dir,
        base: &base,
        begins: None,
        takes_up: None,
        pool: Some(&pool),
        copy: None,
        max_file_bytes: 1 << 20,
    };
    let made = prepare_as(&git, &wanted).await.map_err(|e| words(&e))?;
    let status = git_in(&made.path, ["status", "--porcelain", "--branch"]);
    if status.lines().next() != Some(&format!("## swarm/{name}"))
        || (!made.reattached && status.lines().count() > 1)
    {
        return Err(status);
    }
    write(&made.path, format!("{name}.txt"), b"work\n");
    commit_all(&made.path, "work");
    // Another content in each process: what an earlier one left was committed above.
    write(&made.path, "unfinished.txt", format!("{name} {}", std::process::id()).as_bytes());
    let disposable = DISPOSABLE.map(String::from);
    let up = GivingUp {
        task: &task,
        dir: &dir,
        disposable: &disposable,
        max_file_bytes: 1 << 20,
        pool: Some(&pool),
        only_look: false,
        remember: None,
        merged: None,
        force: false,
    };
    match give_up(&git, &up).await.map_err(|e| words(&e))? {
        Removal::Removed => {}
        Removal::Kept { why } => return Err(why.to_string()),
    }
    tend(&git, &pool).await.map_err(|e| words(&e))?;
    Ok(())
}

/// Started by the test below; on its own it does nothing.
#[test]
fn liver() {
    let Some(repo) = std::env::var_os("LIVE_REPO").map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { life(&repo, "t1").await.expect("a whole life") });
}

fn run_liver(scratch: &Scratch, at: Option<&Point>) -> String {
    let log = scratch.dir.path().join("strace.log");
    let mut liver = under_strace(&log, at);
    liver.arg(std::env::current_exe().expect("a test program has a path"));
    liver
        .args(["--exact", "git_kill::liver", "--test-threads=1", "--nocapture"])
        .env("LIVE_REPO", &scratch.repo);
    liver.stdin(Stdio::null()).output().expect("strace starts");
    std::fs::read_to_string(log).unwrap_or_default()
}

#[tokio::test]
async fn a_life_with_the_pool_killed_at_each_of_our_own_steps_is_lived_to_its_end() {
    let begin = async || {
        let scratch = Scratch::new();
        // One that goes through the pool before, so that the next is made from it.
        life(&scratch.repo, "t0").await.expect("a whole life");
        scratch
    };
    let points = Point::all_in(&run_liver(&begin().await, None));
    assert!(!points.is_empty(), "strace saw nothing: this machine does not let it trace; allow ptrace");
    let mut killed = 0;
    for point in spread(&points, 10, 0) {
        let scratch = begin().await;
        killed += usize::from(someone_was_killed(&run_liver(&scratch, Some(point))));
        // Killed after the end of the life it is simply lived again.
        life(&scratch.repo, "t1").await.unwrap_or_else(|error| panic!("killed at {point:?}: {error}"));
        let git = scratch.open().await;
        let saved = git.refs_under("refs/swarm/rescue/t1").await.unwrap();
        let kept = git.refs_under("refs/swarm/kept/t1").await.unwrap();
        assert!(!saved.is_empty() && !kept.is_empty(), "killed at {point:?}: {saved:?} {kept:?}");
        let listed = scratch.git(["worktree", "list", "--porcelain"]);
        assert_eq!(listed.matches("worktree ").count(), 1, "killed at {point:?}: {listed}");
    }
    println!("{killed} of our own deaths survived");
    assert!(killed > 0);
}
