//! What a daemon does when it is told something: iterations, checks, verification, the ways out.

use crate::world;

use std::time::{Duration, Instant};

use swarm_agents::{AgentProgram, AgentSetup};
use swarm_protocol::channel::{CommandLine, FromDaemon, IterationOutcome, Order, RunKind};
use swarm_protocol::outcome::Ended;
use world::{Coordinator, World, git, until};

/// Plays one iteration and answers how it ended.
async fn outcome_of(lines: &str) -> IterationOutcome {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(1, lines);
    let (iteration, outcome, _) = coordinator.boundary().await;
    assert_eq!(iteration, 1);
    coordinator.order(Order::Stop { grace_secs: 0 });
    assert_eq!(coordinator.report().await, FromDaemon::Ended { how: Ended::Stopped });
    let last = world.last_word().await;
    assert_eq!((last.how, last.unacknowledged), (Ended::Stopped, vec![]));
    outcome
}

#[tokio::test]
async fn complete_work_is_committed_checked_and_reported() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(1, "write a.txt one\ncommit first\nwrite b.txt two\nprogress 50\ncomplete");
    let (_, outcome, tip) = coordinator.boundary().await;
    let tip = tip.expect("a tip");
    assert_eq!(outcome, IterationOutcome::Complete);
    assert_eq!((world.at(&tip, "a.txt").as_str(), world.at(&tip, "b.txt").as_str()), ("one", "two"));
    assert_eq!(git(&world.spec.worktree, &["status", "--porcelain"]), "");
    assert_eq!(coordinator.progress, [50]);
    let commands = vec![
        CommandLine::Shell("cat a.txt b.txt".into()),
        CommandLine::Argv(vec!["false".into()]),
        CommandLine::Shell("echo never".into()),
    ];
    coordinator.order(Order::Check { iteration: 1, commands, timeout_secs: 30, scans: 0 });
    let FromDaemon::Checked { iteration: 1, passed: false, tip: checked, output, .. } =
        coordinator.report().await
    else {
        panic!("not checked")
    };
    assert_eq!(checked, tip);
    assert_eq!(output, "$ cat a.txt b.txt\none\ntwo\n$ false\n[exit status: 1]\n");
    coordinator.go(2, "complete");
    coordinator.boundary().await;
    let commands = vec![CommandLine::Shell("test -f b.txt".into())];
    coordinator.order(Order::Check { iteration: 2, commands, timeout_secs: 30, scans: 0 });
    let checked = coordinator.report().await;
    assert!(matches!(checked, FromDaemon::Checked { iteration: 2, passed: true, .. }), "{checked:?}");
}

#[tokio::test]
async fn each_end_of_an_iteration_is_told_apart() {
    let crashed = |code, signal| IterationOutcome::Crashed { code, signal, text: String::new() };
    for (lines, expected) in [
        ("print done", IterationOutcome::NoSignal),
        ("print I will say <swarm>COMPLETE</swarm> soon", IterationOutcome::NoSignal),
        ("blocked which port?", IterationOutcome::AsksHuman { text: "which port?".into() }),
        ("failed no such file", IterationOutcome::CannotDo { text: "no such file".into() }),
        ("crash 7", crashed(Some(7), None)),
        ("kill-self", crashed(None, Some(9))),
    ] {
        assert_eq!(outcome_of(lines).await, expected, "{lines}");
    }
}

