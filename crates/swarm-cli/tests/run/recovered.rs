//! What the next attempt, or the next iteration, is told about the one before.

use crate::arena::Arena;

const CONFIG: &str = r#"{
  "recovery": { "maxRetries": 3, "backoffMax": "1s", "loops": { "note": 2, "stop": 4 } },
  "stop": { "grace": "1s", "drain": "1s" },
}"#;

/// Plays the task, and gives what its last iteration was told.
fn told_after(script: &str) -> (Arena, String) {
    let arena = Arena::new(CONFIG);
    let last = "sh cp \"$SWARM_PROMPT_FILE\" told.md\ncommit feat: it\ncomplete";
    arena.plan(&[("1.1", &[], format!("{script}\n{last}"))]);
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    arena.assert_nothing_runs();
    let told = arena.git(&["show", "main:told.md"]);
    (arena, told)
}

fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

#[test]
fn after_a_crash_the_next_attempt_knows_what_was_done() {
    let script = "on-attempt 1: write a.txt one\non-attempt 1: commit feat: first step\n\
                  on-attempt 1: write b.txt two\non-attempt 1: crash 7";
    let (arena, told) = told_after(script);
    assert_has(
        &told,
        &[
            "## Recovery Context\n\nThis task was previously attempted but crashed.\n\n**Previous attempts:** 1\n**Worktree has uncommitted changes:** Yes\n\n### Last Attempt Log\n- Started: ",
            "\n- Files modified: a.txt, b.txt\n- Last commit: ",
            " \"feat: first step\"\n- Error: exit code 7\n- Crashed during iteration 1\n",
            "continue from where the previous attempt left off.",
        ],
    );
    assert!(!arena.root.join(".swarm/context/1.1.md").exists(), "it goes with the worktree");
}

#[test]
fn a_circle_is_told_to_the_next_iteration_of_the_same_attempt() {
    let (arena, told) = told_after("on-iteration 1: repeat 50: tool Bash make");
    assert_has(
        &told,
        &[
            "## About the last iteration\n\nIt did not get further: it goes round in circles: ",
            "the same call 4 times in a row without a new commit: Bash make",
        ],
    );
    let shown = arena.ok(&["task", "show", "1.1"]);
    assert_has(&shown, &["the same call 2 times in a row"]);
}

#[test]
fn an_agent_that_ends_each_turn_without_a_change_and_without_a_word_is_told_so_and_not_paid_fifty_times() {
    let quiet: Vec<String> = (1..=3).map(|turn| format!("on-iteration {turn}: no-signal")).collect();
    let (_, told) = told_after(&quiet.join("\n"));
    assert_has(&told, &["## About the last iteration", "2 iterations in a row changed nothing"]);
    let arena = Arena::new(CONFIG);
    arena.plan(&[(
        "1.1",
        &[],
        "on-attempt 1: print I am done\non-attempt 1: no-signal\nwrite a.txt a\ncomplete".into(),
    )]);
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    let ledger = std::fs::read_to_string(arena.root.join(".swarm/plan-ledger.jsonl")).expect("the ledger");
    let ended = ledger.lines().filter(|line| line.contains("\"type\":\"iteration\"")).count();
    assert_eq!(ended, 6, "three turns, told; two more like them, ended; one more");
}

#[test]
fn a_full_context_window_is_followed_by_a_compact_prompt_with_a_handover() {
    let script = "on-attempt 1: write a.txt one\non-attempt 1: print I know the way\n\
                  on-attempt 1: fail overflow prompt is too long";
    let (_, told) = told_after(script);
    assert_has(
        &told,
        &[
            "## Keep it small",
            "## Handover",
            "I know the way",
            "This task was previously attempted but ran out of its context window.",
        ],
    );
    assert!(!told.contains("It is part of this goal"), "only what is needed:\n{told}");
}
