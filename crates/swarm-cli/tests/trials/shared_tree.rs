//! Tasks that work in one tree: each commits its own files and nothing else, whatever agents do there.

use serde_json::{Value, json};

use crate::arena::{Arena, send, wait_for};
use crate::ground::{arena_with, has, scaled, task};

/// A task that shares the tree and has these files.
fn shares(id: &str, depends: &[&str], files: &[&str], script: &str) -> Value {
    let mut task = task(id, depends, script);
    task["isolation"] = json!("reservation");
    task["reserve"] = json!(files);
    task
}

/// What the commits of a task changed.
fn changed_by(arena: &Arena, id: &str) -> Vec<String> {
    let log = arena.git(&["log", "--format=", "--name-only", &format!("--grep=^Swarm-Task: {id}$"), "main"]);
    let mut names: Vec<String> = log.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn w1_agents_in_one_tree_that_try_to_commit_everything_commit_their_own_files() {
    let tasks = scaled(16, 40);
    let arena = arena_with(json!({ "isolation": "reservation" }));
    arena.commit("README.md", "# here\n");
    // A formatter that runs over everybody's files, and everything that destroys others' work where git can be written.
    let meddles = "sh git commit -am mine; git add -A; git stash; git checkout -- .; git reset --hard; true\n\
                   sh find . -name '*.txt' -exec sed -i 's/[ ]*$//' {} +\n";
    let plan: Vec<Value> = (1..=tasks)
        .map(|n| {
            let script = format!(
                "write src/d{n}/a.txt one of {n}   \n{meddles}write src/d{n}/b.txt two of {n}\n{meddles}complete"
            );
            let mut task = task(&format!("1.{n}"), &[], &script);
            task["reserve"] = json!([format!("src/d{n}/**")]);
            task
        })
        .collect();
    arena.plan_in_phases(&[plan]);
    let (code, said) = arena.run(&["--agents", "8"]);
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    for n in 1..=tasks {
        let id = format!("1.{n}");
        arena.assert_proven(&id, "main");
        assert_eq!(changed_by(&arena, &id), [format!("src/d{n}/a.txt"), format!("src/d{n}/b.txt")]);
        assert_eq!(arena.git(&["show", &format!("main:src/d{n}/a.txt")]).trim(), format!("one of {n}"));
        assert_eq!(arena.git(&["show", &format!("main:src/d{n}/b.txt")]).trim(), format!("two of {n}"));
    }
    assert_eq!(arena.git(&["show", "main:README.md"]).trim(), "# here");
    arena.assert_true_at_rest();
    arena.assert_tidy();
}

#[test]
fn w1_in_one_tree_a_task_sees_what_others_do_and_builds_on_what_is_merged() {
    let arena = arena_with(json!({}));
    let (seen, go) = (arena.path("seen"), arena.path("go"));
    let writes = format!("write a/one.txt 1\nprint wrote-one\nwait-for {}\ncomplete", seen.display());
    let looks = format!(
        "wait-for {}\nsh cat a/one.txt && cp a/one.txt b/copy.txt\nprint saw-one\ncomplete",
        go.display()
    );
    arena.commit("b/keep.txt", "b\n");
    let third = "sh cat a/one.txt b/copy.txt > c.txt\ncomplete";
    arena.plan_in_phases(&[vec![
        shares("1.1", &[], &["a/**"], &writes),
        shares("1.2", &[], &["b/**"], &looks),
        shares("1.3", &["1.1", "1.2"], &["c.txt"], third),
    ]]);
    let run = arena.start(&["--agents", "2"]);
    wait_for("the first has written", || arena.printed().contains("wrote-one"));
    std::fs::write(go, "").expect("a file");
    wait_for("the second has seen it", || arena.printed().contains("saw-one"));
    std::fs::write(seen, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    assert_eq!(changed_by(&arena, "1.1"), ["a/one.txt"]);
    assert_eq!(changed_by(&arena, "1.2"), ["b/copy.txt"]);
    assert_eq!(arena.git(&["show", "main:c.txt"]).trim(), "1\n1");
    arena.assert_true_at_rest();
    arena.assert_tidy();
}

#[test]
fn w3_a_file_that_nobody_has_reserved_goes_into_no_task_and_is_not_lost() {
    let arena = arena_with(json!({}));
    let go = arena.path("go");
    let strays = "write a/one.txt 1\nsh echo nobody > notes.txt\nprint strayed\ncomplete";
    let beside = format!("print here\nwait-for {}\nwrite b/two.txt 2\ncomplete", go.display());
    arena.plan_in_phases(&[vec![
        shares("1.1", &[], &["b/**"], &beside),
        shares("1.2", &[], &["a/**"], &format!("wait-for {}\n{strays}", arena.path("first").display())),
        shares("1.3", &["1.1", "1.2"], &["c.txt"], "sh test ! -e notes.txt\nwrite c.txt 3\ncomplete"),
    ]]);
    let run = arena.start(&["--agents", "2"]);
    wait_for("the other one is there", || arena.printed().contains("here"));
    std::fs::write(arena.path("first"), "").expect("a file");
    wait_for("somebody is told", || arena.attention().contains("notes.txt"));
    has(
        &arena.attention(),
        &["reserved by nobody: notes.txt", "git cherry-pick --no-commit refs/swarm/rescue/1.2/"],
    );
    std::fs::write(go, "").expect("a file");
    let (_, said) = run.end();
    arena.assert_all_done();
    assert_eq!(changed_by(&arena, "1.1"), ["b/two.txt"], "{said}");
    assert_eq!(changed_by(&arena, "1.2"), ["a/one.txt"], "{said}");
    // It is put back before the next one begins, and told once.
    assert_eq!(changed_by(&arena, "1.3"), ["c.txt"], "{said}");
    assert!(!arena.attention().contains("of task 1.3"), "{}", arena.attention());
    let kept = arena.git(&["for-each-ref", "--format=%(refname)", "refs/swarm/rescue/1.2"]);
    assert_eq!(arena.git(&["show", &format!("{}:notes.txt", kept.trim())]).trim(), "nobody");
}

#[test]
fn w3_what_the_only_agent_in_the_tree_changes_beside_its_files_is_its_own() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![
        shares("1.1", &[], &["a/**"], "write a/one.txt 1\nwrite notes.txt mine\ncomplete"),
        shares("1.2", &["1.1"], &["b/**"], "sh cat notes.txt\nwrite b/two.txt 2\nsh rm notes.txt\ncomplete"),
    ]]);
    let (code, said) = arena.run(&["--agents", "1"]);
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    assert_eq!(changed_by(&arena, "1.1"), ["a/one.txt", "notes.txt"]);
    assert_eq!(changed_by(&arena, "1.2"), ["b/two.txt", "notes.txt"]);
    assert_eq!(arena.git(&["ls-tree", "--name-only", "main", "notes.txt"]), "");
    arena.assert_true_at_rest();
    arena.assert_tidy();
}

