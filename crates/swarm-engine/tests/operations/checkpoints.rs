//! C1–C3: a checkpoint holds everything that is not committed, touches nothing, and keeps it for good.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use swarm_git::Git;
use swarm_protocol::ids::{AgentId, Oid, TaskId};
use swarm_protocol::operation::Saved;
use swarm_work::operation::checkpoint::{Checkpointing, check_name, delete, load, mark, save};
use swarm_work::operation::checkpoint_file::{self, AgentAt, CheckpointFile};
use swarm_work::operation::restore_tree::{Restore, Restored, restore};
use swarm_work::worktree::{BaseRule, Prepared, prepare};

use crate::git_scratch::{Scratch, commit_all, git_in, task, write};
use crate::seen;

pub async fn full(git: &Git, name: &str, moving: &[&str]) -> Saved {
    let moving: BTreeSet<TaskId> = moving.iter().map(|name| task(name)).collect();
    let asked = Checkpointing { name, trunk: "main", moving: &moving, tag: false };
    save(git, &asked).await.expect("it can be saved")
}

pub async fn worktree(git: &Git, scratch: &Scratch, name: &str) -> Prepared {
    prepare(git, &task(name), &scratch.worktrees(), &BaseRule::Trunk("main".into()))
        .await
        .expect("a worktree")
}

/// Every kind of uncommitted work there is: changed, deleted, new, executable, links, odd names, a file that
/// became a folder, one tracked though ignored.
pub fn make_dirty(dir: &Path) {
    write(dir, "a.txt", b"changed\r\nnot committed\0binary\n");
    // Where the trunk has it.
    let _ = std::fs::remove_file(dir.join("b.txt"));
    write(dir, OsStr::from_bytes(b"n\xff\xfe name\n with \"quotes\".txt"), b"not UTF-8\n");
    write(dir, "new/deep/er.txt", b"");
    std::os::unix::fs::symlink("../nowhere", dir.join("link")).unwrap();
    write(dir, "tool.sh", b"#!/bin/sh\n");
    std::fs::set_permissions(dir.join("tool.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_file(dir.join("dir/c.txt")).unwrap();
    std::fs::remove_dir(dir.join("dir")).unwrap();
    write(dir, "dir", b"a file now\n");
}

fn set_back<'a>(name: &'a TaskId, dir: &'a Path, tip: &'a Oid, dirty: Option<&'a Oid>) -> Restore<'a> {
    let (old, base) = (Some(tip), None);
    Restore { task: name, dir, old, tip, base, dirty, save_as: None }
}

#[tokio::test]
async fn uncommitted_work_of_every_kind_is_saved_untouched_survives_gc_and_comes_back_byte_for_byte() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let place = worktree(&git, &scratch, "t1").await;
    write(&place.path, "committed.txt", b"committed\n");
    let tip = commit_all(&place.path, "work");
    make_dirty(&place.path);
    write(&place.path, "ignored/cache", b"not saved, not touched\n");
    git_in(&place.path, ["add", "tool.sh"]);
    let (files, status) = (seen::files(&place.path), seen::status(&place.path));

    let saved = full(&git, "one", &["t1"]).await;

    assert_eq!((seen::files(&place.path), seen::status(&place.path)), (files.clone(), status));
    let name = task("t1");
    assert_eq!(saved.trunk, Some(scratch.oid("main")));
    assert_eq!(saved.tips.get(&name), Some(&tip));
    assert!(saved.moving.contains(&name));
    let refs = seen::refs(&scratch.repo);
    assert_eq!(full(&git, "one", &["t1"]).await, saved, "asked twice");
    assert_eq!(seen::refs(&scratch.repo), refs, "asked twice");
    assert_eq!(load(&git, "one").await.unwrap().unwrap().dirty, saved.dirty);

    // The agent goes on and spoils everything; then git's own clean-up is as thorough as it can be.
    std::fs::remove_file(place.path.join("link")).unwrap();
    write(&place.path, "a.txt", b"spoilt\n");
    write(&place.path, "link/is/a/folder.txt", b"spoilt\n");
    std::fs::remove_file(place.path.join("dir")).unwrap();
    write(&place.path, "dir/c.txt", b"a folder again\n");
    write(&place.path, "later.txt", b"later\n");
    std::fs::remove_file(place.path.join("tool.sh")).unwrap();
    scratch.git(["reflog", "expire", "--expire=now", "--all"]);
    scratch.git(["gc", "--quiet", "--prune=now"]);
    let dirty = &saved.dirty[&name];
    let dir = scratch.worktrees();
    let Restored::Done { saved: spoilt, .. } =
        restore(&git, &set_back(&name, &dir, &tip, Some(dirty))).await.unwrap()
    else {
        panic!("not restored")
    };
    assert_eq!(seen::files(&place.path), files, "byte for byte");
    assert_eq!(git_in(&place.path, ["rev-parse", "--symbolic-full-name", "HEAD"]), "refs/heads/swarm/t1");
    assert_eq!(scratch.oid("swarm/t1"), tip);
    let listed = git_in(&place.path, ["status", "--porcelain"]);
    assert!(
        listed.contains(" D b.txt") && listed.contains("?? tool.sh") && listed.contains(" M a.txt"),
        "{listed}"
    );
    // What was there before the restoring is on a ref too.
    let spoilt = spoilt.expect("there was work");
    assert_eq!(scratch.git(["show", &format!("{spoilt}:later.txt")]), "later");
    assert_eq!(scratch.git(["show", &format!("{spoilt}:link/is/a/folder.txt")]), "spoilt");
    assert!(seen::refs(&scratch.repo).contains(spoilt.as_str()));
    let refs = seen::refs(&scratch.repo);
    let again = restore(&git, &set_back(&name, &dir, &tip, Some(dirty))).await.unwrap();
    assert!(matches!(again, Restored::Done { saved: None, .. }), "{again:?}");
    assert_eq!((seen::files(&place.path), seen::refs(&scratch.repo)), (files, refs), "asked twice");
}

#[tokio::test]
async fn a_checkpoint_of_many_worktrees_and_two_thousand_files_is_one_set_of_refs() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let mut places = Vec::new();
    for name in ["t1", "t2", "t3", "t4", "t5"] {
        places.push(worktree(&git, &scratch, name).await);
    }
    for n in 0..2_000 {
        write(&places[0].path, format!("many/{}/file {n} ü.txt", n % 100), format!("{n}\n").as_bytes());
    }
    write(&places[2].path, "x.txt", b"x\n");
    let saved = full(&git, "many", &[]).await;
    assert_eq!(saved.tips.len(), 5);
    assert_eq!(saved.dirty.keys().map(TaskId::as_str).collect::<Vec<_>>(), ["t1", "t3"]);
    let (dirty, name, dir) = (saved.dirty[&task("t1")].clone(), task("t1"), scratch.worktrees());
    let listed = scratch.git(["ls-tree", "-r", "--name-only", dirty.as_str(), "many/"]);
    assert_eq!(listed.lines().count(), 2_000);
    let files = seen::files(&places[0].path);
    std::fs::remove_dir_all(places[0].path.join("many")).unwrap();
    let tip = places[0].tip.clone();
    restore(&git, &set_back(&name, &dir, &tip, Some(&dirty))).await.unwrap();
    assert_eq!(seen::files(&places[0].path), files);
}

