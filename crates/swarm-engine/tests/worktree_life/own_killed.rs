//! Handing in, killed at each step of ours and of git's: asked again it ends as if nothing had been.

use std::path::PathBuf;
use std::process::Stdio;

use super::own::{FILE_MAX, Lent};
use crate::git_kill_points::{Point, someone_was_killed, spread, under_strace};
use crate::git_scratch::{git_in, task};
use swarm_git::Git;
use swarm_work::hand_in::{HandedIn, hand_in};

/// Started by the tests below under another environment; on its own it does nothing.
#[test]
fn hander() {
    let Some(repo) = std::env::var_os("HAND_IN_REPO").map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let handed = runtime.block_on(async {
        let git = Git::discover(&repo).await.expect("a fit repository");
        hand_in(&git, &task("t1"), &repo.join(".swarm/worktrees/t1"), FILE_MAX).await
    });
    println!("handed: {handed:?}");
}

fn run_hander(lent: &Lent, at: Option<&Point>) -> String {
    let scratch = &lent.field.scratch;
    let log = scratch.dir.path().join("strace.log");
    let mut hander = under_strace(&log, at);
    hander.arg(std::env::current_exe().expect("a test program has a path"));
    let name = "worktree_life::own_killed::hander";
    hander.args(["--exact", name, "--test-threads=1", "--nocapture"]).env("HAND_IN_REPO", &scratch.repo);
    hander.stdin(Stdio::null()).output().expect("strace starts");
    std::fs::read_to_string(log).unwrap_or_default()
}

/// `packs`: so much that it comes as a pack and not as single objects.
async fn worked(packs: bool) -> Lent {
    let lent = Lent::new().await;
    lent.sh("echo one > a.txt; git commit -qam one; mkdir d; echo two > d/new.txt; git add -A; git commit -qm two");
    if packs {
        lent.sh("for n in $(seq 300); do echo $n > d/$n; done; git add -A; git commit -qm many");
    }
    lent
}

async fn check(packs: bool, some: usize) {
    let lent = worked(packs).await;
    let points = Point::all_in(&run_hander(&lent, None));
    assert!(!points.is_empty(), "strace saw nothing: this machine does not let it trace; allow ptrace");
    let mut killed = 0;
    for point in spread(&points, some, 0) {
        let lent = worked(packs).await;
        let done = git_in(&lent.own.dir, ["rev-parse", "swarm/t1"]);
        killed += usize::from(someone_was_killed(&run_hander(&lent, Some(point))));
        let told = format!("killed at {point:?}");
        let again = lent.hand_in().await;
        assert!(matches!(again, HandedIn::Moved { .. } | HandedIn::Nothing), "{told}: {again:?}");
        let git = &lent.field.git;
        assert_eq!(lent.field.scratch.oid("swarm/t1").as_str(), done, "{told}");
        assert_eq!(lent.own.agreed_tip(git).expect("both agree").as_str(), done, "{told}");
        assert_eq!(git_in(&lent.made.path, ["status", "--porcelain", "--branch"]), "## swarm/t1", "{told}");
        assert_eq!(git.refs_under("refs/swarm/rescue").await.expect("listed"), [], "{told}");
        assert_eq!(lent.hand_in().await, HandedIn::Nothing, "{told}");
        // And the agent goes on from there.
        lent.open().await;
        lent.sh("test -z \"$(git status --short)\"; echo three > a.txt; git commit -qam three");
        assert!(matches!(lent.hand_in().await, HandedIn::Moved { .. }), "{told}");
    }
    println!("{killed} deaths of {} points survived", points.len());
    assert!(killed > 0);
}

#[tokio::test]
async fn a_hand_in_killed_at_each_step_ends_the_same_when_asked_again() {
    check(false, 40).await;
}

#[tokio::test]
async fn a_hand_in_of_a_pack_killed_at_each_step_ends_the_same_when_asked_again() {
    check(true, 12).await;
}

/// The limit is the person's, also for whoever hands in after a death.
#[tokio::test]
async fn what_a_raised_limit_allows_is_taken_after_a_death_too() {
    let mut lent = Lent::new().await;
    lent.sh("truncate -s 3000000 large; git add large; git commit -qm large");
    lent.hand_in().await;
    assert_ne!(lent.field.scratch.git(["log", "-1", "--format=%s", "swarm/t1"]), "large");
    lent.field.max_file_bytes = 4 << 20;
    lent.field.prepare("t1").await;
    assert_eq!(lent.field.scratch.git(["log", "-1", "--format=%s", "swarm/t1"]), "large");
}
