//! Locks, worktrees and branches that a death or an executor has left in disorder.

use super::*;

#[tokio::test]
async fn locks_of_a_dead_git_are_removed_and_those_of_a_living_one_stay() {
    let ward = Ward::new();
    for name in ["index.lock", "refs/heads/main.lock"] {
        write(&ward.scratch.repo, Path::new(".git").join(name), b"");
        make_old(&ward.scratch.at(".git").join(name));
    }
    ward.check("git-lock", ".git/index.lock").await;
    assert!(
        !ward.scratch.at(".git/index.lock").exists()
            && !ward.scratch.at(".git/refs/heads/main.lock").exists()
    );
    ward.scratch.git(["commit", "--quiet", "--allow-empty", "-m", "git works again"]);
    // A fresh lock may be somebody's.
    ward.scratch.write(".git/index.lock", "");
    assert_eq!(ward.fix().await.problems, 0);
    assert!(ward.scratch.at(".git/index.lock").exists());
}

#[tokio::test]
async fn a_worktree_that_git_was_killed_on_is_unlocked() {
    let ward = Ward::new();
    ward.begin_work().await;
    let lock = ward.scratch.at(".git/worktrees/1.1/locked");
    std::fs::write(&lock, "initializing").expect("git's record of the worktree");
    make_old(&lock);
    ward.check("git-lock", ".git/worktrees/1.1/locked").await;
    // A person's own lock is none of ours.
    std::fs::write(&lock, "on a stick").expect("writable");
    make_old(&lock);
    ward.fix().await;
    assert!(lock.exists());
}

#[tokio::test]
async fn an_orphan_worktree_goes_to_the_trash_after_its_files_are_on_a_ref() {
    let ward = Ward::new();
    let path = ward.worktree("ghost").await;
    let tip = commit_all(&path, "committed by a ghost");
    write(&path, "unsaved.txt", b"not committed\n");
    ward.check("worktree-orphan", ".swarm/worktrees/ghost").await;
    assert!(!path.exists());
    assert!(!ward.scratch.git(["for-each-ref", "--contains", tip.as_str()]).is_empty());
    let rescued = ward.scratch.git(["for-each-ref", "--format=%(objectname)", "refs/swarm/rescue/ghost"]);
    assert_eq!(ward.scratch.git(["show", &format!("{rescued}:unsaved.txt")]), "not committed");
    assert!(names(&ward.paths.trash).iter().any(|name| name.starts_with("ghost-")));
}

/// `swarm worktree create 1.1` makes it, and `swarm worktree merge 1.1` submits what a person does there.
#[tokio::test]
async fn a_worktree_made_by_hand_of_an_open_task_is_no_orphan() {
    let ward = Ward::new();
    let path = ward.worktree("1.1").await;
    write(&path, "by-hand.txt", b"not committed\n");
    let report = ward.fix().await;
    assert_eq!(report.problems, 0, "{}", shown(&report));
    assert!(path.join("by-hand.txt").exists(), "{}", shown(&report));
}

#[tokio::test]
async fn an_orphan_that_cannot_be_proven_disposable_stays_and_says_why() {
    let ward = Ward::new();
    let path = ward.worktree("ghost").await;
    write(&path, "ignored/keys.txt", b"mine\n");
    let fixed = ward.fix().await;
    let orphan = fixed.findings.iter().find(|one| one.id == "worktree-orphan").expect("told");
    let why = orphan.fix.as_deref().unwrap_or_default();
    assert!(why.contains("kept: ignored") && !orphan.fixed, "{orphan:?}");
    assert!(path.join("ignored/keys.txt").exists());
    // A folder that the swarm did not make is only named.
    std::fs::create_dir_all(ward.paths.worktrees.join("mine")).expect("a folder");
    let report = ward.fix().await;
    let mine = report.findings.iter().find(|one| one.subject.ends_with("/mine")).expect("told");
    assert_eq!(mine.state, Health::Note);
}

#[tokio::test]
async fn a_deleted_worktree_is_forgotten_and_its_lone_commit_kept() {
    let ward = Ward::new();
    let path = ward.worktree("1.1").await;
    git_in(&path, ["switch", "--quiet", "--detach"]);
    let lone = commit_all(&path, "on no branch");
    std::fs::remove_dir_all(&path).expect("deleted by hand");
    ward.check("worktree-gone", ".swarm/worktrees/1.1").await;
    assert!(!ward.scratch.git(["for-each-ref", "--contains", lone.as_str()]).is_empty());
    assert_eq!(ward.scratch.git(["worktree", "list"]).lines().count(), 1);
    ward.worktree("1.1").await;
}

#[tokio::test]
async fn a_persons_worktree_whose_folder_is_gone_is_named_and_left_to_the_person() {
    let ward = Ward::new();
    ward.begin_work().await;
    ward.scratch.git(["worktree", "add", "--quiet", "-b", "side", "../side"]);
    std::fs::remove_dir_all(ward.scratch.repo.with_file_name("side")).expect("deleted by hand");
    let told = |report: &DoctorView| {
        let gone = report.findings.iter().find(|one| one.id == "worktree-gone").expect("told").clone();
        assert!(gone.fix.as_deref().is_some_and(|fix| fix.starts_with("git worktree prune;")), "{gone:?}");
        (gone.state, gone.what.contains("every merge waits"))
    };
    assert_eq!(told(&ward.look().await), (Health::Note, false));
    git_in(&ward.scratch.repo, ["worktree", "prune"]);
    ward.scratch.git(["switch", "--quiet", "--detach"]);
    ward.scratch.git(["worktree", "add", "--quiet", "../second", "main"]);
    std::fs::remove_dir_all(ward.scratch.repo.with_file_name("second")).expect("deleted by hand");
    assert_eq!(told(&ward.fix().await), (Health::Problem, true));
    assert!(ward.scratch.at(".git/worktrees/second").is_dir(), "its index may be wanted");
}

#[tokio::test]
async fn a_worktree_that_git_cannot_use_is_put_right_with_its_files() {
    let ward = Ward::new();
    let path = ward.begin_work().await;
    write(&path, "half.txt", b"half\n");
    write(&ward.scratch.repo, ".git/worktrees/1.1/index", b"DIRC rubbish");
    write(&ward.scratch.repo, ".git/worktrees/1.1/HEAD", b"");
    ward.check("worktree-integrity", ".swarm/worktrees/1.1").await;
    assert_eq!(git_in(&path, ["status", "--porcelain", "--branch"]), "## swarm/1.1\n?? half.txt");
    assert!(!ward.scratch.git(["for-each-ref", "refs/swarm/rescue/1.1"]).is_empty(), "saved first");
}

#[tokio::test]
async fn a_deleted_branch_is_made_again_at_its_last_commit() {
    let ward = Ward::new();
    let path = ward.begin_work().await;
    write(&path, "work.txt", b"done\n");
    let tip = commit_all(&path, "work");
    ward.scratch.git(["update-ref", "-d", "refs/heads/swarm/1.1"]);
    ward.check("task-branch", "swarm/1.1").await;
    assert_eq!(ward.scratch.oid("swarm/1.1"), tip);
    assert_eq!(git_in(&path, ["status", "--porcelain"]), "");
}
