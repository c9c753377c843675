//! Work that a person took out of trunk without a revert that git would recognise as one.

use serde_json::json;

use super::{ends_with, half, on_trunk, two_done, writes};
use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, task};

const BOTH: [&str; 2] = ["one.txt", "two.txt"];

/// It is seen by views at once and by the next run, and a retry brings it back.
fn is_gone_and_comes_back(take_out: impl Fn(&Arena), gone: &[&str], stays: &[&str]) {
    let arena = two_done();
    take_out(&arena);
    let check = |when: &str| {
        gone.iter().for_each(|id| assert_eq!(arena.status_of(id), "gone", "{when}: {:?}", on_trunk(&arena)));
    };
    check("a view");
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 1, "{said}");
    check("after a run");
    let (code, said) = arena.run(&["--retry"]);
    assert_eq!(code, 0, "{said}");
    ends_with(&arena, &[&BOTH[..], stays].concat());
}

#[test]
fn a_file_that_the_task_itself_took_away_is_not_missed() {
    let arena = arena_with(json!({}));
    let script =
        "write tmp.log x\ncommit feat: log\ndelete tmp.log\nwrite one.txt one\ncommit feat: one\ncomplete";
    arena.plan_in_phases(&[vec![task("1.1", &[], script)]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    arena.commit("tmp.log", "mine\n");
    arena.git(&["rm", "--quiet", "tmp.log"]);
    arena.git(&["commit", "--quiet", "--message", "person: no log"]);
    assert_eq!(arena.status_of("1.1"), "done");
    ends_with(&arena, &["one.txt"]);
}

#[test]
fn two_commits_reverted_in_one() {
    let take_out = |arena: &Arena| {
        arena.git(&["revert", "--no-commit", "HEAD", "HEAD~1"]);
        arena.git(&["commit", "--quiet", "--message", "person: takes it all out"]);
    };
    is_gone_and_comes_back(take_out, &["1.1", "1.2"], &[]);
}

#[test]
fn a_revert_with_another_change_in_it() {
    let take_out = |arena: &Arena| {
        arena.git(&["revert", "--no-commit", "HEAD"]);
        arena.write("aside.txt", "aside\n");
        arena.git(&["add", "aside.txt"]);
        arena.git(&["commit", "--quiet", "--message", "person: something else"]);
    };
    is_gone_and_comes_back(take_out, &["1.2"], &["aside.txt"]);
}

#[test]
fn files_that_were_deleted() {
    let take_out = |arena: &Arena| {
        arena.git(&["rm", "--quiet", "one.txt", "two.txt"]);
        arena.git(&["commit", "--quiet", "--message", "person: no longer wanted"]);
    };
    is_gone_and_comes_back(take_out, &["1.1", "1.2"], &[]);
}

#[test]
fn a_merge_that_left_everything_out() {
    let take_out = |arena: &Arena| {
        arena.git(&["branch", "old"]);
        arena.git(&["reset", "--quiet", "--hard", "HEAD~2"]);
        arena.git(&["merge", "--quiet", "--no-edit", "--strategy", "ours", "old"]);
        arena.git(&["branch", "--delete", "old"]);
    };
    is_gone_and_comes_back(take_out, &["1.1", "1.2"], &[]);
}

/// The same under the name that somebody gave the file, whatever the commit that took it out says of itself.
#[test]
fn a_revert_of_work_in_a_file_that_was_renamed() {
    for message in ["--no-edit", "person: it was better before"] {
        let arena = arena_with(json!({}));
        let script = "sh echo changed > README.md\ncommit feat: changed\ncomplete";
        arena.plan_in_phases(&[vec![task("1.1", &[], script)]]);
        assert_eq!(arena.run(&[]).0, 0);
        let work = arena.git(&["rev-parse", "HEAD"]);
        arena.git(&["mv", "README.md", "moved.md"]);
        arena.git(&["commit", "--quiet", "--message", "person: moves it"]);
        assert_eq!(arena.status_of("1.1"), "done", "it is there under another name");
        if message == "--no-edit" {
            arena.git(&["revert", "--no-edit", work.trim()]);
        } else {
            arena.git(&["revert", "--no-commit", work.trim()]);
            arena.git(&["commit", "--quiet", "--message", message]);
        }
        assert_eq!(arena.status_of("1.1"), "gone", "{message}");
        let (code, said) = arena.run(&[]);
        assert_eq!((code, arena.status_of("1.1").as_str()), (1, "gone"), "{message}: {said}");
    }
}

#[test]
fn files_that_were_renamed_are_not_taken_out() {
    let arena = two_done();
    arena.git(&["mv", "two.txt", "second.txt"]);
    arena.git(&["commit", "--quiet", "--message", "person: another name"]);
    assert_eq!(arena.status_of("1.2"), "done");
    let (code, said) = arena.run(&["--retry"]);
    assert_eq!(code, 0, "{said}");
    ends_with(&arena, &["one.txt", "second.txt"]);
    arena.git(&["rm", "--quiet", "second.txt"]);
    arena.git(&["commit", "--quiet", "--message", "person: and now it goes"]);
    assert_eq!(arena.status_of("1.2"), "gone");
}

/// Each commit is in the squashed one only as the later ones left it.
#[test]
fn commits_on_the_same_lines_that_were_squashed_are_not_taken_out() {
    let arena = arena_with(json!({}));
    let adds = |line: &str| format!("append README.md {line}\ncommit feat: {line}\ncomplete");
    arena.plan_in_phases(&[vec![task("1.1", &[], &adds("one")), task("1.2", &["1.1"], &adds("two"))]]);
    assert_eq!(arena.run(&[]).0, 0);
    arena.git(&["reset", "--quiet", "--soft", "HEAD~2"]);
    arena.git(&["commit", "--quiet", "--date", "2020-01-01T00:00:00", "--message", "person: in one"]);
    let (code, said) = arena.run(&["--retry"]);
    assert_eq!(code, 0, "{said}");
    for id in ["1.1", "1.2"] {
        assert_eq!(arena.status_of(id), "done", "{said}");
    }
    assert!(arena.git(&["log", "--format=%s", "-1"]).contains("in one"), "nothing was merged again: {said}");
}

#[test]
fn a_later_task_that_takes_out_what_an_earlier_one_did_is_no_loss() {
    for strategy in ["commits", "merge"] {
        let arena = arena_with(json!({ "merge": { "strategy": strategy } }));
        let deletes = "delete one.txt\nwrite two.txt two\ncommit feat: two instead\ncomplete";
        arena.plan_in_phases(&[vec![task("1.1", &[], &writes("one")), task("1.2", &["1.1"], deletes)]]);
        assert_eq!(arena.run(&[]).0, 0);
        arena.commit("mine.txt", "mine\n");
        let (code, said) = arena.run(&[]);
        assert_eq!((code, arena.status_of("1.1").as_str()), (0, "done"), "{strategy}: {said}");
        assert_eq!(on_trunk(&arena), ["README.md", "mine.txt", "two.txt"]);
    }
}

/// What is offered for work that has gone is accepted before a run has looked, and an accepted task is not called proven.
#[test]
fn commands_for_gone_work_are_accepted_at_once() {
    let arena = two_done();
    arena.git(&["revert", "--no-edit", "HEAD"]);
    arena.ok(&["task", "accept", "1.2", "--reason", "not needed"]);
    let said = arena.ok(&["run", "--agent", "script"]);
    assert!(said.contains("1 of 2 tasks are done, proven on main") && said.contains("1.2"), "{said}");
    arena.ok(&["undo", "--yes"]);
    arena.ok(&["task", "unblock", "1.2"]);
    ends_with(&arena, &BOTH);
}

#[test]
fn what_was_built_upon_work_that_has_gone_is_merged_after_it() {
    let arena = arena_with(json!({}));
    let run = half(&arena);
    arena.git(&["revert", "--no-edit", "HEAD"]);
    wait_for("the swarm has seen it", || arena.json(&["plan", "history"]).to_string().contains("work_gone"));
    std::fs::write(arena.path("go"), "").expect("a file");
    run.end();
    assert_eq!((arena.status_of("1.2").as_str(), arena.status_of("1.3").as_str()), ("gone", "merging"));
    let (code, said) = arena.run(&["--retry"]);
    assert_eq!(code, 0, "{said}");
    let log = arena.git(&["log", "--reverse", "--format=%s", "main"]);
    let at = |subject: &str| log.lines().collect::<Vec<_>>().iter().rposition(|line| *line == subject);
    assert!(at("feat: two") < at("feat: three"), "{log}");
    assert_eq!(arena.starts("1.3"), 1);
    ends_with(&arena, &["one.txt", "rest.txt", "three.txt", "two.txt"]);
}

/// Amending a commit of the swarm makes it the person's: what the person took out with it is not a later task's work.
#[test]
fn work_that_an_amend_of_another_task_took_out_is_gone_and_stays_so() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], &writes("one")), task("1.2", &["1.1"], &writes("two"))]]);
    assert_eq!(arena.run(&[]).0, 0);
    arena.git(&["rm", "--quiet", "one.txt"]);
    arena.git(&["commit", "--quiet", "--amend", "--no-edit"]);
    for _ in 0..2 {
        let (code, said) = arena.run(&[]);
        assert_eq!((code, arena.status_of("1.1").as_str()), (1, "gone"), "{said}");
        assert_eq!(arena.status_of("1.2"), "done", "{said}");
    }
    assert_eq!(arena.run(&["--retry"]).0, 0);
    ends_with(&arena, &["one.txt", "two.txt"]);
}

