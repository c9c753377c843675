//! At least five operations during a merge, during another operation, and many at the same moment.

use serde_json::json;

use crate::arena::{Arena, Running, wait_for};
use crate::deeds::{Seen, Stops, bytes_at, check, check_refused, trunk_was_always_whole};
use crate::ground::arena_with;
use crate::processes::alive;
use crate::situations::{
    aborted, all_files_stay, at_work, begun, deed, finish, mine_has_everything, nobody_works, nothing_moved,
    one_is_there, say, worker, works,
};

/// The work of 2.1 waits for its verification, 2.2 is at work.
fn merging(arena: &Arena) {
    wait_for("a merge is under way", || {
        alive(arena).values().any(|run| run.place == "merge") && at_work(arena).contains("2.2")
    });
}

#[test]
fn during_a_merge_each_operation_leaves_it_alone_or_breaks_it_off_and_trunk_never_has_half_of_it() {
    // In the home folder: behind walls /tmp is a program's own.
    let arena = arena_with(json!({
        "verify": { "commands": ["while test -e \"$HOME/hold\"; do sleep 0.05; done"] },
    }));
    let hold = arena.path("hold");
    let workers = [worker(&arena, "2.1", "", "now"), worker(&arena, "2.2", "", "go")];
    let run = begun(&arena, &workers, "2");
    std::fs::write(&hold, "").expect("a file");
    say(&arena, "now");
    let deeds = [
        deed(&["checkpoint", "create", "mine"], Stops::Nobody, mine_has_everything),
        deed(&["task", "edit", "2.2", "--title", "Another name"], Stops::Nobody, all_files_stay),
        deed(&["agent", "stop", "2.2"], Stops::These(&["2.2"]), nothing_moved),
        deed(&["task", "start", "2.2"], Stops::Nobody, nothing_moved),
        deed(&["pause", "--force"], Stops::These(&["2.2"]), nobody_works),
        deed(&["resume"], Stops::Nobody, nothing_moved),
        deed(&["rollback", "mine", "--yes"], Stops::Everybody, one_is_there),
        deed(&["task", "rollback", "2.1", "--yes"], Stops::These(&["merge"]), one_is_there),
        deed(&["abort", "--yes"], Stops::Everybody, aborted),
        deed(&["undo", "--yes"], Stops::Nobody, one_is_there),
    ];
    for deed in &deeds {
        if !["resume", "undo"].contains(&deed.ask[0]) && deed.ask.get(1) != Some(&"start") {
            merging(&arena);
        }
        check(&arena, deed);
        assert_eq!(arena.commits("main", "feat: first of 2.1"), 0, "{:?}", deed.ask);
    }
    merging(&arena);
    check_refused(&arena, &["agent", "kill", "2.1"], "2.1", "swarm ");
    let trunk = arena.git(&["rev-parse", "main"]);
    let asked = Running::of(arena.command(&["task", "rollback", "1.1", "--yes"]));
    wait_for("it is asked for", || arena.json(&["op", "log", "-n", "1"])[0]["state"] == "under_way");
    assert_eq!(arena.git(&["rev-parse", "main"]), trunk, "it waits until the merge is over");
    assert!(alive(&arena).values().any(|run| run.place == "merge"));
    std::fs::remove_file(&hold).expect("it was there");
    let (code, said) = asked.end();
    assert_eq!(code, 0, "{said}");
    let tree = arena.git(&["ls-tree", "--name-only", "main"]);
    assert!(tree.contains("first-2.1") && tree.contains("second-2.1"), "{tree}");
    trunk_was_always_whole(&arena, "after the merge");
    finish(&arena, run);
}

#[test]
fn during_another_operation_a_second_one_is_refused_with_words_and_what_moves_no_fact_is_done() {
    let arena = arena_with(json!({ "stop": { "grace": "60s", "drain": "1s" } }));
    let let_go = arena.path("let-go").display().to_string();
    let deaf = format!("on-attempt 1: ignore-term\non-attempt 1: wait-for {let_go}\non-attempt 1: no-signal");
    let workers = [worker(&arena, "2.1", &deaf, "go"), worker(&arena, "2.2", "", "go")];
    let run = begun(&arena, &workers, "2");
    works(&arena, 2);
    arena.ok(&["checkpoint", "create", "mine"]);
    let before = Seen::of(&arena);
    let asked = Running::of(arena.command(&["task", "rollback", "2.1", "--yes"]));
    wait_for("it is under way", || arena.json(&["op", "log", "-n", "1"])[0]["state"] == "under_way");
    for second in [
        &["task", "rollback", "1.1", "--yes"][..],
        &["rollback", "mine", "--yes"],
        &["rollback", "--session", "--yes"],
        &["abort", "--yes"],
        &["undo", "--yes"],
        &["checkpoint", "create", "another"],
        &["task", "block", "2.2", "wait for me"],
        &["task", "edit", "2.2", "--title", "Another name"],
        &["agent", "kill", "2.2"],
        &["agent", "redirect", "2.2", "2.1"],
    ] {
        check_refused(&arena, second, "Another operation is under way: task rollback", "swarm status");
    }
    for deed in [
        deed(&["mode", "semi-auto"], Stops::Nobody, all_files_stay),
        deed(&["pause", "--force"], Stops::These(&["2.2"]), all_files_stay),
    ] {
        check(&arena, &deed);
    }
    say(&arena, "let-go");
    let (code, said) = asked.end();
    assert_eq!(code, 0, "{said}");
    assert!(alive(&arena).is_empty(), "{:?}", alive(&arena));
    let now = Seen::of(&arena);
    assert_eq!(now.refs.get("refs/heads/swarm/2.1"), before.refs.get("refs/heads/swarm/2.1"), "at its base");
    assert!(!now.worktrees["2.1"].contains_key("noise-2.1"), "its worktree is clean");
    for (file, bytes) in &before.worktrees["2.1"] {
        let kept = bytes_at(&arena, "refs/swarm/checkpoints/before-task-rollback/dirty/2.1", file);
        assert!(kept.as_ref() == Some(bytes), "{file} is kept");
    }
    finish(&arena, run);
}

#[test]
fn of_operations_asked_for_by_many_at_the_same_moment_each_is_done_whole_or_refused() {
    let arena = arena_with(json!({}));
    let workers = [worker(&arena, "2.1", "", "go"), worker(&arena, "2.2", "", "go")];
    let run = begun(&arena, &workers, "2");
    works(&arena, 2);
    let asks: [&[&str]; 6] = [
        &["checkpoint", "create", "mine"],
        &["rollback", "--session", "--yes"],
        &["task", "rollback", "2.1", "--yes"],
        &["agent", "stop", "2.2"],
        &["abort", "--yes"],
        &["task", "edit", "2.2", "--title", "Another name"],
    ];
    let all: Vec<Running> = asks.iter().map(|ask| Running::of(arena.command(ask))).collect();
    let mut done = 0;
    for (ask, one) in asks.iter().zip(all) {
        let (code, said) = one.end();
        assert!(code == 0 || code == 1 && said.contains("swarm "), "{ask:?}: {code} {said}");
        done += usize::from(code == 0);
    }
    assert!(done > 0, "somebody was first");
    trunk_was_always_whole(&arena, "after all of them");
    assert!(
        arena.json(&["op", "log"]).as_array().expect("a list").iter().all(|op| op["state"] != "under_way")
    );
    finish(&arena, run);
}
