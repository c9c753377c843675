//! Who starts and who approves: modes, and review by a command.

use serde_json::json;

use crate::arena::Running;
use crate::ground::{arena_with, task};

const GOOD: &str = "write a.txt a\ncommit feat: a\ncomplete";

#[test]
fn in_semi_auto_a_ready_task_waits_for_the_word_and_the_next_one_again() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![
        task("1.1", &[], GOOD),
        task("1.2", &["1.1"], "write b.txt b\ncommit feat: b\ncomplete"),
    ]]);
    let mut run = Running::of(arena.command(&["run", "--agent", "script", "--mode", "semi-auto"]));
    run.until("swarm task start 1.1");
    arena.ok(&["task", "start", "1.1"]);
    run.until("swarm task start 1.2");
    assert_eq!(arena.status_of("1.1"), "done");
    assert_eq!((arena.status_of("1.2"), &arena.shown("1.2")["attempts"]), ("pending".into(), &json!(0)));
    assert!(arena.attention().contains("swarm task start 1.2"), "{}", arena.attention());
    arena.ok(&["task", "start", "1.2"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    arena.assert_tidy();
}

#[test]
fn on_autopilot_nobody_has_to_say_anything() {
    let arena = arena_with(json!({ "mode": "semi-auto" }));
    arena.plan(&[("1.1", &[], GOOD.into())]);
    let (code, said) = Running::of(arena.command(&["run", "--agent", "script", "--mode", "autopilot"])).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
}

#[test]
fn a_review_by_command_sends_work_back_with_its_output() {
    let arena = arena_with(json!({
        "review": { "policy": "command", "commands": ["test -e reviewed.txt || { echo the reviewer misses reviewed.txt; exit 1; }"], "rounds": 3 },
    }));
    let script = "on-attempt 1: write a.txt a\non-attempt 1: commit feat: a\n\
                  on-attempt 2: write reviewed.txt yes\non-attempt 2: commit fix: as reviewed\ncomplete";
    arena.plan(&[("1.1", &[], script.into())]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    let view = arena.shown("1.1");
    assert_eq!((&view["attempts"], &view["retries"]), (&json!(2), &json!(0)), "{view}");
    assert!(view["audit"].to_string().contains("review_failed"), "{view}");
    assert!(arena.printed().contains("misses reviewed.txt"), "{}", arena.printed());
    arena.assert_proven("1.1", "main");
    arena.assert_tidy();
}

#[test]
fn a_review_that_is_never_content_asks_a_person_after_its_rounds() {
    let arena = arena_with(json!({
        "review": { "policy": "command", "commands": ["echo not good enough; false"], "rounds": 2 },
    }));
    arena.plan(&[("1.1", &[], GOOD.into())]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 1, "{said}");
    let view = arena.shown("1.1");
    assert_eq!((&view["status"], &view["block"]), (&json!("blocked"), &json!("review")), "{view}");
    assert_eq!(arena.commits("main", "feat: a"), 0);
    assert!(arena.attention().contains("swarm task unblock 1.1"), "{}", arena.attention());
    assert!(arena.printed().contains("not good enough"), "{}", arena.printed());
}
