//! Commands that prepare a worktree and fail every time: the swarm pauses and asks, and goes on when they are mended.

use serde_json::json;

use crate::ground::arena_with;

#[test]
fn a_set_up_that_fails_three_times_in_a_row_pauses_the_swarm_and_goes_on_when_it_is_mended() {
    let arena = arena_with(json!({
        "worktree": { "setup": "echo not yet; echo again; test -e ../../mended" },
        "recovery": { "backoffMax": "1s" },
        "sandbox": "none",
    }));
    arena.plan(&[("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete".into())]);
    let mut run = arena.start(&[]);
    run.until("paused: ");
    let attention = arena.attention();
    assert!(attention.contains("could not be set up 3 times in a row"), "{attention}");
    assert!(attention.contains("swarm resume --reason setup"), "{attention}");
    assert_eq!(arena.starts("1.1"), 3);
    std::fs::write(arena.root.join(".swarm/mended"), "").expect("a file");
    arena.ok(&["resume", "--reason", "setup"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("not yet | again") && !said.contains("\\n"), "one line each: {said}");
    arena.assert_proven("1.1", "main");
}
