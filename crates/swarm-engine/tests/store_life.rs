//! A store from its first command to its archive.

use crate::store_support;

use std::fs;

use store_support::*;
use swarm_core::State;
use swarm_core::export::plan_file;
use swarm_core::input::Input;
use swarm_engine::projection::find_import;
use swarm_engine::store::{OpenOptions, Opened, Store, StoreError};
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::ids::CommandId;
use swarm_protocol::planfile;
use swarm_protocol::refusal::Refusal;

#[test]
fn the_first_command_makes_the_ledger_and_a_reader_sees_what_was_answered() {
    let place = place();
    assert!(place.read().state.plan.is_none());
    assert!(!place.paths.swarm.exists(), "a read writes nothing");
    let (answer, _) = place.run(save(PLAN)).expect("saved");
    assert_eq!(answer.text, "Plan saved: 2 tasks");
    assert_eq!(place.tasks(), "1.1 1.2");
    let reading = place.read();
    assert_eq!(reading.head.expect("a ledger").seq, answer.seq);
    assert_eq!(reading.ledger_id.expect("an id").len(), 32);
    assert_eq!(text_of(&place.paths.ledger), text_of(&place.paths.second_copy));
    assert!(text_of(&place.paths.swarm.join(".gitignore")).contains("*\n!.gitignore"));
    place.run(add("x")).expect("added");
    assert_eq!(place.tasks(), "1.1 1.2 x");
}

#[test]
fn a_command_asked_again_under_its_id_gets_the_old_answer() {
    let place = place();
    let (first, _) = place.run_as("same", save(PLAN)).expect("saved");
    let (again, _) = place.run_as("same", save(PLAN)).expect("answered");
    assert!(again.repeated && !first.repeated);
    assert_eq!(again.text, first.text);
    assert_eq!(place.read().head.expect("a ledger").seq, first.seq, "nothing was written");
}

#[test]
fn a_memory_that_is_loaded_again_has_what_was_on_its_way_to_the_disk() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    let mut store = place.open().expect("free");
    let now = store.clock().now();
    for (n, id, expected) in [(1, "x", "1.1 1.2 x"), (2, "y", "1.1 1.2 x y")] {
        let decided =
            store.submit(command(n, add(id)), now, "test").expect("the seqs are those of the ledger");
        // As when the record behind it is refused.
        store.reload().expect("loaded");
        assert_eq!(ids(store.state()), expected);
        decided.ticket.wait().expect("durable");
    }
    store.finish().expect("finished");
    assert_eq!(place.tasks(), "1.1 1.2 x y");
}

#[test]
fn an_ignore_file_that_a_full_disk_left_empty_is_filled_and_a_persons_own_stays() {
    for (left, expected) in [("", "*\n!.gitignore"), ("run/\n", "run/\n")] {
        let place = place();
        place.run(save(PLAN)).expect("saved");
        let ignore = place.paths.swarm.join(".gitignore");
        fs::write(&ignore, left).expect("written");
        place.run(add("x")).expect("added");
        let text = text_of(&ignore);
        assert!(text.contains(expected) && (left.is_empty() || text == left), "{text}");
        assert!(!place.paths.swarm.join(".gitignore.tmp").exists());
    }
}

#[test]
fn a_ledger_that_could_not_begin_leaves_no_plan_in_the_memory() {
    let place = place();
    let mut store = place.open().expect("free");
    let now = store.clock().now();
    let in_the_way = place.paths.swarm.join(".gitignore.tmp");
    fs::create_dir_all(&in_the_way).expect("made");
    let failed = store.submit(command(1, save(PLAN)), now, "test").map(drop);
    assert!(matches!(failed, Err(StoreError::Io { .. })), "{failed:?}");
    assert!(store.state().plan.is_none() && !place.paths.ledger.exists());
    fs::remove_dir(&in_the_way).expect("removed");
    store.submit(command(2, save(PLAN)), now, "test").expect("begun").ticket.wait().expect("durable");
    store.finish().expect("finished");
    assert_eq!(place.tasks(), "1.1 1.2");
}

#[test]
fn a_refused_command_leaves_no_trace() {
    let place = place();
    assert!(matches!(place.run(Command::ResetPlan), Err(StoreError::Refused(Refusal::NoPlan))));
    assert!(!place.paths.ledger.exists());
    place.run(save(PLAN)).expect("saved");
    let before = text_of(&place.paths.ledger);
    assert!(matches!(place.run(add("1.1")), Err(StoreError::Refused(Refusal::DuplicateTask { .. }))));
    assert_eq!(text_of(&place.paths.ledger), before);
}