/// Neither a revert as git words it, nor files that are just as before.
#[test]
fn work_that_a_person_took_out_among_other_changes_is_gone() {
    let arena = arena_with(json!({}));
    let lines: String = (1..=9).map(|n| format!("{n}\n")).collect();
    arena.commit("shared.txt", &lines);
    let script = "sh echo two >> shared.txt\nwrite two.txt two\ncommit feat: two\ncomplete";
    arena.plan_in_phases(&[vec![task("1.1", &[], &writes("one")), task("1.2", &["1.1"], script)]]);
    assert_eq!(arena.run(&[]).0, 0);
    arena.git(&["rm", "--quiet", "two.txt"]);
    arena.write("shared.txt", &lines.replacen('1', "one", 1));
    arena.git(&["commit", "--quiet", "--all", "--message", "tidied up"]);
    for _ in 0..2 {
        let (code, said) = arena.run(&[]);
        assert_eq!((code, arena.status_of("1.2").as_str()), (1, "gone"), "{said}");
    }
    assert_eq!(arena.run(&["--retry"]).0, 0);
    ends_with(&arena, &["one.txt", "shared.txt", "two.txt"]);
}

/// Rewritten first and taken out later, by a commit that reverts nothing as git would know it.
#[test]
fn rewritten_work_that_is_deleted_later_is_gone() {
    let arena = two_done();
    arena.git(&["commit", "--quiet", "--amend", "--message", "in my own words"]);
    assert_eq!(arena.run(&[]).0, 0);
    arena.git(&["rm", "--quiet", "two.txt"]);
    arena.write("mine.txt", "mine\n");
    arena.git(&["add", "mine.txt"]);
    arena.git(&["commit", "--quiet", "--message", "tidied up"]);
    for _ in 0..2 {
        let (code, said) = arena.run(&[]);
        assert_eq!((code, arena.status_of("1.2").as_str()), (1, "gone"), "{said}");
    }
    assert_eq!(arena.run(&["--retry"]).0, 0);
    ends_with(&arena, &["mine.txt", "one.txt", "two.txt"]);
}