#[tokio::test]
async fn a_light_checkpoint_knows_tips_only_and_a_deleted_one_leaves_nothing() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let place = worktree(&git, &scratch, "t1").await;
    write(&place.path, "x.txt", b"x\n");
    // A task may be called so.
    let other = worktree(&git, &scratch, "trunk").await;
    commit_all(&other.path, "not what trunk is at");
    let before = seen::refs(&scratch.repo);
    let moving = BTreeSet::new();
    let asked = Checkpointing { name: "light", trunk: "main", moving: &moving, tag: true };
    let saved = mark(&git, &asked).await.unwrap();
    assert!(saved.dirty.is_empty() && saved.tips.contains_key(&task("t1")));
    assert_eq!(scratch.oid("swarm-checkpoint-light"), scratch.oid("main"), "a tag for people");
    delete(&git, "light").await.unwrap();
    delete(&git, "light").await.unwrap();
    assert_eq!(seen::refs(&scratch.repo), before);
    assert_eq!(load(&git, "light").await.unwrap(), None);
}

#[tokio::test]
async fn a_worktree_in_the_middle_of_a_rebase_is_saved_with_the_commits_only_its_head_has() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let place = worktree(&git, &scratch, "t1").await;
    write(&place.path, "a.txt", b"mine\n");
    let tip = commit_all(&place.path, "work");
    scratch.write("a.txt", "theirs\n");
    scratch.commit_all("trunk goes on");
    let rebase = crate::git_scratch::try_git_in(&place.path, ["rebase", "main"]);
    assert!(!rebase.status.success(), "it must stop at a conflict");
    let saved = full(&git, "rebasing", &[]).await;
    let (name, dir) = (task("t1"), scratch.worktrees());
    let parents = scratch.git(["log", "-1", "--format=%P", saved.dirty[&name].as_str()]);
    assert_eq!(parents, format!("{tip} {}", scratch.oid("main")), "its tip and its HEAD");
    let outcome = restore(&git, &set_back(&name, &dir, &tip, None)).await.unwrap();
    assert!(matches!(outcome, Restored::Done { .. }), "{outcome:?}");
    assert_eq!(git_in(&place.path, ["status", "--porcelain", "--branch"]), "## swarm/t1");
    assert!(git_in(&place.path, ["status"]).contains("nothing to commit"), "no rebase is under way any more");
}

