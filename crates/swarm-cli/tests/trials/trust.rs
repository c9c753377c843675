//! S6, S7: what runs outside the walls changes only when a person has seen it, whether an agent hands it in or the
//! repository brought it along.

use serde_json::json;

use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, has, task};

/// Puts a hook into the repository and says that it is complete.
const PLANTS: &str = "sh mkdir -p .swarm/hooks && printf '#!/bin/sh\\ntouch ../../../planted\\n' > .swarm/hooks/pre-start.sh && chmod +x .swarm/hooks/pre-start.sh\n\
    sh git add -f .swarm && git commit -q -m 'feat: harmless'\ncomplete";

fn said(out: &std::process::Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

fn refused(arena: &Arena, args: &[&str], parts: &[&str]) {
    let out = arena.swarm(args);
    assert!(!out.status.success(), "{args:?} is refused: {}", said(&out));
    has(&said(&out), parts);
}

#[test]
fn what_an_agent_would_run_outside_waits_for_a_person_and_is_used_only_after_another_word() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![
        task("1.1", &[], PLANTS),
        task("1.2", &[], "write b.txt b\ncommit feat: b\ncomplete"),
    ]]);
    let run = arena.start(&[]);
    wait_for("1.1 waits for a person", || arena.attention().contains("1.1"));
    wait_for("1.2 is done", || arena.status_of("1.2") == "done");
    assert_eq!(arena.git(&["ls-tree", "-r", "--name-only", "main", ".swarm"]), "", "it is not on trunk");
    has(
        &arena.attention(),
        &["1.1", "protected files: .swarm/hooks/pre-start.sh", "swarm review approve 1.1"],
    );
    has(&arena.ok(&["review", "show", "1.1"]), &["protected", ".swarm/hooks/pre-start.sh"]);
    arena.ok(&["review", "approve", "1.1"]);
    let (code, told) = run.end();
    assert_eq!(code, 0, "{told}");
    assert_eq!(arena.git(&["ls-tree", "-r", "--name-only", "main", ".swarm"]), ".swarm/hooks/pre-start.sh\n");
    // It is on trunk and in the checkout, and not executed.
    arena.ok(&["task", "add", "Do 1.3", "--phase", "1"]);
    refused(&arena, &["run", "--agent", "script"], &["pre-start.sh came with the repository", "swarm trust"]);
    refused(&arena, &["hooks", "run", "pre-start"], &["swarm trust"]);
    let doctor = said(&arena.swarm(&["doctor"]));
    has(&doctor, &["pre-start.sh came with the repository and is not used", "swarm trust"]);
    has(&arena.ok(&["trust", "--dry-run"]), &[".swarm/hooks/pre-start.sh", "touch ../../../planted"]);
    refused(&arena, &["hooks", "run", "pre-start"], &["swarm trust"]);
    arena.ok(&["trust", "--yes"]);
    has(&arena.ok(&["trust"]), &["Nothing needs your agreement"]);
    arena.ok(&["hooks", "run", "pre-start"]);
    arena.ok(&["trust", "--forget", "--yes"]);
    refused(&arena, &["hooks", "run", "pre-start"], &["swarm trust"]);
    assert!(!arena.path("planted").exists());
}

