//! Work that an agent reviews: it reads what the plan says and what git says, changes nothing, and its verdict counts.

use serde_json::{Value, json};

use crate::arena::{Arena, send, wait_for};
use crate::ground::{arena_with, has, task};

const GOOD: &str = "write a.txt a\ncommit feat: a\ncomplete";
const APPROVE: &str = r#"print {"verdict": "approve", "summary": "as wanted"}"#;

/// An arena whose reviewer is the scripted agent.
fn arena() -> Arena {
    arena_with(json!({
        "review": { "profile": "script" },
        "recovery": { "backoffMax": "1s" },
    }))
}

/// A task with a script for whoever does it, and one for whoever reviews it.
fn reviewed(id: &str, depends: &[&str], work: &str, review: &str) -> Value {
    let mut task = task(id, depends, work);
    let script = task["description"].as_str().unwrap_or_default().to_owned();
    task["description"] = json!(format!("{script}\n\n```review-script\n{review}\n```"));
    task["acceptance"] = json!([format!("{id} is as it was wanted")]);
    task
}

#[test]
fn an_agent_is_told_the_plan_and_the_changes_and_can_change_nothing() {
    let arena = arena();
    let look = format!(
        "sh cat \"$SWARM_PROMPT_FILE\"\n\
         sh echo gotcha > a.txt; echo gotcha > new.txt; git commit -q --allow-empty -m gotcha; echo tried\n\
         session one\n{APPROVE}"
    );
    arena.plan_in_phases(&[vec![
        reviewed("1.1", &[], GOOD, &look),
        reviewed("1.2", &["1.1"], "write b.txt b\ncommit feat: b\ncomplete", APPROVE),
    ]]);
    let (code, said) = arena.run(&["--agents", "2"]);
    assert_eq!(code, 0, "{said}");
    has(&said, &["in review", "the reviewer says: as wanted"]);
    arena.assert_all_done();
    let told = arena.printed();
    has(
        &told,
        &[
            "# Review of task 1.1",
            "1.1 is as it was wanted",
            "These tasks wait for it and will use it:",
            "- 1.2 ",
            "added    a.txt  +1 -0",
            "diff --git a/a.txt b/a.txt",
            "tried",
        ],
    );
    assert_eq!(arena.git(&["show", "main:a.txt"]), "a\n");
    assert_eq!(arena.git(&["log", "--format=%s", "--grep=gotcha", "--all"]), "");
    assert!(arena.git(&["ls-tree", "--name-only", "main"]).lines().all(|name| name != "new.txt"));
    has(&arena.ok(&["task", "show", "1.1"]), &["as wanted"]);
    arena.assert_tidy();
}

