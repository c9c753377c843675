//! Bad input gets a clear error, and nothing is lost.
//!
//! Each row spoils a world and runs one command. It must end with the given code, say the given words, never call
//! itself a bug, and leave every byte of the ledger where it was.

mod world;

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use world::{Ran, World, run, run_with};

const PLAN: &str = "# Goal\n\n- [ ] 1.1 One\n- [ ] 1.2 Two\n  depends: 1.1\n";

fn planned() -> World {
    let world = World::new();
    world.file("plan.md", PLAN);
    world.swarm(&["plan", "save", "plan.md"]).good();
    world.swarm(&["task", "block", "1.1", "waits"]).good();
    world
}

/// The command fails with this code, all these words are in what it says, and the ledger is as it was.
#[track_caller]
fn check(world: &World, args: &[&str], code: i32, words: &[&str]) {
    let before = bytes(&world.ledger());
    let ran = world.swarm(args);
    refused(&ran, args, code, words);
    assert_eq!(bytes(&world.ledger()), before, "{args:?} changed the ledger");
    let as_json = world.swarm(&[&["--json"], args].concat());
    assert_eq!(as_json.code, Some(code), "{args:?} with --json: {}{}", as_json.out, as_json.err);
    let error: serde_json::Value = serde_json::from_str(&as_json.out).expect("an error as JSON");
    assert!(error["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{error}");
}

#[track_caller]
fn refused(ran: &Ran, args: &[&str], code: i32, words: &[&str]) {
    assert_eq!(ran.code, Some(code), "{args:?}: {}{}", ran.out, ran.err);
    assert!(ran.out.is_empty(), "{args:?} said something on stdout: {}", ran.out);
    for word in words {
        assert!(ran.err.contains(word), "{args:?} does not say {word:?}:\n{}", ran.err);
    }
    assert!(ran.err.starts_with("Error: ") || ran.err.starts_with("error: "), "{args:?}: {}", ran.err);
    assert!(ran.err.len() < 4_000, "{args:?}: nobody reads {} bytes", ran.err.len());
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_default()
}

fn save(world: &World, name: &str, text: impl AsRef<[u8]>, code: i32, words: &[&str]) {
    world.file(name, text);
    check(world, &["plan", "save", name], code, words);
}

#[test]
fn not_a_git_repository() {
    let world = World::without_git();
    world.file("plan.md", PLAN);
    for args in [&["status"][..], &["init"], &["plan", "save", "plan.md"]] {
        check(&world, args, 3, &["not a git repository", "Hint: "]);
    }
    check(&world, &["-C", "nowhere", "status"], 3, &["nowhere"]);
    assert!(!world.repo.join(".swarm").exists(), "nothing is made where there is no repository");
}

#[test]
fn what_is_refused_where_no_swarm_is_leaves_no_folder_behind() {
    let world = World::new();
    world.file("unknown.md", "# G\n\n- [ ] a1 A\n  depends: a2\n");
    let no_plan: [&[&str]; 12] = [
        &["status"],
        &["task", "block", "1.1", "why"],
        &["task", "cancel", "1.1", "--yes"],
        &["agent", "kill", "1.1", "--yes"],
        &["pause"],
        &["mode", "autopilot"],
        &["checkpoint", "create"],
        &["plan", "approve"],
        &["plan", "rebuild"],
        &["plan", "salvage"],
        &["reservations", "add", "src"],
        &["run", "--detach"],
    ];
    for args in no_plan {
        check(&world, args, 1, &["No plan yet", "swarm plan save"]);
        assert!(!world.repo.join(".swarm").exists(), "{args:?}");
    }
    let refused: [(&[&str], &str); 4] = [
        (&["resume"], "not paused"),
        (&["task", "add", "T", "--review", "me"], "is not a reviewer"),
        (&["task", "add", "T", "--depends", "9.9"], "does not exist"),
        (&["plan", "save", "unknown.md"], "does not exist"),
    ];
    for (args, word) in refused {
        check(&world, args, 1, &[word]);
        assert!(!world.repo.join(".swarm").exists(), "{args:?}");
    }
    world.swarm(&["task", "add", "T"]).good();
    assert!(world.ledger().exists());
}

#[test]
fn a_folder_whose_name_is_no_text_is_no_bug() {
    let world = World::new();
    let folder = std::ffi::OsStr::from_bytes(b"pages-\xff");
    let written = run(world.program(world::SWARM).args(["--json", "man"]).arg(folder)).json();
    assert!(written["dir"].as_str().is_some_and(|dir| dir.starts_with("pages-")), "{written}");
    assert!(world.repo.join(folder).join("swarm-man.1").exists());
}

#[test]
fn of_several_tasks_every_one_that_is_refused_is_named_and_the_others_go_back() {
    let world = planned();
    let several = ["task", "unblock", "9.8", "1.1", "9.9"];
    let look = world.swarm(&[&several[..], &["--dry-run"]].concat());
    assert_eq!(look.code, Some(1), "{}{}", look.out, look.err);
    assert!(look.out.contains("1.1") && look.err.contains("9.8") && look.err.contains("9.9"), "{}", look.err);
    let ran = world.swarm(&several);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("9.8") && ran.err.contains("9.9"), "{}", ran.err);
    assert_eq!(world.swarm(&["task", "list", "--json"]).json()[0]["status"], "pending");
    // As JSON what was done and what was not are one document.
    world.swarm(&["task", "block", "1.1", "waits"]).good();
    let ran = world.swarm(&[&["--json"], &several[..]].concat());
    let one: serde_json::Value = serde_json::from_str(&ran.out).expect("one document");
    assert_eq!(one["done"].as_array().map(Vec::len), Some(1), "{one}");
    assert!(one["error"]["message"].as_str().is_some_and(|text| text.contains("9.9")), "{one}");
    // With --all it is a list, also of one.
    world.swarm(&["task", "block", "1.1", "waits"]).good();
    let all = world.swarm(&["--json", "task", "unblock", "--all"]).json();
    assert_eq!(all.as_array().map(Vec::len), Some(1), "{all}");
    world.swarm(&["task", "block", "1.1", "waits"]).good();
    assert!(world.swarm(&["--json", "task", "unblock", "1.1"]).json().is_object());
}