#[test]
fn a_coordinator_keeps_the_ledger_and_others_are_told_who_it_is() {
    let place = place();
    let options = OpenOptions { role: "coordinator".into(), ..place.options.clone() };
    let Ok(Opened::Writer(mut store)) = Store::become_coordinator(&place.paths, options) else {
        panic!("free")
    };
    for _ in 0..2 {
        let Ok(Opened::Busy(Some(owner))) = Store::open_writer(&place.paths, place.options.clone()) else {
            panic!("it is taken")
        };
        assert_eq!((owner.role.as_str(), owner.pid), ("coordinator", std::process::id()));
    }
    let now = store.clock().now();
    let decided: Vec<_> = (0..50)
        .map(|n| store.submit(command(n, add(&format!("t{n}"))), now, "person:test").expect("decided"))
        .collect();
    assert_eq!(store.state().tasks.len(), 50, "the memory runs ahead");
    for one in decided {
        one.ticket.wait().expect("durable");
    }
    store.maybe_snapshot(now).expect("begun");
    store.take_written();
    assert!(place.paths.snapshot.exists());
    assert_eq!(store.upkeep_due(), None, "nothing to do while nothing changes");
    store.finish().expect("finished");
    assert_eq!(place.read().state.tasks.len(), 50);
    place.run(add("later")).expect("free again");
}

#[test]
fn every_state_of_the_past_can_be_read_and_the_future_is_refused() {
    let place = place();
    for n in 1..=30 {
        place.run(add(&format!("t{n}"))).expect("added");
    }
    let last = place.read().head.expect("a ledger").seq;
    let mut tasks = 0;
    for seq in 1..=last {
        let state = place.read_at(seq).expect("readable").state;
        assert_eq!(state.seq, seq);
        assert!(state.tasks.len() >= tasks);
        tasks = state.tasks.len();
    }
    assert_eq!(tasks, 30);
    for asked in [0, last + 1] {
        let Err(error) = place.read_at(asked) else { panic!("there is no record {asked}") };
        assert_eq!(error.to_string(), format!("There is no record {asked}: the ledger ends at {last}"));
    }
}

#[test]
fn a_closed_plan_is_archived_and_the_next_one_begins_a_new_ledger() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    let first = place.read().ledger_id;
    place.run(Command::ClosePlan { archive: "ship-it-2026".into() }).expect("closed");
    assert!(
        !place.paths.ledger.exists() && !place.paths.second_copy.exists() && !place.paths.plan_json.exists()
    );
    assert_eq!(
        names(&place.paths.archive),
        ["ship-it-2026.jsonl", "ship-it-2026.plan.json", "ship-it-2026.plan.md"]
    );
    let export = text_of(&place.paths.export_json);
    assert!(
        export.contains("\"pending\"") && !export.contains("\"cancelled\""),
        "what the tasks were: {export}"
    );
    assert!(place.read().state.plan.is_none());
    place.run(save("# Next\n- [ ] a1 x\n")).expect("a new plan");
    assert_eq!(place.tasks(), "a1");
    assert_ne!(place.read().ledger_id, first);
    place.run(Command::ClosePlan { archive: "ship-it-2026".into() }).expect("closed again");
    assert!(names(&place.paths.archive).contains(&"ship-it-2026-2.jsonl".to_owned()), "never overwritten");
}

fn reopened(place: &Place) -> Result<(), StoreError> {
    let Opened::Writer(mut store) =
        Store::open_archived(&place.paths, place.options.clone(), "ship-it-2026")?
    else {
        panic!("nobody else is here");
    };
    let now = store.clock().now();
    let id = CommandId::new("reopen").expect("an id");
    let envelope = Envelope { id, by: "person:test".into(), command: Command::ReopenPlan };
    store.submit_blocking(envelope, now)?;
    store.finish().map(drop)
}

