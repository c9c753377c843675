//! V3: what a reviewer is told of every file that changed, with real git.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::git_scratch::Scratch;
use swarm_git::{DiffKind, NewCommit};

#[tokio::test]
async fn every_changed_file_is_named_with_what_became_of_it() {
    let scratch = Scratch::new();
    let long = format!("{}/{}", "folder".repeat(20), "name".repeat(30));
    for name in ["moved.txt", "run.sh", "link", "gone.txt"] {
        scratch.write(name, &format!("{name}\n1\n2\n3\n4\n5\n6\n"));
    }
    scratch.write("picture", "\u{0}one");
    let first = scratch.oid("HEAD");
    scratch.git(["update-index", "--add", "--cacheinfo", &format!("160000,{first},library")]);
    let submodule = "[submodule \"library\"]\n\tpath = library\n\turl = ./library\n\tignore = all\n";
    scratch.write(".gitmodules", submodule);
    scratch.git(["add", ".gitmodules", "moved.txt", "run.sh", "link", "gone.txt", "picture"]);
    scratch.git(["commit", "--quiet", "-m", "before"]);
    let from = scratch.oid("HEAD");

    scratch.git(["mv", "moved.txt", "there.txt"]);
    let program = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(scratch.at("run.sh"), program).expect("it is ours");
    std::fs::remove_file(scratch.at("link")).expect("it is there");
    std::os::unix::fs::symlink("a.txt", scratch.at("link")).expect("a link");
    scratch.git(["rm", "--quiet", "gone.txt"]);
    scratch.write("picture", "\u{0}two");
    scratch.write(&long, "x\n");
    scratch.write("two\nlines", "x\n");
    scratch.git(["add", "run.sh", "link", "picture", &long, "two\nlines"]);
    scratch.git(["update-index", "--cacheinfo", &format!("160000,{from},library")]);
    scratch.git(["commit", "--quiet", "-m", "after"]);
    let to = scratch.oid("HEAD");

    // What a person likes of diffs changes nothing of it.
    scratch.git(["config", "diff.renames", "false"]);
    scratch.git(["config", "diff.ignoreSubmodules", "all"]);
    let git = scratch.open().await;
    let told = git.diff_text(&from, &to, DiffKind::Files).await.expect("git works");
    let told = String::from_utf8(told).expect("text");
    let short = |oid: &swarm_protocol::ids::Oid| oid.as_str()[..8].to_owned();
    let mut wanted = vec![
        format!("added    {long}  +1 -0"),
        "deleted  gone.txt  +0 -7".into(),
        format!("changed  library  submodule {} -> {}", short(&first), short(&from)),
        "changed  link  +1 -7, from file to symbolic link".into(),
        "changed  picture  binary".into(),
        "changed  run.sh  +0 -0, mode 100644 -> 100755".into(),
        "renamed  moved.txt -> there.txt  +0 -0".into(),
        "added    \"two\\012lines\"  +1 -0".into(),
    ];
    let mut lines: Vec<&str> = told.lines().collect();
    lines.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(lines, wanted, "{told}");
    // Nor does the patch hide the submodule.
    let patch = git.diff_text(&from, &to, DiffKind::Patch).await.expect("git works");
    assert!(String::from_utf8_lossy(&patch).contains("Subproject commit"));
    // What decides about work sees it, too.
    let paths = git.changed_paths(&from, &to).await.expect("git works");
    assert!(paths.iter().any(|path| path.as_os_str() == "library"), "{paths:?}");
}

