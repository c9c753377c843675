//! The kernel gives a file system up while agents work on it: everybody is told within seconds, the swarm stops without the
//! disk, nobody keeps a person from repairing it, and afterwards all work comes to its end.

use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::arena::{Arena, Running, holds_within};
use crate::loop_disk::{Kind, LoopDisk, possible};
use crate::namespace::{Standing, enter, not_proven};

/// Above every limit at which the swarm begins to save room; sparse.
const DISK_MB: u64 = 4096;

/// A person waits no longer than this for an answer, or for a word that something is wrong.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// A disk that takes nothing may cost a stop that much.
const STOP_WITHIN: Duration = Duration::from_secs(30);

const TEST: &str =
    "read_only::a_file_system_that_is_given_up_is_told_in_seconds_and_work_goes_on_once_it_is_repaired";

#[test]
fn a_file_system_that_is_given_up_is_told_in_seconds_and_work_goes_on_once_it_is_repaired() {
    if let Err(why) = possible(Kind::Ext4) {
        return not_proven(TEST, &why);
    }
    match enter(TEST) {
        Standing::Done => {}
        Standing::Inside => fails_and_is_repaired(),
        Standing::NotHere(why) => not_proven(TEST, &why),
    }
}

fn fails_and_is_repaired() {
    let disk = LoopDisk::new(Kind::Ext4, DISK_MB);
    let place = tempfile::tempdir_in(disk.mount_point()).expect("a folder");
    let config = json!({ "stop": { "grace": "1s", "drain": "1s" }, "recovery": { "backoffMax": "1s" } });
    let arena = Arena::inside(place, &config.to_string());
    // The first two are at work for as long as it takes; the second time they are quick.
    let script =
        |id: &str, wait: &str| format!("write work/{id}.txt {id}\ncommit feat: {id}\n{wait}complete");
    let long = "on-attempt 1: sleep 600000\n";
    arena.plan(&[
        ("1.1", &[], script("1.1", long)),
        ("1.2", &[], script("1.2", long)),
        ("1.3", &["1.2"], script("1.3", "")),
    ]);
    let mut run = arena.start(&["--agents", "2"]);
    run.until("1.1");
    assert!(holds_within(Duration::from_secs(60), || {
        arena.root.join(".swarm/worktrees/1.1/work/1.1.txt").exists()
            && arena.root.join(".swarm/worktrees/1.2/work/1.2.txt").exists()
    }));
    let _ = std::process::Command::new("sync").status();

    disk.fail();
    let told = |command: &[&str]| {
        let (out, took) = timed(&arena, command);
        assert!(took < ANSWER_WITHIN, "swarm {command:?} took {took:?}");
        all_of(&out).contains("read-only")
    };
    assert!(holds_within(ANSWER_WITHIN, || told(&["status"])), "status says that nothing can be written");
    assert!(told(&["doctor"]), "doctor says it");
    assert!(told(&["attention"]), "attention says it");
    run.until("read-only");

    let (out, took) = timed(&arena, &["stop"]);
    let said = all_of(&out);
    assert!(took < STOP_WITHIN && said.contains("nothing could be recorded"), "{took:?}: {said}");
    let _ = run.end();
    assert!(holds_within(STOP_WITHIN, || arena.processes().is_empty()), "{:?}", arena.processes());

    assert!(holds_within(STOP_WITHIN, || disk.repaired()), "nobody has files open on it");
    let (code, said) = Running::of(arena.command(&["run", "--agent", "script", "--agents", "2"])).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    arena.assert_nothing_left();
}

fn timed(arena: &Arena, command: &[&str]) -> (Output, Duration) {
    let began = Instant::now();
    (arena.swarm(command), began.elapsed())
}

fn all_of(out: &Output) -> String {
    String::from_utf8_lossy(&[&out.stdout[..], &out.stderr[..]].concat()).into_owned()
}
