//! W4: squash and merge commits, and the cases in which they must say no.

use super::Field;
use crate::git_scratch::{commit_all, git_in, task, write};
use swarm_protocol::config::Strategy;
use swarm_protocol::ids::{AgentId, Oid};
use swarm_work::build::{BuildOutcome, Built, Squashed, Work, build_as};
use swarm_work::worktree::Prepared;

struct Story {
    field: Field,
    work: Prepared,
}

impl Story {
    async fn begin() -> Self {
        let field = Field::new().await;
        let work = field.prepare("t1").await;
        Self { field, work }
    }

    fn agent_commits(&self, path: &str, text: &str, message: &str) -> Oid {
        write(&self.work.path, path, text.as_bytes());
        commit_all(&self.work.path, message)
    }

    fn trunk_goes_on(&self, path: &str, text: &str) {
        self.field.scratch.write(path, text);
        self.field.scratch.commit_all("trunk goes on");
    }

    async fn build(&self, strategy: Strategy) -> BuildOutcome {
        let trunk = self.field.scratch.oid("main");
        let work = Work {
            task: task("t1"),
            agent: Some(AgentId::new("ed-001").unwrap()),
            base: self.work.base.clone(),
            tip: self.field.scratch.oid("swarm/t1"),
            trunk: trunk.clone(),
            at_secs: 1_700_000_000,
            reviewed: false,
            regenerate: vec![],
        };
        let built = build_as(&self.field.git, &work, strategy).await.unwrap();
        assert_eq!(built, build_as(&self.field.git, &work, strategy).await.unwrap(), "asked twice");
        assert_eq!(self.field.scratch.oid("main"), trunk, "the trunk is untouched");
        built
    }

    async fn built(&self, strategy: Strategy) -> Built {
        match self.build(strategy).await {
            BuildOutcome::Built(built) => built,
            other => panic!("{strategy:?}: {other:?}"),
        }
    }

    fn show(&self, args: &[&str], oid: &Oid) -> String {
        self.field.scratch.git(args.iter().copied().chain([oid.as_str()]))
    }
}

#[tokio::test]
async fn a_squash_is_one_commit_with_all_of_it_and_its_story() {
    let story = Story::begin().await;
    story.agent_commits("x.txt", "x\n", "first step");
    story.agent_commits("y.txt", "y\n", "second step");
    story.trunk_goes_on("b.txt", "b two\n");
    let built = story.built(Strategy::Squash).await;
    assert_eq!((built.commits.len(), built.squashed), (1, Some(Squashed::Asked)));
    assert_eq!(
        story.show(&["log", "-1", "--format=%P"], &built.result),
        story.field.scratch.oid("main").as_str()
    );
    let message = story.show(&["log", "-1", "--format=%B"], &built.result);
    for part in
        ["second step (and 1 more)", "- first step", "- second step", "Swarm-Task: t1", "Swarm-Agent: ed-001"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(story.show(&["diff", "--name-only", "main"], &built.result), "x.txt\ny.txt");
}

#[tokio::test]
async fn a_merge_commit_has_the_tasks_own_commits_as_its_second_parent() {
    let story = Story::begin().await;
    story.agent_commits("x.txt", "x\n", "the work");
    for moved in [false, true] {
        if moved {
            story.trunk_goes_on("b.txt", "b two\n");
        }
        let tip = story.field.scratch.oid("swarm/t1");
        let built = story.built(Strategy::Merge).await;
        assert_eq!((built.commits.len(), built.squashed), (1, None));
        let parents = story.show(&["log", "-1", "--format=%P"], &built.result);
        assert_eq!(
            parents,
            format!("{} {tip}", story.field.scratch.oid("main")),
            "also where the trunk stood still"
        );
        let message = story.show(&["log", "-1", "--format=%B"], &built.result);
        assert_eq!(message, "Merge t1: the work\n\nSwarm-Task: t1\nSwarm-Agent: ed-001");
        assert_eq!(story.show(&["diff", "--name-only", "main"], &built.result), "x.txt");
    }
}

#[tokio::test]
async fn each_way_says_conflict_with_its_paths_and_nothing_where_nothing_is_new() {
    for strategy in [Strategy::Commits, Strategy::Squash, Strategy::Merge] {
        let story = Story::begin().await;
        assert_eq!(
            story.build(strategy).await,
            BuildOutcome::Nothing { found: vec![] },
            "{strategy:?}: no commit"
        );
        git_in(&story.work.path, ["commit", "--quiet", "--allow-empty", "-m", "an empty one"]);
        assert_eq!(
            story.build(strategy).await,
            BuildOutcome::Nothing { found: vec![] },
            "{strategy:?}: an empty commit"
        );
        use std::os::unix::ffi::OsStrExt;
        let odd = std::path::Path::new(std::ffi::OsStr::from_bytes(b"caf\xe9.txt"));
        write(&story.work.path, odd, b"the agent's\n");
        commit_all(&story.work.path, "odd name");
        story.agent_commits("x.txt", "x\n", "two");
        story.agent_commits("b.txt", "the agent's\n", "three");
        write(&story.field.scratch.repo, odd, b"the person's\n");
        story.trunk_goes_on("b.txt", "the person's\n");
        let expected = BuildOutcome::Conflict { paths: vec!["b.txt".into(), odd.into()] };
        assert_eq!(story.build(strategy).await, expected, "{strategy:?}");
    }
}

#[tokio::test]
async fn a_branch_with_a_merge_in_it_can_be_merged_each_way() {
    for (strategy, squashed) in [
        (Strategy::Commits, Some(Squashed::MergeInRange)),
        (Strategy::Squash, Some(Squashed::Asked)),
        (Strategy::Merge, None),
    ] {
        let story = Story::begin().await;
        story.agent_commits("x.txt", "x\n", "one");
        story.trunk_goes_on("b.txt", "b two\n");
        git_in(&story.work.path, ["merge", "--quiet", "--no-edit", "main"]);
        story.agent_commits("y.txt", "y\n", "two");
        story.trunk_goes_on("b.txt", "b three\n");
        let built = story.built(strategy).await;
        assert_eq!((built.commits.len(), built.squashed), (1, squashed));
        assert_eq!(story.field.scratch.git(["show", &format!("{}:b.txt", built.result)]), "b three");
        assert_eq!(story.show(&["diff", "--name-only", "main"], &built.result), "x.txt\ny.txt");
    }
}
