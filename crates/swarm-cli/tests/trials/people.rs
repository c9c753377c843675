//! People, and repositories as people have them: nothing of theirs is touched, and the swarm goes on.

use std::os::unix::ffi::OsStrExt;

use serde_json::json;

use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, task};

const GOOD: &str = "write a.txt a\ncommit feat: a\ncomplete";

#[test]
fn trunk_moved_by_a_person_in_the_middle_keeps_both_works() {
    let arena = arena_with(json!({ "verify": { "commands": ["true"] } }));
    let go = arena.path("go");
    arena.plan(&[(
        "1.1",
        &[],
        format!("write a.txt a\ncommit feat: a\nwait-for {}\ncomplete", go.display()),
    )]);
    let run = arena.start(&[]);
    wait_for("the agent has committed", || arena.committed().contains("feat: a"));
    arena.commit("person.txt", "mine\n");
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.commits("main", "feat: a") + arena.commits("main", "person: person.txt"), 2);
    assert_eq!(arena.git(&["status", "--porcelain", "--untracked-files=no"]), "");
    arena.assert_proven("1.1", "main");
}

#[test]
fn a_branch_of_somebody_with_the_name_of_a_task_is_left_alone_and_named() {
    let arena = arena_with(json!({}));
    arena.git(&["checkout", "--quiet", "-b", "swarm/1.1"]);
    arena.commit("somebody.txt", "somebody's\n");
    let theirs = arena.git(&["rev-parse", "swarm/1.1"]);
    arena.git(&["checkout", "--quiet", "main"]);
    arena.plan(&[("1.1", &[], GOOD.into()), ("1.2", &[], "write b.txt b\ncommit feat: b\ncomplete".into())]);
    let (_, said) = arena.run(&["--agents", "2"]);
    assert_eq!(arena.git(&["rev-parse", "swarm/1.1"]), theirs, "somebody's branch is moved: {said}");
    assert_eq!(arena.shown("1.1")["block"], "setup", "{said}");
    let help = "git branch -m swarm/1.1 1.1-old";
    assert!(arena.ok(&["status"]).contains(help), "the command that helps: {said}");
    arena.assert_proven("1.2", "main");
    arena.assert_nothing_runs();
}

