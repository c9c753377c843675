//! Disks that are full, read-only, failing, or hold something else than our ledger.

use crate::store_support;
#[path = "store_support/faults.rs"]
mod faults;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use faults::{BadDisk, Faults};
use store_support::*;
use swarm_engine::store::{Opened, Store, StoreError, foreign_plan, move_foreign_aside, moved_plan};
use swarm_ledger::{OnDamage, Witness};
use swarm_protocol::command::Command;

fn bad_place() -> (Place, Arc<Faults>) {
    let faults = Arc::new(Faults::default());
    let mut place = place();
    place.options.vfs = Arc::new(BadDisk(faults.clone()));
    (place, faults)
}

/// The error of a read and of a write, as one text.
fn check(place: &Place, expected: &str) {
    let error = match place.run(add("new")) {
        Ok(_) => panic!("it must be refused: {expected}"),
        Err(error) => error,
    };
    assert_eq!(error.exit_code(), 3);
    let all = format!("{} | {}", describe(&error), error.hint());
    assert!(all.contains(expected), "{all}\nwants: {expected}");
}

#[test]
fn on_a_full_disk_nothing_is_answered_the_memory_goes_back_and_work_goes_on_later() {
    let (place, faults) = bad_place();
    place.run(save(PLAN)).expect("saved");
    let mut store = place.open().expect("free");
    let now = store.clock().now();
    faults.full.store(true, SeqCst);
    let Err(error) = store.submit_blocking(envelope(1, add("lost")), now) else { panic!("there is no room") };
    assert!(matches!(error, StoreError::NoRoom(_)), "{error:?}");
    assert_eq!(ids(store.state()), "1.1 1.2", "what the disk does not have, the memory forgets");
    assert_eq!(place.tasks(), "1.1 1.2", "reading goes on");
    assert!(matches!(store.submit_blocking(envelope(2, add("lost")), now), Err(StoreError::NoRoom(_))));
    assert!(!store.ask_for_room(false).expect("asked"));
    faults.full.store(false, SeqCst);
    assert!(store.ask_for_room(false).expect("asked"));
    store.submit_blocking(envelope(3, add("kept")), now).expect("there is room");
    store.finish().expect("finished");
    assert_eq!(place.tasks(), "1.1 1.2 kept");
}

#[test]
fn a_batch_that_finds_no_room_later_takes_all_behind_it_back() {
    let (place, faults) = bad_place();
    place.run(save(PLAN)).expect("saved");
    let mut store = place.open().expect("free");
    let now = store.clock().now();
    faults.full.store(true, SeqCst);
    let decided: Vec<_> = (0..5).map(|n| store.submit(command(n, add(&format!("t{n}"))), now, "x")).collect();
    assert!(decided[0].is_ok(), "the memory runs ahead");
    for one in decided.into_iter().flatten() {
        one.ticket.wait().expect_err("none of them is durable");
    }
    store.reload().expect("loaded");
    assert_eq!(ids(store.state()), "1.1 1.2");
}

#[test]
fn a_failing_sync_ends_the_process_and_the_next_one_goes_on_from_the_disk() {
    let (place, faults) = bad_place();
    place.run(save(PLAN)).expect("saved");
    let mut store = place.open().expect("free");
    let now = store.clock().now();
    faults.sync_fails.store(true, SeqCst);
    let Err(error) = store.submit_blocking(envelope(1, add("unsure")), now) else {
        panic!("it did not sync")
    };
    assert_eq!((error.exit_code(), matches!(error, StoreError::Fatal(_))), (74, true), "{error:?}");
    assert!(matches!(store.submit_blocking(envelope(2, add("more")), now), Err(StoreError::Fatal(_))));
    faults.sync_fails.store(false, SeqCst);
    drop(store);
    place.run(add("sure")).expect("the next process");
    assert!(place.tasks().ends_with("sure"));
}

