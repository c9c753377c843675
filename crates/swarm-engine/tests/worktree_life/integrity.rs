//! F5: what may be wrong with a worktree before an agent is let into it again is found, told and put right, and no file
//! is lost on the way.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use swarm_git::Git;
use swarm_work::worktree::{Flaw, Prepared, examine, prepare};

use super::{Field, trunk};
use crate::git_scratch::{commit_all, git_in, task, try_git_in, write};

/// A worktree with a commit and a file that is not committed.
async fn at_work() -> (Field, Prepared) {
    let field = Field::new().await;
    let made = field.prepare("t1").await;
    assert_eq!(made.flaws, []);
    write(&made.path, "done.txt", b"done\n");
    commit_all(&made.path, "a step");
    write(&made.path, "half.txt", b"half\n");
    (field, made)
}

/// Breaks the worktree, and checks that the flaw is found by looking, told by attaching, gone afterwards, and that
/// everything is still there.
async fn check(break_it: impl FnOnce(&Field, &Prepared), expected: &[&str]) -> (Field, Prepared) {
    let (field, made) = at_work().await;
    break_it(&field, &made);
    let said = |flaws: &[Flaw]| -> Vec<String> {
        let told = flaws.iter().filter(|flaw| !matches!(flaw, Flaw::Uncommitted { .. }));
        told.map(|flaw| flaw.describe(&task("t1"))).collect()
    };
    let seen =
        examine(&field.git, &task("t1"), &field.scratch.worktrees()).await.expect("it can be looked at");
    assert_eq!(said(&seen), expected, "seen");
    let again = field.prepare("t1").await;
    assert_eq!(said(&again.flaws), expected, "told");
    let left =
        examine(&field.git, &task("t1"), &field.scratch.worktrees()).await.expect("it can be looked at");
    assert!(!left.iter().any(Flaw::is_disorder), "still there: {left:?}");
    assert!(again.path.join("done.txt").is_file(), "what was committed is there");
    assert_eq!(git_in(&again.path, ["symbolic-ref", "HEAD"]), "refs/heads/swarm/t1");
    (field, again)
}

fn half_is_there(made: &Prepared) {
    assert_eq!(std::fs::read_to_string(made.path.join("half.txt")).expect("kept"), "half\n");
    assert_eq!(git_in(&made.path, ["status", "--porcelain"]), "?? half.txt");
}

#[tokio::test]
async fn a_worktree_that_is_in_order_is_left_alone() {
    let (field, made) = check(|_, _| {}, &[]).await;
    half_is_there(&made);
    let told = examine(&field.git, &task("t1"), &field.scratch.worktrees()).await.expect("looked at");
    assert_eq!(told, [Flaw::Uncommitted { files: 1 }]);
    assert_eq!(field.scratch.git(["for-each-ref", "refs/swarm/rescue"]), "");
}

#[tokio::test]
async fn a_folder_that_is_gone_is_made_again_from_the_branch() {
    let gone = |_: &Field, made: &Prepared| std::fs::remove_dir_all(&made.path).expect("removed");
    check(gone, &["its folder is gone: made again from swarm/t1"]).await;
}

#[tokio::test]
async fn a_worktree_that_git_has_forgotten_is_registered_again_with_its_files() {
    let forget = |_: &Field, made: &Prepared| std::fs::remove_dir_all(&made.record).expect("removed");
    let (field, made) = check(forget, &["git has forgotten it: registered again, files as they are"]).await;
    half_is_there(&made);
    assert!(kept(&field).contains("half.txt"), "saved before anything was put right");
}

/// Files in everything that was saved before a repair.
fn kept(field: &Field) -> String {
    let refs = field.scratch.git(["for-each-ref", "--format=%(refname)", "refs/swarm/rescue"]);
    refs.lines().map(|name| field.scratch.git(["ls-tree", "-r", "--name-only", name])).collect()
}