#[test]
fn a_branch_named_swarm_is_named_with_the_command_that_helps() {
    let arena = arena_with(json!({}));
    arena.git(&["branch", "swarm"]);
    arena.plan(&[("1.1", &[], GOOD.into())]);
    let (code, said) = arena.run(&[]);
    let all = format!("{said}\n{}", arena.ok(&["status"]));
    assert_ne!(code, 0, "{all}");
    assert!(all.contains("branch named swarm") || all.contains("branch swarm"), "{all}");
    assert!(all.contains("git branch -m swarm"), "the command that helps: {all}");
    let attempts = arena.shown("1.1")["attempts"].as_u64().expect("a number");
    assert!(attempts <= 1, "{all}");
    arena.git(&["branch", "-m", "swarm", "swarm-of-mine"]);
    if arena.status_of("1.1") == "blocked" {
        arena.ok(&["task", "unblock", "1.1"]);
    }
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_repository_without_any_identity_is_worked_on_all_the_same() {
    let arena = arena_with(json!({ "merge": { "strategy": "merge" } }));
    arena.git(&["config", "--unset", "user.name"]);
    arena.git(&["config", "--unset", "user.email"]);
    // Also for what the agent left uncommitted.
    arena.plan(&[("1.1", &[], "write a.txt a\ncommit feat: a\nwrite rest.txt rest\ncomplete".into())]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    assert!(arena.git(&["ls-tree", "-r", "--name-only", "main"]).contains("rest.txt"));
    arena.assert_tidy();
}

#[test]
fn a_worktree_deleted_by_hand_before_the_next_attempt_is_made_again_from_the_branch() {
    let arena = arena_with(json!({}));
    let script = "on-attempt 1: write a.txt one\non-attempt 1: commit feat: before\non-attempt 1: blocked wait\nappend a.txt two\ncommit feat: after\ncomplete";
    arena.plan(&[("1.1", &[], script.into())]);
    arena.run(&[]);
    std::fs::remove_dir_all(arena.root.join(".swarm/worktrees/1.1")).expect("it was there");
    arena.ok(&["task", "unblock", "1.1"]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.commits("main", "feat: before") + arena.commits("main", "feat: after"), 2);
    arena.assert_tidy();
}

#[test]
fn a_worktree_deleted_by_hand_during_an_attempt_loses_no_commit() {
    let arena = arena_with(json!({}));
    let (at, go) = (arena.path("at"), arena.path("go"));
    let script = format!(
        "on-attempt 1: write a.txt one\non-attempt 1: commit feat: before\non-attempt 1: wait-for {}\nwait-for {}\nwrite b.txt two\ncommit feat: after\ncomplete",
        go.display(),
        go.display()
    );
    arena.plan(&[("1.1", &[], script)]);
    let run = arena.start(&[]);
    wait_for("the agent has committed", || arena.committed().contains("feat: before"));
    std::fs::remove_dir_all(arena.root.join(".swarm/worktrees/1.1")).expect("it was there");
    std::fs::write(at, "").expect("a file");
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    assert_eq!(arena.commits("main", "feat: before"), 1, "{said}");
    assert_eq!(arena.commits("main", "feat: after"), 1, "{said}");
    arena.assert_tidy();
}

#[test]
fn names_that_are_not_text_are_committed_left_uncommitted_and_in_the_way_without_harm() {
    let arena = arena_with(json!({}));
    // A person has one in the checkout, changed.
    let name = std::ffi::OsStr::from_bytes(b"person-\xff\xfe.txt");
    std::fs::write(arena.root.join(name), "mine\n").expect("a file");
    arena.git(&["add", "--all", "--", ":!.swarm"]);
    arena.git(&["commit", "--quiet", "--message", "person: an odd name"]);
    let script = "sh printf a > $(printf 'agent-\\377.txt'); printf b > \"$(printf 'new\\nline.txt')\"\n\
                  commit feat: odd names\nsh printf c > $(printf 'rest-\\376.txt')\ncomplete";
    arena.plan(&[
        ("1.1", &[], script.into()),
        (
            "1.2",
            &["1.1"],
            "sh printf d > $(printf 'person-\\377\\376.txt')\ncommit feat: the person's\ncomplete".into(),
        ),
    ]);
    std::fs::write(arena.root.join(name), "mine, changed\n").expect("a file");
    let mut run = arena.start(&[]);
    run.until("waits for your checkout");
    assert_eq!(std::fs::read(arena.root.join(name)).expect("it"), b"mine, changed\n");
    std::fs::write(arena.root.join(name), "mine\n").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    let names = arena.git(&["ls-tree", "-r", "--name-only", "main"]);
    for part in ["agent-\\377.txt", "new\\nline.txt", "rest-\\376.txt"] {
        assert!(names.contains(part), "{part}: {names}");
    }
    arena.assert_tidy();
}

#[test]
fn a_repository_whose_path_is_too_long_for_a_socket_is_worked_on() {
    let mut arena = arena_with(json!({}));
    let deep = arena.path(&format!("{}/{}", "d".repeat(120), "e".repeat(80)));
    std::fs::create_dir_all(&deep).expect("a deep folder");
    let there = deep.join("repo");
    std::fs::rename(&arena.root, &there).expect("moved");
    arena.root = there;
    let go = arena.path("go");
    arena.plan(&[(
        "1.1",
        &[],
        format!("write a.txt a\ncommit feat: a\nwait-for {}\ncomplete", go.display()),
    )]);
    let mut run = arena.start(&[]);
    run.until("is working");
    // The socket works too, while it runs.
    let out = arena.swarm(&["task", "add", "another"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_tidy();
}

fn check_that_cannot_pass(check: &str, timeout: &str) -> (Arena, String) {
    let arena = arena_with(json!({
        "check": { "commands": [check], "timeout": timeout }, "maxIterations": 2,
        "recovery": { "maxRetries": 0, "backoffMax": "1s" },
    }));
    arena.plan(&[("1.1", &[], GOOD.into())]);
    let run = arena.start(&[]);
    // It fails before any work too: that is no fault of the task, and a person is asked.
    wait_for("it is paused", || arena.json(&["status"])["paused"] == json!(["checks"]));
    let said = format!("{}\n{}", arena.ok(&["status"]), arena.attention());
    arena.ok(&["stop"]);
    let (code, _) = run.end();
    assert_eq!(code, 1, "{said}");
    assert_eq!(arena.commits("main", "feat: a"), 0, "nothing unchecked reaches trunk");
    arena.assert_nothing_runs();
    (arena, said)
}

#[test]
fn a_check_command_that_does_not_exist_is_named() {
    let (arena, said) = check_that_cannot_pass("no-such-check-program --strict", "10s");
    assert!(said.contains("127"), "{said}");
    assert!(arena.printed().contains("no-such-check-program"), "{}", arena.printed());
}

#[test]
fn a_check_command_that_hangs_is_ended_with_all_it_started() {
    let (arena, said) = check_that_cannot_pass("setsid sleep 600 & sleep 601", "1s");
    assert!(said.contains("time") || said.contains("1 s") || said.contains("1s"), "{said}");
    arena.assert_nothing_runs();
}

/// What `git gc --prune=now` does to a commit that is made at the same moment; then it is stopped. Gives the saved file, and
/// what lets the agent go on.
fn stopped_without_content(arena: &Arena, damage: impl FnOnce()) -> (String, std::path::PathBuf) {
    let go = arena.path("go");
    let script = "write a.txt a\ncommit feat: a\nwrite a.txt b\ncommit feat: b\nprint committed\nwait-for GO\ncomplete";
    arena.plan(&[("1.1", &[], script.replace("GO", &go.display().to_string()))]);
    let run = arena.start(&[]);
    wait_for("it has committed twice", || arena.printed().contains("committed"));
    // Behind walls the commit is in the agent's own repository, else in the person's.
    let own = arena.root.join(".swarm/worktrees/.git-of/1.1");
    let store = if own.is_dir() { own } else { arena.root.join(".git") };
    let named = format!("--git-dir={}", store.display());
    let tree = arena.git(&[&named, "rev-parse", "swarm/1.1^{tree}"]).trim().to_owned();
    let object = store.join("objects").join(&tree[..2]).join(&tree[2..]);
    std::fs::remove_file(object).expect("a loose object");
    damage();
    arena.ok(&["stop"]);
    run.end();
    arena.assert_nothing_runs();
    let saved = arena.git(&["for-each-ref", "--format=%(refname)", "refs/swarm/wip/1.1"]);
    (arena.git(&["show", &format!("{}:a.txt", saved.trim())]).trim().to_owned(), go)
}

#[test]
fn a_stop_ends_and_saves_the_files_when_the_last_commit_has_lost_its_content() {
    for sandbox in ["landlock", "none"] {
        let arena = arena_with(json!({ "sandbox": sandbox }));
        let (saved, go) = stopped_without_content(&arena, || {});
        assert_eq!(saved, "b", "{sandbox}");
        std::fs::write(go, "").expect("a file");
        let (code, said) = arena.run(&[]);
        assert_eq!((code, arena.git(&["show", "main:a.txt"]).trim()), (0, "b"), "{sandbox}: {said}");
        arena.is_judged(); // git fsck names what was taken away
    }
}

#[test]
fn a_stop_ends_and_saves_the_files_also_when_nobody_knows_where_the_task_began() {
    for sandbox in ["landlock", "none"] {
        let arena = arena_with(json!({ "sandbox": sandbox }));
        let note = arena.root.join(".git/swarm/worktrees/1.1.json");
        let (saved, _) = stopped_without_content(&arena, || std::fs::remove_file(note).expect("it is there"));
        assert_eq!(saved, "b", "{sandbox}");
        arena.is_judged(); // git fsck names what was taken away
    }
}

#[test]
fn a_plan_of_two_tasks_that_change_the_same_line_asks_a_person_about_one() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "write README.md one\ncommit docs: one\ncomplete"),
        task("1.2", &[], "write README.md two\ncommit docs: two\ncomplete"),
    ]]);
    let (code, said) = arena.run(&["--agents", "2"]);
    assert_eq!(code, 1, "{said}");
    let states: Vec<String> = ["1.1", "1.2"].map(|id| arena.status_of(id)).into();
    assert!(states.contains(&"done".into()) && states.contains(&"blocked".into()), "{states:?}: {said}");
    let blocked = if states[0] == "blocked" { "1.1" } else { "1.2" };
    let view = arena.shown(blocked);
    assert_eq!(view["block"], "conflict", "{view}");
    assert!(arena.attention().contains("README.md"), "{}", arena.attention());
    assert!(!view["commands"].as_array().expect("commands").is_empty(), "{view}");
}

#[test]
fn every_blocked_task_can_be_returned_at_once_or_only_those_of_one_kind() {
    let arena = arena_with(json!({}));
    let script = || "complete".to_owned();
    arena.plan(&[("1.1", &[], script()), ("1.2", &[], script()), ("1.3", &[], script())]);
    for task in ["1.1", "1.3"] {
        arena.ok(&["task", "block", task, "--reason", "waits for the key"]);
    }
    let of_another_kind = arena.swarm(&["task", "unblock", "--all", "--kind", "setup"]);
    assert_eq!(of_another_kind.status.code(), Some(1));
    let looked = arena.ok(&["task", "unblock", "--all", "--dry-run"]);
    assert!(looked.contains("1.1") && looked.contains("1.3") && !looked.contains("1.2"), "{looked}");
    assert_eq!(arena.status_of("1.1"), "blocked", "a look changes nothing");
    let said = arena.ok(&["task", "unblock", "--all", "--kind", "human"]);
    assert_eq!(said.lines().count(), 2, "{said}");
    for task in ["1.1", "1.2", "1.3"] {
        assert_eq!(arena.status_of(task), "pending");
    }
    assert_eq!(arena.swarm(&["task", "unblock", "--all"]).status.code(), Some(1), "nothing is left");
}
