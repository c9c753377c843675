//! Work that a person reviews: it waits, whatever the mode; the verdict is about one commit; notes reach the next attempt.

use serde_json::{Value, json};

use crate::arena::{Arena, Running, wait_for};
use crate::ground::{arena_with, has, task};

const GOOD: &str = "write a.txt a\ncommit feat: a\ncomplete";

fn reviewed(id: &str, script: &str) -> Value {
    let mut task = task(id, &[], script);
    task["review"] = json!("human");
    task["acceptance"] = json!(["a.txt is there"]);
    task
}

/// A run in autopilot, which stands at a task that waits for its review.
fn submitted(tasks: Vec<Value>) -> (Arena, Running) {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[tasks]);
    let mut run = arena.start(&["--agents", "2"]);
    run.until("swarm review approve 1.1");
    (arena, run)
}

fn refused(arena: &Arena, args: &[&str]) -> String {
    let out = arena.swarm(args);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!out.status.success(), "{args:?}: {said}");
    said
}

#[test]
fn work_for_a_person_to_review_waits_in_autopilot_while_other_work_lands() {
    let other = task("1.2", &[], "write b.txt b\ncommit feat: b\ncomplete");
    let (arena, mut run) = submitted(vec![reviewed("1.1", GOOD), other]);
    run.until("on main at");
    assert_eq!((arena.status_of("1.1"), arena.status_of("1.2")), ("review".into(), "done".into()));
    assert_eq!((arena.commits("main", "feat: a"), arena.commits("main", "feat: b")), (0, 1));
    has(&arena.attention(), &["Task 1.1 waits for your review", "swarm review show 1.1"]);
    let list = arena.json(&["review", "list"]);
    assert_eq!(
        (&list[0]["task"], &list[0]["reviewer"], &list[0]["round"]),
        (&json!("1.1"), &json!("human"), &json!(1))
    );
    let shown = arena.ok(&["review", "show", "1.1"]);
    has(
        &shown,
        &["a.txt is there", "1 file changed, 1 insertion(+)", "swarm task diff 1.1", "round       1 of 3"],
    );
    has(&arena.ok(&["task", "diff", "1.1"]), &["diff --git a/a.txt b/a.txt", "+a\n"]);
    has(&arena.ok(&["handoff"]), &["1.1"]);
    arena.ok(&["review", "approve", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    has(&arena.ok(&["task", "diff", "1.1", "--stat"]), &["a.txt", "1 insertion(+)"]);
    arena.assert_tidy();
}

#[test]
fn an_agent_that_changed_nothing_is_told_so_before_a_person_is_asked_who_is_then_told_it_too() {
    let second_time = "on-iteration 2: write a.txt a\non-iteration 2: commit feat: a\ncomplete";
    let (arena, run) = submitted(vec![reviewed("1.1", second_time)]);
    let ledger = std::fs::read_to_string(arena.root.join(".swarm/plan-ledger.jsonl")).expect("the ledger");
    let told = ledger.lines().find(|line| line.contains("checks_failed")).expect("it was sent back once");
    has(told, &["your branch changes nothing"]);
    arena.ok(&["review", "approve", "1.1"]);
    assert_eq!(run.end().0, 0);
    arena.assert_proven("1.1", "main");
    let (arena, run) = submitted(vec![reviewed("1.1", "complete")]);
    has(&arena.ok(&["review", "show", "1.1"]), &["the branch changes nothing"]);
    let said = String::from_utf8_lossy(&arena.swarm(&["task", "diff", "1.1"]).stderr).into_owned();
    has(&said, &["Nothing is changed"]);
    arena.ok(&["review", "approve", "1.1"]);
    assert_eq!(run.end().0, 0, "a person has seen it and called it good");
}

#[test]
fn a_person_reviews_where_nobody_is_named_and_nobody_does_only_by_name() {
    // Says something about reviews, and not by whom.
    let arena = arena_with(json!({ "review": { "rounds": 3 } }));
    arena.plan_in_phases(&[vec![task("1.1", &[], GOOD), task("1.2", &["1.1"], "write b.txt b\ncomplete")]]);
    let mut run = arena.start(&[]);
    run.until("finished work waits for `swarm review approve`");
    run.until("swarm review approve 1.1");
    assert_eq!(arena.json(&["review", "list"])[0]["reviewer"], json!("human"));
    arena.ok(&["review", "approve", "1.1"]);
    run.until("swarm review approve 1.2");
    arena.ok(&["stop"]);
    run.end();
    assert_eq!((arena.status_of("1.1"), arena.status_of("1.2")), ("done".into(), "review".into()));
    // What waits already needs nobody any more either.
    let (code, said) = arena.start(&["--review", "none"]).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    // Remembered, as the agent and the mode are.
    arena.ok(&[
        "task",
        "add",
        "More",
        "--id",
        "1.3",
        "--description",
        "```script\nwrite c.txt c\ncomplete\n```",
    ]);
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    has(&said, &["Reviewer is none, as chosen before; `swarm run --review human` changes that"]);
    arena.assert_proven("1.3", "main");
    arena.assert_tidy();
}

#[test]
fn commands_that_are_to_review_and_are_not_there_leave_the_work_to_a_person() {
    let arena = arena_with(json!({ "review": { "policy": "command" } }));
    arena.plan_in_phases(&[vec![task("1.1", &[], GOOD)]]);
    let mut run = arena.start(&[]);
    run.until("the configuration has none (`review.commands`)");
    run.until("swarm review approve 1.1");
    assert_eq!((arena.status_of("1.1"), arena.commits("main", "feat: a")), ("review".into(), 0));
    assert_eq!(arena.json(&["review", "list"])[0]["reviewer"], json!("human"));
    arena.ok(&["review", "approve", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_proven("1.1", "main");
    arena.assert_tidy();
}

#[test]
fn notes_of_a_review_reach_the_next_attempt_and_what_was_submitted_before_is_still_shown() {
    let script = "on-attempt 1: write a.txt a\non-attempt 1: commit feat: a\n\
                  on-attempt 2: write b.txt b\non-attempt 2: sh cp \"$SWARM_PROMPT_FILE\" told.md\n\
                  on-attempt 2: commit fix: as reviewed\ncomplete";
    let (arena, mut run) = submitted(vec![reviewed("1.1", script)]);
    let note = ["--note", "a.txt:1", "a is not enough"];
    arena.ok(&[&["review", "needs-changes", "1.1", "write b.txt, too"], &note[..]].concat());
    run.until("a person requests changes");
    run.until("swarm review approve 1.1");
    let shown = arena.ok(&["review", "show", "1.1"]);
    has(
        &shown,
        &[
            "Submission 1",
            "needs changes",
            "a.txt:1: a is not enough",
            "write b.txt, too",
            "since the last submission",
        ],
    );
    let first = arena.ok(&["task", "diff", "1.1", "--round", "1"]);
    assert!(first.contains("a/a.txt") && !first.contains("b.txt"), "{first}");
    has(&arena.ok(&["task", "diff", "1.1", "--round", "2"]), &["a/a.txt", "b/b.txt"]);
    has(&refused(&arena, &["task", "diff", "1.1", "--round", "3"]), &["has no submission number 3"]);
    arena.ok(&["review", "approve", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    has(&arena.git(&["show", "main:told.md"]), &["a.txt:1: a is not enough", "write b.txt, too"]);
    let view = arena.shown("1.1");
    assert_eq!((&view["attempts"], &view["retries"]), (&json!(2), &json!(0)), "{view}");
    arena.assert_tidy();
}

#[test]
fn a_branch_that_moved_is_not_approved_and_the_persons_own_touch_lands_with_it() {
    let (arena, run) = submitted(vec![reviewed("1.1", GOOD)]);
    let place = arena.root.join(".swarm/worktrees/1.1");
    std::fs::write(place.join("mine.txt"), "mine").expect("written");
    let git = |args: &[&str]| {
        let done = std::process::Command::new("git").arg("-C").arg(&place).args(args).status();
        assert!(done.expect("git runs").success(), "{args:?}");
    };
    git(&["add", "mine.txt"]);
    git(&["commit", "--quiet", "--message=mine"]);
    has(&refused(&arena, &["review", "approve", "1.1"]), &["was submitted at", "swarm review show 1.1"]);
    has(&arena.ok(&["review", "show", "1.1"]), &["the branch is at", "swarm worktree merge 1.1"]);
    assert_eq!(arena.status_of("1.1"), "review");
    arena.ok(&["worktree", "merge", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    let tree = arena.git(&["ls-tree", "--name-only", "main"]);
    assert_eq!(tree.lines().collect::<Vec<_>>(), ["README.md", "a.txt", "mine.txt"]);
    arena.assert_tidy();
}

#[test]
fn a_verdict_without_a_coordinator_is_kept_undone_and_given_again() {
    let (arena, run) = submitted(vec![reviewed("1.1", GOOD)]);
    arena.ok(&["stop"]);
    run.end();
    assert_eq!(arena.status_of("1.1"), "review");
    arena.ok(&["review", "approve", "1.1"]);
    assert_eq!(arena.status_of("1.1"), "merging");
    arena.ok(&["undo", "--yes"]);
    assert_eq!(arena.status_of("1.1"), "review");
    arena.ok(&["review", "approve", "1.1"]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    arena.assert_proven("1.1", "main");
    arena.assert_tidy();
}

#[test]
fn a_tag_decides_who_reviews_and_a_word_nobody_knows_is_refused_with_its_line() {
    let arena = arena_with(json!({ "review": { "policy": "none", "tags": { "keys": "human" } } }));
    let mut tagged = task("1.1", &[], GOOD);
    tagged["tags"] = json!(["keys"]);
    arena.plan_in_phases(&[vec![tagged]]);
    let mut run = arena.start(&[]);
    run.until("swarm review approve 1.1");
    arena.ok(&["review", "approve", "1.1"]);
    assert_eq!(run.end().0, 0);
    let save = |name: &str| refused(&arena, &["plan", "save", &arena.root.join(name).display().to_string()]);
    arena.write("bad.md", "# Goal\n\n- [ ] 1.2 One more\n  review: somebody\n");
    has(&save("bad.md"), &["bad.md at line 4", "somebody", "none, command, agent, council, human"]);
    let plan = "{\n \"goal\": \"g\", \"phases\": [ { \"id\": 1, \"tasks\": [\n  { \"id\": \"1.2\", \"title\": \"t\", \"isolation\": \"moon\" } ] } ] }";
    arena.write("bad.json", plan);
    has(&save("bad.json"), &["bad.json at line 3", "moon", "worktree"]);
    has(
        &refused(&arena, &["task", "add", "More", "--review", "me"]),
        &["me", "none, command, agent, council, human"],
    );
}

#[test]
fn what_came_from_trunk_into_the_branch_is_not_shown_as_the_tasks_own() {
    let arena = arena_with(json!({}));
    let go = arena.path("go");
    // What happens on trunk is seen by the agent from its next iteration on.
    let script = format!(
        "on-iteration 1: write a.txt a\non-iteration 1: commit feat: a\non-iteration 1: print ready\n\
         on-iteration 1: wait-for {}\n\
         on-iteration 2: sh git merge --no-edit main\non-iteration 2: complete",
        go.display()
    );
    arena.plan_in_phases(&[vec![reviewed("1.1", &script)]]);
    let mut run = arena.start(&[]);
    wait_for("the agent is ready", || arena.printed().contains("ready"));
    arena.commit("base.txt", "base");
    std::fs::write(&go, "").expect("a file");
    run.until("swarm review approve 1.1");
    let diff = arena.ok(&["task", "diff", "1.1"]);
    assert!(diff.contains("a.txt") && !diff.contains("base.txt"), "{diff}");
    arena.ok(&["review", "approve", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_tidy();
}

#[test]
fn a_scan_is_a_gate_of_its_own_and_can_be_waived_without_the_checks() {
    let arena = arena_with(json!({
        "check": { "commands": ["true"] },
        "scan": { "commands": ["! grep -q secret a.txt || { echo 'a secret in a.txt' >&2; exit 1; }"] },
        "recovery": { "maxSameFailures": 0, "backoffMax": "1s" },
    }));
    let leaks = "on-iteration 1: write a.txt secret\non-iteration 1: commit feat: a\n\
                 on-iteration 2: sh cp \"$SWARM_PROMPT_FILE\" told.md\non-iteration 2: write a.txt a\n\
                 on-iteration 2: commit fix: no secret\ncomplete";
    let stays = "write a.txt secret\ncommit feat: b\ncomplete";
    arena.plan_in_phases(&[vec![task("1.1", &[], leaks)], vec![task("2.1", &["1.1"], stays)]]);
    arena.ok(&["task", "waive", "2.1", "scan", "--reason", "it is no secret"]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    has(&said, &["the scan found something, back to work", "a secret in a.txt"]);
    has(&arena.git(&["show", "main:told.md"]), &["a scan of the work found this", "a secret in a.txt"]);
    assert_eq!(arena.git(&["show", "main~1:a.txt"]), "a\n");
    assert_eq!(arena.git(&["show", "main:a.txt"]), "secret\n");
    arena.assert_all_done();
}

#[test]
fn a_scan_that_finds_the_same_again_is_named_with_the_way_past_it() {
    let arena = arena_with(json!({
        "check": { "commands": ["true"] },
        "scan": { "commands": ["! grep -q secret a.txt || { echo 'a secret in a.txt' >&2; exit 1; }"] },
        "recovery": { "maxSameFailures": 2, "backoffMax": "1s" },
    }));
    arena.plan_in_phases(&[vec![task("1.1", &[], "write a.txt secret\ncommit feat: a\ncomplete")]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 1, "{said}");
    let waive = "swarm task waive 1.1 scan --reason WHY";
    has(&arena.attention(), &["its scan found the same 2 times in a row", "a secret in a.txt", waive]);
    let words: Vec<&str> = waive.split_whitespace().skip(1).collect();
    arena.ok(&words);
    arena.ok(&["task", "unblock", "1.1"]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
}
