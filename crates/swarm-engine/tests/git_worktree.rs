//! W1, W2: a worktree per task, made once and found again.

use crate::git_scratch;

use git_scratch::{Scratch, commit_all, git_in, task, write};
use swarm_work::worktree::{BaseRule, PrepareFailure, prepare};

fn trunk() -> BaseRule {
    BaseRule::Trunk("main".into())
}

#[tokio::test]
async fn a_worktree_is_made_at_the_trunk_and_found_again_with_its_commits() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let made = prepare(&git, &task("t1"), &scratch.worktrees(), &trunk()).await.unwrap();
    assert_eq!((&made.tip, &made.base, made.reattached), (&scratch.oid("main"), &scratch.oid("main"), false));
    write(&made.path, "x.txt", b"x\n");
    let tip = commit_all(&made.path, "work");
    write(&made.path, "dirty.txt", b"not committed\n");
    scratch.write("b.txt", "b two\n");
    scratch.commit_all("trunk goes on");
    let found = prepare(&git, &task("t1"), &scratch.worktrees(), &trunk()).await.unwrap();
    assert_eq!((found.tip, found.base, found.reattached), (tip.clone(), made.base.clone(), true));
    assert!(found.path.join("dirty.txt").exists());
    // A person deletes the folder: the branch still has the commits.
    std::fs::remove_dir_all(&made.path).unwrap();
    let again = prepare(&git, &task("t1"), &scratch.worktrees(), &trunk()).await.unwrap();
    assert_eq!((again.tip, again.base, again.reattached), (tip, made.base, true));
    assert!(again.path.join("x.txt").exists());
    assert_eq!(git_in(&again.path, ["status", "--porcelain"]), "");
}

#[tokio::test]
async fn sixteen_at_once_are_all_made() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let dir = scratch.worktrees();
    let mut all = tokio::task::JoinSet::new();
    for n in 0..16 {
        let (git, dir) = (git.clone(), dir.clone());
        all.spawn(async move { prepare(&git, &task(&format!("t{n}")), &dir, &trunk()).await });
    }
    while let Some(one) = all.join_next().await {
        let made = one.unwrap().unwrap();
        assert_eq!(git_in(&made.path, ["status", "--porcelain", "--branch"]), format!("## {}", made.branch));
    }
}

#[tokio::test]
async fn what_is_in_the_way_is_named_and_left_alone() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let dir = scratch.worktrees();
    scratch.write(".swarm/worktrees/t1/precious.txt", "mine\n");
    let refused = prepare(&git, &task("t1"), &dir, &trunk()).await.unwrap_err();
    assert!(matches!(refused, PrepareFailure::FolderInTheWay { .. }), "{refused}");
    assert_eq!(scratch.read(".swarm/worktrees/t1/precious.txt"), "mine\n");

    scratch.git(["worktree", "add", "--quiet", "-b", "swarm/t2", "../elsewhere"]);
    let refused = prepare(&git, &task("t2"), &dir, &trunk()).await.unwrap_err();
    assert!(matches!(refused, PrepareFailure::CheckedOutElsewhere { .. }), "{refused}");
    scratch.git(["worktree", "remove", "../elsewhere"]);
    scratch.git(["branch", "-D", "swarm/t2"]);

    // A worktree a person made at our place is not ours: there is no marker.
    scratch.git(["worktree", "add", "--quiet", "--detach", ".swarm/worktrees/t3"]);
    let refused = prepare(&git, &task("t3"), &dir, &trunk()).await.unwrap_err();
    assert!(matches!(refused, PrepareFailure::FolderInTheWay { .. }), "{refused}");

    scratch.git(["branch", "swarm"]);
    let refused = prepare(&git, &task("t4"), &dir, &trunk()).await.unwrap_err();
    assert!(matches!(refused, PrepareFailure::BranchInTheWay { .. }), "{refused}");
    let refused = prepare(&git, &task("t5"), &dir, &BaseRule::Trunk("nope".into())).await.unwrap_err();
    assert!(!refused.to_string().is_empty());
}

#[tokio::test]
async fn commits_made_off_the_branch_are_kept_by_a_ref() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let made = prepare(&git, &task("t1"), &scratch.worktrees(), &trunk()).await.unwrap();
    git_in(&made.path, ["switch", "--quiet", "--detach"]);
    write(&made.path, "x.txt", b"x\n");
    let lost = commit_all(&made.path, "off the branch");
    prepare(&git, &task("t1"), &scratch.worktrees(), &trunk()).await.unwrap();
    let kept = git.refs_under("refs/swarm/rescue/t1").await.unwrap();
    // Beside it the files as they were, since they differ from the branch.
    assert!(kept.iter().any(|(_, oid)| *oid == lost), "{kept:?}");
}