#[test]
fn every_answer_comes_after_a_sync_of_its_own() {
    let (place, faults) = bad_place();
    place.run(save(PLAN)).expect("saved");
    let mut store = place.open().expect("free");
    let now = store.clock().now();
    for n in 0..20 {
        let before = faults.syncs.load(SeqCst);
        store.submit_blocking(envelope(n, add(&format!("t{n}"))), now).expect("added");
        assert!(faults.syncs.load(SeqCst) > before);
    }
}

#[test]
fn a_ledger_that_can_only_be_read_is_read_and_says_so() {
    let (place, faults) = bad_place();
    place.run(save(PLAN)).expect("saved");
    faults.read_only.store(true, SeqCst);
    assert_eq!(place.tasks(), "1.1 1.2");
    check(&place, "Cannot write to");
}

#[test]
fn what_is_not_our_ledger_is_refused_untouched() {
    let foreign = r#"{"seq":1,"timestamp":"t","plan_id":"p","event_type":"plan_created","source":"s"}"#;
    let cases: [(&str, String, &str); 4] = [
        ("opencode-swarm", format!("{foreign}\n"), "belongs to opencode-swarm"),
        ("newer", newer(), "written in format 2; this program knows formats up to 1"),
        ("empty", String::new(), "is empty"),
        ("noise", "what is this\n".into(), "no record can be verified"),
    ];
    for (name, text, expected) in cases {
        let place = place();
        fs::create_dir_all(&place.paths.swarm).expect("made");
        fs::write(&place.paths.ledger, &text).expect("written");
        check(&place, expected);
        assert!(Store::open_reader(&place.paths, &place.options, None).is_err(), "{name}");
        assert_eq!(text_of(&place.paths.ledger), text, "{name} was touched");
    }
}

fn newer() -> String {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    text_of(&place.paths.ledger).replace("\"format\":1", "\"format\":2")
}

#[test]
fn the_ledger_of_another_swarm_is_refused() {
    let (ours, other) = (place(), place());
    ours.run(save(PLAN)).expect("saved");
    other.run(save(PLAN)).expect("saved");
    fs::copy(&other.paths.ledger, &ours.paths.ledger).expect("mixed up");
    check(&ours, "Two swarms got mixed");
    fs::remove_file(&ours.paths.second_copy).expect("removed");
    let mut store = other.open().expect("free");
    store.write_snapshot().expect("written");
    drop(store);
    fs::create_dir_all(&ours.paths.state).expect("made");
    fs::copy(&other.paths.snapshot, &ours.paths.snapshot).expect("its own snapshot");
    ours.run(add("x")).expect("it is that swarm now");
}

#[test]
fn a_ledger_deleted_with_its_folder_comes_back_from_the_second_copy() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    place.run(add("x")).expect("added");
    fs::remove_dir_all(&place.paths.swarm).expect("git clean -fdx");
    let reading = place.read();
    assert_eq!(ids(&reading.state), "1.1 1.2 x");
    assert!(!place.paths.swarm.exists(), "a read restores nothing");
    let (_, notices) = place.run(add("y")).expect("restored");
    assert!(notices.iter().any(|n| n.text.contains("restored from the second copy")), "{notices:?}");
    assert_eq!(place.tasks(), "1.1 1.2 x y");
    assert!(text_of(&place.paths.ledger).contains("ledger_repaired"), "it is recorded");
}

#[test]
fn a_missing_ledger_is_never_made_anew_over_what_is_left_of_it() {
    let anchor = Witness { seq: 3, hash: None, ledger_id: None, source: "refs/swarm/ledger".into() };
    for left in ["snapshot", "damaged snapshot", "anchor", "quarantine"] {
        let mut place = place();
        place.run(save(PLAN)).expect("saved");
        place.open().expect("free").write_snapshot().expect("written");
        fs::remove_file(&place.paths.ledger).expect("removed");
        fs::remove_file(&place.paths.second_copy).expect("removed");
        match left {
            "snapshot" => {}
            "damaged snapshot" => fs::write(&place.paths.snapshot, "?").expect("written"),
            _ => fs::remove_dir_all(&place.paths.state).expect("removed"),
        }
        match left {
            "anchor" => place.options.anchors = vec![anchor.clone()],
            "quarantine" => {
                fs::write(place.paths.swarm.join("plan-ledger.quarantine.1"), "x").expect("written")
            }
            _ => {}
        }
        check(&place, "is missing");
        assert!(!place.paths.ledger.exists(), "{left}");
        assert!(place.paths.plan_json.exists(), "{left}");
    }
}

