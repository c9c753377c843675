//! Snapshots and projections: fresh after every command, made anew when they are not what they should be.

use crate::store_support;

use std::fs;

use store_support::*;
use swarm_engine::store::Store;
use swarm_protocol::command::Command;
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::planfile;

#[test]
fn projections_show_the_last_record_and_read_back_as_the_plan() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    place.run(add("x")).expect("added");
    let head = place.read().head.expect("a ledger");
    for path in [&place.paths.plan_json, &place.paths.plan_md] {
        let text = text_of(path);
        assert!(text.contains(head.hash.as_str()), "{text}");
        let plan = planfile::parse("p", text.as_bytes()).expect("a plan");
        assert_eq!(plan.phases[0].tasks.len(), 3);
        assert!(plan.extra.is_empty(), "{plan:?}");
    }
    let exported = planfile::parse("p", text_of(&place.paths.export_json).as_bytes()).expect("a plan");
    assert_eq!(exported.phases[0].tasks.len(), 2, "exports are written on save");
}

#[test]
fn projections_are_fresh_also_behind_records_that_change_nothing_in_the_plan() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    let before = place.read().head.expect("a ledger").seq;
    let pause = Command::Pause { reason: PauseReason::User, why: "lunch".into(), force: false };
    place.run(pause).expect("paused");
    assert!(place.read().head.expect("a ledger").seq > before);
    let report = Store::verify(&place.paths, &place.options).expect("verified");
    assert!(report.projections.is_empty(), "{report:?}");
}

#[test]
fn a_projection_that_is_missing_or_old_is_made_anew_by_the_next_writer_and_never_by_a_reader() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    let old = text_of(&place.paths.plan_json);
    place.run(add("x")).expect("added");
    let fresh = text_of(&place.paths.plan_json);
    for replaced in [Some(&old), None] {
        match replaced {
            Some(text) => fs::write(&place.paths.plan_json, text).expect("an older one"),
            None => fs::remove_file(&place.paths.plan_json).expect("removed"),
        }
        place.read();
        assert_eq!(fs::read_to_string(&place.paths.plan_json).ok().as_ref(), replaced);
        let report = Store::verify(&place.paths, &place.options).expect("verified");
        assert_eq!(report.projections.len(), 1, "{report:?}");
        place.open().expect("free").finish().expect("finished");
        assert_eq!(text_of(&place.paths.plan_json), fresh);
    }
    assert_eq!(names(&place.paths.swarm).iter().filter(|name| name.contains("edited")).count(), 0);
}

#[test]
fn a_projection_edited_by_hand_is_kept_beside_and_offered_as_an_import() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    for n in 1..=2 {
        let edited = text_of(&place.paths.plan_json).replace("First", &format!("Edited {n}"));
        fs::write(&place.paths.plan_json, &edited).expect("edited");
        let (_, notices) = place.run(add(&format!("t{n}"))).expect("added");
        let kept = place.paths.swarm.join(format!("plan.json.edited-{n}"));
        assert_eq!(text_of(&kept), edited);
        let hint = format!("swarm plan import .swarm/plan.json.edited-{n}");
        assert!(notices.iter().any(|notice| notice.hint == hint), "{notices:?}");
        assert!(!text_of(&place.paths.plan_json).contains("Edited"));
    }
}

#[test]
fn an_edit_made_while_the_store_was_open_is_not_written_over() {
    let place = place();
    place.run(save(PLAN)).expect("saved");
    let mut store = place.open().expect("free");
    fs::write(&place.paths.plan_md, "# mine\n").expect("edited");
    store.write_snapshot().expect("written");
    assert_eq!(text_of(&place.paths.swarm.join("plan.md.edited-1")), "# mine\n");
    assert!(store.take_notices().iter().any(|n| n.hint.ends_with("plan.md.edited-1")));
}

#[test]
fn a_snapshot_is_used_only_where_it_lies_on_the_ledger() {
    let place = place();
    for n in 0..40 {
        place.run(add(&format!("t{n}"))).expect("added");
    }
    let expected = place.read().state;
    place.open().expect("free").write_snapshot().expect("written");
    let good = fs::read(&place.paths.snapshot).expect("read");
    place.run(add("later")).expect("added");
    let later = place.read().state;
    assert_eq!(later.seq, expected.seq + 2);
    // A damaged one, one of another record, and none at all lead to the same state.
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 4;
    for bytes in [&flipped[..], &good[..good.len() / 2], b"", b"{}"] {
        fs::write(&place.paths.snapshot, bytes).expect("written");
        assert_eq!(place.read().state, later);
    }
    // The one before serves where the newest does not.
    fs::write(&place.paths.snapshot, b"?").expect("written");
    fs::write(&place.paths.snapshot_prev, &good).expect("written");
    assert_eq!(place.read().state, later);
    fs::remove_file(&place.paths.snapshot).expect("removed");
    assert_eq!(place.read().state, later);
    assert_eq!(place.read_at(expected.seq).expect("the past").state, expected);
    assert_eq!(place.read_at(3).expect("the past").state.seq, 3);
}

#[test]
fn commands_leave_a_snapshot_when_the_next_load_would_take_long() {
    let place = place();
    let tasks: String = (0..2000).map(|n| format!("- [ ] 1.{n} Task {n}\n")).collect();
    place.run(save(&format!("# Big\n{tasks}"))).expect("saved");
    assert!(place.paths.snapshot.exists());
    let size = fs::metadata(&place.paths.snapshot).expect("there").modified().expect("a time");
    place.run(add("x")).expect("added");
    assert_eq!(fs::metadata(&place.paths.snapshot).expect("there").modified().expect("a time"), size);
    assert_eq!(place.read().state.tasks.len(), 2001);
    assert!(!names(&place.paths.ledger_files).is_empty(), "a large plan snapshot is a file of its own");
    let report = Store::verify(&place.paths, &place.options).expect("verified");
    assert!(report.is_good() && report.snapshots_checked > 0, "{report:?}");
    for file in fs::read_dir(&place.paths.ledger_files).expect("listed").flatten() {
        fs::write(file.path(), "{}").expect("damaged");
    }
    let report = Store::verify(&place.paths, &place.options).expect("verified");
    assert!(report.integrity.iter().any(|text| text.contains("does not have the content")), "{report:?}");
}
