//! Every step killed, of us and of the git we run: asked again, everything is as if nobody had died.
//! `SWARM_KILL_POINTS=all` takes every point; by default they are spread.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use swarm_git::Git;
use swarm_protocol::ids::{Oid, RunId};
use swarm_protocol::operation::{Plan, RefMove, WorktreeMove, WorktreeTo};
use swarm_work::operation::left;
use swarm_work::operation::moving::MoveOutcome;
use swarm_work::operation::rewind::{Rewind, rewind};
use swarm_work::remove::Removal;

use crate::checkpoints::{full, make_dirty, worktree};
use crate::git_kill_points::{Point, someone_was_killed, spread, under_strace};
use crate::git_scratch::{Scratch, commit_all, git_in, task, write};
use crate::seen;
use crate::set_back::give_up_and_remember;
use crate::trunk::{Case, Foreign, World, carry_out_in};

/// Started by the tests below; on its own it does nothing.
#[test]
fn operator() {
    let Some(repo) = std::env::var_os("OPERATE_REPO").map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let git = Git::discover(&repo).await.expect("a fit repository");
        operate(&git, &repo).await;
    });
}

/// What is asked lies in a file beside the repository: a plan, or nothing for a checkpoint and a rewind.
async fn operate(git: &Git, repo: &Path) {
    let dir = repo.join(".swarm/worktrees");
    if repo.with_file_name("cancelled").exists() {
        return there_and_back(git, repo, &dir).await;
    }
    match std::fs::read(repo.with_file_name("plan.json")) {
        Ok(bytes) => {
            let plan: Plan = serde_json::from_slice(&bytes).expect("a plan");
            let outcome = carry_out_in(git, &dir, &plan).await;
            assert!(matches!(outcome, MoveOutcome::Moved(_)), "{outcome:?}");
        }
        Err(_) => {
            // What is recorded as made is not asked for again.
            let made = repo.with_file_name("made");
            if !made.exists() {
                full(git, "one", &[]).await;
                std::fs::write(made, "").expect("a note");
            }
            let began = std::fs::read_to_string(repo.with_file_name("began")).expect("a commit");
            let (name, run, to) = (task("t1"), RunId::nth(1), Oid::new(began).expect("an oid"));
            let asked = Rewind { task: &name, run: &run, dir: &dir, to: Some(&to), dirty: None };
            rewind(git, &asked).await.expect("no git command fails").expect("it can be rewound");
        }
    }
}

/// A worktree that is given up and wanted back.
async fn there_and_back(git: &Git, repo: &Path, dir: &Path) {
    let (name, gone) = (task("t1"), repo.with_file_name("gone"));
    // What is recorded as gone is not asked for again.
    if !gone.exists() {
        assert_eq!(give_up_and_remember(git, &name, dir, 7).await, Removal::Removed);
        std::fs::write(gone, "").expect("a note");
    }
    let left = left::of_removal(git, &name, 7).expect("it was noted");
    left::revive(git, &name, dir, &left).await.expect("no git command fails").expect("nothing is in the way");
}

fn run_operator(scratch: &Scratch, at: Option<&Point>) -> String {
    let log = scratch.dir.path().join("strace.log");
    let mut operator = under_strace(&log, at);
    operator.arg(std::env::current_exe().expect("a test program has a path"));
    operator.args(["--exact", "killed::operator", "--test-threads=1", "--nocapture"]);
    operator.env("OPERATE_REPO", &scratch.repo).stdin(Stdio::null());
    operator.output().expect("strace starts");
    std::fs::read_to_string(log).unwrap_or_default()
}

/// Runs the story killed at some points; each time it is asked again in this process and then checked.
async fn check(begin: impl AsyncFn() -> Scratch, proven: impl AsyncFn(&Scratch, &str), some: usize) {
    let points = Point::all_in(&run_operator(&begin().await, None));
    assert!(!points.is_empty(), "strace saw nothing: this machine does not let it trace; allow ptrace");
    let mut killed = 0;
    for point in spread(&points, some, 1) {
        let told = format!("killed at {point:?}");
        let scratch = begin().await;
        killed += usize::from(someone_was_killed(&run_operator(&scratch, Some(point))));
        let git = scratch.open().await;
        operate(&git, &scratch.repo).await;
        proven(&scratch, &told).await;
        let (files, refs) = (seen::files(&scratch.repo), seen::refs(&scratch.repo));
        operate(&git, &scratch.repo).await;
        assert_eq!(
            (seen::files(&scratch.repo), seen::refs(&scratch.repo)),
            (files, refs),
            "{told}: asked twice"
        );
    }
    println!("{killed} deaths survived of {} points", points.len());
    assert!(killed > 0);
}

