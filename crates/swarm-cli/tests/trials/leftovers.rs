//! Processes that want to stay: gone with their attempt in every mode of containment.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::arena::{Arena, Running, holds_within, wait_for};
use crate::ground::arena_with;

/// Forks twice, in a session of its own, without an environment, deaf to TERM, and is somebody else every 20 ms.
/// It ends by itself after a while, so that a trial that fails leaves nothing for ever.
const RUNAWAY: &str = r#"trap '' TERM INT HUP
n=$1
[ "$n" -gt 0 ] || exit 0
sleep 0.02
( setsid env -i PATH=/usr/bin:/bin sh "$0" $((n - 1)) </dev/null >/dev/null 2>&1 & )
exit 0
"#;

/// Simply stays: deaf, in a session of its own, without an environment, holding the agent's output open.
const STAYER: &str = "trap '' TERM INT HUP\nfor i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 5; done\n";

fn arena_of(containment: &str) -> Arena {
    let arena = arena_with(json!({ "containment": containment }));
    arena.write("runaway.sh", RUNAWAY);
    arena.write("stayer.sh", STAYER);
    arena.git(&["add", "runaway.sh", "stayer.sh"]);
    arena.git(&["commit", "--quiet", "--message", "person: the runaways"]);
    arena
}

const LEAVES_THEM: &str = "sh ( setsid env -i PATH=$PATH sh $PWD/stayer.sh & ); ( setsid env -i PATH=$PATH sh $PWD/runaway.sh 1500 </dev/null >/dev/null 2>&1 & ); setsid sh $PWD/stayer.sh & sleep 0.3\n";

/// Runaways and stayers of this arena that live.
fn alive(arena: &Arena) -> Vec<String> {
    arena.processes().into_iter().filter(|p| p.contains("runaway.sh") || p.contains("stayer.sh")).collect()
}

/// Dead children that nobody took leave of, of these parents.
fn zombies_of(parents: &[u32]) -> Vec<String> {
    let stats = std::fs::read_dir("/proc").expect("/proc").flatten().filter_map(|entry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let (head, rest) = stat.rsplit_once(") ")?;
        let mut fields = rest.split(' ');
        let (state, parent) = (fields.next()?, fields.next()?.parse::<u32>().ok()?);
        (state == "Z" && parents.contains(&parent)).then(|| head.to_owned())
    });
    stats.collect()
}

fn daemon_pid(arena: &Arena, run: &str) -> Option<u32> {
    let file = arena.root.join(format!(".swarm/run/daemons/{run}.json"));
    let record: serde_json::Value = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    record["pid"].as_u64().map(|pid| pid as u32)
}

fn kill_9(pid: u32) {
    let _ = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
}

fn assert_gone(arena: &Arena, how: &str) {
    let began = Instant::now();
    // Twice in a row: one that forks while we look could hide once.
    let gone = holds_within(Duration::from_secs(10), || alive(arena).is_empty() && alive(arena).is_empty());
    println!("{how}: gone after {:.2} s", began.elapsed().as_secs_f64());
    assert!(gone, "{how}: {:?}", alive(arena));
}

fn check_an_ordinary_end(containment: &str) {
    let arena = arena_of(containment);
    arena.plan(&[(
        "1.1",
        &[],
        format!("write a.txt a\ncommit feat: a\n{LEAVES_THEM}write ended yes\ncomplete"),
    )]);
    let run = arena.start(&[]);
    let coordinator = run.coordinator();
    wait_for("the agent is at its end", || {
        arena.root.join(".swarm/worktrees/1.1/ended").exists() || arena.commits("main", "feat: a") == 1
    });
    assert_gone(&arena, &format!("{containment}, ordinary end"));
    assert!(holds_within(Duration::from_secs(10), || zombies_of(&[coordinator]).is_empty()));
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_proven("1.1", "main");
    arena.assert_tidy();
}

fn leaves() -> String {
    format!("on-attempt 1: {LEAVES_THEM}")
}

fn check_deaths(containment: &str) {
    let arena = arena_of(containment);
    let script = format!(
        "on-attempt 1: write a.txt a\non-attempt 1: commit feat: a\n{}on-attempt 1: write ready yes\non-attempt 1: hang\nwrite b.txt b\ncommit feat: b\ncomplete",
        leaves()
    );
    arena.plan(&[("1.1", &[], script)]);
    // The coordinator dies first: nothing ends with it, all of them are found by the next one.
    let mut run = arena.start(&[]);
    wait_for("the agent hangs", || arena.root.join(".swarm/worktrees/1.1/ready").exists());
    run.kill_9();
    assert!(!alive(&arena).is_empty(), "the agent outlives the coordinator");
    let run = arena.start(&[]);
    let coordinator = run.coordinator();
    let daemon = daemon_pid(&arena, "r1").expect("its daemon lives");
    kill_9(daemon);
    assert_gone(&arena, &format!("{containment}, daemon killed"));
    assert!(holds_within(Duration::from_secs(10), || zombies_of(&[coordinator]).is_empty()));
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    assert_eq!(arena.starts("1.1"), 2, "{said}");
    assert_eq!(arena.commits("main", "feat: a") + arena.commits("main", "feat: b"), 2);
    arena.assert_tidy();
}

/// Both die, and the next coordinator finds the rest.
fn check_both_die(containment: &str) {
    let arena = arena_of(containment);
    let script = format!(
        "{}on-attempt 1: write ready yes\non-attempt 1: hang\nwrite b.txt b\ncommit feat: b\ncomplete",
        leaves()
    );
    arena.plan(&[("1.1", &[], script)]);
    let mut run = arena.start(&[]);
    wait_for("the agent hangs", || arena.root.join(".swarm/worktrees/1.1/ready").exists());
    let daemon = daemon_pid(&arena, "r1").expect("its daemon lives");
    run.kill_9();
    kill_9(daemon);
    let run = Running::of(arena.command(&["run", "--agent", "script"]));
    assert_gone(&arena, &format!("{containment}, both killed"));
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_tidy();
}

#[test]
fn in_a_control_group_nothing_outlives_its_attempt() {
    check_an_ordinary_end("cgroup");
}

#[test]
fn in_a_pid_namespace_nothing_outlives_its_attempt() {
    check_an_ordinary_end("pidns");
}

#[test]
fn in_a_process_group_nothing_outlives_its_attempt() {
    check_an_ordinary_end("group");
}

#[test]
fn in_a_control_group_the_deaths_of_coordinator_and_daemon_leave_nothing() {
    check_deaths("cgroup");
    check_both_die("cgroup");
}

#[test]
fn in_a_pid_namespace_the_deaths_of_coordinator_and_daemon_leave_nothing() {
    check_deaths("pidns");
    check_both_die("pidns");
}

#[test]
fn in_a_process_group_the_deaths_of_coordinator_and_daemon_leave_nothing() {
    check_deaths("group");
    check_both_die("group");
}
