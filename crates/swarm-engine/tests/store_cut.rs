//! Records that were cut off both copies: what else remembers them says so, until a person has seen it.

use crate::store_support;

use std::fs;

use store_support::*;
use swarm_engine::store::Store;
use swarm_protocol::command::Command;

/// A plan of two tasks and x, whose ledger and copy end before x was added.
fn cut() -> Place {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    let before = fs::read(&place.paths.ledger).expect("read");
    place.run(add("x")).expect("added");
    for path in [&place.paths.ledger, &place.paths.second_copy] {
        fs::write(path, &before).expect("cut");
    }
    place
}

#[test]
fn a_plan_json_that_shows_more_than_both_copies_is_a_loss_until_it_is_acknowledged() {
    let place = cut();
    let reading = place.read();
    let told = reading.state.loss.expect("the banner");
    assert!(told.contains(".swarm/plan.json knows of record"), "{told}");
    assert!(
        reading.notices.iter().any(|notice| notice.hint == "swarm plan salvage"),
        "{:?}",
        reading.notices
    );
    assert!(!Store::verify(&place.paths, &place.options).expect("verified").is_good());

    let (_, notices) = place.run(add("y")).expect("work goes on");
    assert!(notices.iter().any(|n| n.text.contains("missing")), "{notices:?}");
    assert!(text_of(&place.paths.ledger).contains("\"knownBy\":\".swarm/plan.json\""), "it is recorded");
    let kept = text_of(&place.paths.swarm.join("plan.json.ahead-1"));
    assert!(kept.contains("\"x\""), "what it knew is kept");
    for _ in 0..2 {
        let loss = place.read().state.loss.expect("until a person has seen it");
        assert!(loss.contains("missing") && !loss.ends_with("in "), "{loss}");
        place.open().expect("free").finish().expect("opened once more");
    }
    assert_eq!(text_of(&place.paths.ledger).matches("\"ledger_loss\"").count(), 1, "recorded once");
    let gaps = Store::salvage(&place.paths, &place.options).expect("looked").gaps;
    assert_eq!(gaps.len(), 1, "the records that nobody has are named: {gaps:?}");
    place.run(Command::AcknowledgeLoss { salvaged: 0 }).expect("seen");
    assert!(place.read().state.loss.is_none());
    assert!(Store::verify(&place.paths, &place.options).expect("verified").is_good());
}

#[test]
fn a_snapshot_of_lost_records_is_replaced_and_accuses_nobody_for_ever() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    let before = fs::read(&place.paths.ledger).expect("read");
    place.run(add("x")).expect("added");
    place.open().expect("free").write_snapshot().expect("written");
    for path in [&place.paths.ledger, &place.paths.second_copy] {
        fs::write(path, &before).expect("cut");
    }
    for path in [&place.paths.plan_json, &place.paths.plan_md] {
        fs::remove_file(path).expect("removed");
    }
    for n in 0..4 {
        place.run(add(&format!("y{n}"))).expect("added");
    }
    place.run(Command::AcknowledgeLoss { salvaged: 0 }).expect("seen");
    let report = Store::verify(&place.paths, &place.options).expect("verified");
    assert!(report.is_good(), "{:?} {:?}", report.integrity, report.completeness);
}

#[test]
fn a_plan_json_that_outlived_both_copies_is_not_taken_for_a_plan_without_a_ledger() {
    let place = cut();
    for path in [&place.paths.ledger, &place.paths.second_copy] {
        fs::remove_file(path).expect("removed");
    }
    let error = place.run(add("y")).map(drop).expect_err("nothing is made anew over it");
    let words = format!("{} | {}", describe(&error), error.hint());
    assert!(words.contains("is missing") && words.contains(".swarm/plan.json knows of record"), "{words}");
    assert!(words.contains("swarm plan import"), "{words}");
    assert!(!place.paths.ledger.exists() && place.paths.plan_json.exists());
}

#[test]
fn a_plan_json_of_another_ledger_or_edited_by_hand_accuses_nobody() {
    let (ours, other) = (place(), place());
    ours.run(save(PLAN)).expect("saved");
    other.run(save(PLAN)).expect("saved");
    for n in 0..5 {
        other.run(add(&format!("t{n}"))).expect("added");
    }
    fs::copy(&other.paths.plan_json, &ours.paths.plan_json).expect("brought along");
    assert!(ours.read().state.loss.is_none());
    let cut = cut();
    for path in [&cut.paths.plan_json, &cut.paths.plan_md] {
        fs::write(path, text_of(path).replace("Ship", "Sail")).expect("edited");
    }
    assert!(cut.read().state.loss.is_none());
}

#[test]
fn a_plan_json_of_another_ledger_is_not_kept_as_one_of_what_was_lost() {
    let (cut, other) = (cut(), place());
    other.run(save(PLAN)).expect("saved");
    for n in 0..5 {
        other.run(add(&format!("t{n}"))).expect("added");
    }
    fs::copy(&other.paths.plan_json, &cut.paths.plan_json).expect("brought along");
    let (_, notices) = cut.run(add("y")).expect("work goes on");
    assert!(notices.iter().any(|n| n.text.contains("missing")), "plan.md knows of the loss: {notices:?}");
    let kept: Vec<_> = names(&cut.paths.swarm).into_iter().filter(|name| name.contains(".ahead-")).collect();
    assert_eq!(kept, ["plan.md.ahead-1"]);
}

#[test]
fn after_a_close_the_files_of_the_old_plan_say_nothing_about_the_next_one() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    place.run(add("x")).expect("added");
    let old = text_of(&place.paths.plan_json);
    place.run(Command::ClosePlan { archive: "one".into() }).expect("closed");
    fs::write(&place.paths.plan_json, &old).expect("a stash brought it back");
    place.run(save("# Next\n- [ ] b1 x\n")).expect("a new plan");
    assert_eq!((place.tasks().as_str(), place.read().state.loss), ("b1", None));
}

#[test]
fn a_second_copy_that_cannot_be_written_is_told_with_a_hint_that_works() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    let copy = &place.paths.second_copy;
    fs::remove_file(copy).expect("removed");
    // A link onto itself can be opened by nobody, not even by root.
    std::os::unix::fs::symlink(copy, copy).expect("a link");
    let (_, notices) = place.run(add("x")).expect("the ledger itself is fine");
    let told = notices.iter().find(|notice| notice.text.contains("second copy"));
    assert!(told.is_some_and(|notice| notice.hint.contains("aside")), "{notices:?}");
    fs::rename(copy, copy.with_extension("aside")).expect("as the hint says");
    place.run(add("y")).expect("added");
    assert_eq!(text_of(&place.paths.ledger), text_of(copy));
}

#[test]
fn a_file_that_is_closed_to_us_names_the_command_that_opens_it() {
    let words = swarm_engine::store::access_hint(std::path::Path::new(".swarm/plan-ledger.jsonl"));
    assert!(words.contains("chmod u+rw '.swarm/plan-ledger.jsonl'") && words.contains("chown"), "{words}");
}
