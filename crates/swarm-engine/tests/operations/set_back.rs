//! I3, C5, C6: one worktree set back, with everything that was there kept.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use swarm_git::Git;
use swarm_protocol::ids::{RunId, TaskId};
use swarm_work::operation::left::{of_removal, revive};
use swarm_work::operation::restore_tree::{Restore, Restored, restore};
use swarm_work::operation::rewind::{Rewind, rewind};
use swarm_work::remove::{GivingUp, Removal, give_up};
use swarm_work::rescue::wip_ref;

use crate::checkpoints::{full, make_dirty, worktree};
use crate::git_scratch::{Scratch, commit_all, git_in, task, write};
use crate::seen;

#[tokio::test]
async fn a_killed_iteration_goes_to_a_ref_and_the_worktree_to_where_it_began() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let place = worktree(&git, &scratch, "t1").await;
    write(&place.path, "one.txt", b"first iteration\n");
    let began = commit_all(&place.path, "first iteration");
    write(&place.path, "ignored/cache", b"stays\n");
    let files = seen::files(&place.path);
    write(&place.path, "two.txt", b"second iteration\n");
    let ended = commit_all(&place.path, "second iteration");
    make_dirty(&place.path);

    let (name, run, dir) = (task("t1"), RunId::nth(3), scratch.worktrees());
    let asked = Rewind { task: &name, run: &run, dir: &dir, to: Some(&began), dirty: None };
    let saved = rewind(&git, &asked).await.unwrap().unwrap().expect("there was work");

    assert_eq!(seen::files(&place.path), files, "byte for byte where the iteration began");
    assert_eq!(git_in(&place.path, ["status", "--porcelain", "--branch"]), "## swarm/t1");
    assert_eq!(scratch.oid("swarm/t1"), began);
    assert_eq!(scratch.oid(&wip_ref(&name, &run)), saved);
    assert_eq!(scratch.oid(&format!("{saved}^")), ended, "its commits are below what it had not committed");
    assert_eq!(scratch.git(["show", &format!("{saved}:dir")]), "a file now");
    let refs = seen::refs(&scratch.repo);
    assert_eq!(rewind(&git, &asked).await.unwrap(), Ok(Some(saved)), "asked twice");
    assert_eq!(seen::refs(&scratch.repo), refs, "asked twice");
    // The next attempt finds it as its own.
    let again = worktree(&git, &scratch, "t1").await;
    assert_eq!((again.tip, again.base, again.reattached), (began, place.base, true));
}

/// Nothing is set back before what was there is held by a name of its own.
#[tokio::test]
async fn what_an_iteration_did_is_kept_also_where_somebody_takes_its_name_at_the_same_moment() {
    let scratch = Scratch::new();
    let place = worktree(&scratch.open().await, &scratch, "t1").await;
    write(&place.path, "one.txt", b"not committed\n");
    let (name, run, dir) = (task("t1"), RunId::nth(3), scratch.worktrees());
    let programs = scratch.dir.path().join("programs");
    let path = std::env::var("PATH").expect("programs are somewhere");
    let (done, common) = (scratch.dir.path().join("done").display().to_string(), scratch.at(".git"));
    let first = format!("git --git-dir='{}' update-ref {} main", common.display(), wip_ref(&name, &run));
    let script = format!(
        "#!/bin/sh\nPATH='{path}'\ncase \"$*\" in *update-ref*) [ -e '{done}' ] || {{ : > '{done}'; {first} < /dev/null; }};; esac\n\
         exec git \"$@\"\n"
    );
    write(&programs, "git", script.as_bytes());
    std::fs::set_permissions(programs.join("git"), std::fs::Permissions::from_mode(0o755)).expect("ours");
    let git = scratch.open().await.with_env("PATH", &format!("{}:{path}", programs.display()));
    let asked = Rewind { task: &name, run: &run, dir: &dir, to: None, dirty: None };
    let saved = rewind(&git, &asked).await.unwrap().unwrap().expect("there was work");
    assert!(Path::new(&done).exists() && !place.path.join("one.txt").exists());
    let kept = format!("{}-2", wip_ref(&name, &run));
    assert_eq!((scratch.oid(&wip_ref(&name, &run)), scratch.oid(&kept)), (scratch.oid("main"), saved));
}

