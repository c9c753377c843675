//! W8, W9: uncommitted work is saved through an index of our own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::git_scratch;

use git_scratch::{Scratch, git_in, task, write};
use swarm_protocol::ids::{Oid, RunId};
use swarm_work::operation::checkpoint::{Checkpointing, save};
use swarm_work::rescue::{RESCUE_FILE_MAX_BYTES, Rest, commit_rest, save_wip, wip_ref};
use swarm_work::worktree::{BaseRule, prepare};

#[tokio::test]
async fn unfinished_work_is_saved_without_touching_index_or_files() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let (task, run) = (task("t1"), RunId::nth(7));
    let made = prepare(&git, &task, &scratch.worktrees(), &BaseRule::Trunk("main".into())).await.unwrap();
    assert_eq!(save_wip(&git, &made.path, &task, &run, &made.tip).await.unwrap(), None, "clean");
    write(&made.path, "a.txt", b"changed\n");
    write(&made.path, "new \n.txt", b"new\n");
    write(&made.path, "staged.txt", b"staged\n");
    write(&made.path, "ignored/big.bin", b"no\n");
    std::fs::remove_file(made.path.join("b.txt")).unwrap();
    git_in(&made.path, ["add", "staged.txt"]);
    let before = git_in(&made.path, ["status", "--porcelain", "-z"]);
    let saved = save_wip(&git, &made.path, &task, &run, &made.tip).await.unwrap().expect("there is work");
    assert_eq!(git_in(&made.path, ["status", "--porcelain", "-z"]), before);
    let files = scratch.git(["ls-tree", "-r", "-z", "--name-only", saved.as_str()]);
    assert_eq!(
        files.split_terminator('\0').collect::<Vec<_>>(),
        [".gitignore", "a.txt", "dir/c.txt", "new \n.txt", "staged.txt"]
    );
    assert_eq!(scratch.git(["show", &format!("{saved}:a.txt")]), "changed");
    assert_eq!(scratch.oid(&wip_ref(&task, &run)), saved);
    assert_eq!(save_wip(&git, &made.path, &task, &run, &made.tip).await.unwrap(), Some(saved), "asked twice");
}

/// So says the configuration of a repository that came from a machine on which `A` is `a`.
#[tokio::test]
async fn files_whose_names_differ_in_case_alone_are_saved_each_under_its_own() {
    let scratch = Scratch::new();
    scratch.write("A.TXT", "loud\n");
    scratch.commit_all("loud");
    scratch.git(["config", "core.ignoreCase", "true"]);
    let git = scratch.open().await;
    let (task, run) = (task("t1"), RunId::nth(1));
    let made = prepare(&git, &task, &scratch.worktrees(), &BaseRule::Trunk("main".into())).await.unwrap();
    write(&made.path, "a.txt", b"changed\n");
    write(&made.path, "B.TXT", b"new\n");
    std::fs::rename(made.path.join("dir/c.txt"), made.path.join("dir/C.TXT")).unwrap();
    let check = |saved: &Oid| {
        for (file, text) in [("a.txt", "changed"), ("A.TXT", "loud"), ("b.txt", "b one"), ("B.TXT", "new")] {
            assert_eq!(scratch.git(["show", &format!("{saved}:{file}")]), text, "{file}");
        }
        assert_eq!(scratch.git(["ls-tree", "--name-only", &format!("{saved}:dir")]), "C.TXT");
    };
    check(&save_wip(&git, &made.path, &task, &run, &made.tip).await.unwrap().expect("there is work"));
    // A checkpoint and what is decided about conflicts are made without an index.
    let asked = Checkpointing { name: "one", trunk: "main", moving: &BTreeSet::new(), tag: false };
    check(&save(&git, &asked).await.unwrap().dirty[&task]);
    // As on a disk on which `A` is `a`: of a tree, each name is one of its own all the same.
    scratch.write(".git/CoNfIg", "");
    let tree = git.tree_of(&made.tip).await.unwrap();
    let changed = git.entry_at(&tree, Path::new("b.txt")).await.unwrap().expect("it is there");
    let decided = git.decided(&tree, BTreeMap::from([(PathBuf::from("a.txt"), changed)])).await.unwrap();
    for (file, text) in [("a.txt", "b one"), ("A.TXT", "loud")] {
        assert_eq!(scratch.git(["show", &format!("{decided}:{file}")]), text, "{file}");
    }
}

#[tokio::test]
async fn the_rest_is_committed_onto_the_branch_and_status_is_clean() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let task = task("t1");
    let made = prepare(&git, &task, &scratch.worktrees(), &BaseRule::Trunk("main".into())).await.unwrap();
    assert_eq!(
        commit_rest(&git, &made.path, &task, &made.tip, "rest\n", RESCUE_FILE_MAX_BYTES).await.unwrap(),
        Rest::Clean
    );
    write(&made.path, "a.txt", b"changed\n");
    write(&made.path, "new.txt", b"new\n");
    git_in(&made.path, ["add", "new.txt"]);
    write(&made.path, "new.txt", b"newer\n");
    let Rest::Committed(tip) =
        commit_rest(&git, &made.path, &task, &made.tip, "rest\n", RESCUE_FILE_MAX_BYTES).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(git_in(&made.path, ["status", "--porcelain", "--branch"]), "## swarm/t1");
    assert_eq!(scratch.git(["show", &format!("{tip}:new.txt")]), "newer");
    let again =
        commit_rest(&git, &made.path, &task, &made.tip, "rest\n", RESCUE_FILE_MAX_BYTES).await.unwrap();
    assert_eq!(again, Rest::Committed(tip.clone()), "asked twice");
    write(&made.path, "new.txt", b"newest\n");
    let stale =
        commit_rest(&git, &made.path, &task, &made.tip, "rest\n", RESCUE_FILE_MAX_BYTES).await.unwrap();
    assert_eq!(stale, Rest::Moved { now: Some(tip) });
}