/// Some settings make git refuse wherever it is not asked at the top of a checkout, or tell and write other bytes.
#[tokio::test]
async fn what_a_person_has_set_for_git_changes_neither_what_is_told_nor_what_is_made() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "größer\n");
    let (from, to) = (scratch.oid("HEAD"), scratch.commit_all("größer"));
    let settings = [
        ("diff.orderFile", "scripts/order"),
        ("i18n.commitEncoding", "ISO-8859-1"),
        ("i18n.logOutputEncoding", "ISO-8859-1"),
    ];
    for (name, value) in settings {
        scratch.git(["config", name, value]);
    }
    let git = scratch.open().await;
    for kind in [DiffKind::Patch, DiffKind::Stat, DiffKind::Files] {
        let told = git.diff_text(&from, &to, kind).await.expect("git works");
        assert!(String::from_utf8_lossy(&told).contains("a.txt"), "{kind:?}");
    }
    let patches = git.patches(&from, &to).await.expect("git works");
    assert!(String::from_utf8_lossy(&patches).contains("+größer"));
    let touched = git.touched_paths(&from, &to).await.expect("git works");
    assert_eq!(touched, BTreeSet::from([PathBuf::from("a.txt")]));
    let told = git.told(std::slice::from_ref(&to)).await.expect("git works");
    assert_eq!(told.iter().map(|one| one.summary.as_str()).collect::<Vec<_>>(), ["größer"]);
    let (tree, message) = (git.tree_of(&to).await.expect("a tree"), "größer\n".as_bytes());
    let new = NewCommit { tree: &tree, parents: &[], author: None, encoding: None, message, at_secs: 0 };
    let made = git.make_commit(new).await.expect("git works");
    let raw = scratch.git(["cat-file", "commit", made.as_str()]);
    assert!(!raw.contains("encoding") && raw.ends_with("größer"), "{raw}");
}

/// A secret that came with a merge and went again is in trunk's history for ever.
#[tokio::test]
async fn what_only_a_merge_brings_is_told_and_what_it_takes_over_is_not() {
    let scratch = Scratch::new();
    scratch.git(["switch", "--quiet", "--create", "side"]);
    scratch.write("side.txt", "side\n");
    scratch.commit_all("side");
    scratch.git(["switch", "--quiet", "main"]);
    scratch.write("b.txt", "b two\n");
    let trunk = scratch.commit_all("trunk goes on");
    scratch.git(["switch", "--quiet", "side"]);
    scratch.git(["merge", "--quiet", "--no-commit", "main"]);
    scratch.write("settings", "password\n");
    scratch.commit_all("trunk, and more");
    scratch.git(["rm", "--quiet", "settings"]);
    let tip = scratch.commit_all("without it");
    let git = scratch.open().await;
    let patches = git.patches(&trunk, &tip).await.expect("git works");
    let patches = String::from_utf8_lossy(&patches);
    assert!(patches.contains("+password") && !patches.contains("b two"), "{patches}");
    let touched = git.touched_paths(&trunk, &tip).await.expect("git works");
    assert_eq!(touched, BTreeSet::from(["settings", "side.txt"].map(PathBuf::from)));
}

#[tokio::test]
async fn a_merge_of_many_hides_neither_what_it_brings_nor_what_the_commit_before_it_does() {
    let scratch = Scratch::new();
    let start = scratch.oid("HEAD");
    for side in ["one", "two"] {
        scratch.git(["switch", "--quiet", "--create", side, start.as_str()]);
        scratch.write(side, "side\n");
        scratch.commit_all(side);
    }
    scratch.git(["switch", "--quiet", "main"]);
    scratch.write("b.txt", "b two\n");
    let trunk = scratch.commit_all("trunk goes on");
    scratch.git(["switch", "--quiet", "--create", "work", start.as_str()]);
    scratch.write("CODEOWNERS", "me\n");
    scratch.commit_all("work");
    scratch.git(["merge", "--quiet", "--no-commit", "one", "two", "main"]);
    scratch.write("settings", "password\n");
    scratch.commit_all("all of it, and more");
    scratch.git(["rm", "--quiet", "settings", "CODEOWNERS"]);
    let tip = scratch.commit_all("without it");
    let git = scratch.open().await;
    let touched = git.touched_paths(&trunk, &tip).await.expect("git works");
    assert_eq!(touched, BTreeSet::from(["CODEOWNERS", "one", "settings", "two"].map(PathBuf::from)));
    let patches = git.patches(&trunk, &tip).await.expect("git works");
    let patches = String::from_utf8_lossy(&patches);
    assert!(patches.contains("\n+password\n") && !patches.contains("warning"), "{patches}");
}