#[test]
fn w1_without_walls_nobody_is_let_into_a_shared_tree() {
    let arena = arena_with(json!({ "sandbox": "none" }));
    arena.plan_in_phases(&[vec![shares("1.1", &[], &["a/**"], "write a/one.txt 1\ncomplete")]]);
    let (code, said) = arena.run(&["--agents", "1"]);
    assert_ne!(code, 0, "{said}");
    has(&arena.ok(&["task", "show", "1.1"]), &["needs a sandbox"]);
    assert!(!arena.root.join(".swarm/worktrees/shared").exists(), "{said}");
}

#[test]
fn w1_an_agent_that_is_killed_in_the_shared_tree_goes_on_with_what_it_had() {
    let arena = arena_with(json!({}));
    let dies = "on-attempt 1: write a/one.txt half\non-attempt 1: print half-way\non-attempt 1: hang\n\
                sh test \"$(cat a/one.txt)\" = half\nwrite a/two.txt whole\ncomplete";
    arena.plan_in_phases(&[vec![shares("1.1", &[], &["a/**"], dies)]]);
    let mut run = arena.start(&["--agents", "1"]);
    wait_for("the agent is half way", || arena.printed().contains("half-way"));
    // Coordinator and daemon: nobody is left who could save anything.
    run.kill_9();
    let record = arena.root.join(".swarm/run/daemons/r1.json");
    let record: Value = serde_json::from_slice(&std::fs::read(record).expect("a record")).expect("JSON");
    send("KILL", record["pid"].as_u64().expect("a process") as u32);
    let (code, said) = arena.run(&["--agents", "1"]);
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    assert_eq!(changed_by(&arena, "1.1"), ["a/one.txt", "a/two.txt"]);
    arena.assert_true_at_rest();
    arena.assert_tidy();
}