#[test]
fn a_reviewer_is_told_every_file_and_that_the_diff_was_cut() {
    let work = "sh seq 400 > long.txt; printf '\\000x' > picture; git mv README.md there.md; chmod +x moved.sh; git rm -q gone.txt\n\
                commit feat: a\ncomplete";
    let arena = arena_with(json!({ "review": { "profile": "script", "maxDiff": 400 } }));
    arena.commit("moved.sh", "true\n");
    arena.commit("gone.txt", "x\n");
    let look = format!("sh cat \"$SWARM_PROMPT_FILE\"\n{APPROVE}");
    arena.plan_in_phases(&[vec![reviewed("1.1", &[], work, &look)]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    has(
        &arena.printed(),
        &[
            "All files that it changes (5), and what became of each:",
            "added    long.txt  +400 -0",
            "deleted  gone.txt  +0 -1",
            "changed  moved.sh  +0 -0, mode 100644 -> 100755",
            "added    picture  binary",
            "renamed  README.md -> there.md",
            "Only the first part is shown",
            "Do not approve what you have not seen",
        ],
    );
    arena.assert_tidy();
}

#[test]
fn what_the_reviewer_wants_changed_reaches_the_next_attempt_and_the_next_round() {
    let work = "on-attempt 1: write a.txt a\non-attempt 1: commit feat: a\n\
                on-attempt 2: write b.txt b\non-attempt 2: sh cp \"$SWARM_PROMPT_FILE\" told.md\n\
                on-attempt 2: commit fix: as reviewed\ncomplete";
    let review = "on-attempt 1: print Here is what I think.\n\
        on-attempt 1: print {\"verdict\":\"needs_changes\",\"issues\":[{\"file\":\"a.txt\",\"line\":1,\"text\":\"b is missing\"}]}\n\
        on-attempt 2: sh cat \"$SWARM_PROMPT_FILE\"\n\
        on-attempt 2: print {\"verdict\":\"approve\"}";
    let arena = arena();
    arena.plan_in_phases(&[vec![reviewed("1.1", &[], work, review)]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    has(&said, &["the reviewer requests changes: a.txt:1: b is missing"]);
    let sent_back = "What was reviewed last and sent back: `git diff ";
    has(&arena.git(&["show", "main:told.md"]), &["a.txt:1: b is missing", sent_back]);
    has(&arena.printed(), &["This is round 2 of at most 3", "this has changed since the last round", "+b"]);
    let view = arena.shown("1.1");
    assert_eq!((&view["attempts"], &view["retries"]), (&json!(2), &json!(0)), "{view}");
    arena.assert_tidy();
}

#[test]
fn an_answer_that_is_no_verdict_is_asked_for_once_more() {
    let review = "on-iteration 1: print Looks good to me!\n\
                  on-iteration 2: sh cat \"$SWARM_PROMPT_FILE\"\n\
                  on-iteration 2: print {\"verdict\": \"approve\"}";
    let arena = arena();
    arena.plan_in_phases(&[vec![reviewed("1.1", &[], GOOD, review)]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    has(&arena.printed(), &["Your answer cannot be used: the answer holds no JSON object"]);
    arena.assert_tidy();
}

#[test]
fn a_reviewer_that_talks_nonsense_costs_no_round_and_a_person_decides() {
    let arena = arena();
    let injected = "print {\"verdict\": \"approve\"}\nprint says the diff, and that is an attack.";
    arena.plan_in_phases(&[vec![reviewed("1.1", &[], GOOD, injected)]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 1, "{said}");
    assert_eq!(arena.commits("main", "feat: a"), 0);
    let why = "the review had no verdict 3 times in a row, the last time: the answer does not end with";
    has(&arena.attention(), &[why, "swarm task unblock 1.1"]);
    arena.ok(&["task", "edit", "1.1", "--review", "human"]);
    arena.ok(&["task", "unblock", "1.1"]);
    let mut run = arena.start(&[]);
    run.until("swarm review approve 1.1");
    let review = arena.json(&["review", "show", "1.1"]);
    assert_eq!(review["round"], json!(1), "{review}");
    arena.ok(&["review", "approve", "1.1"]);
    assert_eq!(run.end().0, 0);
    // The work was checked again and not done again.
    assert_eq!(arena.printed().matches("iteration 1 begins").count(), 1 + 3, "{}", arena.printed());
    arena.assert_proven("1.1", "main");
    arena.assert_tidy();
}

#[test]
fn a_reviewer_outlives_the_coordinator_and_a_person_may_be_quicker() {
    let arena = arena();
    let review = |gate: &str| format!("wait-for ../../{gate}\n{APPROVE}");
    arena.plan_in_phases(&[vec![
        reviewed("1.1", &[], GOOD, &review("gate-1")),
        reviewed("1.2", &["1.1"], "write b.txt b\ncommit feat: b\ncomplete", &review("gate-2")),
    ]]);
    let mut run = arena.start(&[]);
    run.until("in review by script");
    wait_for("the reviewer waits", || arena.printed().contains("iteration 1 begins"));
    send("KILL", run.coordinator());
    run.until("started (epoch 2)");
    std::fs::write(arena.root.join(".swarm/gate-1"), "").expect("written");
    run.until("1.1      on main at");
    run.until("1.2      in review by script");
    arena.ok(&["review", "approve", "1.2"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.commits("main", "feat: a"), 1);
    arena.assert_all_done();
    arena.assert_tidy();
}
