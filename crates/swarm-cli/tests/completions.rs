//! Tab in a real shell: the script of `swarm completions` is read by it, its function called, and what it offers looked at.

mod world;

use world::{Ran, World, run};

const PLAN: &str = "# Goal\n\n## Phase 1: first\n\n- [ ] 1.1 One\n- [ ] 1.2 Two\n  depends: 1.1\n\n## Phase 7: last\n\n- [ ] add-login: Log in\n";

fn planned() -> World {
    let world = World::new();
    world.file("plan.md", PLAN);
    world.swarm(&["plan", "save", "plan.md"]).good();
    world.file(".swarm/config.json", "{ \"profiles\": { \"fast\": { \"program\": \"claude\" } } }");
    world
}

/// What bash offers for the last word of the line, in the order of its list.
fn bash(world: &World, line: &str) -> Vec<String> {
    let script = format!(
        "source <(swarm completions bash) || exit 9\n\
         COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_TYPE=9\n\
         current=\"${{COMP_WORDS[COMP_CWORD]}}\"\n\
         _clap_complete_swarm swarm \"$current\" \"${{COMP_WORDS[COMP_CWORD-1]}}\" || exit 8\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
    );
    let Ran { code, out, err } = run(world.program("bash").args(["--norc", "-c", &script]));
    assert_eq!(
        (code, err.as_str()),
        (Some(0), ""),
        "{line}: nothing may be said into the line that is typed"
    );
    out.lines().filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[track_caller]
fn check(world: &World, line: &str, expected: &[&str]) {
    // Where nothing is typed yet, options are offered behind the ids.
    let ids: Vec<String> = bash(world, line).into_iter().filter(|word| !word.starts_with('-')).collect();
    assert_eq!(ids, expected, "{line}");
}

#[test]
fn bash_offers_the_ids_of_the_plan() {
    let world = planned();
    check(&world, "swarm task show ''", &["1.1", "1.2", "add-login"]);
    check(&world, "swarm task show 1", &["1.1", "1.2"]);
    check(&world, "swarm task start 1.1 add", &["add-login"]);
    check(&world, "swarm task add New --depends 1.1,1", &["1.1,1.1", "1.1,1.2"]);
    check(&world, "swarm task list --phase ''", &["1", "7"]);
    check(&world, "swarm task edit 1.1 --profile f", &["fast"]);
    check(&world, "swarm agent logs add", &["add-login"]);
    check(&world, "swarm pla", &["plan"]);
    assert_eq!(bash(&world, "swarm task show --at"), ["--at"]);
}

#[test]
fn bash_looks_where_the_command_will() {
    let world = planned();
    world.swarm(&["task", "cancel", "1.1"]).good();
    // What is closed stands last.
    check(&world, "swarm task show 1", &["1.2", "1.1"]);
    let elsewhere = World::without_git();
    check(&elsewhere, "swarm task show ''", &[]);
    let named = format!("swarm -C {} task show 1", world.repo.display());
    check(&elsewhere, &named, &["1.2", "1.1"]);
    let inside = world.repo.join("a/b");
    std::fs::create_dir_all(&inside).expect("made");
    check(&elsewhere, &format!("swarm --repo={} task show add", inside.display()), &["add-login"]);
    world.git(&["worktree", "add", "-q", "../tree"]);
    let tree = world.base.join("tree");
    check(&elsewhere, &format!("swarm -C {} task show add", tree.display()), &["add-login"]);
}

#[test]
fn a_press_of_tab_starts_nothing_and_writes_nothing() {
    let world = planned();
    let listed = |world: &World| {
        let mut command = world.program("find");
        run(command.args([".swarm", ".git", "-printf", "%p %s %T@ %i\n"])).good()
    };
    // Without git in reach it works all the same.
    let tools = world.base.join("tools");
    std::fs::create_dir_all(&tools).expect("made");
    std::os::unix::fs::symlink(world::SWARM, tools.join("swarm")).expect("linked");
    let before = listed(&world);
    let ran = run(world
        .program(world::SWARM)
        .env("PATH", &tools)
        .env("SWARM_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", "3")
        .env("_CLAP_IFS", " ")
        .args(["--", "swarm", "task", "show", "1"]));
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "1.1 1.2", ""));
    assert_eq!(listed(&world), before);
    // A ledger that cannot be read is no reason to shout at somebody who types.
    std::fs::write(world.ledger(), "noise\n").expect("written");
    std::fs::remove_file(world.second_copy()).expect("removed");
    check(&world, "swarm task show ''", &[]);
}

#[test]
fn every_shell_gets_a_script_that_its_parser_takes() {
    let world = World::without_git();
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let script = world.swarm(&["completions", shell]).good();
        assert!(script.contains("SWARM_COMPLETE"), "{script}");
        world.file("script", &script);
        let there = std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(shell).is_file()));
        if there {
            run(world.program(shell).args([check, "script"])).good();
        }
    }
}

#[test]
fn manual_pages_are_written_for_every_command_and_can_be_read() {
    let world = World::without_git();
    world.swarm(&["man", "pages"]).good();
    let mut names: Vec<String> = std::fs::read_dir(world.repo.join("pages"))
        .expect("made")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for wanted in ["swarm.1", "swarm-task-block.1", "swarm-plan-import.1", "swarm-man.1"] {
        assert!(names.iter().any(|name| name == wanted), "{wanted} is not among {names:?}");
    }
    for hidden in ["swarm-daemon.1", "swarm-boxed.1"] {
        assert!(!names.iter().any(|name| name == hidden));
    }
    let page = world.swarm(&["man"]).good();
    assert_eq!(page, std::fs::read_to_string(world.repo.join("pages/swarm.1")).expect("written"));
    let shown =
        world.shell("command -v man >/dev/null && MANWIDTH=80 man --warnings -l pages/swarm-task-block.1");
    if shown.code == Some(0) {
        assert!(shown.out.contains("SYNOPSIS") && shown.err.is_empty(), "{}{}", shown.out, shown.err);
    }
}