/// A task of two commits, of which a person has reverted the first and the swarm has merged it again.
fn half_merged_again(strategy: &str) -> (Arena, String) {
    let arena = arena_with(json!({ "merge": { "strategy": strategy } }));
    let script = "write c.txt c\ncommit feat: c\nwrite d.txt d\ncommit feat: d\ncomplete";
    arena.plan_in_phases(&[vec![task("1.1", &[], script)]]);
    assert_eq!(arena.run(&[]).0, 0);
    let second = arena.git(&["rev-parse", "HEAD"]).trim().to_owned();
    arena.git(&["revert", "--no-edit", "HEAD~1"]);
    let (code, said) = arena.run(&["--retry"]);
    assert_eq!(code, 0, "{said}");
    (arena, second)
}

#[test]
fn what_stood_when_the_rest_was_merged_again_is_watched_like_the_rest() {
    let (arena, second) = half_merged_again("commits");
    arena.git(&["revert", "--no-edit", &second]);
    assert_eq!(arena.status_of("1.1"), "gone", "{}", arena.attention());
    ends_with(&arena, &["c.txt", "d.txt"]);
}

#[test]
fn what_stood_when_the_rest_was_merged_again_is_rolled_back_with_the_rest() {
    let (arena, _) = half_merged_again("commits");
    let said = arena.ok(&["task", "rollback", "1.1", "--dry-run"]);
    assert!(said.contains("feat: c") && said.contains("feat: d"), "{said}");
    arena.ok(&["task", "rollback", "1.1", "--yes"]);
    assert_eq!(on_trunk(&arena), ["README.md"]);
    ends_with(&arena, &["c.txt", "d.txt"]);
}

