//! Repositories with submodules: links stay what they were, and none is merged to a commit that nobody else has.

use serde_json::json;

use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, has};

const PATH: &str = "vendor/library";
const OUTSIDE: [&str; 2] = ["-c", "protocol.file.allow=always"];

/// A repository whose `vendor/library` is a submodule with two commits, and is at the first of them.
fn with_a_library() -> Arena {
    let arena = arena_with(json!({ "check": { "commands": ["test -e README.md"] } }));
    let library = arena.path("library");
    std::fs::create_dir(&library).expect("a folder");
    let at = library.to_str().expect("text").to_owned();
    arena.git(&["init", "--quiet", "--initial-branch=main", &at]);
    let commit = |text: &str| {
        let who = ["-C", &at, "-c", "user.name=L", "-c", "user.email=l@l"];
        arena.git(&[&who[..], &["commit", "--quiet", "--allow-empty", "-m", text]].concat());
    };
    commit("one");
    arena.git(&[&OUTSIDE[..], &["submodule", "--quiet", "add", &at, PATH]].concat());
    arena.git(&["commit", "--quiet", "--message", "person: a submodule"]);
    commit("two");
    arena
}

fn link(arena: &Arena) -> String {
    arena.git(&["rev-parse", &format!("main:{PATH}")]).trim().to_owned()
}

#[test]
fn a_repository_with_a_submodule_is_worked_on() {
    let arena = with_a_library();
    arena.plan(&[
        ("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete".into()),
        ("1.2", &["1.1"], "append README.md more\ncommit docs: more\ncomplete".into()),
    ]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    arena.assert_proven("1.1", "main");
    arena.assert_proven("1.2", "main");
    // The submodule is where it was, and not deleted by anybody's commit.
    assert!(arena.git(&["ls-tree", "main", PATH]).starts_with("160000"));
    assert_eq!(arena.git(&["status", "--porcelain", "--untracked-files=no"]), "");
    arena.assert_tidy();
}

/// Enters the submodule as an agent would, does something there, and commits the link to it.
fn moved_by(then: &str) -> String {
    format!(
        "sh git -c protocol.file.allow=always submodule --quiet update --init && cd {PATH} && {then}\n\
         commit feat: the library\ncomplete"
    )
}

#[test]
fn a_link_to_a_commit_of_the_submodules_own_repository_is_merged() {
    let arena = with_a_library();
    let two = arena.git(&["-C", arena.path("library").to_str().expect("text"), "rev-parse", "main"]);
    arena.plan(&[("1.1", &[], moved_by("git fetch --quiet && git checkout --quiet origin/main"))]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(link(&arena), two.trim(), "the person's own copy does not have it yet");
    arena.assert_proven("1.1", "main");
}

#[test]
fn a_link_to_a_commit_that_only_the_agents_copy_has_waits_for_a_person_who_takes_it_over() {
    let arena = with_a_library();
    let before = link(&arena);
    let make = "echo more > more.txt && git add more.txt && git -c user.name=A -c user.email=a@a commit --quiet -m made";
    arena.plan(&[("1.1", &[], moved_by(&format!("(test -e more.txt || {{ {make}; }})")))]);
    let (code, said) = arena.run(&[]);
    assert_ne!(code, 0, "{said}");
    assert_ne!(arena.status_of("1.1"), "done", "{said}");
    assert_eq!(link(&arena), before, "nothing on trunk names what only one folder holds");
    let attention = arena.ok(&["attention"]);
    let command = attention.split('`').find(|part| part.starts_with("git -C vendor/library fetch"));
    let command = command.unwrap_or_else(|| panic!("no command is offered: {attention}"));
    let ran = std::process::Command::new("sh").arg("-c").arg(command).current_dir(&arena.root).output();
    assert!(ran.as_ref().is_ok_and(|out| out.status.success()), "{command}: {ran:?}");
    arena.ok(&["task", "unblock", "1.1"]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    arena.assert_proven("1.1", "main");
    assert_ne!(link(&arena), before);
    assert_eq!(
        arena.git(&["-C", PATH, "rev-parse", "swarm/1.1"]).trim(),
        link(&arena),
        "it stays, and can be pushed"
    );
}

#[test]
fn two_links_to_different_commits_are_a_persons_and_both_are_named() {
    let arena = with_a_library();
    let library = arena.path("library");
    let at = library.to_str().expect("text").to_owned();
    let two = arena.git(&["-C", &at, "rev-parse", "main"]).trim().to_owned();
    arena.git(&["-C", &at, "checkout", "--quiet", "-b", "other", "main~1"]);
    let who = ["-C", &at, "-c", "user.name=L", "-c", "user.email=l@l"];
    arena.git(&[&who[..], &["commit", "--quiet", "--allow-empty", "-m", "three"]].concat());
    let three = arena.git(&["-C", &at, "rev-parse", "other"]).trim().to_owned();
    let go = arena.path("go");
    let script = format!(
        "sh git -c protocol.file.allow=always submodule --quiet update --init && cd {PATH} && git fetch --quiet && \
         git checkout --quiet {two}\ncommit feat: the library\nwait-for {}\ncomplete",
        go.display()
    );
    arena.plan(&[("1.1", &[], script)]);
    let run = arena.start(&[]);
    wait_for("the agent has committed", || arena.committed().contains("feat: the library"));
    arena.git(&[&OUTSIDE[..], &["-C", PATH, "fetch", "--quiet"]].concat());
    arena.git(&["-C", PATH, "checkout", "--quiet", &three]);
    arena.git(&["commit", "--quiet", "--message", "person: another commit of it", "--", PATH]);
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 1, "{said}");
    assert_eq!(link(&arena), three, "{said}");
    let view = arena.shown("1.1");
    assert_eq!((&view["status"], &view["block"]), (&json!("blocked"), &json!("conflict")), "{view}");
    let text = arena.ok(&["task", "diff", "1.1", "--conflict"]);
    has(
        &text,
        &[PATH, &format!("main: submodule {}", &three[..8]), &format!("swarm/1.1: submodule {}", &two[..8])],
    );
    arena.assert_nothing_runs();
}
