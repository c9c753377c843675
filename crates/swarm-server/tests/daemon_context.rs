//! What a daemon leaves for the next attempt, whatever ended this one.

use crate::world;

use swarm_agents::handover::{AuditEvent, ContextFiles, Handover, TestStatus};
use swarm_protocol::channel::{CommandLine, FromDaemon, Order};
use swarm_protocol::failure::FailureClass;
use world::{Coordinator, World, until};

fn files(world: &World) -> ContextFiles {
    ContextFiles::new(&world.spec.swarm_dir(), &world.spec.task)
}

fn left(world: &World) -> Handover {
    files(world).read().expect("a context")
}

/// Starts the world's daemon and lets it play this iteration.
async fn begun(world: &World, iteration: u32, lines: &str) -> Coordinator {
    let mut coordinator = Coordinator::start(world, 1);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(iteration, lines);
    coordinator
}

#[tokio::test]
async fn a_crash_leaves_what_was_done_and_why_it_ended() {
    let world = World::new();
    let lines = "write a.txt one\ncommit first step\nwrite b.txt two\ntool Bash make\nprint I am nearly there\ncrash 7";
    let mut coordinator = begun(&world, 1, lines).await;
    coordinator.boundary().await;
    let left = left(&world);
    assert_eq!((left.attempt, left.iteration, left.under_way), (1, 1, false));
    assert_eq!(left.ended.as_deref(), Some("it crashed: exit code 7"));
    assert_eq!(
        left.files_modified,
        ["b.txt"],
        "without the swarm's marker only what is not committed is known"
    );
    assert_eq!(left.kept_at.as_deref(), Some("refs/swarm/wip/t1/r1"));
    assert_eq!(
        (left.tools, left.output),
        (vec!["Bash make".to_owned()], vec!["I am nearly there".to_owned()])
    );
    let events: Vec<AuditEvent> = left.audit_log.iter().map(|entry| entry.event).collect();
    assert_eq!(events, [AuditEvent::Start, AuditEvent::Crash]);
    let page = files(&world).read_markdown().expect("a page");
    for part in [
        "# Context of t1",
        "- Task: Task t1",
        "- Attempt: 1 by ",
        "- It ended because: it crashed: exit code 7",
        "- Uncommitted changes: yes",
        "## Last tool calls\n\n- Bash make",
        "## Last output\n\n    I am nearly there",
    ] {
        assert!(page.contains(part), "{part:?} is not in:\n{page}");
    }
}

#[tokio::test]
async fn every_way_out_of_an_iteration_is_told_apart() {
    let why = |class: FailureClass, text: &str| format!("{}: {text}", class.describe());
    for (lines, expected) in [
        ("fail overflow prompt is too long", why(FailureClass::Overflow, "prompt is too long")),
        (
            "repeat 50: tool Bash make\nhang",
            why(FailureClass::Looping, "the same call 10 times in a row without a new commit: Bash make"),
        ),
        ("blocked which port?", "the agent waits for a person: which port?".into()),
        ("no-signal", "the agent did not say whether the task is done".into()),
        ("complete", "the agent said that everything is done".into()),
    ] {
        let world = World::new();
        let mut coordinator = begun(&world, 1, lines).await;
        while !matches!(coordinator.report().await, FromDaemon::Boundary { .. }) {}
        assert_eq!(left(&world).ended.as_deref(), Some(expected.as_str()), "{lines}");
    }
}

#[tokio::test]
async fn a_stop_and_a_killed_daemon_leave_what_was_under_way() {
    let world = World::new();
    let coordinator = begun(&world, 1, "print at it\nwrite a.txt one\nhang").await;
    until("work", || world.read("a.txt") == "one\n").await;
    coordinator.order(Order::Stop { grace_secs: 0 });
    world.last_word().await;
    let stopped = left(&world);
    assert_eq!((stopped.ended.as_deref(), stopped.under_way), (Some("it was stopped"), false));
    assert!(stopped.worktree_has_changes && stopped.files_modified == ["a.txt"], "{stopped:?}");
    let world = World::new();
    let _coordinator = begun(&world, 3, "print at it\nwrite a.txt one\nhang").await;
    until("work", || world.read("a.txt") == "one\n").await;
    world.kill_daemon();
    world.watch().await;
    let killed = left(&world);
    assert_eq!((killed.iteration, killed.under_way, killed.ended), (3, true, None));
}

#[tokio::test]
async fn checks_tell_how_many_tests_pass_and_the_next_attempt_goes_on_with_the_log() {
    let mut world = World::new();
    let mut coordinator = begun(&world, 1, "write a.txt one\ncomplete").await;
    coordinator.boundary().await;
    let output = "echo 'test result: FAILED. 4 passed; 2 failed; 0 ignored'; exit 1";
    let commands = vec![CommandLine::Shell(output.into())];
    coordinator.order(Order::Check { iteration: 1, commands, timeout_secs: 30, scans: 0 });
    assert!(matches!(coordinator.report().await, FromDaemon::Checked { passed: false, .. }));
    assert_eq!(left(&world).test_status, Some(TestStatus { passed: 4, failed: 2 }));
    coordinator.order(Order::Stop { grace_secs: 0 });
    world.last_word().await;
    drop(coordinator);
    (world.spec.run, world.spec.attempt) = (swarm_protocol::ids::RunId::nth(2), 2);
    let mut coordinator = Coordinator::start(&world, 2);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(1, "crash 3");
    coordinator.boundary().await;
    let log: Vec<(u32, AuditEvent)> =
        left(&world).audit_log.iter().map(|entry| (entry.attempt, entry.event)).collect();
    let expected = [
        (1, AuditEvent::Start),
        (1, AuditEvent::Signal),
        (1, AuditEvent::Iteration),
        (2, AuditEvent::Start),
        (2, AuditEvent::Crash),
    ];
    assert_eq!(log, expected);
}

#[tokio::test]
async fn secrets_do_not_get_into_the_context() {
    let mut world = World::new();
    world.spec.env.insert("SERVICE_TOKEN".into(), "tok-1234567890abcdef".into());
    let lines = "print the token is tok-1234567890abcdef\ntool Bash curl -H tok-1234567890abcdef\ncrash 1";
    let mut coordinator = begun(&world, 1, lines).await;
    coordinator.boundary().await;
    let page = files(&world).read_markdown().expect("a page");
    assert!(!page.contains("tok-1234567890abcdef") && page.contains("the token is"), "{page}");
}
