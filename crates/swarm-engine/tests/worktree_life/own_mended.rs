//! An agent's own repository when something went wrong in it.

use std::path::Path;

use super::own::{FILE_MAX, Lent};
use crate::git_scratch::{git_in, task};
use swarm_git::OwnRepository;
use swarm_work::hand_in::{HandedIn, hand_in};
use swarm_work::worktree::{Flaw, examine};

/// As a power cut leaves it: names without bytes. What reached the disk whole is there for the next attempt, and its git works.
#[tokio::test]
async fn after_a_power_cut_the_agents_git_works_from_its_last_whole_commit() {
    let since = "git rev-list --objects --no-object-names HEAD ^HEAD~1 | sed 's,..,DIR/objects/&/,'";
    for (cut, subject) in [
        // The commit, everything since, the index, the branch, all refs.
        ("f=DIR/objects/$(git rev-parse HEAD | sed 's,..,&/,'); chmod 644 $f; : > $f", "whole"),
        (&*format!("for f in $({since}); do chmod 644 $f; : > $f; done; : > DIR/index"), "whole"),
        ("f=DIR/objects/$(git rev-parse HEAD:new.txt | sed 's,..,&/,'); chmod 644 $f; : > $f", "whole"),
        (": > DIR/index", "torn"),
        (": > DIR/refs/heads/swarm/t1; : > DIR/index", "torn"),
        ("printf '\\0\\0\\0\\0' > DIR/packed-refs; : > DIR/HEAD; : > DIR/refs/heads/side", "torn"),
    ] {
        let lent = Lent::new().await;
        lent.sh("git branch side; echo one > a.txt; git commit -qam whole");
        lent.sh("echo two > new.txt; git add -A; git commit -qm torn");
        lent.sh(&cut.replace("DIR", &lent.dir()));
        assert!(lent.field.git.clear_torn().await.expect("cleared") > 0, "{cut}");
        assert_eq!(lent.field.git.clear_torn().await.expect("looked"), 0, "{cut}");
        let handed = lent.hand_in().await;
        assert!(matches!(handed, HandedIn::Moved { .. }), "{cut}: {handed:?}");
        assert_eq!(lent.field.scratch.git(["log", "--format=%s", "-1", "swarm/t1"]), subject, "{cut}");
        lent.open().await;
        lent.sh("test \"$(cat new.txt)\" = two; git log -1 main; git add -A");
        lent.sh("git commit -qm 'goes on' --allow-empty; git fsck --no-dangling; git show HEAD:new.txt; git show HEAD:a.txt");
        assert!(matches!(lent.hand_in().await, HandedIn::Moved { .. }), "{cut}");
        assert_eq!(lent.field.scratch.git(["show", "swarm/t1:new.txt"]), "two", "{cut}");
    }
}

/// Refused once, and then found in the person's store: the size of a file counts wherever it came from.
#[tokio::test]
async fn a_file_that_is_too_large_is_refused_also_when_the_store_has_it_already() {
    let lent = Lent::new().await;
    let big = vec![b'x'; usize::try_from(FILE_MAX).expect("small") + 1];
    std::fs::write(lent.made.path.join("big.bin"), &big).expect("written");
    lent.sh("git add -A; git commit -qm big");
    for known in [false, true] {
        if known {
            let from = lent.made.path.join("big.bin");
            git_in(&lent.field.scratch.repo, ["hash-object", "-w", from.to_str().expect("text")]);
        }
        let handed = lent.hand_in().await;
        let HandedIn::Refused { why } = handed else { panic!("known {known}: {handed:?}") };
        assert!(why.contains("big.bin has 1 MB, which is more than `worktree.maxFile` allows"), "{why}");
    }
}

/// Git then lists no change of it, and nobody would see that the commit is nowhere.
#[tokio::test]
async fn a_link_to_a_commit_of_nowhere_is_refused_also_where_git_is_told_to_ignore_it() {
    let lent = Lent::new().await;
    let told = "[submodule \"library\"]\n\tpath = library\n\turl = ./library\n\tignore = all\n";
    lent.field.scratch.write(".gitmodules", told);
    lent.field.scratch.commit_all("person: ignore it");
    lent.sh("git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),library; git commit -qm link");
    let HandedIn::Refused { why } = lent.hand_in().await else { panic!("it was taken") };
    assert!(why.contains("library is a repository of its own"), "{why}");
}

