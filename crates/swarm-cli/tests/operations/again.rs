//! A rollback that is rolled back, and one whose refs somebody has deleted.

use serde_json::json;

use crate::arena::{Arena, wait_for};
use crate::deeds::refs;
use crate::ground::{arena_with, task};
use crate::outside::Outside;

/// Two tasks on trunk, one held at its boundary with uncommitted work, and nobody there any more.
fn arena() -> Arena {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete"),
        task("1.2", &["1.1"], "write two.txt two\ncommit feat: two\ncomplete"),
        task(
            "1.3",
            &["1.2"],
            "write committed.txt half\ncommit feat: half\nsh head -c 3000 /dev/urandom > three.bin\nprint half way\nno-signal",
        ),
    ]]);
    let run = arena.start(&["--agents", "1"]);
    wait_for("it is half way", || arena.printed().contains("half way"));
    arena.ok(&["pause"]);
    wait_for("it is held", || arena.json(&["status"])["agents"][0]["held"] == true);
    arena.ok(&["stop"]);
    let (code, said) = run.end();
    assert!(code == 0 || code == 1, "{said}");
    arena
}

#[test]
fn a_rollback_is_rolled_back_and_that_one_too_and_each_time_everything_is_as_it_was() {
    let arena = arena();
    let first = Outside::of(&arena);
    for (checkpoint, there) in [("before-merge-1.1", vec![]), ("before-merge-1.2", vec!["one.txt"])] {
        let tree =
            arena.git(&["ls-tree", "--name-only", &format!("refs/swarm/checkpoints/{checkpoint}/trunk")]);
        let there = [&["README.md"], &there[..]].concat();
        assert_eq!(tree.lines().collect::<Vec<_>>(), there, "{checkpoint} is from before the merge");
    }
    arena.ok(&["rollback", "before-merge-1.2", "--yes"]);
    let second = Outside::of(&arena);
    assert!(first.checkout.contains_key("two.txt") && !second.checkout.contains_key("two.txt"));
    arena.ok(&["rollback", "before-rollback", "--yes"]);
    Outside::of(&arena).assert_is(&first, "rolled back behind the rollback");
    arena.ok(&["rollback", "before-rollback-2", "--yes"]);
    Outside::of(&arena).assert_is(&second, "and that one, too");
    arena.ok(&["undo", "--yes"]);
    Outside::of(&arena).assert_is(&first, "the last of them undone");
    arena.assert_tidy();
}

fn delete_refs(arena: &Arena, checkpoint: &str) {
    let below = format!("refs/swarm/checkpoints/{checkpoint}/");
    let names: Vec<String> = refs(arena).into_keys().filter(|name| name.starts_with(&below)).collect();
    assert!(!names.is_empty(), "{checkpoint} has refs");
    for name in names {
        arena.git(&["update-ref", "-d", &name]);
    }
}

#[test]
fn a_checkpoint_whose_refs_were_deleted_is_gone_back_to_as_long_as_git_has_the_commits() {
    let arena = arena();
    let first = Outside::of(&arena);
    arena.ok(&["checkpoint", "create", "mine"]);
    arena.ok(&["rollback", "before-merge-1.2", "--yes"]);
    delete_refs(&arena, "mine");
    arena.git(&["tag", "-d", "swarm-checkpoint-mine"]);
    arena.ok(&["rollback", "mine", "--yes"]);
    Outside::of(&arena).assert_is(&first, "from what the ledger holds");
    arena.ok(&["rollback", "before-merge-1.2", "--yes"]);
    let second = Outside::of(&arena);
    // Now git throws away what nothing names any more: only the checkpoint knew it.
    for name in
        refs(&arena).into_keys().filter(|name| name.starts_with("refs/swarm/") && name != "refs/swarm/ledger")
    {
        arena.git(&["update-ref", "-d", &name]);
    }
    arena.git(&["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"]);
    arena.git(&["-c", "gc.auto=0", "gc", "--quiet", "--prune=now"]);
    let before = refs(&arena);
    let out = arena.swarm(&["rollback", "mine", "--yes"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("not in the repository any more") && said.contains("swarm "), "{said}");
    let heads = |all: std::collections::BTreeMap<String, String>| -> Vec<(String, String)> {
        all.into_iter().filter(|(name, _)| name.starts_with("refs/heads/")).collect()
    };
    assert_eq!(heads(refs(&arena)), heads(before), "nothing moved");
    Outside::of(&arena).assert_is(&second, "nothing moved");
    // Nothing is left under way that would keep others out.
    arena.ok(&["checkpoint", "create", "later"]);
    arena.assert_tidy();
}

const TAKES_BACK_THE_SECOND: [&[&str]; 2] =
    [&["task", "rollback", "1.2", "--yes"], &["rollback", "before-merge-1.2", "--yes"]];

/// Two tasks, both on trunk.
fn one_after_the_other() -> Arena {
    let arena = arena_with(json!({}));
    let script = |name: &str| format!("write {name}.txt {name}\ncommit {name}\ncomplete");
    arena.plan_in_phases(&[vec![task("1.1", &[], &script("one")), task("1.2", &["1.1"], &script("two"))]]);
    assert_eq!(arena.run(&[]).0, 0);
    arena
}

/// The redo moved trunk between other commits than the operation did: that is what the next undo takes back.
#[test]
fn an_operation_that_was_redone_on_top_of_a_persons_commit_can_be_undone_again() {
    for operation in TAKES_BACK_THE_SECOND {
        let arena = one_after_the_other();
        arena.ok(operation);
        arena.ok(&["undo", "--yes"]);
        arena.commit("mine.txt", "mine\n");
        let all = "README.md\nmine.txt\none.txt\ntwo.txt\n";
        let on_trunk = || arena.git(&["ls-tree", "--name-only", "main"]);
        for round in 1..=3 {
            arena.ok(&["redo", "--yes"]);
            assert_eq!(on_trunk(), all.replace("two.txt\n", ""), "{operation:?}, redo {round}");
            assert_eq!(arena.status_of("1.2"), "pending", "{operation:?}, redo {round}");
            let look = arena.ok(&["undo", "--dry-run"]);
            assert!(look.contains("main: ") || look.contains("reverted: "), "{operation:?}: {look}");
            arena.ok(&["undo", "--yes"]);
            assert_eq!(on_trunk(), all, "{operation:?}, undo {round}");
            assert_eq!(arena.status_of("1.2"), "done", "{operation:?}, undo {round}");
        }
        // On top of the redo too.
        arena.ok(&["redo", "--yes"]);
        arena.commit("later.txt", "later\n");
        arena.ok(&["undo", "--yes"]);
        assert_eq!(on_trunk(), all.replace("mine", "later.txt\nmine"), "{operation:?}");
        assert_eq!(arena.run(&[]).0, 0);
        arena.assert_all_done();
    }
}

/// What a person made of a task's commit is theirs: it stays, and the answer does not say that it was taken back.
#[test]
fn a_rollback_that_finds_nothing_of_a_task_on_trunk_says_so_in_its_answer() {
    for operation in TAKES_BACK_THE_SECOND {
        let arena = one_after_the_other();
        arena.write("two.txt", "TWO\n");
        arena.git(&["commit", "--quiet", "--all", "--amend", "--message", "two, corrected"]);
        let tip = arena.git(&["rev-parse", "main"]);
        let said = arena.ok(operation);
        assert!(
            said.contains("in the plan alone: the commits of 1.2 are not on trunk"),
            "{operation:?}: {said}"
        );
        assert_eq!(arena.git(&["rev-parse", "main"]), tip, "{operation:?}");
        arena.is_judged();
    }
}