/// Git then compares as if the link had not changed, and the index that the rest is committed from would keep the old one.
#[tokio::test]
async fn the_rest_is_committed_with_the_link_of_a_submodule_that_git_is_told_to_ignore() {
    let scratch = Scratch::new();
    let (first, second) = (scratch.oid("main~1"), scratch.oid("main"));
    let link = |oid: &swarm_protocol::ids::Oid| format!("160000,{oid},library");
    let told = "[submodule \"library\"]\n\tpath = library\n\turl = ./library\n\tignore = all\n";
    scratch.write(".gitmodules", told);
    scratch.git(["add", ".gitmodules"]);
    scratch.git(["update-index", "--add", "--cacheinfo", &link(&first)]);
    scratch.git(["commit", "--quiet", "-m", "a submodule"]);
    let git = scratch.open().await;
    let task = task("t1");
    let made = prepare(&git, &task, &scratch.worktrees(), &BaseRule::Trunk("main".into())).await.unwrap();
    git_in(&made.path, ["update-index", "--cacheinfo", &link(&second)]);
    git_in(&made.path, ["commit", "--quiet", "-m", "the library"]);
    write(&made.path, "b.txt", b"changed\n");
    let tip = scratch.oid("swarm/t1");
    let Rest::Committed(rest) =
        commit_rest(&git, &made.path, &task, &tip, "rest\n", RESCUE_FILE_MAX_BYTES).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(scratch.git(["rev-parse", &format!("{rest}:library")]), second.as_str());
    assert_eq!(scratch.git(["show", &format!("{rest}:b.txt")]), "changed");
}

#[tokio::test]
async fn a_folder_that_has_become_a_link_does_not_stop_the_rest_from_being_committed() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let task = task("t1");
    let made = prepare(&git, &task, &scratch.worktrees(), &BaseRule::Trunk("main".into())).await.unwrap();
    std::fs::rename(made.path.join("dir"), made.path.join("moved")).unwrap();
    std::os::unix::fs::symlink("moved", made.path.join("dir")).unwrap();
    let rest =
        commit_rest(&git, &made.path, &task, &made.tip, "rest\n", RESCUE_FILE_MAX_BYTES).await.unwrap();
    assert!(matches!(rest, Rest::Committed(_)), "{rest:?}");
    assert_eq!(git_in(&made.path, ["status", "--porcelain"]), "");
    assert_eq!(
        git_in(&made.path, ["ls-tree", "-r", "--name-only", "HEAD", "dir", "moved"]),
        "dir\nmoved/c.txt"
    );
    // Programs other than git look at the checksum of the index.
    let index = std::fs::read(made.record.join("index")).unwrap();
    assert!(index[index.len() - 20..].iter().any(|byte| *byte != 0), "a checksum");
}

#[tokio::test]
async fn nothing_an_agent_has_planted_runs_in_our_calls() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let (task, run) = (task("t1"), RunId::nth(1));
    let made = prepare(&git, &task, &scratch.worktrees(), &BaseRule::Trunk("main".into())).await.unwrap();
    let trace = scratch.dir.path().join("it-ran");
    let trap = scratch.dir.path().join("trap.sh");
    std::fs::write(&trap, format!("#!/bin/sh\necho ran >> {}\n", trace.display())).unwrap();
    std::fs::set_permissions(&trap, std::fs::Permissions::from_mode(0o755)).unwrap();
    let trap = trap.to_str().unwrap();
    // Hooks and a file monitor in the repository's own configuration.
    scratch.git(["config", "core.fsmonitor", trap]);
    for hook in ["post-checkout", "reference-transaction", "post-index-change", "pre-commit", "post-merge"] {
        std::fs::copy(trap, scratch.at(&format!(".git/hooks/{hook}"))).unwrap();
    }
    // A nested repository with a filter of its own, and the worktree's .git file replaced by a repository.
    let nested = made.path.join("nested");
    std::fs::create_dir(&nested).unwrap();
    for place in [&nested, &made.path] {
        if place == &made.path {
            std::fs::remove_file(place.join(".git")).unwrap();
        }
        git_in(place, ["init", "--quiet"]);
        for key in
            ["core.fsmonitor", "filter.trap.clean", "filter.trap.smudge", "core.sshCommand", "diff.external"]
        {
            git_in(place, ["config", key, trap]);
        }
        write(place, ".gitattributes", b"* filter=trap\n");
        write(place, "caught.txt", b"x\n");
    }
    let _ = std::fs::remove_file(&trace);
    let saved = save_wip(&git, &made.path, &task, &run, &made.tip).await.unwrap().expect("there is work");
    assert!(scratch.git(["ls-tree", "-r", "--name-only", saved.as_str()]).contains("caught.txt"));
    commit_rest(&git, &made.path, &task, &made.tip, "rest\n", RESCUE_FILE_MAX_BYTES).await.unwrap();
    prepare(
        &git,
        &swarm_protocol::ids::TaskId::new("t2").unwrap(),
        &scratch.worktrees(),
        &BaseRule::Trunk("main".into()),
    )
    .await
    .unwrap();
    assert!(!trace.exists(), "a planted program ran");
}