#[tokio::test]
async fn commits_beside_the_branch_are_kept_under_the_name_that_is_told() {
    for (text, why) in [
        ("git checkout -q --orphan side; git commit -qm alone", "are not on swarm/t1"),
        (
            "git checkout -q --orphan side; git commit -qm alone; git branch -f swarm/t1",
            "do not stand on its base",
        ),
    ] {
        let lent = Lent::new().await;
        lent.sh(text);
        let alone = git_in(&lent.own.dir, ["rev-parse", "side"]);
        let HandedIn::Refused { why: said } = lent.hand_in().await else { panic!("{text}") };
        assert!(said.contains(why), "{said}");
        let named = said.split("git log ").nth(1).and_then(|rest| rest.split('`').next()).expect("a command");
        assert_eq!(lent.field.scratch.git(["rev-parse", named]), alone, "{said}");
    }
}

/// Where an agent has no view of its own, the worktree names its repository as long as it runs.
#[tokio::test]
async fn a_worktree_that_a_killed_daemon_left_to_the_agents_repository_is_told_and_given_back() {
    let lent = Lent::new().await;
    let (git, dir) = (&lent.field.git, lent.made.path.parent().expect("a folder"));
    let held = lent.own.hold(git).expect("tried").expect("nobody else has it");
    assert!(
        !examine(git, &task("t1"), dir).await.expect("looked").contains(&Flaw::Lent),
        "somebody works there"
    );
    drop(held);
    assert!(examine(git, &task("t1"), dir).await.expect("looked").contains(&Flaw::Lent));
    lent.field.prepare("t1").await;
    assert!(!lent.own.is_pointed_at());
    assert!(examine(git, &task("t1"), dir).await.expect("looked").iter().all(|flaw| !flaw.is_disorder()));
}

/// `git gc --prune=now` of a person may throw away what was just handed in, before it sees the ref that keeps it.
#[tokio::test]
async fn commits_that_were_pruned_as_they_were_handed_in_are_handed_in_again() {
    let lent = Lent::new().await;
    lent.sh("echo one > a.txt; git commit -qam one");
    let HandedIn::Moved { tip } = lent.hand_in().await else { panic!("nothing arrived") };
    let lose = || {
        for name in [tip.as_str().to_owned(), lent.field.scratch.git(["rev-parse", "swarm/t1^{tree}"])] {
            let object = lent.field.git.common_dir.join("objects").join(&name[..2]).join(&name[2..]);
            std::fs::remove_file(object).expect("it was a file of its own");
        }
    };
    lose();
    // Others do not suffer from it.
    let other = lent.field.prepare("t2").await;
    let own = OwnRepository::of(&other.path, &task("t2"));
    let at = lent.field.scratch.oid("swarm/t2");
    own.open(&lent.field.git, &other.record, &at, |_| Ok(())).await.expect("opened");
    own.point_here().expect("pointed");
    git_in(&other.path, ["commit", "--quiet", "--allow-empty", "--message", "two"]);
    let handed = hand_in(&lent.field.git, &task("t2"), &other.path, FILE_MAX).await.expect("git works");
    assert!(matches!(handed, HandedIn::Moved { .. }), "{handed:?}");
    assert_eq!(lent.hand_in().await, HandedIn::Nothing);
    assert_eq!(lent.field.scratch.git(["show", "swarm/t1:a.txt"]), "one");
    // The next commit brings it along as well.
    lose();
    lent.open().await;
    lent.sh("echo two > b.txt; git add -A; git commit -qm two --no-verify");
    assert!(matches!(lent.hand_in().await, HandedIn::Moved { .. }));
    assert_eq!(lent.field.scratch.git(["show", "swarm/t1:a.txt"]), "one");
}

/// The branch has gone on since the agent was let in, and where the agent stands is below it.
#[tokio::test]
async fn what_is_below_the_branch_already_is_nothing_new_and_nothing_wrong() {
    let lent = Lent::new().await;
    lent.sh("echo one > a.txt; git commit -qam one; echo two > a.txt; git commit -qam two");
    assert!(matches!(lent.hand_in().await, HandedIn::Moved { .. }));
    lent.open().await;
    git_in(&lent.field.scratch.repo, ["checkout", "-q", "-b", "theirs", "swarm/t1"]);
    lent.field.scratch.write("theirs.txt", "theirs");
    let theirs = lent.field.scratch.commit_all("theirs");
    git_in(&lent.field.scratch.repo, ["checkout", "-q", "main"]);
    git_in(&lent.field.scratch.repo, ["update-ref", "refs/heads/swarm/t1", theirs.as_str()]);
    lent.sh("git reset -q --hard HEAD~1");
    assert_eq!(lent.hand_in().await, HandedIn::Nothing);
    assert_eq!(lent.hand_in().await, HandedIn::Nothing, "asked twice");
    assert_eq!(lent.field.scratch.git(["log", "-1", "--format=%s", "swarm/t1"]), "theirs");
    assert_eq!(lent.field.scratch.git(["for-each-ref", "refs/swarm/rescue"]), "");
    // What is not below it is kept, as before.
    lent.own.point_here().expect("pointed");
    lent.sh("echo mine > mine.txt; git add -A; git commit -qm mine");
    let handed = lent.hand_in().await;
    let HandedIn::Refused { why } = handed else { panic!("{handed:?}") };
    assert!(why.contains("the branch was moved meanwhile; they are kept"), "{why}");
}

