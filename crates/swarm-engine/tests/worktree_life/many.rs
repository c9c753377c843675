//! Many at once, in one process and in several.

use std::os::unix::fs::symlink;

use super::{Field, is_clean, trunk};
use crate::git_scratch::{Scratch, commit_all, git_in, task, write};
use swarm_git::{Git, GitError};
use swarm_work::worktree::{PrepareFailure, prepare};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixteen_at_once_from_two_handles_and_a_person_are_all_made() {
    let field = Field::new().await;
    for n in 0..300 {
        field.scratch.write(&format!("many/{n}.txt"), &format!("{n}\n"));
    }
    field.scratch.commit_all("many files");
    // A second handle shares no lock inside of the process, as another process would not.
    let other = field.scratch.open().await;
    let mut all = tokio::task::JoinSet::new();
    for n in 0..16 {
        let (git, dir) =
            (if n % 2 == 0 { field.git.clone() } else { other.clone() }, field.scratch.worktrees());
        all.spawn(async move { prepare(&git, &task(&format!("t{n}")), &dir, &trunk()).await });
    }
    let repo = field.scratch.repo.clone();
    let person = tokio::task::spawn_blocking(move || {
        for n in 0..4 {
            git_in(&repo, ["worktree", "add", "--quiet", "--detach", &format!("../person-{n}")]);
        }
    });
    while let Some(one) = all.join_next().await {
        let made = one.unwrap().unwrap();
        is_clean(&made.path, &made.branch);
    }
    person.await.unwrap();
    assert_eq!(field.scratch.git(["worktree", "list"]).lines().count(), 1 + 16 + 4);
    assert_eq!(field.scratch.git(["fsck", "--no-dangling"]), "");
}

/// Each commits as soon as it is there, while we look and a person looks, and nobody meets a lock of another.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn thirty_two_at_once_that_commit_while_everybody_looks_are_all_made() {
    let field = Field::new().await;
    let other = field.scratch.open().await;
    let mut all = tokio::task::JoinSet::new();
    for n in 0..32 {
        let (git, dir) =
            (if n % 2 == 0 { field.git.clone() } else { other.clone() }, field.scratch.worktrees());
        all.spawn(async move {
            let made = prepare(&git, &task(&format!("t{n}")), &dir, &trunk()).await.unwrap();
            let commits = move || {
                write(&made.path, "own.txt", format!("{n}\n").as_bytes());
                commit_all(&made.path, "at once")
            };
            (format!("refs/heads/{}", made.branch), tokio::task::spawn_blocking(commits).await.unwrap())
        });
    }
    let mut committed = 0;
    while let Some(one) = all.join_next().await {
        let told = one.unwrap();
        let seen = field.git.refs_under("refs/heads/swarm").await.unwrap();
        assert!(seen.contains(&told), "{told:?}");
        let repo = field.scratch.repo.clone();
        let person = move || git_in(&repo, ["worktree", "list"]) + &git_in(&repo, ["status", "--porcelain"]);
        assert!(tokio::task::spawn_blocking(person).await.unwrap().contains("[main]"));
        committed += 1;
    }
    assert_eq!((committed, field.scratch.git(["worktree", "list"]).lines().count()), (32, 1 + 32));
    assert_eq!(field.scratch.git(["fsck", "--no-dangling"]), "");
}

#[tokio::test]
async fn the_folder_of_all_worktrees_may_be_a_link_from_the_beginning_and_become_one() {
    let field = Field::new().await;
    let disk = field.scratch.repo.parent().unwrap().join("disk");
    // `worktree.dir` may name any folder of the repository, and the one behind the link may have the same name.
    for (name, behind, linked_first) in
        [("trees", "trees", true), ("many", "roomy", false), ("more", "more", false)]
    {
        let (dir, behind, id) = (field.scratch.at(name), disk.join(behind), task(name));
        if linked_first {
            std::fs::create_dir_all(&behind).unwrap();
            symlink(&behind, &dir).unwrap();
        }
        let made = prepare(&field.git, &id, &dir, &trunk()).await.unwrap();
        write(&made.path, "half.txt", b"half\n");
        if !linked_first {
            std::fs::rename(&dir, &behind).unwrap();
            symlink(&behind, &dir).unwrap();
        }
        for _ in 0..2 {
            let again = prepare(&field.git, &id, &dir, &trunk()).await.unwrap();
            assert_eq!((again.path, again.reattached), (behind.join(name), true), "{name}");
        }
        let status = git_in(&behind.join(name), ["status", "--porcelain", "--branch"]);
        assert_eq!(status, format!("## swarm/{name}\n?? half.txt"));
    }
}

#[tokio::test]
async fn the_same_task_asked_for_twice_at_once_is_made_once() {
    let field = Field::new().await;
    let other = field.scratch.open().await;
    let dir = field.scratch.worktrees();
    let (name, base) = (task("t1"), trunk());
    let (one, two) =
        tokio::join!(prepare(&field.git, &name, &dir, &base), prepare(&other, &name, &dir, &base));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!((one.path.clone(), one.reattached != two.reattached), (two.path, true));
    is_clean(&one.path, "swarm/t1");
}

