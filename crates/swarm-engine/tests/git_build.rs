//! W4: a task's work built onto the trunk in the object database.

use crate::git_scratch;

use git_scratch::{Scratch, commit_all, git_in, task, write};
use swarm_git::Git;
use swarm_protocol::ids::{AgentId, Oid};
use swarm_work::build::{BuildOutcome, Built, Squashed, Work, build, merged_ref};
use swarm_work::prove::there;
use swarm_work::worktree::{BaseRule, Prepared, prepare};

struct Story {
    scratch: Scratch,
    git: Git,
    work: Prepared,
}

impl Story {
    async fn begin() -> Self {
        let scratch = Scratch::new();
        let git = scratch.open().await;
        let base = BaseRule::Trunk("main".into());
        let work = prepare(&git, &task("t1"), &scratch.worktrees(), &base).await.expect("a worktree");
        Self { scratch, git, work }
    }

    fn agent_commits(&self, path: &str, text: &str, message: &str) -> Oid {
        write(&self.work.path, path, text.as_bytes());
        commit_all(&self.work.path, message)
    }

    async fn build(&self) -> BuildOutcome {
        let tip = Oid::new(git_in(&self.work.path, ["rev-parse", "HEAD"])).unwrap();
        let work = Work {
            task: task("t1"),
            agent: Some(AgentId::new("ed-001").unwrap()),
            base: self.work.base.clone(),
            tip,
            trunk: self.scratch.oid("main"),
            at_secs: 1_700_000_000,
            reviewed: false,
            regenerate: vec![],
        };
        let before = self.scratch.git(["status", "--porcelain", "--branch"]);
        let first = build(&self.git, &work).await.expect("git works");
        let second = build(&self.git, &work).await.expect("git works");
        assert_eq!(first, second, "asked twice gives the same commits");
        assert_eq!(self.scratch.git(["status", "--porcelain", "--branch"]), before, "no checkout is touched");
        assert_eq!(self.scratch.oid("main"), work.trunk, "the trunk is untouched");
        first
    }

    async fn built(&self) -> Built {
        match self.build().await {
            BuildOutcome::Built(built) => {
                assert_eq!(
                    self.scratch.oid(&merged_ref(&task("t1"))),
                    built.result,
                    "the result is kept alive"
                );
                built
            }
            other => panic!("{other:?}"),
        }
    }

    fn show(&self, oid: &Oid, path: &str) -> String {
        self.scratch.git(["show", &format!("{oid}:{path}")])
    }
}

#[tokio::test]
async fn commits_are_carried_over_one_by_one_with_author_date_and_trailers() {
    let story = Story::begin().await;
    git_in(&story.work.path, ["config", "user.name", "Pat Person"]);
    story.agent_commits("x.txt", "x\n", "first #t1");
    story.agent_commits("y.txt", "y\n", "second");
    story.scratch.write("b.txt", "b two\n");
    story.scratch.commit_all("trunk goes on");
    let built = story.built().await;
    assert_eq!((built.commits.len(), built.squashed), (2, None));
    let log = story.scratch.git([
        "log",
        "--reverse",
        "--format=%s|%an|%(trailers:only,unfold,separator=%x2C)",
        &format!("main..{}", built.result),
    ]);
    assert_eq!(
        log,
        "first #t1|Pat Person|Swarm-Task: t1,Swarm-Agent: ed-001\nsecond|Pat Person|Swarm-Task: t1,Swarm-Agent: ed-001"
    );
    let dates = |range: &str| story.scratch.git(["log", "--format=%ad", range]);
    assert_eq!(dates(&format!("main..{}", built.result)), dates(&format!("{}..swarm/t1", story.work.base)));
    assert_eq!(story.show(&built.result, "b.txt"), "b two");
    let changed = story.git.changed_paths(&built.base_trunk, &built.result).await.unwrap();
    assert_eq!(changed, ["x.txt", "y.txt"].map(std::path::PathBuf::from));
}

#[tokio::test]
async fn a_conflict_on_the_third_commit_leaves_the_trunk_and_names_the_path() {
    let story = Story::begin().await;
    story.agent_commits("x.txt", "x\n", "one");
    story.agent_commits("y.txt", "y\n", "two");
    story.agent_commits("b.txt", "b of the agent\n", "three");
    story.scratch.write("b.txt", "b of the person\n");
    story.scratch.commit_all("trunk goes on");
    assert_eq!(story.build().await, BuildOutcome::Conflict { paths: vec!["b.txt".into()] });
}