/// Handed in was what the agent had checked out, ahead of its branch; then whoever did it died.
#[tokio::test]
async fn a_death_after_a_detached_head_was_handed_in_is_put_right_the_next_time() {
    let lent = Lent::new().await;
    let before = lent.field.scratch.oid("swarm/t1");
    for branch_follows in [false, true] {
        lent.open().await;
        lent.sh("git checkout -q --detach; echo new >> a.txt; git commit -qam on");
        if branch_follows {
            lent.sh("git branch -f swarm/t1; echo new >> a.txt; git commit -qam on");
        }
        let HandedIn::Moved { tip } = lent.hand_in().await else { panic!("nothing arrived") };
        lent.own.agree(&lent.field.git, &before).expect("noted");
        git_in(&lent.made.path, ["read-tree", before.as_str()]);
        assert_eq!(lent.hand_in().await, HandedIn::Nothing, "{branch_follows}");
        assert_eq!(lent.own.agreed_tip(&lent.field.git), Some(tip), "{branch_follows}");
        let status = git_in(&lent.made.path, ["status", "--porcelain", "--branch"]);
        assert_eq!(status, "## swarm/t1", "{branch_follows}");
    }
}

/// Somebody else's file, on trunk already: no agent could do anything about its size. What a merge has beside that counts.
#[tokio::test]
async fn a_merge_with_trunk_is_taken_although_trunk_has_a_file_that_is_too_large() {
    let lent = Lent::new().await;
    let scratch = &lent.field.scratch;
    lent.sh("echo own > own.txt; git add -A; git commit -qm own");
    assert!(matches!(lent.hand_in().await, HandedIn::Moved { .. }));
    let big = vec![b'x'; usize::try_from(FILE_MAX).expect("small") + 1];
    std::fs::write(scratch.at("big.bin"), &big).expect("written");
    scratch.commit_all("a person's");
    lent.open().await;
    lent.sh("git merge -q --no-edit main");
    let handed = lent.hand_in().await;
    assert!(matches!(handed, HandedIn::Moved { .. }), "{handed:?}");
    scratch.write("b.txt", "b two\n");
    scratch.commit_all("trunk goes on");
    lent.open().await;
    lent.sh(
        "git merge -q --no-commit main; truncate -s 3000000 huge; git add huge; git commit -qm 'and more'",
    );
    // The person's store has it, so it is not left out before.
    let huge = lent.made.path.join("huge");
    git_in(&scratch.repo, ["hash-object", "-w", huge.to_str().expect("text")]);
    let handed = lent.hand_in().await;
    let HandedIn::Refused { why } = handed else { panic!("{handed:?}") };
    assert!(why.contains("huge has 2 MB"), "{why}");
}

/// As people have it who carry packs elsewhere in parts.
#[tokio::test]
async fn all_of_the_work_arrives_also_where_packs_are_cut_into_several() {
    let lent = Lent::new().await;
    lent.field.scratch.git(["config", "pack.packSizeLimit", "1m"]);
    lent.sh("for n in 1 2 3; do head -c 700000 /dev/urandom > f$n; done; git add -A; git commit -qm files");
    let handed = lent.hand_in().await;
    assert!(matches!(handed, HandedIn::Moved { .. }), "{handed:?}");
    for name in ["f1", "f2", "f3"] {
        assert_eq!(lent.field.scratch.git(["cat-file", "-s", &format!("swarm/t1:{name}")]), "700000");
    }
}

/// A file that said where the person's checkout is had the name of a branch, and of a task.
#[tokio::test]
async fn a_task_may_be_called_whatever_lies_beside_the_repositories() {
    let lent = Lent::new().await;
    for name in ["main", "t1.pointer", "t1.json"] {
        let made = lent.field.prepare(name).await;
        let own = OwnRepository::of(&made.path, &task(name));
        let at = lent.field.scratch.oid(&format!("swarm/{name}"));
        let aside = |path: &Path| panic!("{name} took the place of {}", path.display());
        own.open(&lent.field.git, &made.record, &at, aside).await.expect(name);
        own.point_here().expect("pointed");
        git_in(&made.path, ["commit", "--quiet", "--allow-empty", "--message", name]);
        let handed = hand_in(&lent.field.git, &task(name), &made.path, FILE_MAX).await.expect("git works");
        assert!(matches!(handed, HandedIn::Moved { .. }), "{name}: {handed:?}");
    }
    lent.open().await;
    lent.sh("echo one > a.txt; git add -A; git commit -qm one");
    assert!(matches!(lent.hand_in().await, HandedIn::Moved { .. }));
}