/// As for a task that was cancelled.
pub async fn give_up_and_remember(git: &Git, task: &TaskId, dir: &Path, name: u64) -> Removal {
    let (max_file_bytes, remember) = (1 << 20, Some(name));
    let (disposable, pool) = (&["ignored".to_owned()], None);
    let asked = GivingUp {
        task,
        dir,
        disposable,
        max_file_bytes,
        pool,
        only_look: false,
        remember,
        merged: None,
        force: false,
    };
    give_up(git, &asked).await.expect("no git command fails")
}

#[tokio::test]
async fn what_was_given_up_is_brought_back_as_it_was_and_never_over_what_was_begun_anew() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let place = worktree(&git, &scratch, "t1").await;
    write(&place.path, "one.txt", b"one\n");
    let tip = commit_all(&place.path, "one");
    make_dirty(&place.path);
    let files = seen::files(&place.path);
    let (name, dir) = (task("t1"), scratch.worktrees());

    assert_eq!(give_up_and_remember(&git, &name, &dir, 1).await, Removal::Removed);
    assert!(!place.path.exists());
    let left = of_removal(&git, &name, 1).expect("it was noted");
    assert_eq!(give_up_and_remember(&git, &name, &dir, 1).await, Removal::Removed);
    assert_eq!(of_removal(&git, &name, 1), Some(left.clone()), "asked twice");
    assert_eq!(revive(&git, &name, &dir, &left).await.unwrap(), Ok(Some(place.base.clone())));
    assert_eq!(seen::files(&place.path), files, "byte for byte");
    assert_eq!(scratch.oid("swarm/t1"), tip);
    assert_eq!(revive(&git, &name, &dir, &left).await.unwrap(), Ok(Some(place.base)), "asked twice");

    // Another removal, of nothing, has nothing to tell.
    assert_eq!(give_up_and_remember(&git, &task("t2"), &dir, 2).await, Removal::Removed);
    assert_eq!(of_removal(&git, &task("t2"), 2), None);
    assert_eq!(of_removal(&git, &name, 2), None);

    // A person made the worktree again and worked there.
    assert_eq!(give_up_and_remember(&git, &name, &dir, 3).await, Removal::Removed);
    let anew = worktree(&git, &scratch, "t1").await;
    write(&anew.path, "anew.txt", b"anew\n");
    let begun = commit_all(&anew.path, "anew");
    let not = revive(&git, &name, &dir, &left).await.unwrap().expect_err("somebody has begun anew");
    assert!(not.why.contains("swarm/t1"), "{not:?}");
    assert_eq!(not.hint.as_deref(), Some("git branch -m swarm/t1 t1-old"));
    assert_eq!(scratch.oid("swarm/t1"), begun);
    // Or looks at it elsewhere.
    assert_eq!(give_up_and_remember(&git, &name, &dir, 4).await, Removal::Removed);
    let left = of_removal(&git, &name, 4).expect("it was noted");
    let elsewhere = scratch.dir.path().join("elsewhere");
    let place = elsewhere.to_str().expect("text");
    scratch.git(["worktree", "add", "--quiet", "-b", "swarm/t1", place, begun.as_str()]);
    let not = revive(&git, &name, &dir, &left).await.unwrap().expect_err("a person has it checked out");
    let hint = not.hint.expect("a command helps");
    assert!(hint.starts_with("git -C ") && hint.ends_with(" switch --detach"), "{hint}");
}

