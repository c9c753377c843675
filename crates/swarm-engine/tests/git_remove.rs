//! W8: a worktree goes only by proof, and what was in it can be brought back.

use crate::git_scratch;

use git_scratch::{Scratch, commit_all, git_in, task, write};
use swarm_git::Git;
use swarm_work::remove::{DISPOSABLE, KeptWhy, Removal, empty_trash, remove, trash_dir};
use swarm_work::worktree::{BaseRule, Prepared, prepare};

async fn begin() -> (Scratch, Git, Prepared) {
    let scratch = Scratch::new();
    write(&scratch.repo, ".gitignore", b".swarm/\nignored/\n.env\ntarget/\n*.log\n");
    scratch.commit_all("ignore rules");
    let git = scratch.open().await;
    let made =
        prepare(&git, &task("t1"), &scratch.worktrees(), &BaseRule::Trunk("main".into())).await.unwrap();
    (scratch, git, made)
}

async fn ask(scratch: &Scratch, git: &Git) -> Removal {
    let disposable: Vec<String> = DISPOSABLE.iter().map(|name| (*name).to_owned()).collect();
    remove(git, &task("t1"), &scratch.worktrees(), &disposable).await.unwrap()
}

#[tokio::test]
async fn everything_of_value_is_on_a_ref_before_the_folder_goes() {
    let (scratch, git, made) = begin().await;
    write(&made.path, "x.txt", b"x\n");
    let tip = commit_all(&made.path, "work");
    write(&made.path, "a.txt", b"not committed\n");
    write(&made.path, "new.txt", b"not tracked\n");
    write(&made.path, "target/debug/big.o", b"disposable\n");
    assert_eq!(ask(&scratch, &git).await, Removal::Removed);
    assert!(!made.path.exists());
    assert_eq!(git.ref_value("refs/heads/swarm/t1").await.unwrap(), None);
    assert_eq!(scratch.git(["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    let kept = git.refs_under("refs/swarm/kept/t1").await.unwrap();
    assert_eq!(kept[0].1, tip);
    let rescued = git.refs_under("refs/swarm/rescue/t1").await.unwrap();
    assert_eq!(scratch.git(["show", &format!("{}:a.txt", rescued[0].1)]), "not committed");
    assert_eq!(scratch.git(["show", &format!("{}:new.txt", rescued[0].1)]), "not tracked");
    assert_eq!(ask(&scratch, &git).await, Removal::Removed, "asked twice");
    assert_eq!(empty_trash(&git, std::time::Duration::from_secs(3600)).await, 0);
    assert!(std::fs::read_dir(trash_dir(&git)).unwrap().count() >= 1);
    // And it can be made anew.
    prepare(&git, &task("t1"), &scratch.worktrees(), &BaseRule::Trunk("main".into())).await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_proven_keeps_the_worktree_and_says_why() {
    let (scratch, git, made) = begin().await;
    let check = async |expected: &str| {
        let Removal::Kept { why } = ask(&scratch, &git).await else { panic!("removed, although {expected}") };
        assert!(why.to_string().contains(expected), "{why}");
        assert!(
            made.path.join("a.txt").exists() && git.ref_value("refs/heads/swarm/t1").await.unwrap().is_some()
        );
    };
    write(&made.path, ".env", b"SECRET=1\n");
    check(".env is ignored by git").await;
    std::fs::remove_file(made.path.join(".env")).unwrap();

    write(&made.path, "ignored/deep/notes.txt", b"mine\n");
    check("ignored by git").await;
    std::fs::remove_dir_all(made.path.join("ignored")).unwrap();

    std::fs::create_dir(made.path.join("nested")).unwrap();
    git_in(&made.path.join("nested"), ["init", "--quiet"]);
    write(&made.path, "nested/x", b"x\n");
    commit_all_as_somebody(&made.path.join("nested"));
    check("repository of its own").await;
    std::fs::remove_dir_all(made.path.join("nested")).unwrap();

    let huge = std::fs::File::create(made.path.join("huge.bin")).unwrap();
    huge.set_len(101 * 1024 * 1024).unwrap();
    check("too large").await;
    std::fs::remove_file(made.path.join("huge.bin")).unwrap();

    let mut child =
        std::process::Command::new("sleep").arg("1000").current_dir(made.path.join("dir")).spawn().unwrap();
    check(&format!("process {} works in it", child.id())).await;
    child.kill().unwrap();
    child.wait().unwrap();

    scratch.git(["worktree", "lock", ".swarm/worktrees/t1"]);
    check("locked").await;
    scratch.git(["worktree", "unlock", ".swarm/worktrees/t1"]);
    drop(huge);
    assert_eq!(ask(&scratch, &git).await, Removal::Removed);
}

fn commit_all_as_somebody(dir: &std::path::Path) {
    git_in(dir, ["config", "user.name", "x"]);
    git_in(dir, ["config", "user.email", "x@example.org"]);
    commit_all(dir, "nested");
}

#[tokio::test]
async fn a_folder_that_is_not_ours_is_never_touched() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    scratch.write(".swarm/worktrees/t1/mine.txt", "mine\n");
    let kept = ask(&scratch, &git).await;
    assert!(matches!(kept, Removal::Kept { why: KeptWhy::NotOurs { .. } }), "{kept:?}");
    assert_eq!(scratch.read(".swarm/worktrees/t1/mine.txt"), "mine\n");
}
