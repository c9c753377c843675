//! How work comes to trunk: strategies, histories with merges, red verifications, red trunks, lost races.

use serde_json::{Value, json};

use crate::arena::{Arena, Running, wait_for};
use crate::ground::{arena_with, task};

const TWO_COMMITS: &str = "write a.txt a\ncommit feat: first\nwrite b.txt b\ncommit feat: second\ncomplete";

fn merged(strategy: &str, script: &str) -> Arena {
    let arena = arena_with(json!({ "merge": { "strategy": strategy }, "verify": { "commands": ["true"] } }));
    arena.plan(&[("1.1", &[], script.into())]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{strategy}: {said}");
    arena.assert_proven("1.1", "main");
    arena.assert_tidy();
    arena
}

/// Subjects on trunk since the start, newest first, and how many parents each commit has.
fn history(arena: &Arena) -> Vec<(String, usize)> {
    let log = arena.git(&["log", "--first-parent", "--format=%s%x09%P", "main"]);
    log.lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(subject, parents)| (subject.to_owned(), parents.split_whitespace().count()))
        .take_while(|(subject, _)| subject != "start")
        .collect()
}

#[test]
fn commits_come_as_they_are() {
    let arena = merged("commits", TWO_COMMITS);
    assert_eq!(history(&arena), [("feat: second".into(), 1), ("feat: first".into(), 1)]);
    let body = arena.git(&["log", "-1", "--format=%B", "main"]);
    assert!(body.contains("Swarm-Task: 1.1") && body.contains("Swarm-Agent: "), "{body}");
}

#[test]
fn a_squash_is_one_commit_that_names_its_task() {
    let arena = merged("squash", TWO_COMMITS);
    let history = history(&arena);
    assert_eq!((history.len(), history[0].1), (1, 1), "{history:?}");
    let body = arena.git(&["log", "-1", "--format=%B", "main"]);
    assert!(body.contains("Swarm-Task: 1.1"), "{body}");
    assert_eq!(arena.git(&["show", "main:b.txt"]).trim(), "b");
}

#[test]
fn a_merge_commit_joins_the_commits_as_they_are() {
    let arena = merged("merge", TWO_COMMITS);
    let history = history(&arena);
    assert_eq!((history.len(), history[0].1), (1, 2), "{history:?}");
    assert_eq!(arena.commits("main", "feat: first") + arena.commits("main", "feat: second"), 2);
}

#[test]
fn a_history_with_merges_of_the_agent_s_own_comes_whole_in_every_strategy() {
    let script = "write a.txt a\ncommit feat: first\n\
        sh git checkout -q -b swarm/aside HEAD~1 2>/dev/null || git checkout -q --detach HEAD~1; echo side > side.txt; git add side.txt; git commit -qm 'feat: side'; s=$(git rev-parse HEAD); git checkout -q swarm/1.1; git merge -q --no-edit $s; git branch -D swarm/aside 2>/dev/null\n\
        write b.txt b\ncommit feat: second\ncomplete";
    for strategy in ["commits", "squash", "merge"] {
        let arena = merged(strategy, script);
        let names = arena.git(&["ls-tree", "-r", "--name-only", "main"]);
        for name in ["a.txt", "side.txt", "b.txt"] {
            assert!(names.contains(name), "{strategy}: {names}\n{}", arena.printed());
        }
        assert_eq!(arena.git(&["status", "--porcelain", "--untracked-files=no"]), "");
    }
}

#[test]
fn a_conflict_on_the_second_commit_leaves_trunk_untouched_and_names_the_file_and_the_command() {
    for strategy in ["commits", "squash", "merge"] {
        let arena = arena_with(json!({ "merge": { "strategy": strategy } }));
        let go = arena.path("go");
        let script = format!(
            "write a.txt a\ncommit feat: first\nwrite README.md theirs\ncommit feat: second\nwait-for {}\ncomplete",
            go.display()
        );
        arena.plan(&[("1.1", &[], script)]);
        let run = arena.start(&[]);
        wait_for("the agent has committed", || arena.committed().contains("feat: second"));
        arena.write("README.md", "mine\n");
        arena.git(&["commit", "--quiet", "--all", "--message", "docs: mine"]);
        let mine = arena.git(&["rev-parse", "main"]);
        std::fs::write(&go, "").expect("a file");
        let (code, said) = run.end();
        assert_eq!(code, 1, "{strategy}: {said}");
        assert_eq!(arena.git(&["rev-parse", "main"]), mine, "{strategy}");
        let view = arena.shown("1.1");
        assert_eq!((&view["status"], &view["block"]), (&json!("blocked"), &json!("conflict")), "{view}");
        let attention = arena.attention();
        assert!(attention.contains("README.md"), "{strategy}: {attention}");
        // The work is not lost, and the way out is named.
        assert!(arena.git(&["log", "--all", "--format=%s"]).contains("feat: second"));
        assert!(attention.contains("swarm task unblock 1.1"), "{strategy}: {attention}");
        arena.assert_nothing_runs();
    }
}

