//! Records of every kind, as version 1 writes them. Whatever changes, these stay readable.

mod channel;
mod samples;

use std::collections::BTreeSet;
use std::path::Path;

use swarm_protocol::event::Event;
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::outcome::Mode;
use swarm_protocol::plan::Status;
use swarm_protocol::record::{Margin, body, event_of};

use samples::{plan_events, samples};

fn golden(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// The record as far as this crate makes it.
fn line(event: &Event) -> String {
    format!("{{{}}}", body(event, "person:cli", event.is_plan_event().then_some("aa")))
}

/// The line without its braces.
fn inner(line: &str) -> &[u8] {
    &line.as_bytes()[1..line.len() - 1]
}

#[test]
fn there_is_a_sample_of_every_kind_of_event() {
    let have: BTreeSet<&str> = samples().iter().map(Event::kind).collect();
    let all: BTreeSet<&str> = Event::KINDS.iter().copied().collect();
    assert_eq!(have, all);
}

#[test]
fn every_event_is_read_back_as_it_was_written() {
    for event in samples() {
        let line = line(&event);
        assert_eq!(event_of(inner(&line)).as_ref(), Ok(&event), "{line}");
        let margin = Margin::read(line.as_bytes()).expect("the margin");
        assert_eq!((margin.kind.as_ref(), margin.by.as_ref()), (event.kind(), "person:cli"));
    }
}

/// As whoever reads the ledger without us would find them.
#[test]
fn the_task_and_the_run_of_an_event_are_those_of_its_record() {
    let runs = samples().iter().filter(|event| event.run().is_some()).count();
    assert!(runs > 30, "{runs}");
    for event in samples() {
        let record: serde_json::Value = serde_json::from_str(&line(&event)).expect("JSON");
        assert_eq!(event.task().map(TaskId::as_str), record["taskId"].as_str(), "{record}");
        assert_eq!(event.run().map(RunId::as_str), record["data"]["run"].as_str(), "{record}");
    }
}

#[test]
fn printed_golden_records_are_written_as_ever() {
    let file = golden("records.jsonl");
    let text: String = samples().iter().map(|event| line(event) + "\n").collect();
    if std::env::var_os("SWARM_GEN").is_some() {
        std::fs::write(&file, &text).expect("the golden file");
    }
    let golden = std::fs::read_to_string(&file).expect("the golden file");
    assert_eq!(
        golden, text,
        "a record would be written differently: its old form must stay readable, see the files of earlier versions"
    );
    for (line, event) in golden.lines().zip(samples()) {
        assert_eq!(event_of(inner(line)), Ok(event));
    }
}

/// Files of earlier versions are never written again, only read.
#[test]
fn records_of_earlier_versions_stay_readable() {
    let text = std::fs::read_to_string(golden("records-v1.jsonl")).expect("the golden file");
    for line in text.lines() {
        let event = event_of(inner(line)).unwrap_or_else(|e| panic!("{e}: {line}"));
        let margin = Margin::read(line.as_bytes()).expect("the margin");
        assert_eq!(margin.kind.as_ref(), event.kind());
    }
    assert!(text.lines().count() >= 53, "records are missing");
}

#[test]
fn a_ledger_of_a_time_without_modes_goes_on_by_itself() {
    let text = std::fs::read_to_string(golden("records-v1.jsonl")).expect("the golden file");
    let line = text.lines().find(|line| line.contains("coordinator_started")).expect("there is one");
    let Ok(Event::CoordinatorStarted { policy, .. }) = event_of(inner(line)) else { panic!("{line}") };
    assert_eq!((policy.mode, policy.reviews), (Mode::Autopilot, false));
}

#[test]
fn the_plan_format_finds_its_members_where_it_wants_them() {
    let check = |event: &Event, wanted: &str| assert!(line(event).starts_with(wanted), "{}", line(event));
    check(&plan_events()[4], r#"{"type":"task_status_changed","taskId":"1.2","status":"blocked","data":{"#);
    check(&plan_events()[5], r#"{"type":"task_reordered","taskId":"1.2","afterTaskId":"1.1","#);
    check(&plan_events()[7], r#"{"type":"phase_completed","phase":1,"#);
    check(&plan_events()[10], r#"{"type":"plan_exported","path":".swarm/SWARM_PLAN.json","#);
    check(&plan_events()[12], r#"{"type":"execution_profile_set","data":{"execution_profile":{"#);
}

#[test]
fn statuses_are_read_in_the_words_of_other_tools() {
    let words = [
        ("todo", Status::Pending),
        ("open", Status::Pending),
        ("doing", Status::Active),
        ("in_progress", Status::Active),
        ("completed", Status::Done),
        ("complete", Status::Done),
        ("stuck", Status::Blocked),
        ("later", Status::Deferred),
    ];
    for (word, status) in words {
        assert_eq!(serde_json::from_value::<Status>(word.into()).ok(), Some(status), "{word}");
    }
}

#[test]
fn a_record_of_an_unknown_kind_or_without_its_members_is_an_error_and_not_a_guess() {
    for bad in [
        r#"{"type":"task_teleported","taskId":"1.1"}"#,
        r#"{"type":"task_removed"}"#,
        r#"{"type":"paused"}"#,
        "{}",
    ] {
        assert!(event_of(inner(bad)).is_err(), "{bad}");
    }
}

#[test]
fn names_that_git_or_a_file_system_would_refuse_are_refused() {
    for bad in
        ["", "../x", "a/b", "A", "-a", "a..b", "a.lock", "a.", "a b", "é", "shared", "merge", &"x".repeat(65)]
    {
        assert!(TaskId::new(bad).is_err(), "{bad:?}");
    }
    for good in ["1.2", "add-login", "a", "0", "v1.2.3_x"] {
        assert!(TaskId::new(good).is_ok(), "{good:?}");
    }
}