#[test]
fn a_closed_plan_goes_on_in_the_same_ledger_without_a_byte_of_it_rewritten() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    place.run(Command::BlockTask { task: task("1.2"), reason: "waits".into() }).expect("blocked");
    let before = place.read();
    let closing = fs::metadata(&place.paths.ledger).expect("there").len();
    fs::write(place.paths.root.join("SWARM_PLAN.md"), planfile::to_markdown(&plan_file(&before.state)))
        .expect("a file");
    place.run(Command::ClosePlan { archive: "ship-it-2026".into() }).expect("closed");
    assert!(!place.paths.root.join("SWARM_PLAN.md").exists(), "the ledger has what it held");
    let archived = fs::read(place.paths.archive.join("ship-it-2026.jsonl")).expect("the ledger");
    assert!(archived.len() as u64 > closing);
    reopened(&place).expect("reopened");
    let ledger = fs::read(&place.paths.ledger).expect("it is back");
    assert!(ledger.starts_with(&archived) && ledger.len() > archived.len());
    assert_eq!(fs::read(&place.paths.second_copy).expect("so is the copy"), ledger);
    let after = place.read();
    assert_eq!(after.ledger_id, before.ledger_id);
    let statuses = |state: &State| serde_json::to_value(plan_file(state)).expect("a plan");
    assert_eq!(statuses(&after.state), statuses(&before.state));
    place.run(add("x")).expect("it goes on");
    place.run(Command::ClosePlan { archive: "again".into() }).expect("and can be closed again");
    assert!(place.paths.archive.join("again.jsonl").exists());
}

#[test]
fn a_reopening_that_died_before_its_record_leaves_the_plan_closed() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    place.run(Command::ClosePlan { archive: "ship-it-2026".into() }).expect("closed");
    let before = fs::read(place.paths.archive.join("ship-it-2026.jsonl")).expect("the ledger");
    // Brought out of the archive, and then the end.
    drop(Store::open_archived(&place.paths, place.options.clone(), "ship-it-2026").expect("opened"));
    assert!(place.paths.ledger.exists() && place.read().state.plan.is_some_and(|plan| plan.closed));
    drop(place.open().expect("somebody comes next"));
    assert!(!place.paths.ledger.exists() && !place.paths.second_copy.exists());
    assert_eq!(fs::read(place.paths.archive.join("ship-it-2026.jsonl")).expect("it is back there"), before);
    reopened(&place).expect("and can be reopened");
    assert_eq!(place.tasks(), "1.1 1.2");
}

#[test]
fn a_close_that_died_after_its_record_is_finished_by_the_next_command() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    let mut store = place.open().expect("free");
    let now = store.clock().now();
    let close = command(1, Command::ClosePlan { archive: "../x/ended.jsonl".into() });
    store.submit(close, now, "person:test").expect("decided").ticket.wait().expect("durable");
    drop(store);
    assert!(place.paths.ledger.exists());
    assert!(place.read().state.plan.is_some_and(|plan| plan.closed));
    place.run(save("# Next\n- [ ] a1 x\n")).expect("a new plan");
    assert!(place.paths.archive.join("ended.jsonl").exists(), "{:?}", names(&place.paths.archive));
    assert_eq!(place.tasks(), "a1");
}

#[test]
fn sixteen_writers_at_once_make_one_dense_chain() {
    let place = place();
    std::thread::scope(|scope| {
        for writer in 0..16 {
            let place = &place;
            scope.spawn(move || {
                for n in 0..10 {
                    place.run(add(&format!("w{writer}-{n}"))).expect("added");
                }
            });
        }
    });
    assert_eq!(place.read().state.tasks.len(), 160);
    let report = Store::verify(&place.paths, &place.options).expect("verified");
    assert!(report.is_good() && report.projections.is_empty(), "{report:?}");
    assert_eq!(report.second_copy, "agrees");
}

#[test]
fn the_time_of_records_never_goes_back() {
    let place = place();
    let mut store = place.open().expect("free");
    let now = store.clock().now();
    store.submit(command(1, add("a1")), now.plus_secs(3600), "x").expect("decided");
    store.submit(command(2, add("a2")), now, "x").expect("decided");
    store.submit(Input::Tick, now, "x").expect("nothing to decide").ticket.wait().expect("at once");
    assert_eq!(store.state().at, now.plus_secs(3600));
    store.finish().expect("finished");
    assert!(place.open().expect("free").clock().now() >= now.plus_secs(3600));
}

#[test]
fn an_import_without_a_file_takes_the_export_and_warns_about_the_old_place() {
    let place = place();
    assert_eq!(find_import(&place.paths), None);
    fs::write(&place.paths.root_export_json, "{}").expect("written");
    assert!(
        find_import(&place.paths).expect("found").deprecated.expect("a warning").text.contains("deprecated")
    );
    fs::create_dir_all(&place.paths.swarm).expect("made");
    fs::write(&place.paths.export_json, "{}").expect("written");
    assert_eq!(find_import(&place.paths).expect("found").deprecated, None);
}
