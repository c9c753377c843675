//! Another branch becomes trunk: an operation with a preview, a question, an undo, and an end to what spoke of the old one.

use crate::arena::{Arena, Running, wait_for};

/// 1.1 is done on main, 1.2 waits for its gate, nobody works. `other` and `with-one` are branches without and with the
/// work of 1.1.
fn half_done() -> Arena {
    // Agents that wait for the gate do not hear that they shall stop.
    let arena = Arena::new(r#"{ "stop": { "grace": "1s" } }"#);
    let gate = arena.path("gate");
    let second = format!("wait-for {}\nwrite two.txt 2\ncommit feat: two\ncomplete", gate.display());
    arena.plan(&[("1.1", &[], "write one.txt 1\ncommit feat: one\ncomplete".into()), ("1.2", &[], second)]);
    arena.git(&["branch", "other"]);
    let mut run = arena.start(&["--agents", "1"]);
    run.until("1.1      on main at");
    rest(&arena, run);
    arena.git(&["branch", "with-one", "main"]);
    arena
}

/// The swarm stops once the agent of 1.2 is at work, and does not wait for it to pass its gate.
fn rest(arena: &Arena, run: Running) {
    // Its line may stand before the one that was waited for.
    let works = |task: &serde_json::Value| {
        task["id"] == "1.2" && task["stage"].as_str().is_some_and(|stage| stage.starts_with("working"))
    };
    wait_for("the agent of 1.2 is at work", || arena.tasks().iter().any(works));
    arena.ok(&["pause", "--force"]);
    arena.ok(&["stop"]);
    run.end();
    arena.ok(&["resume"]);
}

fn trunk_of(arena: &Arena) -> String {
    arena.json(&["status"])["trunk"].as_str().expect("a trunk").to_owned()
}

/// The newest operation of this kind.
fn operation(arena: &Arena, kind: &str) -> String {
    let all = arena.json(&["op", "log", "--all"]);
    let found = all.as_array().expect("a list").iter().find(|op| op["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind}: {all}"))["id"].as_str().expect("an id").to_owned()
}

/// A run that is refused or only looks: its exit code, and all it said.
fn asked(arena: &Arena, args: &[&str]) -> (i32, String) {
    let mut all = vec!["run", "--agent", "script"];
    all.extend(args);
    let out = arena.swarm(&all);
    let said = [out.stdout, out.stderr].concat();
    (out.status.code().expect("it ends"), String::from_utf8(said).expect("text"))
}

fn refused(arena: &Arena, args: &[&str], words: &str) {
    let out = arena.swarm(args);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!out.status.success() && said.contains(words), "swarm {args:?}: {said}");
}

#[test]
fn another_trunk_is_shown_and_confirmed_before_it_counts() {
    let arena = half_done();
    let (code, said) = asked(&arena, &["--trunk", "other"]);
    assert!(code == 2 && said.contains("Confirmation needed"), "{code} {said}");
    let (code, said) = asked(&arena, &["--trunk", "other", "--dry-run"]);
    assert_eq!(code, 0, "{said}");
    for words in [
        "1.1 is done on main, and is not on other",
        "1.2 goes on in its worktree, which began on main",
        "earlier checkpoints and operations belong to main",
    ] {
        assert!(said.contains(words), "{words:?} is missing: {said}");
    }
    let (_, said) = asked(&arena, &["--trunk", "with-one", "--dry-run"]);
    assert!(said.contains("1.1 is done, and on with-one already"), "{said}");
    let (_, said) = asked(&arena, &["--trunk", "brand-new", "--dry-run"]);
    assert!(said.contains("the branch brand-new is made at"), "{said}");
    assert!(said.contains("1.1 is done, and on brand-new already"), "{said}");
    let (_, said) = asked(&arena, &["--trunk", "main", "--dry-run"]);
    assert!(said.contains("nothing else would change"), "{said}");
    assert_eq!(arena.git(&["for-each-ref", "refs/heads/brand-new"]), "", "a look makes nothing");
    assert_eq!(trunk_of(&arena), "main");
}

#[test]
fn what_is_merged_after_the_change_is_on_the_new_trunk_and_what_was_before_is_not_called_proven_there() {
    let arena = half_done();
    std::fs::write(arena.path("gate"), "").expect("the gate");
    let (_, said) = arena.start(&["--trunk", "other", "--yes"]).end();
    assert!(said.contains("Trunk is other now"), "{said}");
    assert_eq!((arena.commits("other", "feat: two"), arena.commits("main", "feat: two")), (1, 0), "{said}");
    assert_eq!((arena.commits("other", "feat: one"), arena.commits("main", "feat: one")), (0, 1), "{said}");
    let summary = String::from_utf8(arena.swarm(&["run", "--agent", "script"]).stdout).expect("text");
    assert!(!summary.contains("2 of 2 tasks are done, proven on other"), "{summary}");
}

#[test]
fn a_change_of_trunk_is_undone_and_done_again() {
    let arena = half_done();
    // The gate is closed, so that nothing is merged: only the operation is looked at.
    let mut run = arena.start(&["--trunk", "brand-new", "--yes"]);
    run.until("trunk is brand-new");
    rest(&arena, run);
    assert_eq!(trunk_of(&arena), "brand-new");
    assert_eq!(arena.git(&["rev-parse", "brand-new"]), arena.git(&["rev-parse", "main"]));
    arena.ok(&["undo", &operation(&arena, "run --trunk"), "--yes"]);
    assert_eq!(trunk_of(&arena), "main");
    arena.ok(&["redo", "--yes"]);
    assert_eq!(trunk_of(&arena), "brand-new");
}

