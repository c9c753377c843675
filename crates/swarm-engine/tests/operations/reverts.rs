//! C6, C9: commits taken back and brought again in the object database.

use swarm_git::Git;
use swarm_git::revert::{Carried, Carry, pick, revert};
use swarm_protocol::config::Regenerate;
use swarm_protocol::ids::Oid;
use swarm_protocol::operation::SurveyAsk;
use swarm_work::operation::moving::rebuild::{Making, Rebuilt, keep_made, rebuild};
use swarm_work::operation::survey::survey;

use crate::git_scratch::Scratch;
use crate::seen;

fn carry(onto: &Oid, commits: &[&Oid]) -> Carry {
    let commits = commits.iter().map(|oid| (*oid).clone()).collect();
    Carry {
        onto: onto.clone(),
        commits,
        at_secs: 1_700_000_000,
        because: Some("Swarm-Operation: op-1".into()),
    }
}

async fn built(git: &Git, asked: &Carry) -> Oid {
    match revert(git, asked).await.unwrap() {
        Carried::Built { result, .. } => result,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn commits_are_reverted_newest_first_and_others_between_them_stay() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    scratch.write("a.txt", "one\n");
    let first = scratch.commit_all("first of the swarm");
    scratch.write("mine.txt", "the person's\n");
    let between = scratch.commit_all("the person's");
    scratch.write("a.txt", "one\ntwo\n");
    std::fs::remove_file(scratch.at("b.txt")).unwrap();
    let second = scratch.commit_all("second of the swarm");
    let before = (seen::files(&scratch.repo), seen::refs(&scratch.repo), seen::status(&scratch.repo));

    let asked = carry(&second, &[&second, &first]);
    let result = built(&git, &asked).await;

    assert_eq!(built(&git, &asked).await, result, "asked twice it is the same commit");
    let after = (seen::files(&scratch.repo), seen::refs(&scratch.repo), seen::status(&scratch.repo));
    assert_eq!(before, after, "nothing that anybody sees has changed");
    let differs = scratch.git(["diff", "--name-only", "main~3", result.as_str()]);
    assert_eq!(differs, "mine.txt", "only the person's commit is left");
    assert!(scratch.git(["merge-base", result.as_str(), between.as_str()]).contains(between.as_str()));
    let message = scratch.git(["log", "-1", "--format=%B", result.as_str()]);
    assert_eq!(
        message,
        format!("Revert \"first of the swarm\"\n\nThis reverts commit {first}.\n\nSwarm-Operation: op-1")
    );
}

#[tokio::test]
async fn a_revert_that_conflicts_changes_nothing_and_names_the_paths() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    scratch.write("a.txt", "the swarm's\n");
    scratch.write("fine.txt", "fine\n");
    let ours = scratch.commit_all("the swarm's");
    scratch.write("a.txt", "the person's own wording\n");
    let person = scratch.commit_all("the person's");
    let before = (seen::refs(&scratch.repo), seen::status(&scratch.repo));
    let outcome = revert(&git, &carry(&person, &[&ours])).await.unwrap();
    assert_eq!(outcome, Carried::Conflict { commit: ours, paths: vec!["a.txt".into()] });
    assert_eq!((seen::refs(&scratch.repo), seen::status(&scratch.repo)), before);
}

#[tokio::test]
async fn what_was_reverted_is_brought_back_with_its_author_and_what_is_there_already_is_left_out() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    scratch.write("a.txt", "new\n");
    scratch.git(["commit", "--quiet", "-a", "--author=A Gent <gent@example.org>", "-m", "work"]);
    let work = scratch.oid("HEAD");
    let undone = built(&git, &carry(&work, &[&work])).await;
    let Carried::Built { result, commits, .. } = pick(&git, &carry(&undone, &[&work])).await.unwrap() else {
        panic!("nothing was picked")
    };
    assert_eq!(commits, std::slice::from_ref(&result));
    assert_eq!(scratch.git(["log", "-1", "--format=%an %s", result.as_str()]), "A Gent work");
    assert_eq!(scratch.git(["diff", work.as_str(), result.as_str()]), "");
    assert_eq!(pick(&git, &carry(&result, &[&work])).await.unwrap(), Carried::Nothing);
    assert_eq!(revert(&git, &carry(&undone, &[&work])).await.unwrap(), Carried::Nothing);
}