#[test]
fn a_plan_json_is_taken_over_only_where_there_never_was_a_ledger() {
    let place = place();
    fs::create_dir_all(&place.paths.swarm).expect("made");
    let old = r#"{"goal":"old","phases":[{"id":1,"tasks":[{"id":"a1","title":"A","status":"done"},{"id":"a2","title":"B"}]}]}"#;
    fs::write(&place.paths.plan_json, old).expect("written");
    assert!(place.read().notices[0].text.contains("from before there was a ledger"));
    let (_, notices) = place.run(add("a3")).expect("taken over");
    assert!(notices.iter().any(|n| n.text.contains("was taken over")), "{notices:?}");
    assert_eq!(place.tasks(), "a1 a2 a3");
    let statuses: Vec<_> = place.read().state.tasks.values().map(|t| t.stage.status().word()).collect();
    assert_eq!(statuses, ["done", "pending", "pending"]);
    let kept = place.paths.swarm.join("plan.json.edited-1");
    assert_eq!(text_of(&kept), old, "what people wrote is kept");
}

#[test]
fn a_plan_json_that_cannot_be_taken_over_is_not_written_over() {
    for (text, expected) in [
        (r#"{"schema_version":"1.0.0","title":"t","swarm":"s","phases":[]}"#, "opencode-swarm"),
        ("{\"goal\": ", "it ends too early"),
        (
            r#"{"goal":"g","phases":[{"id":1,"tasks":[{"id":"a","title":"A","depends":["b"]}]}]}"#,
            "does not exist",
        ),
    ] {
        let place = place();
        fs::create_dir_all(&place.paths.swarm).expect("made");
        fs::write(&place.paths.plan_json, text).expect("written");
        check(&place, expected);
        assert_eq!(text_of(&place.paths.plan_json), text);
        assert!(!place.paths.ledger.exists());
    }
}

#[test]
fn after_a_close_an_old_plan_json_is_not_taken_over() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    place.run(Command::ClosePlan { archive: "one".into() }).expect("closed");
    fs::write(
        &place.paths.plan_json,
        r#"{"goal":"old","phases":[{"id":1,"tasks":[{"id":"a1","title":"A"}]}]}"#,
    )
    .expect("written");
    place.run(save("# Next\n- [ ] b1 x\n")).expect("a new plan");
    assert_eq!(place.tasks(), "b1");
}

/// Cuts the ledger and its copy so that the last records are damaged beyond repair.
fn damage(place: &Place) {
    for path in [&place.paths.ledger, &place.paths.second_copy] {
        let mut bytes = fs::read(path).expect("read");
        let middle = bytes.len() / 2;
        let line = bytes[..middle].iter().rposition(|b| *b == b'\n').expect("lines") + 40;
        bytes[line] ^= 1;
        fs::write(path, bytes).expect("written");
    }
}

