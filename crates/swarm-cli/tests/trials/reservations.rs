//! Files that a task, or a person, has for themselves: agents wait for each other, and work waits for its merge.

use serde_json::{Value, json};

use crate::arena::wait_for;
use crate::ground::{arena_with, has, task};

/// Works in `src`, and writes down from when to when.
fn works_alone(id: &str) -> Value {
    let now = format!("date +%s%N >> src/{id}.txt");
    let script = format!("sh mkdir -p src && {now}\nsh sleep 0.2 && {now}\ncommit feat: {id}\ncomplete");
    let mut task = task(id, &[], &script);
    task["reserve"] = json!(["src/**"]);
    task
}

#[test]
fn w3_tasks_that_reserve_the_same_files_are_never_at_work_together_and_all_of_them_land() {
    let arena = arena_with(json!({ "recovery": { "maxRetries": 0 } }));
    let mut tasks: Vec<Value> = ["1.1", "1.2", "1.3", "1.4"].map(works_alone).into();
    // One that wants other files goes on beside them.
    let mut beside = task("1.5", &[], "write docs/a.md a\ncommit docs: a\ncomplete");
    beside["reserve"] = json!(["docs/**"]);
    tasks.push(beside);
    arena.plan_in_phases(&[tasks]);
    let (code, said) = arena.run(&["--agents", "4"]);
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    for id in ["1.1", "1.2", "1.3", "1.4", "1.5"] {
        arena.assert_proven(id, "main");
    }
    let files = arena.git(&["ls-tree", "-r", "--name-only", "main", "src", "docs"]);
    assert_eq!(files.trim(), "docs/a.md\nsrc/1.1.txt\nsrc/1.2.txt\nsrc/1.3.txt\nsrc/1.4.txt");
    let mut times = ["1.1", "1.2", "1.3", "1.4"].map(|id| {
        let text = arena.git(&["show", &format!("main:src/{id}.txt")]);
        let times: Vec<u128> = text.lines().filter_map(|line| line.parse().ok()).collect();
        (times[0], times[1])
    });
    times.sort_unstable();
    assert!(times.windows(2).all(|pair| pair[0].1 < pair[1].0), "somebody met somebody: {times:?}");
    assert_eq!(arena.json(&["reservations"]), json!([]), "all of them are released");
    arena.assert_true_at_rest();
    arena.assert_tidy();
}