#[tokio::test]
async fn a_worktree_on_another_branch_or_on_none_comes_back_to_its_own() {
    let other = |_: &Field, made: &Prepared| drop(git_in(&made.path, ["switch", "-q", "-c", "mine"]));
    let (_field, made) = check(other, &["it was on mine: back on swarm/t1, files as they are"]).await;
    half_is_there(&made);
    let (field, made) = at_work().await;
    git_in(&made.path, ["switch", "-q", "--detach"]);
    let lost = commit_all(&made.path, "off the branch");
    let again = field.prepare("t1").await;
    assert!(
        matches!(&again.flaws[..], [Flaw::Astray { on }, ..] if on.starts_with("no branch, at ")),
        "{:?}",
        again.flaws
    );
    let name = format!("refs/swarm/rescue/t1/{}", lost.short());
    assert_eq!(field.scratch.git(["rev-parse", &name]), lost.as_str());
}

#[tokio::test]
async fn a_head_that_nobody_can_read_is_written_anew() {
    let torn = |_: &Field, made: &Prepared| write(&made.record, "HEAD", b"");
    let (_field, made) = check(torn, &["its HEAD could not be read: back on swarm/t1"]).await;
    half_is_there(&made);
}

#[tokio::test]
async fn a_lock_of_a_git_that_is_gone_is_removed() {
    let lock = |_: &Field, made: &Prepared| write(&made.record, "index.lock", b"");
    let (_field, made) = check(lock, &["index.lock was left by a git that is gone: removed"]).await;
    half_is_there(&made);
}

#[tokio::test]
async fn a_merge_that_is_under_way_is_told_and_left() {
    let (field, made) = at_work().await;
    write(&made.path, "a.txt", b"ours\n");
    commit_all(&made.path, "ours");
    field.scratch.write("a.txt", "theirs\n");
    field.scratch.commit_all("theirs");
    assert!(!try_git_in(&made.path, ["merge", "main"]).status.success(), "a conflict");
    let again = field.prepare("t1").await;
    assert!(again.flaws.contains(&Flaw::MidWay(swarm_git::MidWay::Merge)), "{:?}", again.flaws);
    assert!(again.record.join("MERGE_HEAD").is_file(), "it can be gone on with");
}

#[tokio::test]
async fn an_index_that_git_cannot_read_gives_way_to_a_new_one() {
    let broken = |_: &Field, made: &Prepared| write(&made.record, "index", b"DIRC\0\0\0\x02 rubbish");
    let told = "its index could not be read: a new one was made, files as they are";
    let (field, made) = check(broken, &[told]).await;
    half_is_there(&made);
    assert!(kept(&field).contains("half.txt"));
    let gone = |_: &Field, made: &Prepared| std::fs::remove_file(made.record.join("index")).expect("removed");
    let (_field, made) = check(gone, &["it had no index: a new one was made, files as they are"]).await;
    half_is_there(&made);
}

#[tokio::test]
async fn a_branch_that_is_gone_or_empty_is_made_again_at_its_last_commit() {
    let told = "swarm/t1 was gone: made again at its last known commit";
    let delete =
        |field: &Field, _: &Prepared| drop(field.scratch.git(["update-ref", "-d", "refs/heads/swarm/t1"]));
    let (_field, made) = check(delete, &[told]).await;
    half_is_there(&made);
    let torn = |field: &Field, _: &Prepared| field.scratch.write(".git/refs/heads/swarm/t1", "");
    let (_field, made) = check(torn, &[told]).await;
    half_is_there(&made);
}

fn remove_object(field: &Field, name: &str) {
    let place = format!(".git/objects/{}/{}", &name[..2], &name[2..]);
    std::fs::remove_file(field.scratch.at(&place)).expect("a loose object");
}

#[tokio::test]
async fn a_commit_that_cannot_be_read_gives_way_to_the_newest_that_can_and_its_files_stay() {
    for what in ["HEAD", "HEAD^{tree}", "HEAD:late.txt"] {
        let (field, made) = at_work().await;
        let good = git_in(&made.path, ["rev-parse", "HEAD"]);
        write(&made.path, "late.txt", b"late\n");
        commit_all(&made.path, "lost soon");
        remove_object(&field, &git_in(&made.path, ["rev-parse", what]));
        let again = field.prepare("t1").await;
        assert!(
            again.flaws.iter().any(|flaw| matches!(flaw, Flaw::TipUnreadable { .. })),
            "{:?}",
            again.flaws
        );
        assert_eq!(again.tip.as_str(), good, "{what}");
        for (file, text) in [("late.txt", "late\n"), ("half.txt", "half\n")] {
            assert_eq!(std::fs::read_to_string(again.path.join(file)).expect(file), text, "{what}");
        }
        let left = examine(&field.git, &task("t1"), &field.scratch.worktrees()).await.expect("looked at");
        assert!(!left.iter().any(Flaw::is_disorder), "{what}: {left:?}");
    }
}

