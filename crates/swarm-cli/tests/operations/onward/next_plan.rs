//! A plan file that is changed behind finished work, and a plan after another one.

use serde_json::json;

use super::on_trunk;
use crate::ground::{arena_with, has, task};

fn items(names: &[&str]) -> String {
    let item = |name: &&str| {
        format!(
            "- [ ] Write the {name}\n  ```script\n  write {name}.txt x\n  commit feat: {name}\n  complete\n  ```\n"
        )
    };
    format!("# Tools\n\n{}", names.iter().map(item).collect::<String>())
}

#[test]
fn a_line_inserted_above_finished_tasks_is_a_new_task_and_they_stay_what_they_are() {
    let arena = arena_with(json!({}));
    let plan = arena.path("plan.md");
    std::fs::write(&plan, items(&["parser", "printer"])).expect("a file");
    let file = plan.display().to_string();
    let (code, said) = arena.run(&["--plan", &file]);
    assert_eq!(code, 0, "{said}");
    std::fs::write(&plan, items(&["lexer", "parser", "printer"])).expect("a file");
    let (code, said) = arena.run(&["--plan", &file]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.shown("1.1")["title"], "Write the parser");
    assert_eq!(arena.shown("1.3")["title"], "Write the lexer");
    for (id, text) in [("1.1", "parser"), ("1.2", "printer"), ("1.3", "lexer")] {
        arena.assert_proven(id, "main");
        assert_eq!(arena.starts(id), 1);
        assert!(on_trunk(&arena).contains(&format!("{text}.txt")), "{:?}", on_trunk(&arena));
    }
    arena.assert_true_at_rest();
}

#[test]
fn what_is_done_is_not_given_another_title() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete")]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    let plan = arena.path("other.md");
    std::fs::write(&plan, "# Goal\n\n- [ ] 1.1 Something else\n").expect("a file");
    let file = plan.display().to_string();
    let saved = arena.swarm(&["plan", "save", &file]);
    let said = String::from_utf8_lossy(&saved.stderr);
    assert_eq!(saved.status.code(), Some(1), "{said}");
    has(&said, &["The title of task 1.1 is not valid", "give new work an id of its own", "Fix the file"]);
    assert_eq!(arena.shown("1.1")["title"], "Do 1.1");
}

/// Saves work that is on no branch: its first attempt leaves a file and asks, its second takes that file away.
fn saves(name: &str) -> serde_json::Value {
    let script = format!(
        "on-attempt 1: write {name}.txt {name}\non-attempt 1: blocked what now\ndelete {name}.txt\n\
         write {name}-done.txt x\ncommit feat: {name}\ncomplete"
    );
    task("1.1", &[], &script)
}

#[test]
fn the_next_plan_keeps_what_was_saved_under_the_same_names() {
    let arena = arena_with(json!({}));
    for name in ["precious", "other"] {
        arena.plan_in_phases(&[vec![saves(name)]]);
        arena.run(&[]);
        arena.ok(&["task", "unblock", "1.1"]);
        let (code, said) = arena.run(&[]);
        assert_eq!(code, 0, "{said}");
        arena.ok(&["close", "--yes"]);
    }
    for name in ["precious.txt", "other.txt"] {
        let refs = arena.git(&["for-each-ref", "--format=%(refname)", "refs/swarm"]);
        let holds = |one: &str| !arena.git(&["ls-tree", one, "--", name]).trim().is_empty();
        assert!(refs.lines().any(holds), "{name} is on no ref of\n{refs}");
    }
}