#[tokio::test]
async fn a_worktree_that_is_gone_comes_back_with_branch_base_and_uncommitted_work() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let place = worktree(&git, &scratch, "t1").await;
    write(&place.path, "one.txt", b"one\n");
    let tip = commit_all(&place.path, "one");
    make_dirty(&place.path);
    let files = seen::files(&place.path);
    let saved = full(&git, "before", &[]).await;
    let (name, dir) = (task("t1"), scratch.worktrees());
    let removed = swarm_work::remove::remove(&git, &name, &dir, &[]).await.unwrap();
    assert_eq!(removed, swarm_work::remove::Removal::Removed);
    assert!(!place.path.exists());
    let asked = Restore {
        task: &name,
        dir: &dir,
        old: None,
        tip: &tip,
        base: Some(&place.base),
        dirty: saved.dirty.get(&name),
        save_as: None,
    };
    let outcome = restore(&git, &asked).await.unwrap();
    assert!(matches!(outcome, Restored::Done { saved: None, .. }), "{outcome:?}");
    assert_eq!(seen::files(&place.path), files);
    let found = worktree(&git, &scratch, "t1").await;
    assert_eq!((found.tip, found.base), (tip, place.base), "its own commits are known as such");
}

#[tokio::test]
async fn what_git_ignores_stays_or_goes_to_the_trash_and_never_away() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let place = worktree(&git, &scratch, "t1").await;
    write(&place.path, "x.log", b"tracked then\n");
    let tip = commit_all(&place.path, "with a log");
    let saved = full(&git, "then", &[]).await;
    assert!(saved.dirty.is_empty());
    git_in(&place.path, ["rm", "--quiet", "x.log"]);
    write(&place.path, ".gitignore", b".swarm/\nignored/\n*.log\n.env\n");
    let later = commit_all(&place.path, "logs are ignored");
    write(&place.path, "x.log", b"of value, saved nowhere\n");
    write(&place.path, ".env", b"SECRET=1\n");
    let (name, dir) = (task("t1"), scratch.worktrees());
    let asked = Restore {
        task: &name,
        dir: &dir,
        old: Some(&later),
        tip: &tip,
        base: None,
        dirty: None,
        save_as: None,
    };
    restore(&git, &asked).await.unwrap();
    assert_eq!(std::fs::read(place.path.join("x.log")).unwrap(), b"tracked then\n");
    // The rules that hid it went with the rest: nobody shall commit it now.
    assert!(!place.path.join(".env").exists());
    let trash = seen::files(&scratch.repo.join(".swarm/trash"));
    assert!(trash.values().any(|(_, bytes)| bytes == b"SECRET=1\n"), "{trash:?}");
    assert!(trash.values().any(|(_, bytes)| bytes == b"of value, saved nowhere\n"), "{trash:?}");
    assert!(seen::refs(&scratch.repo).contains(later.as_str()), "the commit it came from is held");
}

#[tokio::test]
async fn a_branch_that_somebody_has_moved_or_checked_out_is_left_alone() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let place = worktree(&git, &scratch, "t1").await;
    write(&place.path, "one.txt", b"one\n");
    let tip = commit_all(&place.path, "one");
    write(&place.path, "one.txt", b"unsaved\n");
    let (name, dir) = (task("t1"), scratch.worktrees());
    let elsewhere = scratch.oid("main~1");
    let mut asked = Restore {
        task: &name,
        dir: &dir,
        old: Some(&elsewhere),
        tip: &place.base,
        base: None,
        dirty: None,
        save_as: None,
    };
    let before = (seen::files(&place.path), seen::refs(&scratch.repo));
    let outcome = restore(&git, &asked).await.unwrap();
    assert_eq!(outcome, Restored::BranchMoved { now: Some(tip.clone()) });
    scratch.git(["switch", "--quiet", "--ignore-other-worktrees", "swarm/t1"]);
    asked.old = Some(&tip);
    let outcome = restore(&git, &asked).await.unwrap();
    let Restored::InTheWay { why, hint } = outcome else { panic!("{outcome:?}") };
    assert!(why.contains("checked out") && hint.contains("switch --detach"), "{why} {hint}");
    assert_eq!((seen::files(&place.path), seen::refs(&scratch.repo)), before);
}