/// Git finds that it has the object, and would not write it again.
#[tokio::test]
async fn a_file_whose_object_rotted_is_whole_again_once_it_is_committed_again() {
    for rot in ["a bit", "no bytes"] {
        let (field, made) = at_work().await;
        let good = git_in(&made.path, ["rev-parse", "HEAD"]);
        write(&made.path, "late.txt", b"late\n");
        commit_all(&made.path, "rotten soon");
        let name = git_in(&made.path, ["rev-parse", "HEAD:late.txt"]);
        let object = field.scratch.at(&format!(".git/objects/{}/{}", &name[..2], &name[2..]));
        let mut bytes = std::fs::read(&object).expect("a loose object");
        match rot {
            "a bit" => *bytes.last_mut().expect("some bytes") ^= 1,
            _ => bytes.clear(),
        }
        std::fs::remove_file(&object).expect("it can be replaced");
        std::fs::write(&object, bytes).expect("rotten");
        let again = field.prepare("t1").await;
        let told = again.flaws.iter().any(|flaw| matches!(flaw, Flaw::TipUnreadable { .. }));
        assert!(told && again.tip.as_str() == good, "{rot}: {} {:?}", again.tip, again.flaws);
        assert_eq!(std::fs::read_to_string(again.path.join("late.txt")).expect("kept"), "late\n");
        let redone = commit_all(&again.path, "once more");
        assert_eq!(field.scratch.git(["cat-file", "blob", &format!("{redone}:late.txt")]), "late", "{rot}");
        let left = field.prepare("t1").await;
        assert!(left.tip == redone && !left.flaws.iter().any(Flaw::is_disorder), "{rot}: {:?}", left.flaws);
    }
}

/// A `git` that does this instead whenever these words are among its own, and is the real one otherwise.
fn git_that(field: &Field, words: &str, does: &str) -> Git {
    use std::os::unix::fs::PermissionsExt;
    let path = std::env::var("PATH").expect("tests have a PATH");
    let real = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.is_file());
    let real = real.expect("git is there").display().to_string();
    let does = does.replace("GIT", &real);
    let script = format!("#!/bin/sh\ncase \" $* \" in\n*' {words} '*) {does} ;;\nesac\nexec {real} \"$@\"\n");
    let folder = field.scratch.dir.path().join("shim");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("git"), script).expect("written");
    std::fs::set_permissions(folder.join("git"), std::fs::Permissions::from_mode(0o755)).expect("executable");
    field.git.clone().with_env("PATH", &format!("{}:{path}", folder.display()))
}

#[tokio::test]
async fn a_git_that_is_killed_or_has_no_memory_while_it_looks_leaves_branch_and_index_as_they_are() {
    let (field, made) = at_work().await;
    let tip = git_in(&made.path, ["rev-parse", "HEAD"]);
    let index = std::fs::read(made.record.join("index")).expect("an index");
    // How little is too little differs from git to git: one that can do with it finds everything in order.
    for (words, does) in [
        ("--verify-objects", "kill -9 $$"),
        ("--verify-objects", "ulimit -v 5000; exec GIT \"$@\""),
        ("--verify-objects", "ulimit -v 7500; exec GIT \"$@\""),
        ("ls-files", "kill -9 $$"),
        ("ls-files", "ulimit -v 7500; exec GIT \"$@\""),
        ("rev-parse", "ulimit -v 7500; exec GIT \"$@\""),
    ] {
        let git = git_that(&field, words, does);
        let (id, dir, base) = (task("t1"), field.scratch.worktrees(), trunk());
        let seen = prepare(&git, &id, &dir, &base).await;
        let accused = seen.as_ref().is_ok_and(|made| made.flaws.iter().any(Flaw::is_disorder));
        assert!(!accused, "{does} in {words}: {seen:?}");
        assert!(seen.is_err() || !does.starts_with("kill"), "{does} in {words}: it cannot know");
        assert_eq!(field.scratch.git(["rev-parse", "swarm/t1"]), tip, "{does} in {words}");
        assert!(std::fs::read(made.record.join("index")).is_ok_and(|now| now == index), "{does} in {words}");
    }
    let again = field.prepare("t1").await;
    assert_eq!((again.tip.as_str(), again.flaws), (tip.as_str(), vec![Flaw::Uncommitted { files: 1 }]));
    half_is_there(&made);
}

