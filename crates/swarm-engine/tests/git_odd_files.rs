//! What an agent may leave where git reads: pipes, links to endless things, files larger than any disk. Whatever it is, a
//! look at the worktree is over in moments, the rest of the work is seen, and a person is told.

use crate::git_scratch;

use std::path::Path;
use std::time::Duration;

use git_scratch::{Scratch, task, write};
use swarm_git::Git;
use swarm_protocol::ids::{RunId, TaskId};
use swarm_work::remove::{KeptWhy, Removal, remove};
use swarm_work::rescue::{RESCUE_FILE_MAX_BYTES, Rest, commit_rest, save_wip, snapshot};
use swarm_work::worktree::{BaseRule, Prepared, prepare};

/// Far more than any of it takes; git itself would wait for ever.
const WITHIN: Duration = Duration::from_secs(60);

fn pipe(path: &Path) {
    let _ = std::fs::remove_file(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let made = std::process::Command::new("mkfifo").arg(path).status().expect("mkfifo runs");
    assert!(made.success());
}

fn link(to: &str, path: &Path) {
    let _ = std::fs::remove_file(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::os::unix::fs::symlink(to, path).expect("a link");
}

/// A file that claims to have 900 GB and has nothing.
fn endless(path: &Path) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::File::create(path).and_then(|file| file.set_len(900 << 30)).expect("a sparse file");
}

/// As much of one as git looks for.
fn repository(place: &Path) -> &Path {
    std::fs::create_dir_all(place.join("objects")).expect("a folder");
    std::fs::create_dir_all(place.join("refs/heads")).expect("a folder");
    // A pipe that is still there would keep us waiting, too.
    let _ = std::fs::remove_file(place.join("HEAD"));
    std::fs::write(place.join("HEAD"), "ref: refs/heads/main\n").expect("written");
    place
}

/// Puts something into a folder.
type Put = fn(&Path);

/// What is put into a worktree, and what a person reads about it.
const ODD: &[(&str, Put, &str)] = &[
    ("a pipe as .gitignore", |top| pipe(&top.join(".gitignore")), ".gitignore was a pipe"),
    ("a pipe as .gitattributes", |top| pipe(&top.join(".gitattributes")), ".gitattributes was a pipe"),
    ("a pipe as .gitmodules", |top| pipe(&top.join(".gitmodules")), ".gitmodules was a pipe"),
    ("in a folder", |top| pipe(&top.join("dir/.gitignore")), "dir/.gitignore was a pipe"),
    ("in a new folder", |top| pipe(&top.join("new/deep/.gitattributes")), "deep/.gitattributes was a pipe"),
    (
        "a link to what never ends",
        |top| link("/dev/zero", &top.join(".gitignore")),
        ".gitignore was a device",
    ),
    (
        "a link to a pipe",
        |top| {
            pipe(&top.join("dir/pipe"));
            link("dir/pipe", &top.join(".gitattributes"));
        },
        ".gitattributes was a pipe",
    ),
    ("an endless .gitignore", |top| endless(&top.join(".gitignore")), ".gitignore was a file far too large"),
    (
        "a folder as .gitignore",
        |top| std::fs::create_dir_all(top.join("dir/.gitignore/x")).expect("a folder"),
        "",
    ),
    (
        "a pipe in a repository",
        |top| pipe(&repository(&top.join("new/.git")).join("HEAD")),
        "new/.git/HEAD was a pipe",
    ),
    (
        "a pipe where a repository borrows",
        |top| pipe(&repository(&top.join("new/.git")).join("commondir")),
        "new/.git/HEAD was a pipe",
    ),
    (
        "a pipe as a branch in place of a file",
        |top| {
            let _ = std::fs::remove_file(top.join("a.txt"));
            pipe(&repository(&top.join("a.txt/.git")).join("refs/heads/main"));
        },
        "a.txt/.git/HEAD was a pipe",
    ),
    (
        "a pipe in a repository elsewhere",
        |top| {
            pipe(&repository(&top.join("ignored/r")).join("HEAD"));
            std::fs::create_dir_all(top.join("new")).expect("a folder");
            std::fs::write(top.join("new/.git"), "gitdir: ../ignored/r\n").expect("written");
        },
        "new/.git was a pipe",
    ),
    ("a pipe beside the work", |top| pipe(&top.join("pipe")), ""),
];

struct Field {
    scratch: Scratch,
    git: Git,
    task: TaskId,
    made: Prepared,
}

async fn field() -> Field {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let task = task("t1");
    let made = prepare(&git, &task, &scratch.worktrees(), &BaseRule::Trunk("main".into()))
        .await
        .expect("a worktree");
    Field { scratch, git, task, made }
}

async fn in_time<T>(what: &str, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(WITHIN, work).await.unwrap_or_else(|_| panic!("{what}: git waits"))
}

#[tokio::test]
async fn no_pipe_and_nothing_endless_keeps_us_from_saving_and_committing_the_work() {
    for (what, put, told) in ODD {
        let Field { scratch, git, task, made } = field().await;
        put(&made.path);
        write(&made.path, "work.txt", b"work\n");
        write(&made.path, "ignored/built.o", b"no\n");
        let saved = in_time(what, save_wip(&git, &made.path, &task, &RunId::nth(1), &made.tip)).await;
        let saved = saved.unwrap_or_else(|error| panic!("{what}: {error}")).expect("there is work");
        let files = scratch.git(["ls-tree", "-r", "--name-only", saved.as_str()]);
        assert!(files.contains("work.txt"), "{what}: {files}");
        assert!(!files.contains("built.o"), "{what}: what is ignored stays ignored: {files}");
        let notices = said(&git);
        assert!(notices.contains(told), "{what}: {notices:?}");
        // Again, and this time for good.
        put(&made.path);
        let rest = in_time(what, commit_rest(&git, &made.path, &task, &made.tip, "rest\n", 1 << 20)).await;
        match rest.unwrap_or_else(|error| panic!("{what}: {error}")) {
            Rest::Committed(_) => {}
            // Set aside it is a file like any other, and too large for a commit.
            Rest::LeftOut { .. } if told.contains("too large") => {}
            other => panic!("{what}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_file_that_claims_900_gb_is_never_read_and_is_told() {
    // New, and in the place of one that was committed; known to our index before, or not.
    for (name, known) in [("big.bin", true), ("big.bin", false), ("a.txt", true), ("a.txt", false)] {
        let Field { scratch, git, task, made } = field().await;
        if known {
            snapshot(&git, &made.path, &task, &made.tip, None).await.expect("a look");
        } else {
            let _ = std::fs::remove_dir_all(scratch.at(".git/swarm/index"));
        }
        endless(&made.path.join(name));
        write(&made.path, "work.txt", b"work\n");
        let what = format!("{name}, known {known}");
        let saved = in_time(&what, save_wip(&git, &made.path, &task, &RunId::nth(1), &made.tip)).await;
        let saved = saved.expect("saved").expect("there is work");
        assert!(scratch.git(["ls-tree", "-r", "--name-only", saved.as_str()]).contains("work.txt"), "{what}");
        assert!(said(&git).contains(&format!("{name} is not saved")), "{what}");
        let rest = commit_rest(&git, &made.path, &task, &made.tip, "rest\n", RESCUE_FILE_MAX_BYTES);
        let rest = in_time(&what, rest).await.expect("an answer");
        assert_eq!(rest, Rest::LeftOut { path: name.into() }, "{what}");
        let removed =
            in_time(&what, remove(&git, &task, &scratch.worktrees(), &[])).await.expect("an answer");
        assert!(
            matches!(&removed, Removal::Kept { why: KeptWhy::LeftOut { path } } if path == Path::new(name)),
            "{what}: {removed:?}"
        );
        assert!(made.path.join(name).exists(), "{what}");
    }
}

/// Names that mean git's own files on a Mac or on Windows: a host that checks what is pushed would refuse trunk for ever.
#[tokio::test]
async fn a_name_that_gits_checks_refuse_is_neither_saved_nor_committed_and_is_told() {
    for name in [".g\u{200c}it/config", "git~1", "x\\.git", ".mailmap"] {
        let Field { scratch, git, task, made } = field().await;
        match name {
            ".mailmap" => link("a.txt", &made.path.join(name)),
            _ => write(&made.path, name, b"x\n"),
        }
        write(&made.path, "work.txt", b"work\n");
        let saved = save_wip(&git, &made.path, &task, &RunId::nth(1), &made.tip).await;
        let saved = saved.unwrap_or_else(|error| panic!("{name}: {error}")).expect("there is work");
        assert!(scratch.git(["ls-tree", "-r", "--name-only", saved.as_str()]).contains("work.txt"), "{name}");
        assert!(said(&git).contains("git's checks refuse that name"), "{name}");
        let commit = || commit_rest(&git, &made.path, &task, &made.tip, "rest\n", RESCUE_FILE_MAX_BYTES);
        assert_eq!(commit().await.expect("an answer"), Rest::LeftOut { path: name.into() }, "{name}");
        std::fs::remove_file(made.path.join(name)).expect("removed");
        assert!(matches!(commit().await, Ok(Rest::Committed(_))), "{name}");
        scratch.git(["fsck", "--strict"]);
    }
}

#[tokio::test]
async fn a_pipe_in_the_place_of_a_committed_file_is_that_files_removal() {
    let Field { scratch, git, task, made } = field().await;
    pipe(&made.path.join("a.txt"));
    write(&made.path, "work.txt", b"work\n");
    let rest = commit_rest(&git, &made.path, &task, &made.tip, "rest\n", RESCUE_FILE_MAX_BYTES);
    let Rest::Committed(tip) = in_time("a pipe", rest).await.expect("an answer") else {
        panic!("not committed")
    };
    let files = scratch.git(["ls-tree", "-r", "--name-only", tip.as_str()]);
    assert!(files.contains("work.txt") && !files.contains("a.txt"), "{files}");
}

/// What is put into the git directory.
const IN_GIT: &[(&str, Put)] = &[
    ("a pipe as a ref", |git| pipe(&git.join("refs/heads/swarm/pipe"))),
    ("a pipe as the ref itself", |git| pipe(&git.join("refs/heads/swarm/t1"))),
    ("a link to all there is", |git| link("/", &git.join("refs/heads/swarm/all"))),
    ("a link to what never ends", |git| link("/dev/zero", &git.join("refs/heads/swarm/zero"))),
    ("an endless ref", |git| endless(&git.join("refs/heads/swarm/endless"))),
    ("a pipe as a log", |git| pipe(&git.join("logs/refs/heads/swarm/t2"))),
    ("a pipe as a list of what is ignored", |git| pipe(&git.join("info/exclude"))),
    ("a pipe as attributes", |git| pipe(&git.join("info/attributes"))),
    ("a pipe among other refs", |git| pipe(&git.join("refs/tags/pipe"))),
];

#[tokio::test]
async fn nothing_below_refs_keeps_git_waiting() {
    for (what, put) in IN_GIT {
        let Field { scratch, git, task, made } = field().await;
        write(&made.path, "work.txt", b"work\n");
        put(&scratch.at(".git"));
        let fresh = scratch.open();
        let git = in_time(what, fresh).await.with_env("SWARM_AGAIN", git.common_dir.to_str().expect("text"));
        in_time(what, git.refs_under("refs")).await.unwrap_or_else(|error| panic!("{what}: {error}"));
        in_time(what, save_wip(&git, &made.path, &task, &RunId::nth(1), &made.tip)).await.expect("saved");
        let other = swarm_protocol::ids::TaskId::new("t2").expect("a task");
        let (dir, base) = (scratch.worktrees(), BaseRule::Trunk("main".into()));
        let made = prepare(&git, &other, &dir, &base);
        in_time(what, made).await.unwrap_or_else(|error| panic!("{what}: {error:?}"));
        let notices = said(&git);
        assert!(notices.contains("set aside"), "{what}: {notices:?}");
    }
}

fn said(git: &Git) -> String {
    git.take_notices().into_iter().map(|notice| notice.text + "\n").collect()
}
