//! Every command that changes something can be looked at first, and a look changes nothing: the tree of commands is
//! walked as its help prints it, so that a new command cannot be left out.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, task};

/// Commands that only read, or write nowhere near this repository.
pub const READS: &[&str] = &[
    "plan show",
    "plan history",
    "plan approved",
    "plan profile show",
    "plan verify",
    "task list",
    "task show",
    "task diff",
    "review list",
    "review show",
    "status",
    "handoff",
    "quota list",
    "reservations list",
    "budget show",
    "agent list",
    "agent logs",
    "agent debug",
    "worktree list",
    "checkpoint list",
    "checkpoint show",
    "op log",
    "op show",
    "hooks list",
    "config show",
    "cost",
    "metrics",
    // What it writes is a file for another program.
    "trace export",
    "completions",
    "debug classify",
    // A screen: what is done from it is looked at there first.
    "tui",
    // So are the pages. A session is the door's, not the swarm's: ending one changes nothing here.
    "web sessions",
    "web revoke",
    // Like sessions: a token lets a program in at the door.
    "mcp token",
    "mcp tokens",
    "mcp revoke",
    // In a repository of its own, which it throws away.
    "demo",
];

/// A call of each command that changes something, in the repository of `half_way`. `false`: it is refused there, and
/// then so is its preview.
pub const CHANGES: &[(&str, &[&str], bool)] = &[
    ("init", &[], true),
    ("plan save", &["other.md"], true),
    ("plan edit", &[], true),
    ("trust", &[], true),
    ("plan approve", &[], true),
    ("plan profile set", &["--parallel", "true", "--max", "3"], true),
    ("plan profile lock", &[], true),
    ("plan export", &[], true),
    ("plan import", &["other.md"], true),
    ("plan reset", &[], true),
    ("plan reopen", &[], false),
    ("plan rebuild", &[], true),
    ("plan salvage", &[], true),
    ("task add", &["More"], true),
    ("task edit", &["1.3", "--title", "Other"], true),
    ("task block", &["1.3", "waits"], true),
    ("task unblock", &["1.4"], true),
    ("task cancel", &["1.3"], true),
    ("task defer", &["1.3"], true),
    ("task remove", &["1.3"], true),
    ("task move", &["1.3", "--first"], true),
    ("task accept", &["1.3", "it is fine"], false),
    ("task waive", &["1.3", "check", "it is fine"], true),
    ("task split", &["1.3", "parts.md"], true),
    ("task start", &["1.3"], true),
    ("task rollback", &["1.2"], true),
    ("plan make", &["Greet people"], false),
    ("plan refine", &["one task more"], true),
    ("review approve", &["1.2"], false),
    ("review needs-changes", &["1.2", "more"], false),
    ("phase complete", &["2"], false),
    ("run", &["--plan", "other.md"], true),
    ("pause", &[], true),
    ("resume", &[], false),
    ("stop", &[], false),
    ("mode", &["semi-auto"], true),
    ("quota hold", &["script"], false),
    ("quota open", &["script"], false),
    ("budget extend", &[], true),
    ("reservations add", &["src/**"], true),
    ("reservations release", &["1"], false),
    ("agent message", &["1.3", "look here"], true),
    ("agent redirect", &["1.2", "1.3"], false),
    ("agent revive", &["ed-001"], false),
    ("agent stop", &["1.2"], false),
    ("agent kill", &["1.2"], false),
    ("worktree create", &["1.3"], true),
    ("worktree merge", &["1.2"], false),
    ("worktree cleanup", &["1.2", "--force"], true),
    ("restore", &["1.2"], true),
    ("checkpoint create", &["mine"], true),
    ("checkpoint delete", &["named"], true),
    ("rollback", &["named"], true),
    ("abort", &[], true),
    ("undo", &[], true),
    ("redo", &[], false),
    ("attention", &["--seen", "overstep/1.1/1"], false),
    ("hooks run", &["post-complete"], true),
    ("close", &[], true),
    ("mcp install", &["claude"], true),
    ("doctor", &["--fix"], true),
    ("man", &["pages"], true),
];