#[tokio::test]
async fn a_crash_is_reported_with_its_last_words_and_a_bad_script_is_one() {
    let outcome = outcome_of("dance").await;
    let IterationOutcome::Crashed { code: Some(2), text, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(text, "script line 1: nothing is known by this name: dance");
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_a_boundary_too() {
    let mut world = World::new();
    world.spec.agent_setup = Some(AgentSetup {
        command: vec!["no-such-program-anywhere".into()],
        ..AgentSetup::of(AgentProgram::Script)
    });
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(1, "complete");
    let (_, outcome, _) = coordinator.boundary().await;
    let text = "no-such-program-anywhere is not installed or not in PATH".to_owned();
    assert_eq!(outcome, IterationOutcome::NotStarted { text });
}

#[tokio::test]
async fn an_order_that_is_repeated_runs_nothing_twice() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    let lines = "count runs\ncommit counted\nwait-for go-on\nno-signal";
    coordinator.go(1, lines);
    coordinator.go(1, lines);
    until("the first run", || world.read("runs") == "1 1\n").await;
    coordinator.go(1, lines);
    std::fs::write(world.spec.worktree.join("go-on"), "").expect("written");
    let (n, report) = coordinator.next().await.expect("connected");
    // Not acknowledged: the same order is answered by the same report.
    coordinator.go(1, lines);
    assert_eq!(coordinator.next().await.expect("connected"), (n, report));
    coordinator.ack(n);
    let commands = vec![CommandLine::Shell("echo checked >> runs".into())];
    let check = Order::Check { iteration: 1, commands, timeout_secs: 30, scans: 0 };
    coordinator.order(check.clone());
    coordinator.order(check);
    let checked = coordinator.report().await;
    assert!(matches!(checked, FromDaemon::Checked { passed: true, .. }), "{checked:?}");
    coordinator.go(2, "no-signal");
    assert_eq!(coordinator.boundary().await.0, 2);
    assert_eq!(world.read("runs"), "1 1\nchecked\n");
}

#[tokio::test]
async fn a_check_that_takes_too_long_is_stopped_with_everything_it_started() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    let commands = vec![CommandLine::Shell("echo begun; setsid sleep 60 & sleep 60".into())];
    coordinator.order(Order::Check { iteration: 0, commands, timeout_secs: 1, scans: 0 });
    let FromDaemon::Checked { passed: false, output, .. } = coordinator.report().await else {
        panic!("not red")
    };
    assert!(output.ends_with("begun\n[stopped: not done within 1 s]\n"), "{output}");
    assert_eq!(world.living(), [0u32; 0]);
}

#[tokio::test]
async fn a_verify_run_says_its_verdict_and_ends() {
    for (command, verdict) in [("echo fine", true), ("echo broken; exit 3", false)] {
        let mut world = World::new();
        world.spec.kind = RunKind::Verify;
        world.spec.agent = None;
        let mut coordinator = Coordinator::start(&world, 1);
        world.start().await;
        coordinator.hello().await;
        coordinator.welcome(0);
        coordinator
            .order(Order::Verify { commands: vec![CommandLine::Shell(command.into())], timeout_secs: 30 });
        let FromDaemon::Verified { passed, output } = coordinator.report().await else {
            panic!("no verdict")
        };
        assert_eq!(passed, verdict, "{output}");
        assert_eq!(coordinator.report().await, FromDaemon::Ended { how: Ended::Stopped });
        assert_eq!(world.last_word().await.unacknowledged, vec![]);
    }
}

#[tokio::test]
async fn stop_ends_those_who_ignore_it_and_those_who_fled_and_saves_the_work() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(1, "ignore-term\nspawn-child 300\nwrite half.txt half\nhang");
    until("all of the tree", || world.read("half.txt") == "half\n" && world.living().len() >= 2).await;
    let asked = Instant::now();
    coordinator.order(Order::Stop { grace_secs: 1 });
    assert_eq!(coordinator.report().await, FromDaemon::Ended { how: Ended::Stopped });
    assert!(asked.elapsed() < Duration::from_secs(3), "{:?}", asked.elapsed());
    assert_eq!(world.living(), [0u32; 0]);
    let wip = world.last_word().await.wip.expect("saved");
    assert_eq!(world.at(&wip, "half.txt"), "half");
    assert_eq!(git(&world.spec.root, &["rev-parse", "refs/swarm/wip/t1/r1"]), wip.as_str());
}