#[tokio::test]
async fn a_merge_in_the_range_becomes_one_commit_that_says_so() {
    let story = Story::begin().await;
    story.agent_commits("x.txt", "x\n", "one");
    story.scratch.write("b.txt", "b two\n");
    story.scratch.commit_all("trunk goes on");
    git_in(&story.work.path, ["merge", "--quiet", "--no-edit", "main"]);
    story.agent_commits("y.txt", "y\n", "two");
    story.scratch.write("b.txt", "b three\n");
    story.scratch.commit_all("trunk goes on again");
    let built = story.built().await;
    assert_eq!((built.commits.len(), built.squashed), (1, Some(Squashed::MergeInRange)));
    let message = story.scratch.git(["log", "-1", "--format=%B", built.result.as_str()]);
    assert!(message.contains("because its branch contains a merge"), "{message}");
    assert_eq!(story.show(&built.result, "b.txt"), "b three");
    assert_eq!(story.show(&built.result, "x.txt"), "x");
}

#[tokio::test]
async fn picks_that_conflict_where_the_whole_does_not_become_one_commit() {
    let story = Story::begin().await;
    story.agent_commits("b.txt", "b wrong\n", "a step aside");
    story.agent_commits("b.txt", "b one\n", "and back");
    story.agent_commits("x.txt", "x\n", "the work");
    story.scratch.write("b.txt", "b two\n");
    story.scratch.commit_all("trunk goes on");
    let built = story.built().await;
    assert_eq!((built.commits.len(), built.squashed), (1, Some(Squashed::PicksConflict)));
    assert_eq!(story.show(&built.result, "b.txt"), "b two");
}

#[tokio::test]
async fn what_the_trunk_has_already_is_skipped_and_nothing_new_is_said() {
    let story = Story::begin().await;
    assert_eq!(story.build().await, BuildOutcome::Nothing { found: vec![] }, "no commit at all");
    story.agent_commits("b.txt", "b two\n", "the same idea");
    story.scratch.write("b.txt", "b two\n");
    story.scratch.commit_all("a person had it too");
    assert!(matches!(story.build().await, BuildOutcome::Nothing { found } if !found.is_empty()));
    story.agent_commits("x.txt", "x\n", "something new");
    assert_eq!(story.built().await.commits.len(), 1);
}

#[tokio::test]
async fn renames_follow_and_names_that_are_not_utf8_are_kept() {
    use std::os::unix::ffi::OsStrExt;
    let story = Story::begin().await;
    let odd = std::path::Path::new(std::ffi::OsStr::from_bytes(b"caf\xe9\n\".txt"));
    write(&story.work.path, odd, b"odd\n");
    git_in(&story.work.path, ["mv", "a.txt", "moved.txt"]);
    commit_all(&story.work.path, "rename");
    story.scratch.write("a.txt", "a one\na two\na three\n");
    story.scratch.commit_all("trunk changes the old name");
    let built = story.built().await;
    assert_eq!(story.show(&built.result, "moved.txt"), "a one\na two\na three");
    let changed = story.git.changed_paths(&built.base_trunk, &built.result).await.unwrap();
    assert!(changed.iter().any(|path| path == odd), "{changed:?}");
}

/// What was reverted on trunk since does not come back with the task, whichever way its branch came upon it.
#[tokio::test]
async fn commits_of_trunk_below_a_branch_that_was_put_upon_them_are_not_the_tasks() {
    let ways: [&[&[&str]]; 2] = [
        &[&["rebase", "--quiet", "main"]],
        &[
            &["branch", "mine"],
            &["reset", "--quiet", "--hard", "main"],
            &["merge", "--quiet", "--no-ff", "-m", "my work upon main", "mine"],
        ],
    ];
    for way in ways {
        let story = Story::begin().await;
        story.agent_commits("x.txt", "x\n", "one");
        story.scratch.write("b.txt", "b two\n");
        story.scratch.commit_all("trunk goes on");
        way.iter().for_each(|args| drop(git_in(&story.work.path, *args)));
        story.scratch.git(["revert", "--no-edit", "HEAD"]);
        let built = story.built().await;
        assert_eq!(built.commits.len(), 1, "{way:?}");
        assert_eq!(story.show(&built.result, "b.txt"), "b one", "{way:?}");
        assert_eq!(story.show(&built.result, "x.txt"), "x", "{way:?}");
    }
}