/// Trunk back, or reverted, under a checkout with changes in the way and changes elsewhere; a worktree back to
/// uncommitted work of then, another one gone, a third one made anew.
async fn rollback(foreign: Foreign) -> Scratch {
    let world = World::new(Case { checked_out: true, pushed: false, foreign });
    let git = world.scratch.open().await;
    let place = worktree(&git, &world.scratch, "t1").await;
    make_dirty(&place.path);
    let then = full(&git, "then", &[]).await;
    write(&place.path, "later.txt", b"later\n");
    let tip = commit_all(&place.path, "later");
    write(&place.path, "unsaved.txt", b"not committed\n");
    let second = worktree(&git, &world.scratch, "t2").await;
    write(&second.path, "second.txt", b"second\n");
    let second_tip = commit_all(&second.path, "second");
    world.scratch.write("a.txt", "mine, in the way\n");
    let survey = world.survey(&git).await;
    let mut plan = world.plan(world.how(&survey));
    plan.save_local = survey.local;
    assert_eq!(plan.save_local, ["a.txt"]);
    let branch = |name: &str| format!("refs/heads/swarm/{name}");
    plan.refs = vec![
        RefMove { name: branch("t1"), old: Some(tip), new: Some(place.tip.clone()) },
        RefMove { name: branch("t2"), old: Some(second_tip.clone()), new: None },
        RefMove { name: branch("t3"), old: None, new: Some(second_tip.clone()) },
    ];
    let dirty = then.dirty.get(&task("t1")).cloned();
    let to = |to: WorktreeTo, name: &str| WorktreeMove { task: task(name), to };
    plan.worktrees = vec![
        to(WorktreeTo::Restored { base: Some(place.base), tip: place.tip, dirty }, "t1"),
        to(WorktreeTo::Gone, "t2"),
        to(WorktreeTo::Restored { base: Some(second.base), tip: second_tip, dirty: None }, "t3"),
    ];
    std::fs::write(world.scratch.repo.with_file_name("plan.json"), serde_json::to_vec(&plan).unwrap())
        .unwrap();
    let note = format!("{} {}", world.then, world.now);
    std::fs::write(world.scratch.repo.with_file_name("note"), note).unwrap();
    world.scratch
}

async fn rolled_back(scratch: &Scratch, told: &str) {
    let note = std::fs::read_to_string(scratch.repo.with_file_name("note")).unwrap();
    let (then, now) = note.split_once(' ').unwrap();
    let left = scratch.git(["diff", "--name-only", then, "main"]);
    assert!(left.is_empty() || left == "person.txt", "{told}: {left}");
    for (path, text) in [
        ("a.txt", "a one\na two\n"),
        ("edited.txt", "edited, not staged\n"),
        ("staged.txt", "staged, then edited\n"),
        ("untracked.txt", "untracked\n"),
        ("ignored/x", "ignored\n"),
        ("b.txt", "b one\n"),
    ] {
        assert_eq!(scratch.read(path), text, "{told}: {path}");
    }
    assert!(!scratch.at("swarm/new.txt").exists(), "{told}");
    let status = scratch.git(["status", "--porcelain"]);
    let mut expected = vec!["MM staged.txt", " M edited.txt", "?? swarm/", "?? untracked.txt"];
    let mut lines: Vec<&str> = status.lines().collect();
    lines.sort_unstable();
    expected.sort_unstable();
    assert_eq!(lines, expected, "{told}");
    assert!(!scratch.at(".git/index.lock").exists(), "{told}");
    // Put aside, on a ref.
    let mine = scratch.git(["show", "refs/swarm/local/before-rollback:a.txt"]);
    assert_eq!(mine, "mine, in the way", "{told}");
    let reachable = scratch.git(["rev-list", "--all"]);
    assert!(reachable.contains(now), "{told}: the old trunk");
    worktrees_are_right(scratch, told);
}

