//! Whatever a program starts is gone with it, in every net: children in sessions of their own, orphans
//! with an empty environment, those that ignore the request, and those that fork without end.

use crate::bench;

use std::time::Duration;

use bench::{Bench, nets};
use serde_json::{Value, json};

/// Far above what it takes (1.2 s at most), far below "it was waited for".
const SOON_MS: u64 = 8_000;

/// Runs `text` in every net with `more` and checks that nothing is left, soon.
fn check(text: &str, more: Value, see: impl Fn(&str, &Value)) {
    for net in nets() {
        let bench = Bench::new();
        bench.script("loop.sh", "trap '' TERM\nwhile :; do sleep MARK & sleep 0.01; done\n");
        bench.script("hop.sh", "trap '' TERM\nsleep 0.005\nsetsid sh \"$0\" MARK & exit 0\n");
        let told = bench.sh(net, text, more.clone());
        bench.nothing_is_left(net, &told);
        let after = told["heard"]["after_last_line_ms"].as_u64().expect("a time");
        assert!(after < SOON_MS, "{net}: gone only after {after} ms: {told}");
        see(net, &told);
    }
}

fn ended(how: &'static str, status: &'static str) -> impl Fn(&str, &Value) {
    move |net, told| {
        assert_eq!(told["ran"]["how"], how, "{net}: {told}");
        assert_eq!(told["ran"]["status"], status, "{net}: {told}");
    }
}

#[test]
fn a_program_that_ends_by_itself_is_told_apart_by_code_and_signal() {
    check("echo end; exit 7", json!({}), ended("ByItself", "exit status: 7"));
    check("echo end; kill -TERM $$", json!({}), ended("ByItself", "signal: 15 (SIGTERM)"));
    check("echo end; kill -KILL $$", json!({}), ended("ByItself", "signal: 9 (SIGKILL)"));
}

#[test]
fn children_in_sessions_of_their_own_go_with_the_program() {
    check(
        "setsid sleep MARK & nohup sleep MARK & (setsid sleep MARK &) ; echo end",
        json!({}),
        |net, told| {
            ended("ByItself", "exit status: 0")(net, told);
        },
    );
}

#[test]
fn orphans_with_an_empty_environment_that_ignore_the_request_go_too() {
    let text = "(setsid env -i sh -c \"trap '' TERM; while :; do sleep MARK; done\" &) ; sleep 0.1; echo end";
    check(text, json!({}), ended("ByItself", "exit status: 0"));
}

#[test]
fn one_that_forks_without_end_goes() {
    check("(setsid env -i PATH=$PATH sh ./loop.sh MARK &) ; sleep 0.3; echo end", json!({}), |net, told| {
        ended("ByItself", "exit status: 0")(net, told);
    });
}

#[test]
fn one_that_changes_its_pid_and_its_session_all_the_time_goes() {
    check("(setsid env -i PATH=$PATH sh ./hop.sh MARK &) ; sleep 0.3; echo end", json!({}), |net, told| {
        ended("ByItself", "exit status: 0")(net, told);
    });
}

#[test]
fn a_program_that_ignores_the_request_is_forced_after_its_grace() {
    let text = "trap '' TERM; (setsid sleep MARK &); echo stop; while :; do sleep MARK; done";
    check(text, json!({ "stop_at": "stop" }), |net, told| {
        assert_eq!(told["ran"]["how"], "Stopped", "{net}: {told}");
        assert_eq!(told["ran"]["status"], "signal: 9 (SIGKILL)", "{net}: {told}");
    });
}

#[test]
fn a_program_that_heeds_the_request_may_say_goodbye() {
    let text = "trap 'echo goodbye; exit 3' TERM; echo stop; sleep MARK & wait";
    check(text, json!({ "stop_at": "stop", "grace_ms": 20_000 }), |net, told| {
        ended("Stopped", "exit status: 3")(net, told);
        assert_eq!(told["heard"]["kept"], json!(["stop", "goodbye"]), "{net}: {told}");
    });
}

#[test]
fn one_that_closes_its_pipes_and_goes_on_is_waited_for_and_bounded() {
    check("echo end; exec <&- >&- 2>&-; sleep 0.5; exit 5", json!({}), ended("ByItself", "exit status: 5"));
    check("echo end; exec <&- >&- 2>&-; exec sleep MARK", json!({ "deadline_ms": 700 }), |net, told| {
        ended("TimedOut", "signal: 15 (SIGTERM)")(net, told);
    });
}

