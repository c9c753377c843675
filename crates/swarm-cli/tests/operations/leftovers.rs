//! Ignored files in a worktree: what tools make again goes with it, what may be of value keeps it until a person says so.

use serde_json::json;

use crate::arena::Arena;
use crate::ground::{arena_with, task};

/// One task is done; its agent has left these files, which git ignores.
fn done_with(config: serde_json::Value, ignored: &[&str], files: &[&str]) -> Arena {
    let arena = arena_with(config);
    arena.commit(".gitignore", &(ignored.join("\n") + "\n.swarm/\n"));
    let made: Vec<String> = files.iter().map(|file| format!("write {file} left")).collect();
    let script = format!("write one.txt one\ncommit feat: one\n{}\ncomplete", made.join("\n"));
    arena.plan_in_phases(&[vec![task("1.1", &[], &script)]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    arena
}

fn is_there(arena: &Arena) -> bool {
    arena.root.join(".swarm/worktrees/1.1").exists()
}

#[test]
fn what_tools_make_again_keeps_no_worktree() {
    let ignored = [".coverage", "*.log", "*.tsbuildinfo", ".gradle", "*.egg-info", "obj"];
    let files = [
        ".coverage",
        "app/debug.log",
        "tsconfig.tsbuildinfo",
        ".gradle/x/y",
        "pkg.egg-info/PKG-INFO",
        "obj/a.json",
    ];
    let arena = done_with(json!({}), &ignored, &files);
    assert!(!is_there(&arena), "{}", arena.attention());
    assert_eq!(arena.attention(), "[]");
}

#[test]
fn what_the_set_up_has_made_and_what_the_configuration_names_keep_no_worktree() {
    let config = json!({ "worktree": {
        "setup": "mkdir -p generated/deep && echo 1 > generated/deep/x && echo 2 > local.dat",
        "disposable": ["scratch-*"],
    } });
    let arena = done_with(config, &["generated", "local.dat", "scratch-*"], &["generated/more", "scratch-1"]);
    assert!(!is_there(&arena), "{}", arena.attention());
}

#[test]
fn a_file_of_the_set_up_that_an_agent_has_changed_keeps_the_worktree() {
    let config = json!({ "worktree": { "setup": "echo 2 > local.dat" } });
    let arena = done_with(config, &["local.dat"], &["local.dat"]);
    assert!(is_there(&arena), "{}", arena.attention());
}

#[test]
fn what_may_be_of_value_is_resolved_by_the_command_that_attention_names_and_comes_back() {
    let arena = done_with(json!({}), &["*.key", ".env"], &["server.key", ".env"]);
    assert!(is_there(&arena));
    let attention = arena.attention();
    let command = "swarm worktree cleanup 1.1 --force";
    assert!(attention.contains(command), "{attention}");
    let stays = arena.ok(&["worktree", "cleanup", "1.1"]);
    assert!(stays.contains("stays") && is_there(&arena), "{stays}");
    let look = arena.ok(&["worktree", "cleanup", "1.1", "--force", "--dry-run"]);
    assert!(
        look.contains("would be removed") && look.contains("saved as trash/1.1-") && is_there(&arena),
        "{look}"
    );
    let told = arena.json(&["worktree", "cleanup", "1.1", "--force"]);
    let saved = told[0]["saved"].as_str().expect("where it is").to_owned();
    assert!(!is_there(&arena));
    assert_eq!(arena.attention(), "[]", "it is resolved for good");
    let listed = arena.ok(&["restore"]);
    assert!(listed.contains(&saved), "{listed}");
    let back = arena.json(&["restore", "1.1"]);
    assert_eq!(back["name"].as_str(), Some(saved.as_str()));
    let path = arena.root.join(back["path"].as_str().expect("a folder"));
    assert_eq!(std::fs::read_to_string(path.join("server.key")).expect("the key"), "left\n");
    assert!(path.join(".env").exists() && path.join("one.txt").exists());
    arena.ok(&["plan", "verify"]);
}