#[tokio::test]
async fn a_repository_that_was_planted_goes_to_the_trash() {
    let plant = |_: &Field, made: &Prepared| {
        std::fs::remove_file(made.path.join(".git")).expect("removed");
        git_in(&made.path, ["init", "-q"]);
    };
    let (field, made) = check(plant, &["a repository in place of .git led elsewhere: written anew"]).await;
    half_is_there(&made);
    assert!(kept(&field).contains("half.txt"));
    let elsewhere = |_: &Field, made: &Prepared| write(&made.path, ".git", b"gitdir: /nowhere\n");
    check(elsewhere, &["its .git file or git's record of it led elsewhere: written anew"]).await;
}

#[tokio::test]
async fn a_strangers_folder_is_left_alone() {
    let field = Field::new().await;
    let place = field.scratch.worktrees().join("t1");
    write(&place, "mine.txt", b"mine\n");
    let flaws = examine(&field.git, &task("t1"), &field.scratch.worktrees()).await.expect("looked at");
    assert_eq!(flaws, [Flaw::Foreign]);
    assert!(field.try_prepare("t1").await.is_err());
    assert!(Path::new(&place).join("mine.txt").is_file());
}

/// The same with a git that somebody ends whenever it is asked for this.
fn with_git_ended(field: Field, asked: &str) -> Field {
    let programs = field.scratch.dir.path().join("programs");
    let path = std::env::var("PATH").expect("programs are somewhere");
    let script =
        format!("#!/bin/sh\ncase \"$*\" in *'{asked}'*) kill -9 $$;; esac\nPATH='{path}'\nexec git \"$@\"\n");
    write(&programs, "git", script.as_bytes());
    std::fs::set_permissions(programs.join("git"), std::fs::Permissions::from_mode(0o755)).expect("ours");
    let git = field.git.clone().with_env("PATH", &format!("{}:{path}", programs.display()));
    Field { git, ..field }
}

/// Otherwise a moment without memory would take an agent's commits from its branch.
#[tokio::test]
async fn no_branch_goes_back_because_git_was_ended_while_it_looked() {
    let (field, made) = at_work().await;
    let tip = git_in(&made.path, ["rev-parse", "HEAD"]);
    let field = with_git_ended(field, "--verify-objects");
    assert!(examine(&field.git, &task("t1"), &field.scratch.worktrees()).await.is_err());
    assert!(field.try_prepare("t1").await.is_err());
    assert_eq!(git_in(&made.path, ["rev-parse", "swarm/t1"]), tip);
    // Where the last commit cannot be read, the one before it is not passed over for that.
    let (field, made) = at_work().await;
    let good = git_in(&made.path, ["rev-parse", "HEAD"]);
    let lost = commit_all(&made.path, "lost soon");
    remove_object(&field, lost.as_str());
    let field = with_git_ended(field, &format!("{good}^{{commit}}"));
    assert!(field.try_prepare("t1").await.is_err());
    let branch = field.scratch.read(".git/refs/heads/swarm/t1");
    assert_eq!(branch.trim(), lost.as_str());
}

/// What was only staged is nowhere else.
#[tokio::test]
async fn no_index_is_put_away_because_git_was_ended_or_a_pipe_lies_among_the_files() {
    let (field, made) = at_work().await;
    git_in(&made.path, ["add", "half.txt"]);
    write(&made.path, "half.txt", b"more\n");
    let pipe = made.path.join("dir/.gitattributes");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).expect("a pipe");
    let again = field.prepare("t1").await;
    assert!(!again.flaws.contains(&Flaw::BrokenIndex), "{:?}", again.flaws);
    assert_eq!(git_in(&made.path, ["show", ":half.txt"]), "half");
    let field = with_git_ended(field, "--unmerged");
    assert!(field.try_prepare("t1").await.is_err());
    assert_eq!(git_in(&made.path, ["show", ":half.txt"]), "half");
}
