//! Work that conflicts with trunk: resolved by rule, verified, reviewed again where it was reviewed, or a person's.

use serde_json::{Value, json};

use crate::arena::{Arena, Running, wait_for};
use crate::ground::{arena_with, has, task};

/// Adds an import at the top of `lib.rs` and says that it is complete once it may.
fn imports(arena: &Arena, name: &str) -> String {
    let go = arena.path("go");
    let (text, wait) = (format!("use {name}::Thing{name};"), go.display());
    format!(
        "sh printf '%s\\n' '{text}' 'fn main() {{}}' > lib.rs\ncommit feat: {name}\nwait-for {wait}\ncomplete"
    )
}

/// An arena with a `lib.rs` that everybody imports something into.
fn arena_of_imports(changes: Value) -> Arena {
    let arena = arena_with(changes);
    arena.commit("lib.rs", "fn main() {}\n");
    arena
}

/// Agents have committed; trunk gets an import of a person's, and they may end.
fn meanwhile(arena: &Arena, agents: &[&str]) {
    wait_for("the agents have committed", || {
        let all = arena.committed();
        agents.iter().all(|name| all.contains(&format!("feat: {name}")))
    });
    arena.commit("lib.rs", "use person::Thing;\nfn main() {}\n");
    std::fs::write(arena.path("go"), "").expect("a file");
}

fn started(arena: &Arena, tasks: Vec<Value>) -> Running {
    arena.plan_in_phases(&[tasks]);
    arena.start(&["--agents", "2"])
}