#[test]
fn damage_is_shown_by_every_read_recorded_by_the_next_write_and_salvaged_by_commands() {
    let place = place();
    for n in 1..=8 {
        place.run(add(&format!("t{n}"))).expect("added");
    }
    damage(&place);
    let reading = place.read();
    assert!(reading.state.loss.as_ref().is_some_and(|loss| loss.contains("damaged")), "the banner");
    assert!(reading.state.tasks.len() < 8);
    let bytes = fs::read(&place.paths.ledger).expect("read");
    let (_, notices) = place.run(add("after")).expect("quarantined, and work goes on");
    assert!(notices.iter().any(|n| n.text.contains("moved to quarantine")), "{notices:?}");
    assert!(place.paths.swarm.join("plan-ledger.quarantine.1").exists());
    assert!(bytes.len() as u64 > fs::metadata(&place.paths.ledger).expect("there").len());
    assert!(place.read().state.loss.is_some());
    assert_eq!(text_of(&place.paths.ledger).matches("\"ledger_loss\"").count(), 1);
    let salvage = Store::salvage(&place.paths, &place.options).expect("read");
    let commands: Vec<Command> = salvage.items.iter().filter_map(|item| item.command.clone()).collect();
    assert!(!commands.is_empty() && salvage.items.iter().any(|item| !item.why_not.is_empty()), "{salvage:?}");
    let count = commands.len() as u64;
    for command in commands {
        place.run(command).expect("brought back");
    }
    assert!(place.tasks().contains("t8"));
    place.run(Command::AcknowledgeLoss { salvaged: count }).expect("acknowledged");
    assert!(place.read().state.loss.is_none());
    place.open().expect("opened once more").finish().expect("finished");
    assert_eq!(text_of(&place.paths.ledger).matches("\"ledger_loss\"").count(), 1, "recorded once");
    assert!(Store::verify(&place.paths, &place.options).expect("verified").is_good());
}

#[test]
fn a_quarantine_file_that_cannot_be_read_is_told_with_what_helps_and_stops_nothing() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    fs::create_dir(place.paths.swarm.join("plan-ledger.quarantine.1")).expect("made");
    let (_, told) = place.run(add("x")).expect("work goes on");
    for notices in [told, place.read().notices] {
        let told = notices.iter().find(|n| n.text.contains("plan-ledger.quarantine.1 cannot be read"));
        assert!(told.is_some_and(|n| n.hint.contains("move it out of .swarm")), "{notices:?}");
    }
    assert!(place.tasks().contains('x'));
    let salvage = Store::salvage(&place.paths, &place.options).expect("looked");
    assert_eq!((salvage.files.len(), salvage.items.len()), (1, 0));
}

#[test]
fn the_careful_setting_writes_nothing_until_a_person_has_looked() {
    let mut place = place();
    for n in 1..=8 {
        place.run(add(&format!("t{n}"))).expect("added");
    }
    damage(&place);
    place.options.on_damage = OnDamage::Ask;
    let bytes = fs::read(&place.paths.ledger).expect("read");
    check(&place, "swarm plan salvage");
    assert_eq!(fs::read(&place.paths.ledger).expect("read"), bytes);
    assert!(!place.read().state.tasks.is_empty());
    place.options.on_damage = OnDamage::Quarantine;
    let Ok(Opened::Writer(store)) = Store::open_writer(&place.paths, place.options.clone()) else {
        panic!("salvage")
    };
    assert!(store.state().loss.is_some());
}

#[test]
fn a_torn_last_batch_is_cut_kept_and_recorded() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    let mut bytes = fs::read(&place.paths.ledger).expect("read");
    bytes.extend_from_slice(b"{\"len\":\"0000999\",\"seq\":\0\0\0\0");
    fs::write(&place.paths.ledger, &bytes).expect("written");
    assert_eq!(place.tasks(), "1.1 1.2", "a reader takes it for being written");
    place.run(add("x")).expect("cut");
    assert!(text_of(&place.paths.ledger).contains("\"type\":\"ledger_cut\""));
    assert_eq!(place.tasks(), "1.1 1.2 x");
}

fn envelope(n: u64, command: Command) -> swarm_protocol::command::Envelope {
    let id = swarm_protocol::ids::CommandId::new(format!("e{n}")).expect("an id");
    swarm_protocol::command::Envelope { id, by: "person:test".into(), command }
}

const THEIR_LEDGER: &str =
    "{\"seq\":1,\"timestamp\":\"t\",\"plan_id\":\"p\",\"event_type\":\"plan_created\",\"source\":\"s\"}\n";