/// Starts the text in this net, kills its daemon when `ready` holds, and ends the run as its next keeper does.
fn killed(net: &str, text: &str, also: impl Fn(&Bench), ready: impl Fn(&Bench) -> bool) {
    let bench = Bench::new();
    bench.script("loop.sh", "trap '' TERM\nwhile :; do sleep MARK & sleep 0.01; done\n");
    bench.script("hop.sh", "trap '' TERM\nsleep 0.005\nsetsid sh \"$0\" MARK & exit 0\n");
    let text = text.replace("MARK", &bench.mark);
    let mut host = bench.start(net, &["sh", "-c", &text], json!({}));
    bench::until("the tree", || ready(&bench));
    host.kill().expect("killed");
    also(&bench);
    host.wait().expect("reaped");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let begun = std::time::Instant::now();
    let end = swarm_process::containment::end_run(&bench.nonce, Duration::from_millis(300));
    let sweep = runtime.block_on(end);
    let after = begun.elapsed();
    assert!(matches!(sweep, swarm_process::Sweep::Empty { .. }), "{net}: {sweep:?}");
    assert_eq!(bench.living(), [""; 0], "{net}: {text}");
    assert!(after < Duration::from_millis(SOON_MS), "{net}: gone only after {after:?}");
    assert!(swarm_process::containment::cgroup::leaves_of(&bench.nonce).is_empty(), "{net}");
}

fn sleepers(bench: &Bench, many: usize) -> bool {
    bench.living().iter().filter(|line| line.contains("sleep")).count() >= many
}

#[test]
fn the_daemon_that_is_killed_leaves_a_tree_that_is_found_by_its_nonce() {
    for net in nets() {
        let text = "(setsid sleep MARK &); echo started; sleep MARK";
        killed(net, text, |_| {}, |bench| sleepers(bench, 2));
    }
}

/// In each net, also without one: what is marked by nothing has a parent who ends it.
#[test]
fn the_daemon_that_is_killed_takes_orphans_with_an_empty_environment_along() {
    for net in nets() {
        for runaway in [
            "setsid env -i sh -c \"trap '' TERM; while :; do sleep MARK; done\"",
            "setsid env -i PATH=$PATH sh ./loop.sh MARK",
            "setsid env -i PATH=$PATH sh ./hop.sh MARK",
        ] {
            let seen = |bench: &Bench| {
                bench.living().iter().any(|line| {
                    !line.contains("boxed") && line.contains(&bench.mark) && line.contains(" sh ")
                        || sleepers(bench, 2)
                })
            };
            killed(net, &format!("({runaway} &) ; sleep MARK"), |_| {}, seen);
        }
    }
}

#[test]
fn a_guardian_that_is_killed_first_leaves_nothing_to_a_living_daemon() {
    let bench = Bench::new();
    let text = "(setsid env -i sh -c \"trap '' TERM; while :; do sleep MARK; done\" &) ; sleep 0.2; kill -9 $PPID; sleep MARK";
    let told = bench.sh("group", text, json!({}));
    bench.nothing_is_left("group", &told);
    assert_eq!(told["ran"]["status"], "signal: 9 (SIGKILL)", "{told}");
}

/// Both who could have told whose they are are dead; three signs together still tell, and each alone does not.
#[test]
fn what_cast_everything_off_is_known_by_where_it_works_and_a_person_there_is_left_alone() {
    let bench = Bench::new();
    let since = swarm_process::start_time_of(std::process::id()).expect("we live");
    let worktree = bench.path().join("worktree");
    std::fs::create_dir(&worktree).expect("a folder");
    let start = |dir: &std::path::Path, program: &[&str]| {
        let mut command = std::process::Command::new(program[0]);
        command.args(&program[1..]).args(["sleep", &bench.mark]).current_dir(dir).spawn().expect("started")
    };
    let mut cast_off = start(&worktree, &["setpriv", "--no-new-privs", "env", "-i"]);
    let mut elsewhere = start(bench.path(), &["setpriv", "--no-new-privs", "env", "-i"]);
    let mut person = start(&worktree, &["env", "-i"]);
    bench::until("they sleep", || {
        sleepers(&bench, 3) && !bench.living().iter().any(|l| l.contains("env -i"))
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let before_us = runtime.block_on(swarm_process::end_cast_off(&worktree, u64::MAX));
    assert_eq!((before_us.len(), cast_off.try_wait().expect("asked")), (0, None), "none is younger");
    assert_eq!(runtime.block_on(swarm_process::end_cast_off(&worktree, since)), Vec::<u32>::new());
    assert!(!cast_off.wait().expect("reaped").success());
    for other in [&mut elsewhere, &mut person] {
        assert_eq!(other.try_wait().expect("asked"), None, "none of ours");
        other.kill().expect("ended");
        other.wait().expect("reaped");
    }
}
