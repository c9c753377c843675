//! T-I1: `git worktree add` killed at each step; the next call makes the worktree and loses nothing.

mod git_kill_points;
mod git_scratch;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use git_kill_points::{Point, someone_was_killed, spread, write_shim};
use git_scratch::{Scratch, commit_all, git_in, task, write};
use swarm_engine::git::Git;
use swarm_engine::hands::worktree::{BaseRule, prepare};

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
    preparer.args(["--exact", "preparer", "--test-threads=1", "--nocapture"]);
    preparer.env("PATH", format!("{}:{path}", shims.display())).env("PREPARE_REPO", &scratch.repo);
    preparer.stdin(Stdio::null()).output().expect("the test program starts again");
    std::fs::read_to_string(log).unwrap_or_default()
}

/// A repository in which the branch of the task has, or has not, commits of an earlier attempt.
fn begin(with_commits: bool) -> (Scratch, Option<swarm_protocol::ids::Oid>) {
    let scratch = Scratch::new();
    if !with_commits {
        return (scratch, None);
    }
    scratch.git(["worktree", "add", "--quiet", "-b", "swarm/t1", "../before"]);
    let before = scratch.repo.parent().unwrap().join("before");
    write(&before, "earlier.txt", b"earlier work\n");
    let tip = commit_all(&before, "earlier work");
    scratch.git(["worktree", "remove", "../before"]);
    (scratch, Some(tip))
}

async fn check(command: &str, with_commits: bool, some: usize) {
    let (scratch, _) = begin(with_commits);
    let points = Point::all_in(&run_preparer(&scratch, command, None));
    assert!(!points.is_empty(), "strace saw nothing: this machine does not let it trace; allow ptrace");
    let mut killed = 0;
    for point in spread(&points, some, 0) {
        let told = format!("git {command} killed at {point:?}");
        let (scratch, tip) = begin(with_commits);
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
async fn worktree_add_killed_at_each_step_is_made_again() {
    check("worktree", false, 10).await;
}

#[tokio::test]
async fn worktree_add_killed_at_each_step_keeps_the_commits_of_an_earlier_attempt() {
    check("worktree", true, 5).await;
}

#[tokio::test]
async fn the_branch_killed_while_being_made_is_made_again() {
    check("update-ref", false, 4).await;
}
