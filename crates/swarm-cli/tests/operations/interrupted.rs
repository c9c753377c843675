//! A command that was killed in the middle of its operation, with nobody there to go on with it.

use serde_json::json;

use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, task};

/// A git that waits before it writes the refs of a checkpoint, as long as a file is there.
fn slow_git(arena: &Arena) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = std::env::var("PATH").expect("a path");
    let real = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.is_file());
    let (hold, met) = (arena.path("hold"), arena.path("met"));
    let script = format!(
        "#!/bin/sh\nfor word; do case \"$word\" in 'swarm: checkpoint')\n  while test -e '{}'; do touch '{}'; sleep 0.05; done;;\nesac; done\nexec '{}' \"$@\"\n",
        hold.display(),
        met.display(),
        real.expect("git is there").display()
    );
    let folder = arena.path("slow");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("git"), script).expect("written");
    std::fs::set_permissions(folder.join("git"), std::fs::Permissions::from_mode(0o755)).expect("executable");
    format!("{}:{path}", folder.display())
}

#[test]
fn an_operation_whose_command_was_killed_is_finished_by_the_next_one_without_starting_anybody() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task(
        "1.1",
        &[],
        "write one.txt one\ncommit feat: one\nblocked a question",
    )]]);
    arena.run(&[]);
    let path = slow_git(&arena);
    let (hold, met) = (arena.path("hold"), arena.path("met"));
    for (n, next) in [
        &["task", "unblock", "1.1"][..],
        &["undo", "--yes"],
        &["rollback", "session-start", "--yes"],
        &["close", "--yes"],
    ]
    .iter()
    .enumerate()
    {
        std::fs::write(&hold, "").expect("a file");
        let mut command = arena.command(&["checkpoint", "create", &format!("mine-{n}")]);
        let mut child = command.env("PATH", &path).spawn().expect("it starts");
        wait_for("the refs are to be written", || met.exists());
        child.kill().expect("killed");
        child.wait().expect("gone");
        for file in [&hold, &met] {
            std::fs::remove_file(file).expect("it is there");
        }
        arena.ok(next);
    }
    arena.ok(&["plan", "reopen", "--yes"]);
    let listed = arena.ok(&["checkpoint", "list"]);
    // The undo took back what was finished for it.
    assert!([0, 2, 3].iter().all(|n| listed.contains(&format!("mine-{n}"))), "{listed}");
    assert!(!listed.contains("mine-1"), "{listed}");
}

#[test]
fn an_abort_that_was_killed_is_finished_by_the_retry_that_goes_on_from_it() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete")]]);
    assert_eq!(arena.run(&[]).0, 0);
    let path = slow_git(&arena);
    let (hold, met) = (arena.path("hold"), arena.path("met"));
    std::fs::write(&hold, "").expect("a file");
    let mut child = arena.command(&["abort", "--yes"]).env("PATH", &path).spawn().expect("it starts");
    wait_for("the refs are to be written", || met.exists());
    child.kill().expect("killed");
    child.wait().expect("gone");
    std::fs::remove_file(&hold).expect("it is there");
    let (code, said) = arena.run(&["--retry"]);
    assert_eq!(code, 0, "{said}");
    arena.assert_proven("1.1", "main");
    arena.assert_true_at_rest();
}
