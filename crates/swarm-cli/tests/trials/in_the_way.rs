//! What of a person's is in the way of a merge: the commands that are offered, followed one after the other, clear it.

use serde_json::json;

use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, scaled, task};

/// More than any way needs.
const OFFERS_MAX: usize = 4;

/// The first offer that is not of ours, as a person would copy it.
fn offered(arena: &Arena) -> Option<String> {
    let list = arena.json(&["attention"]);
    let commands = list.as_array()?.iter().filter_map(|entry| entry["commands"].as_array()).flatten();
    commands.filter_map(|command| command.as_str()).find(|c| !c.starts_with("swarm ")).map(str::to_owned)
}

/// Follows what is offered until the task is done; answers with the commands.
fn followed(arena: &Arena, script: &str) -> Vec<String> {
    arena.plan_in_phases(&[vec![task("1.1", &[], script)]]);
    let run = arena.start(&[]);
    let mut all: Vec<String> = Vec::new();
    while all.len() < OFFERS_MAX {
        let done = || arena.status_of("1.1") == "done";
        wait_for("an offer, or the end", || {
            done() || offered(arena).is_some_and(|next| !all.contains(&next))
        });
        let Some(next) = offered(arena).filter(|_| !done()) else { break };
        let ran = std::process::Command::new("sh").arg("-c").arg(&next).current_dir(&arena.root).output();
        assert!(ran.as_ref().is_ok_and(|out| out.status.success()), "{next}: {ran:?}");
        all.push(next);
    }
    let (code, said) = run.end();
    assert_eq!(code, 0, "{all:?}\n{said}");
    arena.assert_proven("1.1", "main");
    all
}

#[test]
fn a_changed_file_that_git_was_told_not_to_look_at_is_shown_to_it_and_stashed() {
    let arena = arena_with(json!({}));
    // Each waits for the next look at the checkout.
    let flags = ["--skip-worktree", "--assume-unchanged"];
    for flag in &flags[..scaled(1, 2) as usize] {
        arena.commit("base.txt", flag);
        arena.write("base.txt", "mine\n");
        arena.git(&["update-index", flag, "base.txt"]);
        let ran = followed(&arena, &format!("write base.txt {flag} of the agent\ncommit feat: a\ncomplete"));
        assert!(ran[0].contains("update-index") && ran[1].contains("stash push"), "{ran:?}");
        assert_eq!(arena.git(&["show", "stash@{0}:base.txt"]).trim(), "mine", "it is the person's still");
        arena.ok(&["close", "--yes"]);
    }
}

#[test]
fn files_of_a_person_in_a_folder_whose_place_a_file_takes_are_moved_out_of_it() {
    let arena = arena_with(json!({}));
    arena.write("out/x", "precious\n");
    let ran = followed(&arena, "write out agent\ncommit feat: out\ncomplete");
    assert_eq!(ran.len(), 1, "{ran:?}");
    let kept = std::fs::read_to_string(arena.root.join("out-x.mine")).expect("it was moved");
    assert_eq!(kept, "precious\n");
}

/// As a git that was killed leaves it. To remove it touches nothing else of the checkout.
#[test]
fn the_lock_of_a_git_that_is_gone_is_removed_as_offered_and_the_merge_goes_on() {
    let arena = arena_with(json!({}));
    arena.write(".git/index.lock", "");
    let ran = followed(&arena, "write a.txt a\ncommit feat: a\ncomplete");
    assert!(ran.len() == 1 && ran[0].starts_with("rm ") && ran[0].contains("index.lock"), "{ran:?}");
    assert_eq!(arena.commits("main", "feat: a"), 1);
}

/// It went while nobody was looking.
#[test]
fn a_lock_that_went_while_no_coordinator_ran_keeps_no_merge() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete")]]);
    arena.write(".git/index.lock", "");
    let run = arena.start(&[]);
    wait_for("the merge waits", || arena.attention().contains("waits for your checkout"));
    arena.ok(&["stop"]);
    run.end();
    std::fs::remove_file(arena.root.join(".git/index.lock")).expect("removed");
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    arena.assert_proven("1.1", "main");
}

/// What is in the way, as a person ends it while no coordinator runs.
#[test]
fn what_a_person_has_ended_since_is_not_said_to_be_under_way_where_nobody_watches() {
    let merge = |arena: &Arena| {
        arena.git(&["checkout", "--quiet", "-b", "side"]);
        arena.commit("base.txt", "side");
        arena.git(&["checkout", "--quiet", "main"]);
        arena.commit("base.txt", "mine");
        assert!(!arena.git_tried(&["merge", "side"]).status.success(), "it conflicts");
    };
    for file in [".git/MERGE_HEAD", ".git/index.lock"] {
        let arena = arena_with(json!({}));
        arena.plan_in_phases(&[vec![task("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete")]]);
        match file {
            ".git/MERGE_HEAD" => merge(&arena),
            lock => arena.write(lock, ""),
        }
        let run = arena.start(&[]);
        wait_for("the merge waits", || arena.attention().contains("waits for your checkout"));
        arena.ok(&["stop"]);
        run.end();
        assert!(arena.attention().contains("waits for your checkout"), "{file}: it is still there");
        match file {
            ".git/MERGE_HEAD" => drop(arena.git(&["merge", "--abort"])),
            lock => std::fs::remove_file(arena.root.join(lock)).expect("removed"),
        }
        assert!(!arena.attention().contains("checkout"), "{file}: {}", arena.attention());
        let row = &arena.tasks()[0];
        assert_eq!(row["stage"], "approved, waits for its turn to merge", "{file}: {row}");
    }
}
