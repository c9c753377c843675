//! T-C4: the kernel makes the file system read-only under a swarm at work, as it does with one that is damaged; later it can be
//! written again. Whoever looks is told within seconds, everything that is asked for answers, and a stop needs no disk.

use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::arena::{Arena, Running, wait_for};
use crate::loop_disk::{Kind, LoopDisk, possible};
use crate::namespace::{Standing, enter, not_proven};

/// On a dead disk; everywhere else it is ten seconds.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);

#[test]
fn t_c4_a_file_system_that_becomes_read_only_is_said_within_seconds_and_a_stop_needs_no_disk() {
    let test = "t_c4_a_file_system_that_becomes_read_only_is_said_within_seconds_and_a_stop_needs_no_disk";
    if let Err(why) = possible(Kind::Ext4) {
        return not_proven(test, &why);
    }
    match enter(&format!("read_only::{test}")) {
        Standing::Done => {}
        Standing::Inside => [stop_by_command, stop_by_a_signal].into_iter().for_each(goes_read_only),
        Standing::NotHere(why) => not_proven(test, &why),
    }
}

fn goes_read_only(stop: fn(&Arena, &mut Running)) {
    let disk = LoopDisk::new(Kind::Ext4, 512);
    let config = json!({
        "agent": "script", "mode": "autopilot", "disk": { "low": 10, "enough": 20 },
        "recovery": { "backoffMax": "1s" }, "stop": { "grace": "1s", "drain": "1s" },
    });
    let place = tempfile::tempdir_in(disk.mount_point()).expect("a folder");
    let arena = Arena::inside(place, &config.to_string());
    let go = disk.mount_point().with_file_name("go");
    let script = |name: &str| {
        format!("print began\nwait-for {}\nwrite {name} a\ncommit feat: {name}\ncomplete", go.display())
    };
    arena.plan(&[("1.1", &[], script("a.txt")), ("1.2", &[], script("b.txt"))]);
    let mut run = arena.start(&["--agents", "2"]);
    run.until("ada-002 is working");
    disk.takes_nothing_any_more();
    std::fs::write(&go, "").expect("a file");
    run.until("is read-only");
    for args in [&["status"][..], &["attention"], &["doctor"]] {
        let said = answered(&arena, args);
        let text = String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).into_owned();
        assert!(text.contains("read-only"), "swarm {args:?} does not say it: {text}");
        assert!(!text.contains("No problems found"), "swarm {args:?}: {text}");
    }
    let added = answered(&arena, &["task", "add", "One more"]);
    assert_eq!(added.status.code(), Some(3), "nothing is answered that is not recorded");
    stop(&arena, &mut run);
    drop(run);
    arena.assert_nothing_runs();
    disk.come_back();
    let (code, said) = arena.start(&["--agents", "2"]).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    for name in ["a.txt", "b.txt"] {
        assert_eq!(arena.commits("main", &format!("feat: {name}")), 1, "{said}");
    }
}

fn answered(arena: &Arena, args: &[&str]) -> Output {
    let began = Instant::now();
    let output = arena.swarm(args);
    assert!(began.elapsed() < ANSWERS_WITHIN, "swarm {args:?} took {:.1} s", began.elapsed().as_secs_f64());
    output
}

fn stop_by_command(arena: &Arena, _: &mut Running) {
    let stopped = answered(arena, &["stop"]);
    let said = String::from_utf8_lossy(&[stopped.stdout, stopped.stderr].concat()).into_owned();
    assert!(said.contains("read-only") && said.contains("Stopped"), "{said}");
}

fn stop_by_a_signal(_: &Arena, run: &mut Running) {
    let began = Instant::now();
    run.signal("INT");
    let pid = run.child.id();
    wait_for("the run ends", || crate::arena::is_gone(pid));
    assert!(began.elapsed() < ANSWERS_WITHIN, "Ctrl+C took {:.1} s", began.elapsed().as_secs_f64());
}