/// What git itself would run of a checkout, once it is merged: by a setting of the person, or by a folder that it takes for
/// a repository.
#[test]
fn what_the_persons_git_would_run_waits_for_a_person() {
    let arena = arena_with(json!({}));
    arena.git(&["config", "include.path", "../.gitconfig"]);
    arena.git(&["config", "core.hooksPath", ".husky/_"]);
    let commits = "\nsh git add -A && git commit -q -m 'feat: harmless'\ncomplete";
    let planted = [
        ("1.1", ".gitconfig", "sh printf '[alias]\\n' > .gitconfig".to_owned()),
        ("1.2", ".husky/pre-commit", "write .husky/pre-commit x".to_owned()),
        (
            "1.3",
            "v/HEAD",
            ["HEAD", "config", "objects/x", "refs/x"].map(|file| format!("write v/{file} x")).join("\n"),
        ),
    ];
    let tasks = planted
        .iter()
        .map(|(id, _, script)| task(id, &[], &format!("{script}{commits}")))
        .collect::<Vec<_>>();
    arena.plan_in_phases(&[tasks]);
    let run = arena.start(&[]);
    for (id, file, _) in &planted {
        wait_for("it waits for a person", || {
            arena.attention().contains(&format!("Task {id} waits for your review"))
        });
        has(&arena.ok(&["review", "show", id]), &["protected", file]);
    }
    assert_eq!(arena.git(&["ls-tree", "-r", "--name-only", "main"]), "README.md\n");
    for (id, ..) in &planted {
        arena.ok(&["review", "approve", id]);
    }
    let (code, told) = run.end();
    assert_eq!(code, 0, "{told}");
}

#[test]
fn a_part_of_a_repository_that_trunk_has_and_a_file_that_a_linked_worktree_shows_wait_for_a_person_too() {
    let arena = arena_with(json!({}));
    for file in ["HEAD", "config", "objects/x", "refs/x"] {
        arena.write(&format!("tests/fix.git/{file}"), "x\n");
    }
    arena.git(&["add", "tests"]);
    arena.git(&["commit", "--quiet", "--message", "a fixture"]);
    let linked = arena.path("linked");
    let place = linked.to_str().expect("text");
    arena.git(&["worktree", "add", "--quiet", "--detach", place, "main"]);
    arena.git(&["config", "include.path", &format!("{place}/conf")]);
    let commits = "\nsh git add -A && git commit -q -m 'feat: harmless'\ncomplete";
    let planted =
        [("1.1", "tests/fix.git/config"), ("1.2", "tests/fix.git/hooks/post-commit"), ("1.3", "conf")];
    let tasks = planted.map(|(id, file)| {
        task(id, &[], &format!("sh mkdir -p $(dirname {file})\nsh printf '[alias]\\n' > {file}{commits}"))
    });
    arena.plan_in_phases(&[tasks.to_vec()]);
    let run = arena.start(&[]);
    for (id, file) in planted {
        wait_for("it waits for a person", || {
            arena.attention().contains(&format!("Task {id} waits for your review"))
        });
        has(&arena.ok(&["review", "show", id]), &["protected", file]);
        arena.ok(&["review", "approve", id]);
    }
    let (code, told) = run.end();
    assert_eq!(code, 0, "{told}");
}

#[test]
fn a_clone_brings_neither_configuration_nor_links_that_are_followed() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete")]]);
    // As the person wrote it, it is the person's, also when it is committed.
    let (code, _) = arena.run(&[]);
    assert_eq!(code, 0);
    arena.git(&["add", "-f", ".swarm/config.json"]);
    arena.git(&["commit", "-q", "-m", "our configuration"]);
    let (code, told) = arena.run(&[]);
    assert_eq!(code, 0, "{told}");
    // As a pull leaves it.
    arena.write(".swarm/config.json", r#"{"check": {"commands": ["touch ../../../pulled"]}}"#);
    refused(&arena, &["run", "--agent", "script"], &["config.json came with the repository"]);
    has(&arena.ok(&["trust", "--dry-run"]), &["touch ../../../pulled"]);
    // A link in the place of a folder of ours would take what we throw away elsewhere.
    let elsewhere = arena.path("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    std::fs::write(elsewhere.join("precious"), "precious").expect("written");
    std::fs::rename(arena.root.join(".swarm/trash"), arena.path("trash-before")).ok();
    std::os::unix::fs::symlink(&elsewhere, arena.root.join(".swarm/trash")).expect("a link");
    refused(&arena, &["status"], &[".swarm/trash is a link to", "rm .swarm/trash"]);
    assert_eq!(std::fs::read_dir(&elsewhere).expect("there").count(), 1, "nothing was put there or taken");
}