/// One task done, one half done with a worktree, one that waits, one that is blocked; a named checkpoint; a phase that
/// has nothing open. Nobody is at work.
pub fn half_way() -> Arena {
    let arena = arena_with(json!({ "agent": "script" }));
    let half = "write one.txt one\ncommit feat: one\nwrite two.txt two\nprint at work\nsleep 600000";
    arena.plan_in_phases(&[
        vec![
            task("1.1", &[], "write zero.txt zero\ncommit feat: zero\ncomplete"),
            task("1.2", &["1.1"], half),
            task("1.3", &["1.2"], "complete"),
            task("1.4", &["1.2"], "complete"),
        ],
        vec![task("2.1", &[], "complete")],
    ]);
    arena.ok(&["task", "cancel", "2.1"]);
    arena.ok(&["task", "block", "1.4", "not now"]);
    let run = arena.start(&["--agents", "1"]);
    wait_for("it is at work", || arena.printed().contains("at work"));
    arena.ok(&["stop"]);
    run.end();
    arena.ok(&["checkpoint", "create", "named"]);
    arena.ok(&["pause"]);
    arena.ok(&["resume"]);
    arena.write("other.md", "# Another goal\n\n- [ ] 1.1 Do 1.1\n- [ ] 1.9 New\n");
    arena.write("parts.md", "- [ ] First half\n- [ ] Second half\n");
    arena.write(".swarm/hooks/post-complete.sh", "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran\"\n");
    let hook = arena.root.join(".swarm/hooks/post-complete.sh");
    std::fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    arena
}

/// Every file and link below the repository, but for git's objects and what the swarm remembers of its looks.
pub fn everything(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let passed_over =
        [".git/objects", ".git/swarm/index", ".git/swarm/worktrees", ".git/swarm/administration"]
            .map(|dir| root.join(dir));
    let (mut found, mut open) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if passed_over.contains(&path) || path.extension().is_some_and(|end| end == "lock") {
                continue;
            }
            let meta = std::fs::symlink_metadata(&path).expect("it is there");
            if meta.is_dir() {
                open.push(path);
                continue;
            }
            let bytes = match meta.is_symlink() {
                true => std::fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes(),
                false => std::fs::read(&path).unwrap_or_default(),
            };
            found.insert(path.strip_prefix(root).expect("below").display().to_string(), bytes);
        }
    }
    found
}

/// The commands below these words, as the help names them; none for one that has none.
fn below(arena: &Arena, words: &[String]) -> Vec<String> {
    let mut args: Vec<&str> = words.iter().map(String::as_str).collect();
    args.push("--help");
    let help = arena.ok(&args);
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = commands
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

pub fn leaves(arena: &Arena, words: Vec<String>) -> Vec<Vec<String>> {
    let inner = below(arena, &words);
    if inner.is_empty() {
        return vec![words];
    }
    let with = |name: String| words.iter().cloned().chain([name]).collect::<Vec<_>>();
    inner.into_iter().flat_map(|name| leaves(arena, with(name))).collect()
}

#[test]
fn every_command_only_reads_or_can_be_looked_at_first_and_a_look_changes_no_byte() {
    let arena = half_way();
    let leaves = leaves(&arena, vec![]);
    assert!(leaves.len() > 60, "the help is read as it is printed: {leaves:?}");
    for leaf in &leaves {
        let name = leaf.join(" ");
        if READS.contains(&name.as_str()) {
            continue;
        }
        let known = CHANGES.iter().find(|(command, ..)| *command == name);
        let (_, args, accepted) =
            known.unwrap_or_else(|| panic!("swarm {name}: reads only, or changes what?"));
        let words: Vec<&str> =
            leaf.iter().map(String::as_str).chain(args.iter().copied()).chain(["--dry-run"]).collect();
        let (before, refs) = (everything(&arena.root), arena.git(&["for-each-ref"]));
        let out =
            arena.command(&words).current_dir(&arena.root).env("EDITOR", "sed -i s/prove/show/").output();
        let out = out.expect("swarm runs");
        let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        assert_ne!(out.status.code(), Some(2), "swarm {name} takes no --dry-run: {said}");
        assert_eq!(out.status.success(), *accepted, "swarm {words:?}: {said}");
        assert!(!said.trim().is_empty(), "swarm {name} says what it would do");
        let after = everything(&arena.root);
        let differs: Vec<&String> =
            before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
        assert!(differs.is_empty(), "swarm {words:?} changed {differs:?}");
        assert_eq!(arena.git(&["for-each-ref"]), refs, "swarm {words:?} moved a ref");
    }
    let unknown: Vec<&str> = CHANGES
        .iter()
        .map(|(name, ..)| *name)
        .chain(READS.iter().copied())
        .filter(|name| !leaves.iter().any(|leaf| leaf.join(" ") == *name))
        .collect();
    assert!(unknown.is_empty(), "no such commands: {unknown:?}");
}

#[test]
fn where_nothing_would_change_the_look_says_just_that() {
    let arena = half_way();
    for words in [&["rollback", "named", "--dry-run"][..], &["rollback", "1", "--dry-run"]] {
        let said = arena.ok(words);
        assert!(said.starts_with("Nothing would change"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let preview = arena.json(&["rollback", "named", "--dry-run"]);
    assert_eq!(preview["nothing"], true);
}