#[tokio::test]
async fn a_merge_commit_is_reverted_as_what_it_brought_to_its_first_parent() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let start = scratch.oid("main");
    scratch.git(["switch", "--quiet", "-c", "side"]);
    scratch.write("side.txt", "1\n");
    scratch.commit_all("side 1");
    scratch.write("side.txt", "2\n");
    scratch.commit_all("side 2");
    scratch.git(["switch", "--quiet", "main"]);
    scratch.git(["merge", "--quiet", "--no-ff", "-m", "swarm: merge of 1.1", "side"]);
    let merge = scratch.oid("main");
    let result = built(&git, &carry(&merge, &[&merge])).await;
    assert_eq!(scratch.git(["diff", start.as_str(), result.as_str()]), "");
    let root = scratch.oid("main~2");
    let nothing_but_the_rest = revert(&git, &carry(&start, &[&root])).await.unwrap();
    assert!(
        matches!(nothing_but_the_rest, Carried::Conflict { .. } | Carried::Built { .. }),
        "a first commit"
    );
}

/// Where main was merged into a person's branch, and trunk went on to that, the first parent is the person's.
#[tokio::test]
async fn work_that_trunk_has_only_by_a_persons_merge_is_found() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let then = scratch.oid("main");
    scratch.write("a.txt", "one\n");
    let first = scratch.commit_all("first of the swarm");
    scratch.git(["switch", "--quiet", "-c", "persons", then.as_str()]);
    scratch.write("mine.txt", "the person's\n");
    let mine = scratch.commit_all("the person's");
    scratch.git(["merge", "--quiet", "-m", "main merged", "main"]);
    scratch.git(["switch", "--quiet", "main"]);
    scratch.git(["merge", "--quiet", "--ff-only", "persons"]);
    let merge = scratch.oid("main");
    scratch.write("b.txt", "two\n");
    let second = scratch.commit_all("second of the swarm");
    for trunk in [None, Some(then)] {
        let revert = vec![second.clone(), first.clone()];
        let ask = SurveyAsk { trunk, revert, ..SurveyAsk::default() };
        let found = survey(&git, "main", &scratch.worktrees(), &ask).await.unwrap();
        let since: Vec<&Oid> = found.since.iter().map(|commit| &commit.oid).collect();
        assert_eq!(since[..2], [&second, &merge], "newest first");
        assert!(since.len() == 4 && since.contains(&&first) && since.contains(&&mine), "{since:?}");
        assert!(found.since.iter().all(|commit| !commit.pushed && !commit.subject.is_empty()));
    }
}

/// Somebody may edit the rules between two tries: what was made is there, and the operation comes to the same.
#[tokio::test]
async fn a_file_that_was_made_again_for_an_operation_is_kept_whatever_the_rules_say_by_then() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    scratch.write("made.lock", "start\n");
    scratch.commit_all("start");
    scratch.write("made.lock", "the swarm's\n");
    let ours = scratch.commit_all("the swarm's");
    scratch.write("made.lock", "the person's own wording\n");
    let person = scratch.commit_all("the person's");
    let rules = [Regenerate { files: "*.lock".into(), ..Regenerate::default() }];
    let undone = std::slice::from_ref(&ours);
    let again = async |rules: &[Regenerate]| {
        rebuild(&git, &person, (undone, &[]), 1_700_000_000, None, Making::Kept { rules, word: "op-1" })
            .await
            .unwrap()
    };
    assert!(matches!(again(&[]).await, Rebuilt::Conflict { .. }));
    let Rebuilt::Unmade(unmade) = again(&rules).await else { panic!("nothing is to be made") };
    keep_made(&git, "op-1", *unmade, vec![b"made again\n".to_vec()]).await.unwrap();
    let Rebuilt::Built { tip, .. } = again(&rules).await else { panic!("what was made is not there") };
    assert_eq!(scratch.git(["show", &format!("{tip}:made.lock")]), "made again");
    assert!(matches!(again(&[]).await, Rebuilt::Built { tip: other, .. } if other == tip));
}

/// An agent that reverted the work of another task and went on in the same commit.
#[tokio::test]
async fn a_revert_with_other_work_in_it_does_not_cancel_out_what_it_names() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    scratch.write("a.txt", "work\n");
    let work = scratch.commit_all("work");
    let plain = built(&git, &carry(&work, &[&work])).await;
    scratch.git(["reset", "--quiet", "--hard", plain.as_str()]);
    scratch.write("more.txt", "and more\n");
    scratch.git(["add", "--all"]);
    scratch.git(["commit", "--quiet", "--amend", "--no-edit"]);
    let mixed = scratch.oid("HEAD");

    for (tip, left) in [(&plain, vec![]), (&mixed, vec![mixed.clone(), work.clone()])] {
        scratch.git(["reset", "--quiet", "--hard", tip.as_str()]);
        let revert = vec![tip.clone(), work.clone()];
        let ask = SurveyAsk { revert: revert.clone(), ..SurveyAsk::default() };
        let found = survey(&git, "main", &scratch.worktrees(), &ask).await.unwrap();
        assert_eq!(found.still_in_effect(&revert, &Default::default()), left);
    }
}
