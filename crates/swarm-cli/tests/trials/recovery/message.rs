//! I10, I1: a message of a person is in the next prompt and says where it landed; a pause holds at the boundary.

use serde_json::json;

use super::hurried;
use crate::arena::wait_for;

#[test]
fn a_message_waits_for_the_boundary_and_says_where_it_landed() {
    let arena = hurried(json!({}));
    let (one, two) = (arena.path("one"), arena.path("two"));
    let script = format!(
        "print iteration begins\non-iteration 1: wait-for {}\non-iteration 1: no-signal\nwait-for {}\n\
         write a.txt a\ncommit feat: a\ncomplete",
        one.display(),
        two.display()
    );
    arena.plan(&[("1.1", &[], script)]);
    let run = arena.start(&[]);
    wait_for("it works", || arena.printed().contains("iteration begins"));
    let sent = arena.json(&["agent", "message", "ed-001", "Look", "at", "the parser"]);
    assert_eq!((&sent["task"], &sent["delivery"]["landed"]), (&json!("1.1"), &json!(null)), "{sent}");
    assert!(!arena.prompt_of("r1").contains("Look at the parser"), "the iteration has begun without it");
    assert!(arena.ok(&["task", "show", "1.1"]).contains("Look at the parser (queued)"));
    std::fs::write(one, "").expect("a file");
    wait_for("the next iteration knows", || arena.prompt_of("r1").contains("Look at the parser"));
    let waiting =
        crate::arena::Running::of(arena.command(&["agent", "message", "1.1", "--wait", "And commit"]));
    arena.until_recorded("message_queued", 2);
    std::fs::write(two, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    let messages = arena.shown("1.1")["messages"].clone();
    assert_eq!(messages[0]["landed"]["iteration"], 2, "{messages}");
    // The second one came too late for that iteration: there is one more before the merge.
    let (code, said) = waiting.end();
    assert!(code == 0 || code == 4, "{said}");
    assert_eq!(messages[1]["landed"]["iteration"], 3, "{messages}");
    let said = arena.refused(&["agent", "message", "1.11", "hello"]);
    assert!(said.contains("Did you mean 1.1?"), "{said}");
    let said = arena.refused(&["agent", "message", "ed-002", "hello"]);
    assert!(said.contains("ed-00"), "{said}");
    arena.assert_tidy();
}

#[test]
fn a_pause_holds_at_the_boundary_and_says_who_is_held() {
    let arena = hurried(json!({}));
    let one = arena.path("one");
    let script = format!(
        "print iteration begins\non-iteration 1: wait-for {}\non-iteration 1: no-signal\nwrite a.txt a\n\
         commit feat: a\ncomplete",
        one.display()
    );
    arena.plan(&[("1.1", &[], script)]);
    let run = arena.start(&[]);
    wait_for("it works", || arena.printed().contains("iteration begins"));
    arena.ok(&["pause"]);
    assert_eq!(arena.json(&["status"])["agents"][0]["held"], json!(null), "it still works");
    std::fs::write(one, "").expect("a file");
    wait_for("it is held", || arena.json(&["status"])["agents"][0]["held"] == json!(true));
    assert!(arena.ok(&["status"]).contains("held at its boundary"));
    arena.ok(&["resume"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.starts("1.1"), 1);
    arena.assert_tidy();
}