const THEIR_PLAN: &str = r#"{"schema_version":"1.0.0","title":"t","swarm":"s","phases":[]}"#;
/// In the order in which they are moved.
const THEIRS: [(&str, &str); 5] = [
    ("SWARM_PLAN.json", THEIR_PLAN),
    ("context.md", "notes\n"),
    ("evidence/1.1.json", "{}"),
    ("plan-ledger.jsonl", THEIR_LEDGER),
    ("plan.json", THEIR_PLAN),
];

fn with_theirs() -> Place {
    let place = place();
    fs::create_dir_all(place.paths.swarm.join("evidence")).expect("made");
    for (name, text) in THEIRS.into_iter().chain([("config.json", "{}"), (".gitignore", "*\n")]) {
        fs::write(place.paths.swarm.join(name), text).expect("written");
    }
    place
}

/// All of theirs lies in one folder, byte for byte, and a plan of ours can begin.
fn check_moved(place: &Place, folder: &std::path::Path, when: &str) {
    assert_eq!(names(&place.paths.swarm.join("imported")).len(), 1, "{when}");
    for (name, text) in THEIRS {
        assert_eq!(text_of(&folder.join(name)), text, "{when}: {name}");
    }
    assert_eq!(names(&place.paths.swarm), [".gitignore", "config.json", "imported", "run"], "{when}");
    assert_eq!(moved_plan(&place.paths).as_deref(), Some(folder.join("plan.json").as_path()), "{when}");
    assert_eq!(
        move_foreign_aside(&place.paths, &place.options, "later").expect("asked again"),
        None,
        "{when}"
    );
    place.run(save(PLAN)).expect("the place is free");
}

#[test]
fn files_of_opencode_swarm_are_moved_aside_wherever_the_first_try_died() {
    for died_after in 0..=THEIRS.len() + 1 {
        let place = with_theirs();
        let unfinished = place.paths.swarm.join("imported/opencode-swarm-first.moving");
        if died_after > 0 {
            fs::create_dir_all(&unfinished).expect("made");
        }
        for (name, _) in THEIRS.iter().take(died_after.saturating_sub(1)) {
            let entry = name.split('/').next().expect("a name");
            fs::rename(place.paths.swarm.join(entry), unfinished.join(entry)).expect("moved");
        }
        let when = format!("died after {died_after}");
        let all_moved = died_after == THEIRS.len() + 1;
        assert_eq!(foreign_plan(&place.paths).is_none(), all_moved, "{when}: still known as theirs");
        if !all_moved {
            assert!(place.run(save(PLAN)).is_err(), "{when}: nothing of ours is written there");
        }
        let folder = move_foreign_aside(&place.paths, &place.options, "second").expect(&when).expect(&when);
        let time = if died_after == 0 { "second" } else { "first" };
        assert!(folder.ends_with(format!("imported/opencode-swarm-{time}")), "{when}: {folder:?}");
        check_moved(&place, &folder, &when);
    }
}

#[test]
fn two_who_move_at_once_move_once_and_a_ledger_that_was_written_over_is_not_given_up() {
    let place = with_theirs();
    let moved: Vec<_> = std::thread::scope(|scope| {
        let one = |time: &'static str| {
            let (paths, options) = (place.paths.clone(), place.options.clone());
            scope.spawn(move || move_foreign_aside(&paths, &options, time).expect("moved or not"))
        };
        let both = [one("a"), one("b")];
        both.into_iter().filter_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(moved.len(), 1, "{moved:?}");
    check_moved(&place, &moved[0], "two at once");

    fs::write(&place.paths.ledger, THEIR_LEDGER).expect("written over");
    let error = move_foreign_aside(&place.paths, &place.options, "c").expect_err("ours is still to be had");
    assert!(describe(&error).contains("has written over the ledger that was here"), "{error}");
    assert_eq!(text_of(&place.paths.ledger), THEIR_LEDGER);
    // As the hint says.
    fs::rename(&place.paths.ledger, place.paths.root.join("theirs")).expect("moved by hand");
    place.run(add("more")).expect("restored from the second copy");
    assert_eq!(place.tasks(), "1.1 1.2 more");
}
