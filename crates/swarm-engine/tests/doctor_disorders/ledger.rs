//! Snapshots, projections, the ledger and its second copy.

use super::*;

#[tokio::test]
async fn damaged_snapshots_are_made_anew() {
    let ward = Ward::new();
    for _ in 0..2 {
        let mut store = ward.store("test");
        store.write_snapshot().expect("written");
        store.finish().expect("it ends");
    }
    for path in [&ward.paths.snapshot, &ward.paths.snapshot_prev] {
        let mut bytes = std::fs::read(path).expect("a snapshot");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(path, bytes).expect("writable");
    }
    ward.check("snapshot", ".swarm/state/snapshot.json").await;
    assert!(ward.paths.snapshot.exists());
}

#[tokio::test]
async fn an_edited_projection_is_made_anew_and_the_edited_one_kept() {
    let ward = Ward::new();
    let good = std::fs::read_to_string(&ward.paths.plan_json).expect("a projection");
    std::fs::write(&ward.paths.plan_json, good.replace("First", "Worst")).expect("writable");
    ward.check("projections", ".swarm/plan.json").await;
    assert_eq!(std::fs::read_to_string(&ward.paths.plan_json).expect("there"), good);
    let kept = std::fs::read_to_string(ward.paths.swarm.join("plan.json.edited-1")).expect("kept beside");
    assert!(kept.contains("Worst"));
    std::fs::write(&ward.paths.plan_md, [0xff; 100]).expect("writable");
    ward.check("projections", ".swarm/plan.md").await;
}

#[tokio::test]
async fn a_torn_tail_of_the_ledger_is_cut_and_kept_in_quarantine() {
    let ward = Ward::new();
    let mut bytes = std::fs::read(&ward.paths.ledger).expect("the ledger");
    let whole = bytes.len();
    bytes.extend_from_slice(br#"{"len":"0000412","seq":99,"#);
    std::fs::write(&ward.paths.ledger, &bytes).expect("writable");
    ward.check("ledger", "").await;
    let now = std::fs::read(&ward.paths.ledger).expect("the ledger");
    assert_eq!(now[..whole], bytes[..whole], "no written record was touched");
    assert!(names(&ward.paths.swarm).iter().any(|name| name.starts_with("plan-ledger.quarantine")));
}

#[tokio::test]
async fn a_second_copy_that_is_behind_or_gone_is_brought_up_to_date() {
    let ward = Ward::new();
    let whole = std::fs::read(&ward.paths.second_copy).expect("the copy");
    std::fs::write(&ward.paths.second_copy, &whole[..whole.len() / 2]).expect("writable");
    ward.check("second-copy", "").await;
    assert!(std::fs::read(&ward.paths.second_copy).expect("the copy").starts_with(&whole));
    std::fs::remove_file(&ward.paths.second_copy).expect("deleted");
    ward.check("second-copy", "").await;
    assert!(std::fs::read(&ward.paths.second_copy).expect("the copy").starts_with(&whole));
}

#[tokio::test]
async fn a_record_that_rotted_is_repaired_from_the_second_copy() {
    let ward = Ward::new();
    let good = std::fs::read(&ward.paths.ledger).expect("the ledger");
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    std::fs::write(&ward.paths.ledger, &bad).expect("writable");
    let found = ward.look().await;
    assert!(
        found.findings.iter().any(|one| one.id == "ledger" && one.state == Health::Problem),
        "{}",
        shown(&found)
    );
    assert_eq!(ward.fix().await.problems, 0);
    assert!(std::fs::read(&ward.paths.ledger).expect("the ledger").starts_with(&good), "every byte is back");
    assert_eq!(ward.state().tasks.len(), 2);
}

#[tokio::test]
async fn a_second_copy_that_rotted_in_its_middle_is_found_and_mended() {
    let ward = Ward::new();
    let whole = std::fs::read(&ward.paths.second_copy).expect("the copy");
    rot(&ward.paths.second_copy, whole.len() / 2);
    ward.check("second-copy", "").await;
    assert!(
        std::fs::read(&ward.paths.second_copy).expect("the copy").starts_with(&whole),
        "every byte is back"
    );
}

#[tokio::test]
async fn a_record_that_rotted_before_the_snapshot_is_repaired_from_the_second_copy() {
    let ward = Ward::new();
    with_snapshot(&ward);
    let good = std::fs::read(&ward.paths.ledger).expect("the ledger");
    rot(&ward.paths.ledger, second_line(&good));
    ward.check("ledger", "").await;
    assert!(std::fs::read(&ward.paths.ledger).expect("the ledger").starts_with(&good), "every byte is back");
}

#[tokio::test]
async fn what_neither_copy_has_whole_before_the_snapshot_costs_nothing_behind_it() {
    let ward = Ward::new();
    with_snapshot(&ward);
    ward.command(Command::DeferTask { task: task("1.2") });
    let good = std::fs::read(&ward.paths.ledger).expect("the ledger");
    let (tasks, at) = (ward.state().tasks, second_line(&good));
    for path in [&ward.paths.ledger, &ward.paths.second_copy] {
        rot(path, at);
    }
    let fixed = ward.fix().await;
    let told = fixed.findings.iter().find(|one| one.id == "ledger").expect("looked at");
    assert_eq!((told.state, told.fixed), (Health::Problem, false), "{}", shown(&fixed));
    assert!(told.fix.as_ref().is_some_and(|fix| fix.contains("backup")), "{}", shown(&fixed));
    assert_eq!(ward.state().tasks, tasks, "nothing that the snapshot and the tail have is given up");
}

fn with_snapshot(ward: &Ward) {
    let mut store = ward.store("test");
    store.write_snapshot().expect("written");
    store.finish().expect("it ends");
}

fn second_line(ledger: &[u8]) -> usize {
    ledger.iter().position(|b| *b == b'\n').expect("lines") + 60
}

fn rot(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).expect("readable");
    bytes[at] ^= 1;
    std::fs::write(path, bytes).expect("writable");
}
