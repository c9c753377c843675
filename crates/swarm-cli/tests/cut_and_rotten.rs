//! Records that were cut off, and bytes that rotted, in one copy of the ledger or in both: nothing of it stays unsaid.

mod world;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use world::World;

fn planned() -> World {
    let world = World::new();
    world.file("plan.md", "# Goal\n\n- [ ] 1.1 One\n- [ ] 1.2 Two\n");
    world.swarm(&["plan", "save", "plan.md"]).good();
    world
}

fn both(world: &World) -> [std::path::PathBuf; 2] {
    [world.ledger(), world.second_copy()]
}

fn rot(path: &std::path::Path, at: usize) {
    let mut bytes = fs::read(path).expect("readable");
    bytes[at] ^= 1;
    fs::write(path, bytes).expect("writable");
}

/// A plan whose third task, which a person was told of, is cut off both copies.
fn cut() -> World {
    let world = planned();
    let before = fs::read(world.ledger()).expect("a ledger");
    assert!(world.swarm(&["task", "add", "Three"]).good().contains("1.3"));
    for path in both(&world) {
        fs::write(path, &before).expect("cut");
    }
    world
}

#[test]
fn a_cut_end_is_said_by_every_command_until_it_is_acknowledged_and_its_numbers_are_not_given_again() {
    let world = cut();
    for args in [&["status"][..], &["task", "list"], &["plan", "show"], &["attention"]] {
        let ran = world.swarm(args);
        assert!(ran.err.contains("plan.json knows of record"), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("swarm plan salvage"), "{args:?}: {}", ran.err);
    }
    let status = world.swarm(&["--json", "status"]).json();
    assert!(status["loss"].as_str().is_some_and(|loss| loss.contains("missing")), "{status}");
    let doctor = world.swarm(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{}", doctor.out);
    assert!(doctor.out.contains("missing"), "{}", doctor.out);

    // Somebody works on before they read it: the files made anew know nothing of task 1.3.
    let ran = world.swarm(&["task", "block", "1.1", "waits"]);
    assert!(ran.err.contains("plan.json.ahead-1"), "{}", ran.err);
    assert!(world.swarm(&["task", "add", "Four"]).good().contains("1.4"), "1.3 was given before");
    assert!(world.swarm(&["status"]).good().contains("Records were lost"));
    assert!(world.swarm(&["plan", "history"]).good().contains("ledger_loss"), "it is recorded");

    let seen = world.swarm(&["plan", "salvage"]);
    assert!(seen.clone().good().contains("Acknowledged"), "{}", seen.out);
    assert!(seen.err.contains("Not brought back: record"), "what stays lost is named: {}", seen.err);
    assert!(!world.swarm(&["status"]).good().contains("lost"));
    world.swarm(&["plan", "verify"]).good();
}

#[test]
fn plan_files_that_outlived_both_copies_say_that_there_was_a_ledger() {
    let world = planned();
    for path in both(&world) {
        fs::remove_file(path).expect("removed");
    }
    for args in [&["status"][..], &["task", "add", "Three"]] {
        let ran = world.swarm(args);
        assert_eq!(ran.code, Some(3), "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("plan.json knows of record"), "{args:?}: {}", ran.err);
    }
    assert!(!world.ledger().exists());
}

#[test]
fn a_ledger_that_git_alone_remembers_is_named_and_the_hint_leads_out() {
    let world = planned();
    world.swarm(&["checkpoint", "create", "first"]).good();
    world.shell("git rev-parse --verify -q refs/swarm/ledger");
    world.swarm(&["plan", "export"]).good();
    world.shell("mv .swarm ../old && mv .git/swarm ../old-swarm");
    for args in [&["status"][..], &["task", "list"], &["task", "add", "Three"]] {
        let ran = world.swarm(args);
        assert_eq!(ran.code, Some(3), "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("refs/swarm/ledger knows of record"), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("git update-ref -d refs/swarm/ledger"), "{args:?}: {}", ran.err);
    }
    world.shell("git update-ref -d refs/swarm/ledger");
    world.swarm(&["plan", "import", "../old/plan.json"]).good();
    assert!(world.swarm(&["task", "list"]).good().contains("Two"));
}

#[test]
fn rot_that_nobody_reads_is_found_and_repaired_in_either_copy() {
    for repair in [&["doctor", "--fix"][..], &["plan", "rebuild"]] {
        let world = planned();
        world.swarm(&["plan", "rebuild"]).good();
        let good = fs::read(world.ledger()).expect("a ledger");
        let second = good.iter().position(|b| *b == b'\n').expect("lines") + 60;
        for path in both(&world) {
            rot(&path, second);
            let found = world.swarm(&["plan", "verify"]);
            assert_ne!(found.code, Some(0), "{path:?}: {}", found.out);
            world.swarm(repair);
            world.swarm(&["plan", "verify"]).good();
            for path in both(&world) {
                assert!(fs::read(&path).expect("there").starts_with(&good), "{repair:?} {path:?}");
            }
        }
    }
}

#[test]
fn a_first_batch_damaged_in_both_copies_is_said_as_it_is_and_shows_what_is_left() {
    let world = planned();
    let plan = fs::read(world.repo.join(".swarm/plan.json")).expect("a projection");
    for path in both(&world) {
        rot(&path, 60);
    }
    let ran = world.swarm(&["status"]);
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    assert!(
        ran.err.contains("first batch") && ran.err.contains("swarm plan salvage --dry-run"),
        "{}",
        ran.err
    );
    assert!(world.swarm(&["plan", "salvage", "--dry-run"]).good().contains("task_added"));
    // As the hint says.
    world.shell("mv .swarm old && mv .git/swarm old-swarm");
    world.swarm(&["plan", "import", "old/plan.json"]).good();
    assert!(world.swarm(&["task", "list"]).good().contains("Two"));
    assert_eq!(fs::read(world.repo.join("old/plan.json")).expect("untouched"), plan);
}

#[test]
fn a_snapshot_goes_on_from_where_the_first_batch_is_damaged() {
    let world = planned();
    world.swarm(&["plan", "rebuild"]).good();
    for path in both(&world) {
        rot(&path, 60);
    }
    let ran = world.swarm(&["task", "list"]);
    assert!(ran.clone().good().contains("Two"), "{}", ran.err);
    assert!(ran.err.contains("from the snapshot alone"), "{}", ran.err);
    world.swarm(&["task", "add", "Three"]).good();
    assert!(world.swarm(&["task", "list"]).good().contains("Three"));
    assert_ne!(world.swarm(&["plan", "verify"]).code, Some(0), "it is never called whole");
}

#[test]
fn a_ledger_or_configuration_that_is_closed_to_us_names_the_command_that_opens_it() {
    for name in [".swarm/plan-ledger.jsonl", ".swarm/config.json"] {
        let world = planned();
        world.file(".swarm/config.json", "{}");
        let path = world.repo.join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("closed");
        let ran = world.without_rights(&["task", "add", "Three"]);
        assert_eq!(ran.code, Some(3), "{name}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("chmod u+rw"), "{name}: {}", ran.err);
    }
}