#[tokio::test]
async fn what_a_person_did_to_names_and_folders_is_told_with_the_command_that_helps() {
    let field = Field::new().await;
    let check = async |name: &str, words: &str| {
        let failure = field.try_prepare(name).await.expect_err(words);
        assert!(failure.to_string().contains(words), "{failure}");
    };
    // Somebody's branch of the same name, with another history.
    let tree = field.scratch.git(["write-tree"]);
    let stranger = field.scratch.git(["commit-tree", "-m", "another history", &tree]);
    field.scratch.git(["branch", "swarm/t1", &stranger]);
    check("t1", "git branch -m swarm/t1 t1-old").await;
    field.scratch.git(["branch", "-m", "swarm/t1", "t1-old"]);
    field.prepare("t1").await;
    field.scratch.git(["switch", "--quiet", "-c", "elsewhere"]);
    field.scratch.git(["branch", "-m", "main", "trunk"]);
    check("t2", "git branch main COMMIT").await;
    let gone = field.try_prepare("t2").await.expect_err("trunk is gone");
    assert!(matches!(gone, PrepareFailure::NoTrunk { .. }) && gone.may_pass(), "it may be back in a moment");
    field.scratch.write(".swarm/worktrees/t3/mine.txt", "mine\n");
    let in_the_way = field.try_prepare("t3").await.expect_err("a person's folder");
    assert!(!in_the_way.may_pass(), "{in_the_way}");
}

#[tokio::test]
async fn while_the_git_directory_is_moved_away_it_is_named_and_nothing_stands_in_its_place() {
    let field = Field::new().await;
    field.prepare("t1").await;
    let (git_dir, away) = (field.scratch.at(".git"), field.scratch.at(".git.away"));
    std::fs::rename(&git_dir, &away).unwrap();
    for name in ["t1", "t2"] {
        let failure = field.try_prepare(name).await.expect_err("git is gone");
        assert!(matches!(&failure, PrepareFailure::Git(GitError::Gone(at)) if *at == git_dir), "{failure}");
    }
    assert!(!git_dir.exists());
    std::fs::rename(&away, &git_dir).unwrap();
    assert!(field.prepare("t1").await.reattached);
    field.prepare("t2").await;
}

#[tokio::test]
async fn a_record_that_is_gone_is_written_again_over_the_work_in_the_folder() {
    let field = Field::new().await;
    let made = field.prepare("t1").await;
    write(&made.path, "done.txt", b"done\n");
    let tip = commit_all(&made.path, "done");
    write(&made.path, "half.txt", b"half\n");
    std::fs::remove_dir_all(&made.record).unwrap();
    let again = field.prepare("t1").await;
    assert_eq!((again.tip, again.reattached), (tip, true));
    assert_eq!(git_in(&made.path, ["status", "--porcelain", "--branch"]), "## swarm/t1\n?? half.txt");
    // An emptied record is no better.
    for entry in std::fs::read_dir(&again.record).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap()
        } else {
            std::fs::remove_file(path).unwrap()
        }
    }
    field.prepare("t1").await;
    assert_eq!(git_in(&made.path, ["status", "--porcelain", "--branch"]), "## swarm/t1\n?? half.txt");
}

#[tokio::test]
async fn sha256_repositories_and_submodules_do_not_break_a_worktree() {
    let dir = tempfile::tempdir().unwrap();
    let repo = std::fs::canonicalize(dir.path()).unwrap().join("repo");
    std::fs::create_dir(&repo).unwrap();
    git_in(&repo, ["init", "--quiet", "--initial-branch=main", "--object-format=sha256"]);
    git_in(&repo, ["config", "user.name", "Pat"]);
    git_in(&repo, ["config", "user.email", "pat@example.org"]);
    write(&repo, "a.txt", b"a\n");
    commit_all(&repo, "start");
    let git = Git::discover(&repo).await.unwrap();
    let made = prepare(&git, &task("t1"), &repo.join(".swarm/worktrees"), &trunk()).await.unwrap();
    is_clean(&made.path, "swarm/t1");
    write(&made.path, "b.txt", b"b\n");
    assert_eq!(commit_all(&made.path, "work").as_str().len(), 64);

    let (inner, outer) = (Scratch::new(), Field::new().await);
    outer.scratch.git([
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        inner.repo.to_str().unwrap(),
        "sub",
    ]);
    outer.scratch.commit_all("a submodule");
    let made = outer.prepare("t1").await;
    is_clean(&made.path, "swarm/t1");
    assert!(made.path.join("sub").is_dir() && !made.path.join("sub/a.txt").exists(), "not initialised");
    write(&made.path, "x.txt", b"x\n");
    commit_all(&made.path, "work beside it");
    assert_eq!(outer.give_up("t1").await, swarm_work::remove::Removal::Removed);
}