/// A person picks the first of two commits of a task that waits for its review; then the rest is merged.
#[test]
fn what_a_person_had_picked_before_the_rest_was_merged_is_watched_too() {
    for strategy in ["commits", "squash", "merge"] {
        let arena = arena_with(json!({ "merge": { "strategy": strategy } }));
        let script = "write c.txt c\ncommit feat: c\nwrite d.txt d\ncommit feat: d\ncomplete";
        let mut waits = task("1.1", &[], script);
        waits["review"] = "human".into();
        arena.plan_in_phases(&[vec![waits]]);
        let run = arena.start(&[]);
        wait_for("it is to be reviewed", || arena.status_of("1.1") == "review");
        arena.commit("mine.txt", "mine");
        arena.git(&["cherry-pick", "swarm/1.1~1"]);
        let picked = arena.git(&["rev-parse", "HEAD"]).trim().to_owned();
        arena.ok(&["review", "approve", "1.1"]);
        run.end();
        assert_eq!(arena.status_of("1.1"), "done", "{strategy}: {}", arena.attention());
        arena.git(&["revert", "--no-edit", &picked]);
        assert_eq!(arena.status_of("1.1"), "gone", "{strategy}: {}", arena.attention());
        arena.run(&["--retry"]);
        assert_eq!(arena.status_of("1.1"), "done", "{strategy}: {}", arena.attention());
        assert_eq!(on_trunk(&arena), ["README.md", "c.txt", "d.txt", "mine.txt"], "{strategy}");
    }
}

/// Two tasks in one file; the second adds to what the first wrote.
fn two_in_one_file() -> Arena {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "write f.txt line1\ncommit feat: one\ncomplete"),
        task("1.2", &["1.1"], "append f.txt line2\nwrite g.txt g\ncommit feat: two\ncomplete"),
    ]]);
    assert_eq!(arena.run(&[]).0, 0);
    arena
}

#[test]
fn a_file_of_two_tasks_that_was_taken_back_at_once() {
    let deleted = |arena: &Arena| {
        arena.git(&["rm", "--quiet", "f.txt", "g.txt"]);
        arena.git(&["commit", "--quiet", "--message", "person: no longer wanted"]);
    };
    let reverted = |arena: &Arena| {
        arena.git(&["revert", "--no-commit", "HEAD~2..HEAD"]);
        arena.git(&["commit", "--quiet", "--message", "person: takes it all out"]);
    };
    for take_out in [&deleted as &dyn Fn(&Arena), &reverted] {
        let arena = two_in_one_file();
        take_out(&arena);
        let all = |status: &str| ["1.1", "1.2"].iter().all(|id| arena.status_of(id) == status);
        assert!(all("gone"), "{} {}", arena.status_of("1.1"), arena.status_of("1.2"));
        arena.run(&[]);
        assert!(all("gone"), "{} {}", arena.status_of("1.1"), arena.status_of("1.2"));
        // The first alone does not bring the second back.
        arena.ok(&["task", "unblock", "1.1"]);
        assert_eq!(arena.run(&[]).0, 1);
        assert_eq!((&*arena.status_of("1.1"), &*arena.status_of("1.2")), ("done", "gone"));
        assert_eq!(arena.run(&["--retry"]).0, 0);
        assert!(all("done"));
        assert_eq!(arena.git(&["show", "main:f.txt"]), "line1\nline2\n");
        assert_eq!(arena.git(&["show", "main:g.txt"]), "g\n");
        arena.assert_true_at_rest();
    }
}

#[test]
fn work_that_has_gone_is_not_done_again_because_it_was_put_off() {
    for put_off in [&["task", "defer", "1.1"][..], &["task", "block", "1.1", "not now"]] {
        let arena = arena_with(json!({}));
        let script = "on-attempt 1: write one.txt one\non-attempt 2: write other.txt other\ncommit feat: one\ncomplete";
        arena.plan_in_phases(&[vec![task("1.1", &[], script)]]);
        assert_eq!(arena.run(&[]).0, 0);
        arena.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
        arena.run(&[]);
        arena.ok(put_off);
        let said = arena.ok(&["task", "unblock", "1.1"]);
        assert!(said.contains("merged again"), "{said}");
        ends_with(&arena, &["one.txt"]);
    }
}
