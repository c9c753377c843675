//! Our own git on what an agent leaves: pipes where git reads lists, files larger than any disk, links to endless things.
//! The task comes to a decision in seconds, a person sees why, Ctrl+C ends it, and nothing outlives a killed coordinator.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::arena::{Arena, Running, holds_within, wait_for};
use crate::ground::arena_with;

/// Git itself would wait for ten minutes, again and again.
const SOON: Duration = Duration::from_secs(90);

/// One task whose agent runs this and says that it is done. It may write everywhere, as one without walls could.
fn left_behind(arena: &Arena, shell: &str) -> (i32, String) {
    let script = arena.script_beside("leave.sh", &format!("set -e\n{shell}\n"));
    arena.plan(&[("1.1", &[], format!("write work.txt work\nsh sh {script}\ncomplete"))]);
    let began = Instant::now();
    let mut run = arena.start(&[]);
    if !run.for_a_while(SOON) {
        run.kill_9();
        panic!("no decision in {} s: {shell}\n{}", SOON.as_secs(), run.said());
    }
    println!("{shell}: {:.1} s", began.elapsed().as_secs_f64());
    run.end()
}

fn without_walls() -> Arena {
    let arena = arena_with(json!({ "sandbox": "none" }));
    arena.commit(".gitignore", "build/\n");
    arena
}

#[test]
fn a_pipe_where_git_reads_a_list_is_set_aside_and_the_work_is_merged() {
    for shell in [
        "rm .gitignore; mkfifo .gitignore; mkdir build; echo o > build/o",
        "mkfifo .gitattributes",
        "mkdir sub; mkfifo sub/.gitignore sub/.gitattributes; echo x > sub/x",
        "rm .gitignore; mkfifo pipe; ln -s pipe .gitignore; mkdir build; echo o > build/o",
        "rm .gitignore; ln -s /dev/zero .gitignore; mkdir build; echo o > build/o",
    ] {
        let arena = without_walls();
        let (code, said) = left_behind(&arena, shell);
        assert_eq!(code, 0, "{shell}: {said}");
        arena.assert_proven("1.1", "main");
        let files = arena.git(&["ls-tree", "-r", "--name-only", "main"]);
        assert!(files.contains("work.txt") && files.contains(".gitignore"), "{shell}: {files}");
        assert!(!files.contains("build/"), "{shell}: {files}");
        let told = arena.attention();
        assert!(told.contains("set-aside"), "{shell}: a person is told: {told}");
        arena.assert_nothing_runs();
    }
}

#[test]
fn a_file_of_900_gb_is_named_to_a_person_and_never_read() {
    for (shell, name) in
        [("truncate -s 900G big.bin", "big.bin"), ("truncate -s 900G README.md", "README.md")]
    {
        let arena = without_walls();
        let (code, said) = left_behind(&arena, shell);
        assert_eq!(code, 1, "{shell}: {said}");
        let view = arena.shown("1.1");
        assert_eq!((&view["status"], &view["attempts"]), (&json!("blocked"), &json!(1)), "{shell}: {view}");
        let told = arena.attention();
        assert!(told.contains(name) && told.contains("worktree.maxFile"), "{shell}: {told}");
        let saved = arena.git(&["for-each-ref", "--format=%(refname)", "refs/swarm/wip"]);
        let saved = saved.lines().next().expect("the rest of the work is saved").to_owned();
        assert!(arena.git(&["ls-tree", "-r", "--name-only", &saved]).contains("work.txt"), "{shell}");
        arena.assert_nothing_runs();
    }
}

#[test]
fn a_pipe_or_a_link_below_refs_keeps_nobody_waiting() {
    let refs = "\"$(git rev-parse --path-format=absolute --git-common-dir)/refs/heads/swarm";
    for shell in [
        format!("mkfifo {refs}/pipe\""),
        format!("ln -s / {refs}/all\""),
        format!("ln -s /dev/zero {refs}/zero\""),
        format!("truncate -s 900G {refs}/endless\""),
    ] {
        let arena = without_walls();
        let (code, said) = left_behind(&arena, &shell);
        assert_eq!(code, 0, "{shell}: {said}");
        arena.assert_proven("1.1", "main");
        assert!(arena.attention().contains("set aside"), "{shell}: {}", arena.attention());
        arena.assert_nothing_runs();
    }
}

#[test]
fn ctrl_c_ends_a_swarm_whose_agent_has_left_pipes_and_keeps_its_work() {
    let arena = without_walls();
    let leave = "rm .gitignore; mkfifo .gitignore .gitattributes; truncate -s 900G big.bin";
    let script = arena.script_beside("leave.sh", leave);
    arena.plan(&[("1.1", &[], format!("write work.txt work\nsh sh {script}\nprint waiting 1.1\nhang"))]);
    let mut run = arena.start(&[]);
    wait_for("the agent has left them", || arena.printed().contains("waiting 1.1"));
    run.signal("INT");
    assert!(run.for_a_while(SOON), "it does not end: {}", run.said());
    let saved = arena.git(&["for-each-ref", "--format=%(refname)", "refs/swarm/wip"]);
    let saved = saved.lines().next().expect("the work is saved").to_owned();
    assert!(arena.git(&["ls-tree", "-r", "--name-only", &saved]).contains("work.txt"));
    arena.assert_nothing_runs();
}

/// A git that never ends where it is asked for this.
fn with_endless_git(arena: &Arena, word: &str) -> String {
    let dir = arena.path("bin");
    std::fs::create_dir_all(&dir).expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let real = path.split(':').map(|dir| std::path::Path::new(dir).join("git")).find(|git| git.exists());
    let real = real.expect("git is installed");
    let text = format!(
        "#!/bin/sh\nfor word; do [ \"$word\" = {word} ] && exec sleep 9876; done\nexec {} \"$@\"\n",
        real.display()
    );
    std::fs::write(dir.join("git"), text).expect("a file");
    std::fs::set_permissions(dir.join("git"), std::fs::Permissions::from_mode(0o755)).expect("executable");
    format!("{}:{path}", dir.display())
}

#[test]
fn no_git_of_ours_outlives_a_coordinator_that_is_killed() {
    let arena = arena_with(json!({}));
    let path = with_endless_git(&arena, "merge-tree");
    arena.commit("other.txt", "other");
    let go = arena.path("go");
    let script = format!("write a.txt a\ncommit feat: a\nprint waiting\nwait-for {}\ncomplete", go.display());
    arena.plan(&[("1.1", &[], script)]);
    let mut command = arena.command(&["run", "--agent", "script", "--mode", "autopilot"]);
    command.env("PATH", path);
    let mut run = Running::of(command);
    wait_for("the agent works", || arena.printed().contains("waiting"));
    // Trunk goes on, so that there is something to merge with.
    arena.commit("third.txt", "third");
    std::fs::write(go, "").expect("a file");
    let endless = || arena.processes().into_iter().any(|process| process.contains("sleep 9876"));
    wait_for("git never ends", endless);
    run.kill_9();
    assert!(holds_within(Duration::from_secs(10), || !endless()), "{:?}", arena.processes());
    arena.swarm(&["stop"]);
    arena.assert_nothing_runs();
}