fn worktrees_are_right(scratch: &Scratch, told: &str) {
    let (first, model) =
        (scratch.worktrees().join("t1"), scratch.dir.path().join(format!("model-{}", told.len())));
    // The same work made anew: what must lie there.
    git_in(&scratch.repo, ["worktree", "add", "--quiet", "--detach", model.to_str().unwrap(), "swarm/t1"]);
    make_dirty(&model);
    assert_eq!(seen::files(&first), seen::files(&model), "{told}");
    git_in(&scratch.repo, ["worktree", "remove", "--force", model.to_str().unwrap()]);
    assert!(!scratch.worktrees().join("t2").exists(), "{told}");
    assert_eq!(std::fs::read(scratch.worktrees().join("t3/second.txt")).unwrap(), b"second\n", "{told}");
    assert_eq!(
        git_in(&scratch.worktrees().join("t3"), ["status", "--porcelain", "-b"]),
        "## swarm/t3",
        "{told}"
    );
    // Nothing that lay in a worktree is lost.
    let all = scratch.git(["log", "--all", "--format=%H"]);
    let mut found: BTreeMap<&str, bool> = [("later.txt", false), ("unsaved.txt", false)].into();
    for commit in all.lines() {
        let listed = scratch.git(["ls-tree", "--name-only", commit]);
        for (name, seen) in &mut found {
            *seen |= listed.lines().any(|line| line == *name);
        }
    }
    assert!(found.values().all(|seen| *seen), "{told}: {found:?}");
}

#[tokio::test]
async fn a_rollback_that_moves_trunk_back_is_finished_after_death_at_each_step() {
    check(async || rollback(Foreign::None).await, rolled_back, 10).await;
}

#[tokio::test]
async fn a_rollback_that_reverts_is_finished_after_death_at_each_step() {
    check(async || rollback(Foreign::Between).await, rolled_back, 8).await;
}

async fn iteration() -> Scratch {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let place = worktree(&git, &scratch, "t1").await;
    write(&place.path, "one.txt", b"one\n");
    let began = commit_all(&place.path, "one");
    std::fs::write(scratch.repo.with_file_name("began"), began.as_str()).unwrap();
    write(&place.path, "two.txt", b"two\n");
    commit_all(&place.path, "two");
    make_dirty(&place.path);
    scratch
}

async fn rewound(scratch: &Scratch, told: &str) {
    let path = scratch.worktrees().join("t1");
    assert_eq!(git_in(&path, ["status", "--porcelain", "--branch"]), "## swarm/t1", "{told}");
    assert!(path.join("one.txt").exists() && !path.join("two.txt").exists(), "{told}");
    let all = scratch.git(["for-each-ref", "--format=%(objectname)", "refs/swarm"]);
    let whole = all.lines().any(|commit| {
        let listed = scratch.git(["ls-tree", "-r", "--name-only", commit]);
        ["two.txt", "tool.sh", "link", "new/deep/er.txt"].iter().all(|path| listed.contains(path))
    });
    assert!(whole, "{told}: the iteration's work is on a ref");
}

#[tokio::test]
async fn a_checkpoint_and_a_rewind_are_finished_after_death_at_each_step() {
    check(iteration, rewound, 10).await;
}

async fn cancelled() -> Scratch {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let place = worktree(&git, &scratch, "t1").await;
    write(&place.path, "one.txt", b"one\n");
    commit_all(&place.path, "one");
    make_dirty(&place.path);
    std::fs::write(scratch.repo.with_file_name("cancelled"), "").unwrap();
    scratch
}

async fn back_again(scratch: &Scratch, told: &str) {
    let model = scratch.dir.path().join(format!("model-{}", told.len()));
    git_in(&scratch.repo, ["worktree", "add", "--quiet", "--detach", model.to_str().unwrap(), "swarm/t1"]);
    make_dirty(&model);
    assert!(model.join("one.txt").exists(), "{told}: its commit");
    assert_eq!(seen::files(&scratch.worktrees().join("t1")), seen::files(&model), "{told}");
    git_in(&scratch.repo, ["worktree", "remove", "--force", model.to_str().unwrap()]);
}

#[tokio::test]
async fn a_worktree_that_is_given_up_and_wanted_back_is_there_after_death_at_each_step() {
    check(cancelled, back_again, 12).await;
}
