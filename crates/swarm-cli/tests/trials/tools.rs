//! The tools of an agent inside its attempt, called for real: server, socket, daemon, ledger.

mod attacks;

use serde_json::{Value, json};

use crate::arena::{Arena, send, wait_for};
use crate::ground::{arena_with, has, task};

/// An arena in which a broken attempt is soon tried again.
pub fn arena() -> Arena {
    arena_with(json!({ "recovery": { "maxRetries": 2, "backoffMax": "1s", "maxCrashes": 5 } }))
}

/// The kinds of records about a task until its agent is done, as they stand in the ledger, with what agents said.
fn story_of(arena: &Arena, id: &str) -> Vec<String> {
    let ledger = std::fs::read_to_string(arena.root.join(".swarm/plan-ledger.jsonl")).expect("the ledger");
    let records = ledger.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let of_task = records.filter(|record| record["taskId"] == id);
    let told = |record: Value| {
        let (kind, data) = (record["type"].as_str().unwrap_or_default(), &record["data"]);
        match kind {
            "signal" => format!("{} {}", data["signal"], data["text"]),
            _ => kind.to_owned(),
        }
    };
    let all: Vec<String> = of_task.map(told).filter(|kind| kind != "task_added").collect();
    // What comes after has several hands in it.
    let end = all.iter().position(|kind| kind == "agent_completed" || kind == "agent_failed");
    all[..=end.expect("the agent came to an end")].to_vec()
}

#[test]
fn a_call_ends_in_the_same_records_as_the_tag() {
    for (tags, calls) in [
        ("complete", "call swarm_complete {\"summary\": \"all of it\"}"),
        ("blocked which grammar?", "call swarm_blocked {\"reason\": \"which grammar?\"}"),
        (
            "print <swarm>NEEDS_HELP: tabs? (1) yes (2) no</swarm>",
            "call swarm_ask {\"question\": \"tabs?\", \"choices\": [\"yes\", \"no\"]}",
        ),
        (
            "print <swarm>LEARNING: look first</swarm>\nprint <swarm>LEARNING_GLOBAL: and again</swarm>\ncomplete",
            "call swarm_learning {\"text\": \"look first\"}\ncall swarm_learning {\"text\": \"and again\", \"scope\": \"all\"}\ncall swarm_complete",
        ),
    ] {
        let arena = arena();
        let work = |id: &str, says: &str| {
            let script = format!("write {id}.txt x\ncommit feat: it\n{says}");
            task(id, &[], &script)
        };
        arena.plan_in_phases(&[vec![work("1.1", tags), work("1.2", calls)]]);
        let (_, said) = arena.run(&["--agents", "1"]);
        let (tagged, called) = (story_of(&arena, "1.1"), story_of(&arena, "1.2"));
        assert!(tagged.len() > 3, "{tagged:?}\n{said}");
        assert_eq!(called, tagged, "{calls}\n{said}\n{}", arena.printed());
        assert_eq!(arena.status_of("1.1"), arena.status_of("1.2"));
        let learned = arena.root.join(".swarm/learnings.md");
        assert_eq!(learned.exists(), tags.contains("LEARNING"), "{calls}");
    }
}

#[test]
fn a_question_comes_back_at_once_and_its_answer_is_in_the_next_prompt() {
    let arena = arena();
    let script = "on-attempt 1: call swarm_ask {\"question\": \"tabs or spaces?\", \"choices\": [\"tabs\", \"spaces\"]}\n\
                  on-attempt 1: print the agent ends its turn\non-attempt 1: no-signal\n\
                  call swarm_context\nwrite a.txt a\ncommit feat: a\ncall swarm_complete";
    arena.plan(&[("1.1", &[], script.into())]);
    let (code, said) = arena.run(&[]);
    assert_eq!((code, arena.status_of("1.1").as_str()), (1, "blocked"), "{said}");
    let printed = arena.printed();
    has(&printed, &["called swarm_ask: Asked. End your turn now", "the agent ends its turn"]);
    has(&arena.attention(), &["tabs or spaces? (1) tabs (2) spaces"]);
    arena.ok(&["agent", "message", "1.1", "spaces,", "please"]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    // The tool tells what the prompt told.
    let context =
        arena.printed().lines().find(|line| line.contains("called swarm_context")).map(str::to_owned);
    has(&context.expect("it was asked"), &["spaces, please", "\"task\":\"1.1\"", "\"goal\":\"prove it\""]);
    arena.assert_proven("1.1", "main");
    arena.assert_tidy();
}

#[test]
fn progress_is_shown_and_context_has_the_task_its_neighbours_and_its_files() {
    let arena = arena();
    let go = arena.path("go").display().to_string();
    let script = format!(
        "call swarm_progress {{\"percent\": 42}}\ncall swarm_context\nwait-for {go}\nwrite a.txt a\ncomplete"
    );
    let mut second = task("1.2", &["1.1"], &script);
    second["acceptance"] = json!(["it is proven"]);
    second["reserve"] = json!(["src/**"]);
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "write b.txt b\ncomplete"),
        second,
        task("1.3", &["1.2"], "write c.txt c\ncomplete"),
    ]]);
    let run = arena.start(&[]);
    wait_for("the context is told", || arena.printed().contains("called swarm_context"));
    wait_for("the progress is shown", || {
        arena.json(&["agent", "list"]).to_string().contains("\"percent\":42")
    });
    std::fs::write(&go, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    let printed = arena.printed();
    let context =
        printed.lines().find(|line| line.starts_with("called swarm_context")).expect("it was asked");
    has(
        context,
        &[
            "called swarm_context: Task 1.2: Do 1.2",
            "\"acceptance\":[\"it is proven\"]",
            "\"builds_on\":[{\"id\":\"1.1\",\"title\":\"Do 1.1\"}]",
            "\"unblocks\":[{\"id\":\"1.3\",\"title\":\"Do 1.3\"}]",
            "\"own\":[\"src/**\"]",
        ],
    );
    arena.assert_tidy();
}