#[test]
fn imports_that_two_agents_and_a_person_added_are_all_there_and_it_is_told_how() {
    let told = "echo \"$SWARM_TASK_ID $SWARM_LEVEL $SWARM_FILES\" >> told.txt";
    let arena = arena_of_imports(json!({
        "verify": { "commands": ["! grep -q '<<<<' lib.rs"] },
        "hooks": { "on-conflict": told },
    }));
    let run = started(
        &arena,
        vec![task("1.1", &[], &imports(&arena, "a")), task("1.2", &[], &imports(&arena, "b"))],
    );
    meanwhile(&arena, &["a", "b"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    let lib = arena.git(&["show", "main:lib.rs"]);
    assert_eq!(lib.trim(), "use a::Thinga;\nuse b::Thingb;\nuse person::Thing;\nfn main() {}");
    for id in ["1.1", "1.2"] {
        let view = arena.shown(id);
        assert_eq!(view["resolved"], json!([{ "path": "lib.rs", "way": "imports" }]), "{view}");
        assert!(view["audit"].to_string().contains("conflicts resolved: lib.rs (imports)"), "{view}");
        assert!(arena.ok(&["task", "show", id]).contains("lib.rs (imports)"));
        arena.assert_proven(id, "main");
    }
    let mut hooks: Vec<String> = std::fs::read_to_string(arena.root.join("told.txt"))
        .expect("told")
        .lines()
        .map(str::to_owned)
        .collect();
    hooks.sort();
    assert_eq!(hooks, ["1.1 1 lib.rs", "1.2 1 lib.rs"]);
    std::fs::remove_file(arena.root.join("told.txt")).expect("it is there");
    arena.assert_tidy();
}

/// One task whose README conflicts with a person's; `resolve` are the lines of its second attempt.
fn against_my_readme(arena: &Arena, resolve: &str) -> (i32, String) {
    let go = arena.path("go");
    let script = format!(
        "on-attempt 1: write README.md theirs\non-attempt 1: commit docs: theirs\n\
         on-attempt 1: wait-for {}\n{resolve}\ncomplete",
        go.display()
    );
    let run = started(arena, vec![task("1.1", &[], &script)]);
    wait_for("the agent has committed", || arena.committed().contains("docs: theirs"));
    arena.commit("README.md", "mine\n");
    std::fs::write(&go, "").expect("a file");
    run.end()
}

#[test]
fn an_agent_merges_trunk_into_its_work_and_both_are_there() {
    let told = "echo \"$SWARM_TASK_ID $SWARM_LEVEL $SWARM_FILES\" >> told.txt";
    let arena = arena_with(json!({
        "review": { "profile": "script" },
        "verify": { "commands": ["grep -q mine README.md && grep -q theirs README.md || test ! -e asked.md"] },
        "hooks": { "on-conflict": told },
    }));
    let resolve = "on-attempt 2: sh cp \"$SWARM_PROMPT_FILE\" asked.md; git merge -q main; \
                   printf 'mine\\ntheirs\\n' > README.md; git add -A; git commit -q -m 'merge: both'";
    let (code, said) = against_my_readme(&arena, resolve);
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    assert_eq!(arena.git(&["show", "main:README.md"]), "mine\ntheirs\n");
    has(&said, &["the work conflicts with trunk in README.md; an agent resolves it"]);
    // What was approved before is not what was merged: it was looked at again.
    assert_eq!(said.matches("approved by the reviewer").count(), 2, "{said}");
    let asked = arena.git(&["show", "main:asked.md"]);
    has(&asked, &["do not fit together in these files:\n- README.md", "git merge main"]);
    let view = arena.shown("1.1");
    assert_eq!((&view["attempts"], &view["retries"]), (&json!(2), &json!(0)), "{view}");
    let hooks = std::fs::read_to_string(arena.root.join("told.txt")).expect("the hook's file");
    assert_eq!(hooks, "1.1 3 README.md\n");
    std::fs::remove_file(arena.root.join("told.txt")).expect("it is there");
    arena.assert_proven("1.1", "main");
    arena.assert_tidy();
}

#[test]
fn a_merge_that_is_half_done_is_not_committed_for_the_agent_and_no_mark_reaches_trunk() {
    let arena = arena_with(json!({ "review": { "profile": "script" } }));
    let resolve = "on-attempt 2: on-iteration 1: sh git merge -q main\n\
                   on-attempt 2: on-iteration 2: sh printf 'mine\\ntheirs\\n' > README.md; git add README.md; \
                   git commit -q -m 'merge: both'";
    let (code, said) = against_my_readme(&arena, resolve);
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    assert_eq!(arena.git(&["show", "main:README.md"]), "mine\ntheirs\n");
    assert_eq!(arena.git(&["log", "main", "--format=%h", "-S<<<<<<<"]), "", "{said}");
    has(&arena.shown("1.1")["audit"].to_string(), &["a merge is under way in the worktree"]);
    arena.assert_proven("1.1", "main");
    arena.assert_tidy();
}

#[test]
fn an_agent_that_throws_its_work_away_instead_is_not_called_done_and_the_work_is_kept() {
    let arena = arena_with(json!({ "review": { "profile": "script" } }));
    let (code, said) = against_my_readme(&arena, "on-attempt 2: sh git reset -q --hard main");
    assert_eq!(code, 1, "{said}");
    assert_eq!(arena.git(&["show", "main:README.md"]), "mine\n");
    assert_eq!(arena.status_of("1.1"), "blocked", "{said}");
    has(&arena.attention(), &["left none of its work on its branch", "swarm restore"]);
    assert!(arena.git(&["log", "--all", "--format=%s"]).contains("docs: theirs"), "it is kept under a ref");
    arena.assert_nothing_runs();
}

#[test]
fn what_a_rule_made_and_verification_finds_red_is_a_persons() {
    let arena =
        arena_of_imports(json!({ "verify": { "commands": ["test \"$(grep -c '^use' lib.rs)\" -lt 2"] } }));
    let run = started(&arena, vec![task("1.1", &[], &imports(&arena, "a"))]);
    meanwhile(&arena, &["a"]);
    let main = arena.git(&["rev-parse", "main"]);
    let (code, said) = run.end();
    assert_eq!(code, 1, "{said}");
    assert_eq!(arena.git(&["rev-parse", "main"]), main);
    let view = arena.shown("1.1");
    assert_eq!((&view["status"], &view["block"]), (&json!("blocked"), &json!("conflict")), "{view}");
    assert!(view["why"].to_string().contains("fails its verification"), "{view}");
    arena.assert_nothing_runs();
}

#[test]
fn a_person_reviews_what_a_rule_made_of_reviewed_work() {
    let arena = arena_of_imports(json!({ "verify": { "commands": ["true"] } }));
    let mut reviewed = task("1.1", &[], &imports(&arena, "a"));
    reviewed["review"] = json!("human");
    let mut run = started(&arena, vec![reviewed]);
    std::fs::write(arena.path("go"), "").expect("a file");
    run.until("swarm review approve 1.1");
    let first = arena.git(&["rev-parse", "swarm/1.1"]);
    arena.commit("lib.rs", "use person::Thing;\nfn main() {}\n");
    arena.ok(&["review", "approve", "1.1"]);
    wait_for("it is to be reviewed again", || {
        arena.status_of("1.1") == "review" && arena.git(&["rev-parse", "swarm/1.1"]) != first
    });
    // The branch has trunk in it, the worktree shows it, and nothing of it is on trunk.
    assert_eq!(arena.git(&["rev-parse", "swarm/1.1^1"]), first);
    assert_eq!(arena.git(&["rev-parse", "swarm/1.1^2"]), arena.git(&["rev-parse", "main"]));
    let place = arena.root.join(".swarm/worktrees/1.1");
    assert_eq!(arena.git(&["-C", place.to_str().expect("text"), "status", "--porcelain"]), "");
    let there = std::fs::read_to_string(place.join("lib.rs")).expect("a file");
    assert_eq!(there, "use a::Thinga;\nuse person::Thing;\nfn main() {}\n");
    let diff = arena.ok(&["task", "diff", "1.1"]);
    assert!(diff.contains("+use a::Thinga;") && !diff.contains("+use person::Thing;"), "{diff}");
    arena.ok(&["review", "approve", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    assert_eq!(arena.git(&["show", "main:lib.rs"]).trim(), there.trim());
    arena.assert_proven("1.1", "main");
    arena.assert_tidy();
}

#[test]
fn a_command_reviews_again_what_a_rule_made_of_reviewed_work() {
    let arena = arena_of_imports(json!({
        "review": { "policy": "command", "commands": ["grep -q Thinga lib.rs"] },
    }));
    let run = started(&arena, vec![task("1.1", &[], &imports(&arena, "a"))]);
    meanwhile(&arena, &["a"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    let view = arena.shown("1.1");
    let events: Vec<&str> =
        view["audit"].as_array().expect("a list").iter().filter_map(|line| line["event"].as_str()).collect();
    assert_eq!(events.iter().filter(|event| **event == "review_started").count(), 2, "{events:?}");
    assert_eq!(events.iter().filter(|event| **event == "merge_resolved").count(), 1, "{events:?}");
    assert_eq!(
        arena.git(&["show", "main:lib.rs"]).trim(),
        "use a::Thinga;\nuse person::Thing;\nfn main() {}"
    );
    arena.assert_tidy();
}

/// Adds a package to `packages.txt` and to the lock file that is made of it.
fn adds_package(arena: &Arena, name: &str, line: &str) -> String {
    let go = arena.path("go");
    format!(
        "sh sed -i 's/^{line}$/{line} {name}/' packages.txt; {MAKE_LOCK}\n\
         commit feat: {name}\nwait-for {}\ncomplete",
        go.display()
    )
}

const MAKE_LOCK: &str = "tr -s '\\n ' '  ' < packages.txt > lock.txt; echo >> lock.txt";

#[test]
fn a_lock_file_is_made_again_by_the_projects_own_command() {
    let regenerate = json!([{ "files": "lock.txt", "command": MAKE_LOCK }]);
    let arena = arena_with(json!({
        "merge": { "regenerate": regenerate },
        "verify": { "commands": [format!("cp lock.txt was.txt; {MAKE_LOCK}; cmp lock.txt was.txt")] },
    }));
    arena.commit("packages.txt", "one\n2\n3\n4\n5\n6\n7\n8\ntwo\n");
    arena.commit("lock.txt", "one 2 3 4 5 6 7 8 two \n");
    let run = started(
        &arena,
        vec![
            task("1.1", &[], &adds_package(&arena, "a", "one")),
            task("1.2", &[], &adds_package(&arena, "b", "two")),
        ],
    );
    wait_for("the agents have committed", || {
        let all = arena.committed();
        all.contains("feat: a") && all.contains("feat: b")
    });
    std::fs::write(arena.path("go"), "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    assert_eq!(arena.git(&["show", "main:lock.txt"]), "one a 2 3 4 5 6 7 8 two b \n");
    let shown = [arena.shown("1.1"), arena.shown("1.2")];
    let made = json!([{ "path": "lock.txt", "way": "regenerated" }]);
    assert_eq!(shown.iter().filter(|view| view["resolved"] == made).count(), 1, "{shown:?}");
    arena.assert_tidy();
}

#[test]
fn a_command_that_does_not_make_the_file_again_leaves_the_conflict_to_a_person() {
    let regenerate = json!([{ "files": "lock.txt", "command": "echo no network >&2; exit 7" }]);
    let arena = arena_with(json!({ "merge": { "regenerate": regenerate } }));
    arena.commit("lock.txt", "start\n");
    let go = arena.path("go");
    let script = format!("write lock.txt agent\ncommit feat: a\nwait-for {}\ncomplete", go.display());
    let run = started(&arena, vec![task("1.1", &[], &script)]);
    wait_for("the agent has committed", || arena.committed().contains("feat: a"));
    arena.commit("lock.txt", "person\n");
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 1, "{said}");
    let view = arena.shown("1.1");
    assert_eq!((&view["status"], &view["block"]), (&json!("blocked"), &json!("conflict")), "{view}");
    let why = view["why"].as_str().expect("a reason");
    assert!(why.contains("lock.txt") && why.contains("no network"), "{why}");
    assert_eq!(arena.git(&["show", "main:lock.txt"]), "person\n");
    arena.assert_nothing_runs();
}

/// As for check commands: the variables and the places of the profile whose work it is.
#[test]
fn a_command_that_makes_a_file_again_has_what_the_profile_of_the_agent_names() {
    let arena = arena_with(json!({}));
    let (go, place) = (arena.path("go"), arena.path("aside"));
    std::fs::create_dir(&place).expect("a folder");
    let place = place.display();
    let regenerate = format!("printf 'agent\\nperson\\n%s\\n' \"$HANDED_ON\" > lock.txt; touch {place}/made");
    let regenerate = json!([{ "files": "lock.txt", "command": regenerate }]);
    let profile = json!({ "program": "script", "env": ["HANDED_ON"], "writable": [place.to_string()] });
    let config = json!({
        "merge": { "regenerate": regenerate },
        "profiles": { "script": profile },
        "disk": { "low": 64, "enough": 96 },
    });
    arena.write(".swarm/config.json", &config.to_string());
    arena.commit("lock.txt", "start\n");
    let script = format!("write lock.txt agent\ncommit feat: a\nwait-for {}\ncomplete", go.display());
    arena.plan_in_phases(&[vec![task("1.1", &[], &script)]]);
    let mut command = arena.command(&["run", "--agent", "script", "--mode", "autopilot"]);
    command.env("HANDED_ON", "from the person");
    let run = Running::of(command);
    wait_for("the agent has committed", || arena.committed().contains("feat: a"));
    arena.commit("lock.txt", "person\n");
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}\n{}", arena.attention());
    assert_eq!(arena.git(&["show", "main:lock.txt"]), "agent\nperson\nfrom the person\n");
    assert!(arena.path("aside/made").is_file());
}

#[test]
fn what_will_conflict_is_shown_while_agents_are_at_work() {
    let arena = arena_with(json!({}));
    let go = arena.path("go");
    let script = |text: &str| {
        format!("write README.md {text}\ncommit feat: {text}\nwait-for {}\nblocked enough", go.display())
    };
    let run = started(&arena, vec![task("1.1", &[], &script("one")), task("1.2", &[], &script("two"))]);
    let conflicts = || arena.json(&["status"])["conflicts"].clone();
    let each_other = json!({ "task": "1.1", "with": "1.2", "files": ["README.md"] });
    wait_for("the branches are known to conflict", || conflicts() == json!([each_other]));
    arena.commit("README.md", "three\n");
    let with_trunk = |id: &str| json!({ "task": id, "with": "trunk", "files": ["README.md"] });
    wait_for("both are known to conflict with trunk", || {
        conflicts() == json!([with_trunk("1.1"), with_trunk("1.2"), each_other])
    });
    // Foreseen from what was committed a moment ago, not from what an iteration that ended has left.
    let agents = arena.json(&["status"])["agents"].clone();
    assert!(agents.as_array().is_some_and(|all| all.iter().all(|one| one["iteration"] == 1)), "{agents}");
    let of_two = arena.shown("1.2")["conflicts_with"].clone();
    let expected = json!([
        { "with": "trunk", "files": ["README.md"] }, { "with": "1.1", "files": ["README.md"] },
    ]);
    assert_eq!(of_two, expected);
    assert!(arena.ok(&["status"]).contains("Will conflict"));
    let handoff = arena.ok(&["handoff"]);
    assert!(handoff.contains("\n## Will conflict\n\n- 1.1 with trunk: README.md\n"), "{handoff}");
    assert!(handoff.contains("\n- 1.1 with 1.2: README.md\n"), "{handoff}");
    assert!(arena.ok(&["task", "show", "1.1"]).contains("trunk in README.md; 1.2 in README.md"));
    std::fs::write(&go, "").expect("a file");
    let (_, said) = run.end();
    assert_eq!(conflicts(), Value::Null, "{said}");
    assert_eq!(arena.git(&["show", "main:README.md"]), "three\n", "nothing was touched by looking");
}

/// Two tasks whose imports stand side by side on trunk, and this verification.
fn two_imports_on_trunk(verify: &str) -> Arena {
    let arena = arena_of_imports(json!({ "verify": { "commands": [verify] } }));
    let import = |name: &str| {
        format!("sh sed -i '/^fn main/i use {name}::Thing{name};' lib.rs\ncommit feat: {name}\ncomplete")
    };
    arena.plan_in_phases(&[vec![task("1.1", &[], &import("a"))], vec![task("2.1", &[], &import("b"))]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.git(&["show", "main:lib.rs"]), "use a::Thinga;\nuse b::Thingb;\nfn main() {}\n");
    arena
}

#[test]
fn a_rollback_that_conflicts_is_resolved_by_rule_and_verified_before_trunk_moves() {
    let arena = two_imports_on_trunk("grep -q Thing lib.rs");
    let seen = arena.ok(&["task", "rollback", "1.1", "--dry-run"]);
    has(&seen, &["conflicts with later work, resolved and verified first: lib.rs (imports)"]);
    let said = arena.ok(&["task", "rollback", "1.1", "--yes"]);
    has(&said, &["Rolled back: 1.1", "resolved and verified: lib.rs (imports)"]);
    assert_eq!(arena.git(&["show", "main:lib.rs"]), "use b::Thingb;\nfn main() {}\n");
    assert_eq!((arena.status_of("1.1"), arena.status_of("2.1")), ("pending".into(), "done".into()));
    // A revert like any other: it is taken back as one.
    arena.ok(&["undo", "--yes"]);
    let lib = arena.git(&["show", "main:lib.rs"]);
    assert!(lib.contains("Thinga") && lib.contains("Thingb"), "{lib}");
    assert_eq!(arena.status_of("1.1"), "done");
    arena.assert_tidy();
}

#[test]
fn a_rollback_whose_resolution_is_red_leaves_trunk_alone_and_asks_a_person() {
    let arena = two_imports_on_trunk("grep -q Thinga lib.rs || ! grep -q Thingb lib.rs");
    let before = arena.git(&["rev-parse", "main"]);
    let out = arena.swarm(&["task", "rollback", "1.1", "--yes"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1), "{said}");
    has(
        &said,
        &["the resolution of lib.rs (imports) fails the verification", "trunk is untouched", "git revert"],
    );
    assert_eq!((arena.git(&["rev-parse", "main"]), arena.status_of("1.1")), (before, "done".into()));
    arena.assert_tidy();
}

#[test]
fn commits_that_cannot_be_taken_back_one_by_one_are_taken_back_as_a_whole() {
    let arena = arena_with(json!({}));
    arena.commit("a.txt", "a\n");
    let script = "write a.txt b\ncommit feat: one\nsh printf 'a\\n' > a.txt\nwrite new.txt new\ncommit feat: two\ncomplete";
    arena.plan_in_phases(&[vec![task("1.1", &[], script)]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    arena.commit("a.txt", "mine\n");
    let said = arena.ok(&["task", "rollback", "1.1", "--yes"]);
    has(&said, &["resolved and verified: a.txt (as a whole)"]);
    assert_eq!(arena.git(&["show", "main:a.txt"]), "mine\n");
    assert!(!arena.git(&["ls-tree", "--name-only", "main"]).contains("new.txt"));
    has(&arena.git(&["log", "-1", "--format=%B", "main"]), &["Revert \"feat: two\" and 1 more"]);
    arena.assert_tidy();
}

/// A task adds a package, a person another one beside it; what lists them is made by a command.
fn package_beside_a_persons(regenerate: &str, verify: &str) -> Arena {
    let arena = arena_with(json!({
        "merge": { "regenerate": [{ "files": "lock.txt", "command": regenerate }] },
        "verify": { "commands": [verify] },
    }));
    arena.commit("packages.txt", "one\n2\n3\n4\n5\n6\n7\n8\ntwo\n");
    arena.commit("lock.txt", "one 2 3 4 5 6 7 8 two \n");
    let script =
        format!("sh sed -i 's/^one$/one\\na/' packages.txt\nsh {MAKE_LOCK}\ncommit feat: a\ncomplete");
    arena.plan_in_phases(&[vec![task("1.1", &[], &script)]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.git(&["show", "main:lock.txt"]), "one a 2 3 4 5 6 7 8 two \n", "{said}");
    arena.write("packages.txt", "one\na\n2\n3\n4\n5\n6\n7\n8\ntwo\nb\n");
    arena.write("lock.txt", "one a 2 3 4 5 6 7 8 two b \n");
    arena.git(&["commit", "--quiet", "--all", "--message", "person: b"]);
    arena
}

#[test]
fn a_rollback_that_conflicts_in_a_lock_file_has_it_made_again_and_verified() {
    let verify = format!("cp lock.txt was.txt; {MAKE_LOCK}; cmp lock.txt was.txt");
    let arena = package_beside_a_persons(MAKE_LOCK, &verify);
    let seen = arena.ok(&["task", "rollback", "1.1", "--dry-run"]);
    has(&seen, &["conflicts with later work, resolved and verified first: lock.txt (made again)"]);
    assert!(arena.git(&["for-each-ref", "refs/swarm/kept/made"]).is_empty(), "a look makes nothing");
    let said = arena.ok(&["task", "rollback", "1.1", "--yes"]);
    has(&said, &["Rolled back: 1.1", "resolved and verified: lock.txt (made again)"]);
    assert_eq!(arena.git(&["show", "main:lock.txt"]), "one 2 3 4 5 6 7 8 two b \n");
    assert_eq!(arena.git(&["show", "main:packages.txt"]), "one\n2\n3\n4\n5\n6\n7\n8\ntwo\nb\n");
    assert_eq!(arena.status_of("1.1"), "pending");
    arena.ok(&["undo", "--yes"]);
    assert_eq!(arena.git(&["show", "main:lock.txt"]), "one a 2 3 4 5 6 7 8 two b \n");
    arena.assert_tidy();
}

#[test]
fn a_rollback_whose_lock_file_cannot_be_made_again_leaves_trunk_alone_and_asks_a_person() {
    let arena = package_beside_a_persons("echo no network >&2; exit 7", "true");
    let before = arena.git(&["rev-parse", "main"]);
    let out = arena.swarm(&["task", "rollback", "1.1", "--yes"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1), "{said}");
    has(&said, &["could not be regenerated", "no network", "trunk is untouched", "git revert"]);
    assert_eq!((arena.git(&["rev-parse", "main"]), arena.status_of("1.1")), (before, "done".into()));
    arena.assert_tidy();
}