#[test]
fn a_red_verification_goes_back_to_work_with_its_output_and_ends_green() {
    // Red together with what the person committed meanwhile; the second attempt mends it.
    let arena = arena_with(json!({
        "verify": { "commands": ["test ! -e person.txt || test ! -e a.txt || test -e mended.txt || { echo person.txt and a.txt do not go together; false; }"] },
    }));
    let go = arena.path("go");
    let script = format!(
        "on-attempt 1: write a.txt a\non-attempt 1: commit feat: a\non-attempt 1: wait-for {}\n\
         on-attempt 2: write mended.txt m\non-attempt 2: commit fix: together\ncomplete",
        go.display()
    );
    arena.plan(&[("1.1", &[], script)]);
    let run = arena.start(&[]);
    wait_for("the agent has committed", || arena.committed().contains("feat: a"));
    arena.commit("person.txt", "mine\n");
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    let view = arena.shown("1.1");
    assert_eq!((&view["merge_rounds"], &view["retries"]), (&json!(1), &json!(0)), "{view}");
    assert_eq!(arena.commits("main", "feat: a") + arena.commits("main", "fix: together"), 2);
    assert!(view["audit"].to_string().contains("verification_failed"), "{view}");
    arena.assert_tidy();
}

#[test]
fn a_red_trunk_pauses_blames_nobody_and_goes_on_when_it_is_mended() {
    let arena = arena_with(json!({ "verify": { "commands": ["test ! -e red.txt"] } }));
    let go = arena.path("go");
    let script =
        |name: &str| format!("write {name}.txt x\ncommit feat: {name}\nwait-for {}\ncomplete", go.display());
    arena.plan_in_phases(&[vec![task("1.1", &[], &script("a")), task("1.2", &[], &script("b"))]]);
    let run = arena.start(&["--agents", "2"]);
    wait_for("both have committed", || {
        let all = arena.committed();
        all.contains("feat: a") && all.contains("feat: b")
    });
    arena.commit("red.txt", "trunk is broken by a person\n");
    std::fs::write(go, "").expect("a file");
    let status = || arena.json(&["status"]);
    wait_for("it pauses because of trunk", || status()["paused"].to_string().contains("trunk"));
    for id in ["1.1", "1.2"] {
        let view = arena.shown(id);
        assert_eq!((&view["retries"], &view["merge_rounds"]), (&json!(0), &json!(0)), "{view}");
        assert_ne!(view["status"], "blocked", "{view}");
    }
    assert!(arena.attention().contains("Paused until trunk moves"), "{}", arena.attention());
    arena.git(&["rm", "--quiet", "red.txt"]);
    arena.git(&["commit", "--quiet", "--message", "person: mended"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    for id in ["1.1", "1.2"] {
        arena.assert_proven(id, "main");
        assert_eq!(arena.starts(id), 1, "nobody's work was done twice");
    }
    assert_eq!(status()["paused"], json!([]));
    arena.assert_tidy();
}

#[test]
fn a_trunk_that_nobody_has_checked_out_takes_the_work_and_the_checkout_stays() {
    for strategy in ["commits", "squash", "merge"] {
        let arena =
            arena_with(json!({ "merge": { "strategy": strategy }, "verify": { "commands": ["true"] } }));
        arena.git(&["branch", "integration"]);
        let before = arena.git(&["rev-parse", "main"]);
        arena.plan(&[("1.1", &[], TWO_COMMITS.into())]);
        let (code, said) = arena.run(&["--trunk", "integration"]);
        assert_eq!(code, 0, "{strategy}: {said}");
        arena.assert_proven("1.1", "integration");
        assert_eq!(arena.git(&["rev-parse", "main"]), before, "{strategy}");
        assert_eq!(arena.git(&["status", "--porcelain", "--untracked-files=no"]), "");
        arena.assert_tidy_on("integration");
    }
}

#[test]
fn a_trunk_that_does_not_exist_is_made_and_said() {
    let arena = arena_with(json!({}));
    arena.plan(&[("1.1", &[], TWO_COMMITS.into())]);
    let (code, said) = arena.run(&["--trunk", "integration"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("Made the branch integration"), "{said}");
    arena.assert_proven("1.1", "integration");
    assert_eq!(arena.commits("main", "feat: first"), 0);
}

/// A person commits while the verification runs, again and again; in the end both works are there.
#[test]
fn a_race_for_trunk_that_is_lost_is_run_again_on_the_new_trunk() {
    let arena = arena_with(json!({
        "verify": { "commands": ["touch verifying; while test -e hold; do sleep 0.02; done; sleep 0.4; true"] },
    }));
    arena.plan(&[("1.1", &[], TWO_COMMITS.into())]);
    let run = Running::of(arena.command(&["run", "--agent", "script"]));
    let runs = || -> usize {
        let ledger = std::fs::read_to_string(arena.root.join(".swarm/plan-ledger.jsonl")).unwrap_or_default();
        ledger
            .lines()
            .filter(|line| line.contains("\"type\":\"verify_started\"") || line.contains("verif"))
            .count()
    };
    for nth in 1..=2 {
        let before = runs();
        wait_for("a verification runs", || runs() > before || arena.status_of("1.1") == "done");
        if arena.status_of("1.1") != "done" {
            arena.commit(&format!("person{nth}.txt"), "mine\n");
        }
    }
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_proven("1.1", "main");
    let log: Vec<Value> = arena.shown("1.1")["audit"].as_array().cloned().unwrap_or_default();
    println!("{} entries in the task's history", log.len());
    for name in ["person1.txt", "a.txt", "b.txt"] {
        assert!(arena.git(&["ls-tree", "-r", "--name-only", "main"]).contains(name), "{name}: {said}");
    }
    assert_eq!(arena.git(&["status", "--porcelain", "--untracked-files=no"]), "");
    arena.assert_tidy();
}