#[test]
fn more_files_are_reserved_at_once_or_refused_with_who_has_them() {
    let arena = arena();
    let (go, seen) = (arena.path("go").display().to_string(), arena.path("seen").display().to_string());
    let asks = format!(
        "wait-for {go}\ncall swarm_reserve {{\"globs\": [\"lib/a.rs\"]}}\n\
         call swarm_reserve {{\"globs\": [\"docs/**\"]}}\ncall swarm_reserve {{\"globs\": [\"docs/**\"]}}\n\
         call swarm_reserve {{\"globs\": [\"/etc/passwd\"]}}\n\
         call swarm_reserve {{\"globs\": [\"**\"]}}\nprint ASKED\nwait-for {seen}\n\
         write docs/a.md a\ncommit docs: a\ncomplete"
    );
    let mut first = task("1.1", &[], &asks);
    first["reserve"] = json!(["src/**"]);
    let mut second = task("1.2", &[], &format!("print HOLDS\nwait-for {seen}\nwrite lib/a.rs a\ncomplete"));
    second["reserve"] = json!(["lib/**"]);
    arena.plan_in_phases(&[vec![first, second]]);
    let run = arena.start(&["--agents", "2"]);
    wait_for("the other has its files", || arena.printed().contains("HOLDS"));
    std::fs::write(&go, "").expect("a file");
    wait_for("all is asked", || arena.printed().contains("ASKED"));
    let held = arena.json(&["reservations"]);
    std::fs::write(&seen, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    has(
        &arena.printed(),
        &[
            "refused swarm_reserve: lib/** belongs to task 1.2 (reservation 2)",
            "called swarm_reserve: Reserved docs/** for task 1.1",
            "called swarm_reserve: Task 1.1 has docs/** already",
            "refused swarm_reserve: \"/etc/passwd\" leaves the repository",
            "\"**\" is too wide for an agent",
        ],
    );
    let of_first = held.as_array().expect("a list").iter().find(|one| one["task"] == "1.1");
    assert_eq!(of_first.expect("one")["files"], json!(["src/**", "docs/**"]), "{held}");
    assert_eq!(arena.json(&["reservations"]), json!([]), "all of them are released");
    arena.assert_true_at_rest();
    arena.assert_tidy();
}

/// Completed by a call, with the program still there; `killed` ends what it likes, and a new run goes on.
fn broken_off(says: &str, killed: impl FnOnce(&Arena)) -> Arena {
    let arena = arena();
    let go = arena.path("go").display().to_string();
    let script = format!(
        "print begins\nwrite a.txt a\ncommit feat: a\non-attempt 1: {says}\n\
         on-attempt 1: print SAID\non-attempt 1: wait-for {go}\non-attempt 1: no-signal\ncomplete"
    );
    arena.plan(&[("1.1", &[], script)]);
    let mut run = arena.start(&[]);
    wait_for("it is said", || arena.printed().contains("SAID"));
    run.kill_9();
    killed(&arena);
    std::fs::write(&go, "").expect("a file");
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    arena.assert_proven("1.1", "main");
    arena.assert_tidy();
    arena
}

#[test]
fn a_coordinator_killed_between_a_call_and_the_boundary_takes_nothing_away() {
    for says in ["print <swarm>COMPLETE</swarm>", "call swarm_complete"] {
        let arena = broken_off(says, |_| {});
        assert_eq!(arena.starts("1.1"), 1, "{says}");
        assert_eq!(arena.printed().matches("begins\n").count(), 1, "{says}: done once");
    }
}

#[test]
fn a_daemon_killed_between_a_call_and_the_boundary_is_like_one_killed_after_the_tag() {
    for says in ["print <swarm>COMPLETE</swarm>", "call swarm_complete"] {
        let arena = broken_off(says, |arena| {
            let record = std::fs::read(arena.root.join(".swarm/run/daemons/r1.json")).expect("a record");
            let record: Value = serde_json::from_slice(&record).expect("JSON");
            send("KILL", u32::try_from(record["pid"].as_u64().expect("a pid")).expect("a pid"));
        });
        let view = arena.shown("1.1");
        assert_eq!((&view["attempts"], &view["retries"]), (&json!(2), &json!(1)), "{says}: {view}");
    }
}