#[tokio::test]
async fn drain_lets_an_iteration_come_to_its_end_within_the_time() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(1, "write a.txt one\nwait-for go-on\ndelete go-on\ncomplete");
    until("work", || world.read("a.txt") == "one\n").await;
    coordinator.order(Order::Drain { within_secs: 30 });
    coordinator.go(2, "hang");
    std::fs::write(world.spec.worktree.join("go-on"), "").expect("written");
    assert_eq!(coordinator.boundary().await.1, IterationOutcome::Complete);
    assert_eq!(coordinator.report().await, FromDaemon::Ended { how: Ended::Stopped });
    assert_eq!(world.last_word().await.wip, None);
}

#[tokio::test]
async fn drain_stands_although_the_coordinator_is_gone() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(1, "write a.txt one\nhang");
    until("work", || world.read("a.txt") == "one\n").await;
    coordinator.order(Order::Drain { within_secs: 1 });
    drop(coordinator);
    let last = world.last_word().await;
    assert_eq!(last.how, Ended::Stopped);
    assert_eq!(last.unacknowledged, vec![(2, FromDaemon::Ended { how: Ended::Stopped })]);
    assert_eq!(world.at(&last.wip.expect("saved"), "a.txt"), "one");
    assert_eq!(world.living(), [0u32; 0]);
}

#[tokio::test]
async fn what_an_iteration_leaves_running_is_gone_at_its_boundary() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(1, "spawn-child 300\nno-signal");
    assert_eq!(coordinator.boundary().await.1, IterationOutcome::NoSignal);
    assert_eq!(world.living(), [0u32; 0]);
    let children = format!("/proc/{0}/task/{0}/children", world.daemon_pid());
    assert_eq!(std::fs::read_to_string(children).expect("alive"), "", "no zombie, no child");
}

#[tokio::test]
async fn a_process_that_wiped_its_marks_is_found_by_its_daemon() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    // By its words: in a namespace it has another number.
    let mark = format!("300.{}", std::process::id());
    let flees =
        format!("env -i setsid sh -c 'echo $$ > pid; exec sleep {mark}' & while ! test -s pid; do :; done");
    let commands = vec![CommandLine::Shell(flees)];
    coordinator.order(Order::Check { iteration: 0, commands, timeout_secs: 30, scans: 0 });
    let checked = coordinator.report().await;
    assert!(matches!(checked, FromDaemon::Checked { passed: true, .. }), "{checked:?}");
    assert!(!world.read("pid").trim().is_empty(), "it was never there");
    let line = format!("sleep\0{mark}\0").into_bytes();
    let lives = |entry: std::fs::DirEntry| {
        std::fs::read(entry.path().join("cmdline")).is_ok_and(|found| found == line)
    };
    assert!(!std::fs::read_dir("/proc").expect("processes").flatten().any(lives));
}

#[tokio::test]
async fn the_last_word_says_that_nobody_need_look_again_and_a_check_makes_it_look() {
    for (check, left) in [("true", None), ("echo left > left.txt", Some("left"))] {
        let world = World::new();
        let mut coordinator = Coordinator::start(&world, 1);
        world.start().await;
        coordinator.meet().await;
        coordinator.go(1, "write a.txt one\ncomplete");
        assert_eq!(coordinator.boundary().await.1, IterationOutcome::Complete);
        let commands = vec![CommandLine::Shell(check.into())];
        coordinator.order(Order::Check { iteration: 1, commands, timeout_secs: 30, scans: 0 });
        assert!(matches!(coordinator.report().await, FromDaemon::Checked { passed: true, .. }));
        coordinator.order(Order::Stop { grace_secs: 1 });
        assert_eq!(coordinator.report().await, FromDaemon::Ended { how: Ended::Stopped });
        let last = world.last_word().await;
        assert!(last.settled, "{check}");
        let saved = last.wip.map(|wip| world.at(&wip, "left.txt"));
        assert_eq!(saved.as_deref(), left, "{check}");
    }
}
