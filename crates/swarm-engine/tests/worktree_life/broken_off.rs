//! Files that are put somewhere, and a word to stop in the middle of it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use swarm_git::Git;
use swarm_protocol::ids::RunId;
use swarm_work::shared_tree::{Visitor, enter, gather, leave};
use swarm_work::worktree::{BaseRule, Flaw, Prepared, TakesUp, Wanted, examine, prepare, prepare_as};

use super::trunk;
use crate::git_scratch::{Scratch, git_in, task, write};

/// A git that does something else for calls with these words.
async fn git_that(scratch: &Scratch, words: &str, does: &str) -> Git {
    let programs = scratch.dir.path().join("programs");
    let path = std::env::var("PATH").expect("programs are somewhere");
    let script =
        format!("#!/bin/sh\nPATH='{path}'\ncase \"$*\" in {words}) {does};; esac\nexec git \"$@\"\n");
    write(&programs, "git", script.as_bytes());
    std::fs::set_permissions(programs.join("git"), std::fs::Permissions::from_mode(0o755)).expect("ours");
    scratch.open().await.with_env("PATH", &format!("{}:{path}", programs.display()))
}

async fn is_there(path: &Path) {
    let begun = std::time::Instant::now();
    while !path.exists() {
        assert!(begun.elapsed() < std::time::Duration::from_secs(60), "{} never came", path.display());
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_worktree_is_ready_when_all_that_was_not_committed_before_lies_there_and_made_again_until_then() {
    let scratch = Scratch::new();
    let tip = scratch.oid("main");
    let names: Vec<String> = (0..9).map(|n| format!("{n}.txt")).collect();
    names.iter().for_each(|name| scratch.write(name, "text\n"));
    let saved = scratch.commit_all("what was not committed");
    scratch.git(["update-ref", "refs/swarm/wip/t1/r1", saved.as_str()]);
    scratch.git(["reset", "--quiet", "--hard", tip.as_str()]);
    let (name, dir, base) = (task("t1-1"), scratch.worktrees(), BaseRule::At(tip.clone()));
    let path = dir.join("t1-1");
    let wanted = Wanted {
        task: &name,
        dir: &dir,
        base: &base,
        begins: None,
        takes_up: Some(TakesUp { tip: &tip, saved: &saved }),
        pool: None,
        copy: None,
        max_file_bytes: 1 << 20,
    };
    let began = scratch.dir.path().join("began");
    let half =
        format!("echo text > '{}'; : > '{}'; exec sleep 600", path.join("0.txt").display(), began.display());
    let slow = git_that(&scratch, &format!("*read-tree*{saved}*"), &half).await;
    tokio::select! {
        made = prepare_as(&slow, &wanted) => panic!("{made:?}"),
        () = is_there(&began) => {}
    }
    let git = scratch.open().await;
    assert_eq!(examine(&git, &name, &dir).await.expect("git works"), [Flaw::HalfMade]);
    let check = |made: &Prepared| {
        let lie_there = names.iter().filter(|name| made.path.join(name).exists());
        assert_eq!(lie_there.count(), names.len());
        assert_eq!(git_in(&made.path, ["status", "--porcelain"]).lines().count(), names.len(), "uncommitted");
    };
    let made = prepare_as(&git, &wanted).await.expect("it is made again");
    assert!(made.flaws.contains(&Flaw::HalfMade), "{:?}", made.flaws);
    check(&made);
    // Whoever works there is not disturbed.
    write(&made.path, "0.txt", b"mine\n");
    let made = prepare_as(&git, &wanted).await.expect("it is there");
    check(&made);
    assert_eq!(std::fs::read_to_string(made.path.join("0.txt")).expect("a file"), "mine\n");
}

#[tokio::test]
async fn what_was_put_into_the_shared_tree_before_that_was_broken_off_is_no_change_of_anybody() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let (first, second) = (task("t1"), task("t2"));
    for one in [&first, &second] {
        prepare(&git, one, &scratch.worktrees(), &trunk()).await.expect("a worktree");
    }
    let (runs, trees) =
        ([RunId::nth(1), RunId::nth(2)], ["t1", "t2"].map(|name| scratch.worktrees().join(name)));
    let visitor =
        |task, n: usize| Visitor { task, run: &runs[n], worktree: &trees[n], max_file_bytes: 1 << 20 };
    let place = scratch.at(".swarm/worktrees/shared");
    let holds = |glob: &str| [glob.to_owned()];
    enter(&git, &place, &visitor(&first, 0), &holds("one/**"), &scratch.oid("main"))
        .await
        .expect("it enters");
    scratch.write("new.txt", "new\n");
    let trunk = scratch.commit_all("trunk goes on");
    let broken = git_that(&scratch, "*'read-tree -m -u'*", "git \"$@\"; kill -9 $$").await;
    let entered = enter(&broken, &place, &visitor(&second, 1), &holds("two/**"), &trunk).await;
    assert!(entered.is_err() && place.join("new.txt").exists(), "{entered:?}");
    leave(&git, &visitor(&second, 1)).await.expect("it leaves");
    // Alone there, whatever nobody has reserved would be the work of the first.
    gather(&git, &visitor(&first, 0)).await.expect("its files are taken");
    assert!(!trees[0].join("new.txt").exists(), "it is trunk's");
    enter(&git, &place, &visitor(&second, 1), &holds("two/**"), &trunk).await.expect("it enters");
    assert_eq!(git.take_notices().into_iter().map(|notice| notice.text).collect::<Vec<_>>(), [""; 0]);
}