#[test]
fn names_that_git_would_refuse_are_refused_with_words() {
    for name in ["before-merge-1.2", "session-start", "v1_final.2"] {
        assert_eq!(check_name(name), Ok(()));
    }
    for name in ["", "a/b", "-x", ".x", "x.lock", "a..b", "ü", "a b", "x."] {
        let why = check_name(name).expect_err(name);
        assert!(why.contains("is not a name for a checkpoint"), "{why}");
    }
}

#[test]
fn the_file_has_the_keys_people_know_and_a_checksum_that_fails_when_it_was_changed() {
    let dir = tempfile::tempdir().unwrap();
    let oid = Oid::new("a".repeat(40)).unwrap();
    let file = CheckpointFile {
        name: "one".into(),
        created_at: "2026-01-02T03:04:05Z".into(),
        git_commit: Some(oid.clone()),
        task_states: [(task("1.1"), "done".to_owned())].into(),
        state_snapshot: serde_json::json!({"mode": "autopilot"}),
        agent_states: vec![AgentAt { id: AgentId::nth(1), task_id: Some(task("1.1")), iteration: 3 }],
        kind: "manual".into(),
        trigger: "person".into(),
        seq: 12,
        ledger_head: None,
        tips: [(task("1.1"), oid)].into(),
        dirty: Default::default(),
        moving: Vec::new(),
    };
    let path = checkpoint_file::write(dir.path(), &file).unwrap();
    assert_eq!(checkpoint_file::read(dir.path(), "one").unwrap(), file);
    let text = std::fs::read_to_string(&path).unwrap();
    for key in [
        "\"name\"",
        "\"createdAt\"",
        "\"gitCommit\"",
        "\"taskStates\"",
        "\"stateSnapshot\"",
        "\"agentStates\"",
        "\"taskId\"",
        "\"iteration\"",
        "\"type\"",
        "\"trigger\"",
        "\"checksum\"",
    ] {
        assert!(text.contains(key), "{key} in {text}");
    }
    std::fs::write(&path, text.replace("autopilot", "semi-auto")).unwrap();
    assert!(checkpoint_file::read(dir.path(), "one").unwrap_err().to_string().contains("checksum"));
    // As another tool wrote it.
    let foreign = r#"{"name":"two","createdAt":"x","gitCommit":null,"ideaStates":{"1.1":"done"},"stateSnapshot":{},
        "agentStates":[],"type":"auto","trigger":"periodic"}"#;
    std::fs::write(dir.path().join("two.json"), foreign).unwrap();
    assert_eq!(checkpoint_file::read(dir.path(), "two").unwrap().task_states[&task("1.1")], "done");
}

#[tokio::test]
async fn bytes_come_back_as_they_were_whatever_attributes_would_make_of_them() {
    swarm_process::launcher::filters_start_through(env!("CARGO_BIN_EXE_box_host"));
    let scratch = Scratch::new();
    scratch.write(".gitattributes", "* text=auto\n*.dos text eol=crlf\n*.up filter=upper\n");
    scratch.write("x.dos", "one\n");
    scratch.git(["config", "filter.upper.clean", "tr a-z A-Z"]);
    scratch.git(["config", "filter.upper.smudge", "tr A-Z a-z"]);
    scratch.commit_all("attributes");
    let git = scratch.open().await;
    let place = worktree(&git, &scratch, "t1").await;
    let clean = seen::files(&place.path);
    assert_eq!(clean[Path::new("x.dos")].1, b"one\r\n");
    for (path, bytes) in [
        ("a.txt", &b"windows\r\nlines\r\n"[..]),
        ("mixed.txt", b"one\r\ntwo\nthree\r\n"),
        ("y.dos", b"unix\nlines\n"),
        ("z.up", b"Mixed Case\n"),
    ] {
        write(&place.path, path, bytes);
    }
    let files = seen::files(&place.path);
    let saved = full(&git, "exact", &[]).await;
    let (name, dir) = (task("t1"), scratch.worktrees());
    restore(&git, &set_back(&name, &dir, &place.tip, None)).await.unwrap();
    assert_eq!(seen::files(&place.path), clean);
    restore(&git, &set_back(&name, &dir, &place.tip, saved.dirty.get(&name))).await.unwrap();
    assert_eq!(seen::files(&place.path), files);
    assert_eq!(full(&git, "exact", &[]).await, saved, "the same files are the same commit");
}