#[test]
fn the_file_that_a_hint_names_is_found_from_where_the_person_stands() {
    let world = World::new();
    let issue = r#"{"id":"b-1","title":"One","status":"open","issue_type":"task","priority":2}"#;
    world.file(".beads/issues.jsonl", issue);
    let circle = "# G\n\n- [ ] a1 A\n  depends: a2\n";
    world.file("below/my plan.md", circle);
    let below = world.repo.join("below");
    let said = run(world.program(world::SWARM).arg("init").current_dir(&below)).good();
    let issues = world.repo.join(".beads/issues.jsonl");
    assert!(said.contains(&format!("`swarm plan import {}`", issues.display())), "{said}");
    let saved = run(world.program(world::SWARM).args(["plan", "save", "my plan.md"]).current_dir(&below));
    assert!(saved.err.contains("`swarm plan save 'my plan.md'`"), "{}", saved.err);
    let piped = run_with(world.program(world::SWARM).args(["plan", "save", "-"]), circle.as_bytes());
    assert!(piped.err.contains("pipe it into `swarm plan save -` again"), "{}", piped.err);
    // Also one that a note names.
    world.file("plan.md", PLAN);
    world.swarm(&["plan", "save", "plan.md"]).good();
    let projection = std::fs::read_to_string(world.repo.join(".swarm/plan.json")).expect("the plan");
    world.file(".swarm/plan.json", projection.replace("One", "Uno"));
    let noted = run(world.program(world::SWARM).args(["task", "add", "Three"]).current_dir(&below));
    let kept = world.repo.join(".swarm/plan.json.edited-1");
    assert!(noted.err.contains(&format!("`swarm plan import {}`", kept.display())), "{}", noted.err);
}