#[test]
fn w3_work_in_files_that_a_person_has_reserved_is_merged_when_they_are_free() {
    let arena = arena_with(json!({}));
    let go = arena.path("go").display().to_string();
    let script = format!("write src/a.txt a\ncommit feat: a\nprint half way\nwait-for {go}\ncomplete");
    arena.plan_in_phases(&[vec![task("1.1", &[], &script)]]);
    let run = arena.start(&["--agents", "1"]);
    wait_for("the agent is half way", || arena.printed().contains("half way"));
    has(
        &arena.ok(&["reservations", "add", "src/**", "--for", "2h", "--reason", "mine"]),
        &["Reserved src/**"],
    );
    std::fs::write(arena.path("go"), "").expect("a file");
    wait_for("the merge waits", || {
        arena.ok(&["attention"]).contains("The merge of task 1.1 waits for reserved files")
    });
    has(
        &arena.ok(&["attention"]),
        &["src/a.txt is reserved by person:cli (reservation 1)", "swarm reservations release 1"],
    );
    has(&arena.ok(&["status"]), &["src/** is reserved by person:cli until", "1 task waits"]);
    has(&arena.ok(&["reservations"]), &["person:cli", "src/**", "1.1", "mine"]);
    assert_eq!(arena.git(&["ls-tree", "-r", "--name-only", "main", "src"]), "", "nothing of it is on trunk");
    has(&arena.ok(&["reservations", "release", "1", "--dry-run"]), &["reservation 1"]);
    arena.ok(&["reservations", "release", "1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_proven("1.1", "main");
    arena.assert_true_at_rest();
    arena.assert_tidy();
}

#[test]
fn w3_an_agent_is_told_which_files_are_whose() {
    let arena = arena_with(json!({}));
    let go = arena.path("go").display().to_string();
    let script = format!("write src/a.txt a\ncommit feat: a\nprint half way\nwait-for {go}\ncomplete");
    let mut own = task("1.1", &[], &script);
    own["reserve"] = json!(["src/**"]);
    arena.plan_in_phases(&[vec![own]]);
    arena.ok(&["reservations", "add", "docs"]);
    let run = arena.start(&[]);
    wait_for("the agent is half way", || arena.printed().contains("half way"));
    let prompt = arena.prompt_of("r1");
    std::fs::write(arena.path("go"), "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    has(
        &prompt,
        &["These files are reserved for it", "- src/**", "Others have reserved these files", "- docs"],
    );
}

/// A task that has reserved a folder, and writes what it is told.
fn in_folder(id: &str, folder: &str, script: &str) -> Value {
    let mut task = task(id, &[], script);
    task["reserve"] = json!([format!("{folder}/**")]);
    task
}

#[test]
fn w3_work_in_files_of_a_task_that_is_still_at_work_waits_for_it_whoever_began_first() {
    let arena = arena_with(json!({}));
    let go = arena.path("go").display().to_string();
    arena.plan_in_phases(&[vec![
        in_folder("1.1", "a", "write b/strayed.txt x\ncommit feat: strayed\ncomplete"),
        in_folder("1.2", "b", &format!("write b/own.txt y\ncommit feat: own\nwait-for {go}\ncomplete")),
    ]]);
    let run = arena.start(&["--agents", "2"]);
    wait_for("the merge waits", || {
        arena.ok(&["attention"]).contains("The merge of task 1.1 waits for reserved files")
    });
    assert_eq!(arena.git(&["ls-tree", "-r", "--name-only", "main", "b"]), "");
    std::fs::write(&go, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    let order = arena.git(&["log", "--format=%s", "--reverse", "main"]);
    assert!(order.find("feat: own") < order.find("feat: strayed"), "{order}");
    arena.assert_true_at_rest();
}

#[test]
fn w3_two_tasks_that_strayed_into_each_others_files_do_not_wait_for_each_other() {
    let arena = arena_with(json!({}));
    let go = arena.path("go").display().to_string();
    let strays = |to: &str| {
        format!("write {to}/strayed.txt x\ncommit feat: to {to}\nprint in {to}\nwait-for {go}\ncomplete")
    };
    arena.plan_in_phases(&[vec![in_folder("1.1", "a", &strays("b")), in_folder("1.2", "b", &strays("a"))]]);
    let run = arena.start(&["--agents", "2"]);
    wait_for("both are half way", || {
        let printed = arena.printed();
        printed.contains("in a") && printed.contains("in b")
    });
    std::fs::write(&go, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_proven("1.1", "main");
    arena.assert_proven("1.2", "main");
    arena.assert_true_at_rest();
}

#[test]
fn w3_files_that_a_person_reserves_while_work_is_verified_are_not_changed_under_them() {
    let arena = arena_with(json!({}));
    let go = arena.path("go").display().to_string();
    let verify = format!("while ! test -e {go}; do sleep 0.1; done");
    let config = json!({ "mode": "autopilot", "verify": { "commands": [verify] } });
    arena.write(".swarm/config.json", &config.to_string());
    arena.plan_in_phases(&[vec![task("1.1", &[], "write src/a.txt a\ncommit feat: a\ncomplete")]]);
    let run = arena.start(&[]);
    wait_for("the verification has begun", || arena.ok(&["task", "list"]).contains("verifying"));
    arena.ok(&["reservations", "add", "src/**", "--for", "2h"]);
    std::fs::write(&go, "").expect("a file");
    wait_for("the merge waits", || {
        arena.ok(&["attention"]).contains("The merge of task 1.1 waits for reserved files")
    });
    assert_eq!(arena.git(&["ls-tree", "-r", "--name-only", "main", "src"]), "");
    arena.ok(&["reservations", "release", "1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_proven("1.1", "main");
}