#[test]
fn what_speaks_of_another_trunk_is_not_gone_back_to() {
    let arena = half_done();
    let main = arena.git(&["rev-parse", "main"]);
    let mut run = arena.start(&["--trunk", "other", "--yes"]);
    run.until("trunk is other");
    rest(&arena, run);
    refused(
        &arena,
        &["rollback", "before-merge-1.1", "--yes"],
        "belongs to the trunk main, but trunk is now other",
    );
    refused(
        &arena,
        &["rollback", "session-start", "--yes"],
        "belongs to the trunk main, but trunk is now other",
    );
    refused(&arena, &["undo", &operation(&arena, "merge"), "--yes"], "trunk is now other");
    assert_eq!(arena.tasks()[0]["status"], "gone", "the work of 1.1 is not on this trunk");
    assert_eq!(arena.git(&["rev-parse", "main"]), main, "main is nobody's trunk now");
    // Back on main it speaks of the right one again.
    arena.ok(&["undo", &operation(&arena, "run --trunk"), "--yes"]);
    arena.ok(&["rollback", "before-merge-1.1", "--yes"]);
    assert_eq!(arena.commits("main", "feat: one"), 0);
}

#[test]
fn while_agents_work_for_the_old_trunk_it_stays() {
    let arena = half_done();
    let mut run = arena.start(&[]);
    run.until("1.2      ed-");
    let (code, said) = asked(&arena, &["--trunk", "other", "--yes"]);
    assert!(code != 0 && said.contains("A coordinator is already running"), "{said}");
    // The agent lives on without its coordinator.
    run.kill_9();
    let (code, said) = asked(&arena, &["--trunk", "other", "--yes"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("Work for main is under way: 1.2"), "{said}");
    assert!(said.contains("swarm stop"), "{said}");
    assert_eq!(trunk_of(&arena), "main");
    arena.ok(&["stop"]);
}

#[test]
fn a_renamed_trunk_is_followed_by_naming_it() {
    let arena = half_done();
    arena.git(&["branch", "-m", "main", "renamed"]);
    let said = String::from_utf8(arena.swarm(&["status"]).stderr).expect("text");
    assert!(said.contains("the trunk main is gone"), "{said}");
    let doctor = arena.swarm(&["doctor"]).stdout;
    let doctor = String::from_utf8(doctor).expect("text");
    assert!(doctor.contains("git branch main "), "{doctor}");
    std::fs::write(arena.path("gate"), "").expect("the gate");
    let (code, said) = arena.start(&["--trunk", "renamed", "--yes"]).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    assert_eq!(["feat: one", "feat: two"].map(|subject| arena.commits("renamed", subject)), [1, 1]);
    assert_eq!(arena.git(&["for-each-ref", "refs/heads/main"]), "");
}

/// Made where the person stands it would have the work of the trunk after it.
#[test]
fn the_trunk_that_an_undo_wants_back_is_made_where_it_was_seen_last() {
    let arena = half_done();
    let main = arena.git(&["rev-parse", "main"]);
    arena.git(&["branch", "-m", "main", "renamed"]);
    std::fs::write(arena.path("gate"), "").expect("the gate");
    let (code, said) = arena.start(&["--trunk", "renamed", "--yes"]).end();
    assert_eq!(code, 0, "{said}");
    let of_the_choice = operation(&arena, "run --trunk");
    let out = arena.swarm(&["undo", &of_the_choice, "--yes", "--json"]);
    let refused: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let hint = refused["error"]["hint"].as_str().expect("a hint");
    assert_eq!(hint, format!("git branch main {}", &main.trim()[..8]), "{refused}");
    arena.git(&hint.split(' ').skip(1).collect::<Vec<_>>());
    assert_eq!(arena.git(&["rev-parse", "main"]), main);
    arena.ok(&["undo", &of_the_choice, "--yes"]);
    assert_eq!(trunk_of(&arena), "main");
}

#[test]
fn there_and_back_again_proofs_name_the_trunk_that_counts() {
    let arena = half_done();
    std::fs::write(arena.path("gate"), "").expect("the gate");
    arena.start(&["--trunk", "other", "--yes"]).end();
    let (code, said) = arena.start(&["--retry"]).end();
    assert_eq!(code, 0, "{said}");
    // Picked there, the commits of 1.1 have other names; main has it under the old one.
    let (_, said) = asked(&arena, &["--trunk", "main", "--dry-run"]);
    assert!(said.contains("1.1 is done, and on main already"), "{said}");
    assert!(said.contains("1.2 is done on other, and is not on main"), "{said}");
    arena.start(&["--trunk", "main", "--yes"]).end();
    let shown = arena.json(&["task", "show", "1.1"]);
    assert_eq!((&shown["status"], &shown["proof"]["trunk"]), (&"done".into(), &"main".into()), "{shown}");
    let (code, said) = arena.start(&["--retry"]).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    let summary = String::from_utf8(arena.swarm(&["run", "--agent", "script"]).stdout).expect("text");
    assert!(summary.contains("2 of 2 tasks are done, proven on main"), "{summary}");
    assert_eq!(["feat: one", "feat: two"].map(|subject| arena.commits("main", subject)), [1, 1]);
    assert_eq!(arena.json(&["task", "show", "1.1"])["proof"]["trunk"], "main");
}