#[test]
fn a_question_that_json_cannot_ask_is_not_blamed_on_the_terminal() {
    let world = planned();
    let ran = world.swarm(&["--json", "close"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.out.contains("--json asks nothing") && !ran.out.contains("terminal"), "{}", ran.out);
    check(&world, &["close"], 2, &["Confirmation needed: not a terminal", "--yes"]);
}

#[test]
fn a_worktree_that_is_not_there_is_not_called_removed() {
    let world = planned();
    check(
        &world,
        &["worktree", "cleanup", "nosuch"],
        1,
        &["There is no worktree of nosuch", "swarm worktree list"],
    );
    check(&world, &["worktree", "cleanup", "1.2", "--dry-run"], 1, &["There is no worktree of 1.2"]);
    world.swarm(&["worktree", "create", "1.2"]).good();
    let several = world.swarm(&["worktree", "cleanup", "nosuch", "1.2", "neither"]);
    assert_eq!(several.code, Some(1), "{}", several.err);
    assert!(several.err.contains("nosuch") && several.err.contains("neither"), "{}", several.err);
    assert!(
        several.out.contains("removed") && !world.repo.join(".swarm/worktrees/1.2").exists(),
        "{}",
        several.out
    );
    assert!(world.swarm(&["worktree", "cleanup", "--all"]).good().contains("No worktrees to remove"));
    world.swarm(&["worktree", "create", "1.2"]).good();
    let ran = world.swarm(&["--json", "worktree", "cleanup", "nosuch", "1.2"]);
    let one: serde_json::Value = serde_json::from_str(&ran.out).expect("one document");
    assert_eq!((ran.code, &one["done"][0]["removed"]), (Some(1), &serde_json::Value::Bool(true)), "{one}");
}

#[test]
fn what_init_refuses_its_look_refuses_too() {
    let world = World::new();
    world.swarm(&["init"]).good();
    let wanted = ["init", "--isolation", "reservation"];
    check(&world, &wanted, 2, &["does not change it"]);
    check(&world, &[&wanted[..], &["--dry-run"]].concat(), 2, &["does not change it"]);
    world.file(".swarm/config.json", "{ no");
    check(&world, &["init", "--dry-run"], 3, &["config.json"]);
}

#[test]
fn what_is_too_long_to_be_shown_is_not_agreed_to_by_a_question() {
    let world = World::new();
    world.file(".swarm/hooks/pre-start.sh", format!("#!/bin/sh\n{}touch planted\n", "# fine\n".repeat(600)));
    world.git(&["add", "-f", ".swarm"]);
    world.git(&["commit", "-q", "-m", "a hook"]);
    check(&world, &["trust"], 2, &["too many for a question", "swarm trust --dry-run", "--yes"]);
    // A look shows it to its end.
    assert!(world.swarm(&["trust", "--dry-run"]).good().contains("touch planted"));
}

#[test]
fn an_empty_profile_is_none() {
    let world = planned();
    world.swarm(&["task", "edit", "1.1", "--profile", "claude"]).good();
    assert!(world.swarm(&["plan", "show"]).good().contains("claude"));
    world.swarm(&["task", "edit", "1.1", "--profile", ""]).good();
    assert!(!world.swarm(&["plan", "show"]).good().contains("profile\":\""), "the task has none of its own");
    world.swarm(&["task", "add", "Three", "--profile", ""]).good();
    assert!(!world.swarm(&["plan", "show"]).good().contains("profile\":\""));
}

#[test]
fn a_script_may_confirm_what_asks_nothing() {
    let world = planned();
    world.swarm(&["task", "cancel", "1.2", "--yes"]).good();
    check(&world, &["agent", "kill", "1.1", "-y"], 1, &["1.1"]);
    check(&world, &["agent", "redirect", "1.1", "1.2", "--yes"], 1, &["1."]);
}

#[test]
fn a_repository_without_commits() {
    let world = World::without_commits();
    world.file("plan.md", PLAN);
    check(&world, &["plan", "save", "plan.md"], 3, &["commit", "Hint: "]);
}

#[test]
fn git_that_is_too_old_or_not_there() {
    let world = World::new();
    let bin = world.base.join("bin");
    std::fs::create_dir(&bin).expect("a folder");
    let fake = bin.join("git");
    std::fs::write(&fake, "#!/bin/sh\necho git version 2.20.1\n").expect("a program");
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let ran = run(world
        .program(world::SWARM)
        .arg("status")
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display())));
    refused(&ran, &["status"], 3, &["2.20.1", "2.38"]);
    let ran = run(world.program(world::SWARM).arg("status").env("PATH", world.base.join("home")));
    refused(&ran, &["status"], 3, &["git"]);
}

#[test]
fn plan_files_that_are_none() {
    let world = planned();
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_member = format!("{{\"goal\":\"g\",\"phases\":[],\"x\":{deep}}}");
    save(&world, "broken.json", "{\"goal\": \"g\", \"phases\": [", 1, &["broken.json", "line 1"]);
    save(&world, "empty.md", "", 1, &["empty"]);
    save(&world, "binary.md", b"# Goal\n\n- [ ] 1.1 \xff\xfe\n", 1, &["UTF-8", "line 3"]);
    save(&world, "nul.md", b"# Goal\0\n", 1, &["NUL"]);
    save(&world, "no-goal.md", "- [ ] 1.1 One\n", 1, &["goal"]);
    save(&world, "deep.json", deep_member, 1, &["deep.json"]);
    save(&world, "list.json", deep, 1, &["list.json"]);
    save(&world, "huge.md", vec![b'a'; (16 << 20) + 1], 1, &["bytes"]);
    check(&world, &["plan", "save", "nowhere.md"], 3, &["nowhere.md"]);
    check(&world, &["plan", "save", "."], 3, &["Cannot read the plan file"]);
    world.swarm(&["plan", "verify"]).good();
}