/// As where an agent goes on with work that was merged and taken back.
#[tokio::test]
async fn work_upon_commits_that_were_made_for_it_and_reverted_comes_back_whole() {
    let story = Story::begin().await;
    story.agent_commits("x.txt", "x\n", "one\n\nSwarm-Task: t1");
    story.scratch.git(["merge", "--quiet", "--ff-only", "swarm/t1"]);
    story.scratch.git(["revert", "--no-edit", "HEAD"]);
    story.agent_commits("y.txt", "y\n", "two");
    let built = story.built().await;
    for (file, text) in [("x.txt", "x"), ("y.txt", "y")] {
        assert_eq!(story.show(&built.result, file), text);
    }
}

/// W7: the person's word about the same line, and no revert.
#[tokio::test]
async fn work_that_indents_a_line_is_there_also_where_somebody_indents_it_further() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    scratch.write("f.py", "if x:\nreturn\n");
    scratch.commit_all("not indented");
    scratch.write("f.py", "if x:\n  return\n");
    let work = scratch.commit_all("fix: indented");
    scratch.write("f.py", "if x:\n    return\n");
    let tip = scratch.commit_all("four blanks, as elsewhere");
    let found = there(&git, "main", &tip, std::slice::from_ref(&work)).await.expect("git works");
    assert!(found.contains_key(&work), "{found:?}");
    let back = scratch.git(["revert", "--no-edit", "HEAD", "HEAD~1"]);
    let tip = scratch.oid("main");
    let found = there(&git, "main", &tip, &[work]).await.expect("git works");
    assert!(found.is_empty(), "{back}: {found:?}");
}

/// Git puts such names into quotes wherever it may, and then they are not those that a rename tells.
#[tokio::test]
async fn a_revert_is_seen_also_where_the_file_had_a_quote_in_its_name_and_has_another_one_now() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let lines = |first: &str, last: &str| format!("{first}\n{}{last}\n", "between\n".repeat(20));
    scratch.write("a\"b.txt", &lines("old", "old"));
    scratch.commit_all("start");
    scratch.write("a\"b.txt", &lines("work", "old"));
    let work = scratch.commit_all("work");
    std::fs::rename(scratch.at("a\"b.txt"), scratch.at("c.txt")).expect("renamed");
    scratch.commit_all("a better name");
    scratch.write("c.txt", &lines("work", "new"));
    let before = scratch.commit_all("the person's");
    let found = there(&git, "main", &before, std::slice::from_ref(&work)).await.expect("git works");
    assert!(found.contains_key(&work), "{found:?}");
    scratch.git(["revert", "--no-edit", work.as_str()]);
    assert_eq!(scratch.read("c.txt"), lines("old", "new"));
    let found = there(&git, "main", &scratch.oid("main"), &[work]).await.expect("git works");
    assert!(found.is_empty(), "{found:?}");
}

#[tokio::test]
async fn the_way_for_a_git_older_than_2_40_gives_the_same_trees() {
    let mut story = Story::begin().await;
    story.agent_commits("x.txt", "x\n", "one");
    story.agent_commits("b.txt", "b two\n", "two");
    story.scratch.write("dir/c.txt", "c two\n");
    story.scratch.commit_all("trunk goes on");
    let new = story.built().await;
    story.git.version = (2, 38, 0);
    assert_eq!(story.built().await, new);
}

/// Valid for git, and nothing that its own commands would write: an agent can.
#[tokio::test]
async fn odd_commits_are_built_as_git_reads_them() {
    let story = Story::begin().await;
    write(&story.work.path, "odd.txt", b"odd\n");
    let odd = "git add -A; p=$(git rev-parse HEAD); \
        { echo tree $(git write-tree); echo parent $p; echo 'author . <a@b> 1 +9999'; \
        echo 'committer a <a@b> 1 +0000'; echo tree $(git rev-parse HEAD^{tree}); echo parent $p; } | \
        git hash-object -t commit -w --stdin | xargs git update-ref HEAD";
    let made = std::process::Command::new("sh").args(["-ec", odd]).current_dir(&story.work.path).status();
    assert!(made.expect("sh runs").success());
    let built = story.built().await;
    assert_eq!((built.commits.len(), built.squashed), (1, None));
    story.scratch.git(["fsck", "--strict"]);
    let result = built.result.as_str();
    assert_eq!(
        story.scratch.git(["show", "--format=%an %ai", "--name-only", result]),
        "unknown 1970-01-01 00:00:01 +0000\n\nodd.txt"
    );
}
