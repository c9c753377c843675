//! Work that several agents judge, each for itself: with a quorum, a veto, and what they said kept as a file.

use serde_json::{Value, json};

use crate::arena::{Arena, send};
use crate::ground::{arena_with, has, task};

const APPROVE: &str = r#"print {"verdict": "approve", "summary": "fine"}"#;
const GOOD: &str = "write a.txt a\ncommit feat: a\ncomplete";

fn arena(quorum: u32, veto: bool) -> Arena {
    arena_with(json!({
        "review": {
            "policy": "council",
            "council": {
                "members": [
                    { "name": "design", "profile": "script" },
                    { "name": "security", "profile": "script", "focus": "what an attacker could do with it" },
                    { "name": "tests", "profile": "script" },
                ],
                "quorum": quorum,
                "veto": veto,
            },
        },
        "recovery": { "backoffMax": "1s" },
    }))
}

fn judged(id: &str, work: &str, review: &str) -> Value {
    let mut task = task(id, &[], work);
    let script = task["description"].as_str().unwrap_or_default().to_owned();
    task["description"] = json!(format!("{script}\n\n```review-script\n{review}\n```"));
    task
}

fn evidence(arena: &Arena, id: &str) -> Value {
    let path = arena.root.join(format!(".swarm/evidence/{id}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("the evidence is JSON")
}

/// How often this member has spoken.
fn voices(arena: &Arena, name: &str) -> usize {
    let ledger = std::fs::read_to_string(arena.root.join(".swarm/plan-ledger.jsonl")).expect("the ledger");
    let spoke = ledger.lines().filter(|line| line.contains("\"council_spoke\""));
    spoke.filter(|line| line.contains(&format!("\"member\":\"{name}\""))).count()
}

#[test]
fn one_that_rejects_sends_the_work_back_with_what_everybody_remarked() {
    let work = "on-attempt 1: write a.txt a\non-attempt 1: commit feat: a\n\
                on-attempt 2: sh cp \"$SWARM_PROMPT_FILE\" told.md\non-attempt 2: commit fix: as judged\ncomplete";
    let review = format!(
        "sh cat \"$SWARM_PROMPT_FILE\"\n\
         on-attempt 1: as design: print {{\"verdict\":\"concerns\",\"issues\":[{{\"text\":\"a long name\"}}]}}\n\
         on-attempt 1: as security: print {{\"verdict\":\"reject\",\
         \"issues\":[{{\"file\":\"a.txt\",\"line\":1,\"text\":\"a hole\"}}]}}\n\
         on-attempt 2: {APPROVE}"
    );
    let arena = arena(0, true);
    arena.plan_in_phases(&[vec![judged("1.1", work, &review)]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    has(
        &said,
        &[
            "in review by design",
            "security rejects it: wants 1 thing changed",
            "requests changes",
            "approved by the council",
        ],
    );
    // Whoever had concerns is heard as well; whoever was not needed any more was not asked.
    has(&arena.git(&["show", "main:told.md"]), &["design: a long name", "a.txt:1: security: a hole"]);
    has(&arena.printed(), &["Look at this before everything else: what an attacker could do with it"]);
    let council = &evidence(&arena, "1.1")["gates"]["council"];
    assert_eq!((&council["verdict"], &council["round"]), (&json!("APPROVE"), &json!(2)), "{council}");
    assert_eq!(council["members"].as_object().map(|members| members.len()), Some(3), "{council}");
    assert_eq!(council["members"]["tests"]["verdict"], json!("APPROVE"));
    arena.assert_all_done();
    arena.assert_tidy();
    // What is taken back is not shown as complete, by whoever does it.
    assert_eq!(evidence(&arena, "1.1")["completed"], json!(true));
    arena.ok(&["task", "rollback", "1.1", "--yes"]);
    assert_eq!(evidence(&arena, "1.1")["completed"], json!(false));
}

#[test]
fn a_verdict_of_the_council_outlives_the_coordinator_and_completes_nothing_by_itself() {
    let arena = arena(3, false);
    // The last one waits; until then two have spoken.
    let review = format!("as tests: wait-for ../../gate\n{APPROVE}");
    arena.plan_in_phases(&[vec![judged("1.1", GOOD, &review)]]);
    let mut run = arena.start(&[]);
    run.until("security approves: fine");
    run.until("in review by tests");
    send("KILL", run.coordinator());
    run.until("started (epoch 2)");
    assert_eq!(arena.commits("main", "feat: a"), 0);
    std::fs::write(arena.root.join(".swarm/gate"), "").expect("written");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    assert_eq!(["design", "security", "tests"].map(|name| voices(&arena, name)), [1, 1, 1], "{said}");
    assert_eq!(evidence(&arena, "1.1")["gates"]["council"]["verdict"], json!("APPROVE"));
    arena.assert_tidy();
}

#[test]
fn a_council_that_speaks_at_the_same_time_reads_the_same_worktree() {
    let arena = arena(2, false);
    let review = format!(
        "wait-for ../../gate\nas design: {APPROVE}\nas security: {APPROVE}\n\
         as tests: print {{\"verdict\":\"reject\",\"issues\":[{{\"text\":\"no tests\"}}]}}"
    );
    arena.plan_in_phases(&[vec![judged("1.1", GOOD, &review)]]);
    arena.ok(&["plan", "profile", "set", "--council-parallel", "true"]);
    let mut run = arena.start(&[]);
    // Nobody ends before all have begun.
    for name in ["design", "security", "tests"] {
        run.until(&format!("in review by {name}"));
    }
    has(&arena.ok(&["review", "show", "1.1"]), &["tests (script) has not spoken"]);
    std::fs::write(arena.root.join(".swarm/gate"), "").expect("written");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    has(&said, &["tests rejects it", "approved by the council"]);
    arena.assert_all_done();
    arena.assert_tidy();
}