#[test]
fn hostile_plans() {
    let world = planned();
    let task = |id: &str| {
        let id = serde_json::Value::from(id);
        format!("{{\"goal\":\"g\",\"phases\":[{{\"id\":1,\"tasks\":[{{\"id\":{id},\"title\":\"t\"}}]}}]}}")
    };
    save(
        &world,
        "cycle.md",
        "# G\n\n- [ ] a1 A\n  depends: b1\n- [ ] b1 B\n  depends: a1\n",
        1,
        &["cycle", "a1"],
    );
    save(&world, "self.md", "# G\n\n- [ ] a1 A\n  depends: a1\n", 1, &["cycle"]);
    save(&world, "unknown.md", "# G\n\n- [ ] a1 A\n  depends: a2\n", 1, &["a2", "does not exist"]);
    save(&world, "twice.md", "# G\n\n- [ ] a1 A\n- [ ] a1 B\n", 1, &["a1", "twice"]);
    for id in [
        "../../etc/passwd",
        "a/b",
        "x..y",
        "a.lock",
        "-rf",
        "A",
        "",
        "a b",
        "a\\b",
        "\u{1b}[2J",
        "@{-1}",
        "merge",
    ] {
        save(&world, "id.json", task(id), 1, &["task id"]);
    }
    save(&world, "phase.json", "{\"goal\":\"g\",\"phases\":[{\"id\":0}]}", 1, &["hase"]);
    let long = format!(
        "{{\"goal\":\"g\",\"phases\":[{{\"id\":1,\"tasks\":[{{\"id\":\"a\",\"title\":\"t\",\"description\":\"{}\"}}]}}]}}",
        "x".repeat(2 << 20)
    );
    save(&world, "description.json", long, 1, &["description", "too long"]);
    let title = task("a").replace("\"t\"", &format!("\"{}\"", "x".repeat(501)));
    save(&world, "title.json", title, 1, &["title"]);
    world.swarm(&["plan", "verify"]).good();
}

#[test]
fn ten_thousand_tasks_are_a_plan_and_too_many_are_not() {
    let world = World::new();
    let plan = |tasks: usize| {
        let mut text = String::from("# Many\n\n");
        (0..tasks).for_each(|n| text.push_str(&format!("- [ ] t{n} Task number {n}\n")));
        text
    };
    world.file("many.md", plan(10_000));
    world.swarm(&["plan", "save", "many.md"]).good();
    let rows = world.swarm(&["--json", "task", "list"]).json();
    assert_eq!(rows.as_array().map(Vec::len), Some(10_000));
    save(&world, "more.md", plan(20_001), 1, &["number of tasks"]);
    world.swarm(&["task", "defer", "t9999"]).good();
    world.swarm(&["plan", "verify"]).good();
}

#[test]
fn a_plan_on_stdin_that_never_ends_is_cut_short() {
    let world = planned();
    let ran = run_with(world.program(world::SWARM).args(["plan", "save", "-"]), &vec![b'x'; 20 << 20]);
    refused(&ran, &["plan", "save", "-"], 1, &["stdin", "bytes"]);
}

#[test]
fn a_configuration_with_an_unknown_key() {
    let world = planned();
    world.file(".swarm/config.json", "{\n  \"maxIteration\": 3\n}\n");
    check(&world, &["config", "show"], 3, &["config.json:2", "maxIteration", "maxIterations"]);
    check(&world, &["task", "unblock", "1.1"], 3, &["maxIteration"]);
}

#[test]
fn ids_that_nobody_knows() {
    let world = planned();
    check(&world, &["task", "show", "1.3"], 1, &["There is no task 1.3", "Did you mean"]);
    check(&world, &["task", "cancel", "nothing-like-it"], 1, &["swarm task list"]);
    check(&world, &["phase", "complete", "4"], 1, &["There is no phase 4"]);
    check(&world, &["plan", "show", "--at", "999"], 3, &["There is no record 999"]);
    check(&world, &["plan", "show", "--at", "0"], 3, &["There is no record 0"]);
}

