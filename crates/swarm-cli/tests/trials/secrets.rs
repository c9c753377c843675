//! Secrets do not get to trunk unseen, and nobody else reads what the swarm writes down.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::arena::wait_for;
use crate::ground::{arena_with, has, task};

/// Put together here, so that no scanner takes this file for a leak.
fn token() -> String {
    format!("ghp_{}", "A1b2C3d4E5f6G7h8".repeat(3))
}

#[test]
fn work_that_holds_a_secret_waits_for_a_person_in_every_mode_and_names_the_line_not_the_secret() {
    let arena = arena_with(json!({}));
    let password = "tr0ub4dor-and-3-more";
    std::fs::write(arena.root.join(".env"), format!("DB_PASSWORD={password}\n")).expect("a file");
    let ci = format!("write ci.yml token: {}\ncommit feat: ci\ncomplete", token());
    // The description stands in the plan, so the value cannot: the agent finds it in the person's file.
    let config = format!(
        "sh cat {} | sed 's/.*=/url = /' > settings.txt\ncomplete",
        arena.root.join(".env").display()
    );
    arena.plan_in_phases(&[vec![
        task("1.1", &[], &ci),
        task("1.2", &[], &config),
        task("1.3", &[], "write b.txt b\ncommit feat: b\ncomplete"),
    ]]);
    let run = arena.start(&["--agents", "3"]);
    wait_for("1.3 is done", || arena.status_of("1.3") == "done");
    wait_for("both wait for a person", || {
        let waits = arena.attention();
        waits.contains("approve 1.1") && waits.contains("approve 1.2")
    });
    has(
        &arena.attention(),
        &["ci.yml: line 1 holds a GitHub token", "settings.txt: line 1 holds a secret of your environment"],
    );
    assert_eq!(arena.git(&["ls-tree", "--name-only", "main"]), "README.md\nb.txt\n", "neither is on trunk");
    let ledger = std::fs::read_to_string(arena.root.join(".swarm/plan-ledger.jsonl")).expect("text");
    assert!(!ledger.contains(password), "the value itself is not written down");
    // A person who has seen it decides.
    arena.ok(&["review", "approve", "1.1"]);
    wait_for("1.1 is done", || arena.status_of("1.1") == "done");
    arena.ok(&["task", "cancel", "1.2"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert!(!arena.git(&["log", "-p", "main"]).contains(password));
}

/// Each commit comes to trunk as it is, and whoever reads the history reads what was taken away again.
#[test]
fn a_secret_that_a_later_commit_takes_away_waits_for_a_person_too() {
    let arena = arena_with(json!({ "merge": { "protected": ["deploy.sh"] } }));
    let script = format!(
        "write ci.yml token: {}\ncommit feat: ci\nwrite deploy.sh x\ncommit chore: hook\n\
         write ci.yml token: from the store\ncommit fix: ci\nsh git rm -q deploy.sh\n\
         commit chore: no hook\ncomplete",
        token()
    );
    arena.plan_in_phases(&[vec![task("1.1", &[], &script)]]);
    let mut run = arena.start(&[]);
    run.until("swarm review approve 1.1");
    has(&arena.attention(), &["ci.yml: line 1 holds a GitHub token", "deploy.sh"]);
    assert_eq!(arena.git(&["ls-tree", "--name-only", "main"]), "README.md\n", "nothing is on trunk");
    arena.ok(&["task", "cancel", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
}

#[test]
fn what_the_swarm_writes_down_is_for_its_owner_alone() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete")]]);
    // As an older version left it.
    std::fs::set_permissions(
        arena.root.join(".swarm/plan-ledger.jsonl"),
        std::fs::Permissions::from_mode(0o644),
    )
    .expect("ours");
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    let mut looked = 0;
    for place in [arena.root.join(".swarm"), arena.root.join(".git/swarm")] {
        for file in crate::arena::files_below(&place, ".jsonl") {
            let mode = std::fs::metadata(&file).expect("there").permissions().mode();
            assert_eq!(mode & 0o077, 0, "{} is {mode:o}", file.display());
            looked += 1;
        }
    }
    assert!(looked >= 3, "the ledger, its copy and a journal: {looked}");
}