#[test]
fn a_locked_profile() {
    let world = planned();
    world.swarm(&["plan", "profile", "lock"]).good();
    check(&world, &["plan", "profile", "set", "--max", "2"], 1, &["locked", "swarm plan reset"]);
    let same = "{\"goal\":\"Goal\",\"phases\":[],\"execution_profile\":{}}";
    save(&world, "same.json", same, 1, &["locked"]);
}

#[test]
fn a_ledger_that_is_empty_or_of_another_swarm() {
    let world = planned();
    let copy = world.second_copy();
    std::fs::remove_file(&copy).expect("the second copy");
    std::fs::remove_dir_all(world.repo.join(".swarm/state")).ok();
    std::fs::write(world.ledger(), "").expect("emptied");
    check(&world, &["status"], 3, &["empty", "backup"]);
    check(&world, &["task", "add", "x"], 3, &["empty"]);

    let (world, other) = (planned(), planned());
    std::fs::copy(other.ledger(), world.ledger()).expect("mixed up");
    check(&world, &["task", "add", "x"], 3, &["ledger"]);
}

#[test]
fn a_ledger_of_a_newer_version() {
    let world = planned();
    let text = std::fs::read_to_string(world.ledger()).expect("a ledger");
    let line = text.lines().next().expect("a first record");
    assert!(line.contains("\"format\":1"), "{line}");
    // As a newer version would write it: whole, with a hash that fits.
    let newer = sealed(&line.replacen("\"format\":1", "\"format\":9", 1));
    std::fs::write(world.ledger(), format!("{newer}\n")).expect("replaced");
    std::fs::write(world.second_copy(), format!("{newer}\n")).expect("replaced");
    std::fs::remove_dir_all(world.repo.join(".swarm/state")).ok();
    check(&world, &["status"], 3, &["format 9"]);
    check(&world, &["task", "add", "x"], 3, &["format 9"]);
}

/// The line with its hash put right, by the rule of the documentation alone.
fn sealed(line: &str) -> String {
    let body = &line[..line.len() - 75];
    let mut child = std::process::Command::new("sha256sum")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("sha256sum");
    std::io::Write::write_all(&mut child.stdin.take().expect("its stdin"), body.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("it ends");
    let hash = String::from_utf8_lossy(&output.stdout[..64]).into_owned();
    format!("{body},\"hash\":\"{hash}\"}}")
}

#[test]
fn a_truncated_ledger_is_put_back_from_the_second_copy() {
    let world = planned();
    let whole = bytes(&world.ledger());
    for keep in [whole.len() - 1, whole.len() / 2, 10] {
        std::fs::write(world.ledger(), &whole[..keep]).expect("truncated");
        let ran = world.swarm(&["task", "list"]);
        assert!(ran.clone().good().contains("waits"), "{keep}: {}{}", ran.out, ran.err);
        world.swarm(&["plan", "approve"]).good();
        assert!(bytes(&world.ledger()).starts_with(&whole), "every byte of before is there again");
        world.swarm(&["plan", "verify"]).good();
        std::fs::write(world.ledger(), &whole).expect("put back");
        std::fs::write(world.second_copy(), &whole).expect("put back");
        std::fs::remove_dir_all(world.repo.join(".swarm/state")).ok();
    }
}

#[test]
fn a_ledger_that_is_missing_while_others_remember_it() {
    let world = planned();
    // With the second copy nothing is lost at all.
    std::fs::remove_file(world.ledger()).expect("gone");
    assert!(world.swarm(&["task", "list"]).good().contains("waits"));
    world.swarm(&["task", "unblock", "1.1"]).good();
    world.swarm(&["plan", "verify"]).good();
    // Without it, but with a snapshot that remembers: no new ledger is made over what is left.
    world.swarm(&["plan", "rebuild"]).good();
    std::fs::remove_file(world.ledger()).expect("gone");
    std::fs::remove_file(world.second_copy()).expect("gone");
    world.file("plan2.md", PLAN);
    check(&world, &["plan", "save", "plan2.md"], 3, &["missing", "Hint: "]);
    assert!(!world.ledger().exists());
}

#[test]
fn git_clean_in_the_checkout() {
    let world = planned();
    let before = bytes(&world.ledger());
    world.git(&["clean", "-fdxq"]);
    assert!(!world.ledger().exists());
    assert!(world.swarm(&["task", "list"]).good().contains("waits"));
    world.swarm(&["task", "unblock", "1.1"]).good();
    assert!(bytes(&world.ledger()).starts_with(&before));
    world.swarm(&["plan", "verify"]).good();
}
