//! A daemon and its coordinators: those that die, those that come back, those that were replaced.

use crate::world;

use std::time::{Duration, Instant};

use swarm_agents::handover::ContextFiles;
use swarm_agents::journal::Stream;
use swarm_protocol::channel::{
    Downward, FRAME_MAX, FromDaemon, Greeting, Hello, IterationOutcome, Order, Upward,
};
use swarm_protocol::outcome::Ended;
use swarm_server::socket::{connect, coordinator_socket};
use swarm_work::daemon::unacknowledged_on_disk;
use swarm_work::supervisor::{DaemonEnd, cannot_reconnect, knock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use world::{Coordinator, World, until, within};

#[tokio::test]
async fn what_was_not_acknowledged_is_said_again_in_order_and_the_rest_is_not() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.hello().await;
    coordinator.welcome(0);
    let (first, ready) = coordinator.next().await.expect("connected");
    coordinator.go(1, "count runs\nwait-for go-on\nno-signal");
    until("work", || world.read("runs") == "1 1\n").await;
    drop(coordinator);
    std::fs::write(world.spec.worktree.join("go-on"), "").expect("written");
    // The second one dies after it has recorded the first report and before it has acknowledged it.
    let mut second = Coordinator::start(&world, 2);
    knock(&world.files());
    let hello = second.hello().await;
    assert_eq!(hello.epoch, 1);
    second.welcome(0);
    assert_eq!(second.next().await.expect("connected"), (first, ready));
    drop(second);
    let reports = || unacknowledged_on_disk(&world.files().outbox()).len();
    until("the end of the iteration, on disk", || reports() == 2).await;
    let mut third = Coordinator::start(&world, 3);
    knock(&world.files());
    let hello = third.hello().await;
    assert_eq!((hello.epoch, hello.sent), (2, 2));
    third.welcome(1);
    let (n, report) = third.next().await.expect("connected");
    assert!(matches!(report, FromDaemon::Boundary { iteration: 1, outcome: IterationOutcome::NoSignal, .. }));
    assert_eq!(n, 2);
    third.ack(n);
    third.order(Order::Stop { grace_secs: 0 });
    assert_eq!(third.next().await.expect("connected"), (3, FromDaemon::Ended { how: Ended::Stopped }));
    third.ack(3);
    assert_eq!(world.last_word().await.unacknowledged, vec![]);
    assert_eq!(world.read("runs"), "1 1\n", "nothing ran twice");
}

#[tokio::test]
async fn a_knock_ends_the_wait_for_a_coordinator() {
    let world = World::new();
    world.start().await;
    // With nobody there the waits grow: 1, 2, 4 … seconds.
    until("the pipe", || knock(&world.files())).await;
    let mut coordinator = Coordinator::start(&world, 1);
    let asked = Instant::now();
    assert!(knock(&world.files()));
    coordinator.hello().await;
    assert!(asked.elapsed() < Duration::from_millis(800), "{:?}", asked.elapsed());
}

#[tokio::test]
async fn a_replaced_coordinator_is_not_obeyed() {
    let world = World::new();
    let mut current = Coordinator::start(&world, 5);
    world.start().await;
    current.meet().await;
    drop(current);
    let mut stale = Coordinator::start(&world, 4);
    knock(&world.files());
    assert_eq!(stale.hello().await.epoch, 5);
    stale.welcome(0);
    assert_eq!(stale.next().await, None, "the daemon hangs up on a lower epoch");
    drop(stale);
    let mut current = Coordinator::start(&world, 5);
    knock(&world.files());
    current.hello().await;
    current.welcome(1);
    current.say(Downward::Order {
        epoch: 4,
        order: Order::Go {
            iteration: 1,
            prompt: world::script("count runs"),
            session: None,
            known: 0,
            context: None,
        },
        traceparent: None,
    });
    assert_eq!(current.next().await, None, "an order of a lower epoch is refused too");
    current.hello().await;
    current.welcome(1);
    current.go(1, "no-signal");
    assert_eq!(current.boundary().await.0, 1);
    assert_eq!(world.read("runs"), "");
}

#[tokio::test]
async fn what_a_daemon_said_is_not_heard_from_anybody_else() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    let hello = coordinator.hello().await;
    coordinator.welcome(0);
    let (n, ready) = coordinator.next().await.expect("connected");
    coordinator.ack(n);
    let session = |hello: Hello| {
        let frames = [
            Upward::Hello(hello),
            Upward::Report { n, report: ready.clone() },
            Upward::Report { n: n + 1, report: FromDaemon::Ended { how: Ended::Stopped } },
        ];
        let lines = frames.iter().map(|frame| serde_json::to_string(frame).expect("a frame") + "\n");
        lines.collect::<String>().into_bytes()
    };
    let (whole, newer) = (session(hello.clone()), session(Hello { epoch: 1000, ..hello }));
    let endless = vec![b'x'; FRAME_MAX + 2];
    let no_text = b"{\"kind\":\"hello\",\"run\":\"\xff\xfe\"}\n".to_vec();
    for (what, said) in
        [("played again", whole), ("newer", newer), ("endless", endless), ("no text", no_text)]
    {
        let heard = heard_by_a_stranger(&world, &said).await;
        assert!(heard.starts_with("HTTP/1.1 101"), "{what}: {heard}");
        assert_eq!(heard.split_once("\r\n\r\n").map(|(_, frames)| frames), Some(""), "{what}");
    }
    // The daemon is still the one who is heard, over the same connection.
    coordinator.go(1, "no-signal");
    assert_eq!(coordinator.boundary().await.0, 1);
}

/// Another process of the same person, at the coordinator's socket, as a daemon would come: the answer to its end.
async fn heard_by_a_stranger(world: &World, said: &[u8]) -> String {
    let head = "GET /v1/work HTTP/1.1\r\nHost: swarm\r\nConnection: Upgrade\r\nUpgrade: swarm-work/1\r\n\r\n";
    let socket = coordinator_socket(&world.spec.swarm_dir());
    let mut stream = connect(&socket).await.expect("it listens");
    stream.write_all(head.as_bytes()).await.expect("taken");
    // It may hang up before everything is said.
    let _ = stream.write_all(said).await;
    let mut heard = Vec::new();
    let _ = within("the end", stream.read_to_end(&mut heard)).await;
    String::from_utf8_lossy(&heard).into_owned()
}

#[tokio::test]
async fn a_run_that_is_no_longer_wanted_ends_at_the_greeting() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.hello().await;
    coordinator.say(Downward::Greeting(Greeting::Stop { epoch: 1, why: "cancelled".into() }));
    let last = world.last_word().await;
    assert_eq!(last.how, Ended::Stopped);
    assert_eq!(last.unacknowledged.len(), 2, "ready, and its end");
}

#[tokio::test]
async fn a_daemon_that_hears_nobody_saves_its_work_and_ends() {
    let mut world = World::new();
    world.spec.alone_secs = 2;
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(1, "write a.txt one\nhang");
    until("work", || world.read("a.txt") == "one\n").await;
    drop(coordinator);
    let alone = Instant::now();
    let last = world.last_word().await;
    assert!(alone.elapsed() < Duration::from_secs(8), "{:?}", alone.elapsed());
    assert_eq!(last.how, Ended::Stopped);
    assert_eq!(world.at(&last.wip.expect("saved"), "a.txt"), "one");
    assert_eq!(world.living(), [0u32; 0]);
}

#[tokio::test]
async fn a_daemon_whose_repository_was_deleted_ends_with_its_agent() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(1, "write a.txt one\nhang");
    until("work", || world.read("a.txt") == "one\n").await;
    drop(coordinator);
    std::fs::remove_dir_all(&world.files().dir).expect("the files of the run");
    until("daemon and agent are gone", || world.living().is_empty()).await;
}

#[tokio::test]
async fn no_line_is_lost_or_doubled_while_coordinators_come_and_go() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(1, "flood 20000\ncomplete");
    for epoch in 2..=5 {
        drop(coordinator);
        coordinator = Coordinator::start(&world, epoch);
        knock(&world.files());
        coordinator.hello().await;
        coordinator.welcome(1);
        // As every coordinator does: the first one may have died with its order unsent.
        coordinator.go(1, "flood 20000\ncomplete");
    }
    assert_eq!(coordinator.boundary().await.1, IterationOutcome::Complete);
    let lines = world.journal();
    assert!(lines.iter().map(|line| line.n).eq(1..=lines.len() as u64), "numbers are dense");
    let printed = lines.iter().filter(|line| line.stream == Stream::Out).map(|line| line.text.clone());
    let expected =
        (1..=20_000).map(|n| format!("flood line {n}")).chain(["<swarm>COMPLETE</swarm>".to_owned()]);
    assert!(printed.eq(expected));
}

#[tokio::test]
async fn a_daemon_outlives_the_one_who_started_it() {
    let world = World::new();
    world.start().await;
    let pid = world.daemon_pid();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("alive");
    let session: u32 = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().nth(3))
        .expect("field 6")
        .parse()
        .expect("a number");
    assert_eq!(session, pid, "it leads a session of its own");
    // A closed terminal and Ctrl+C are not meant for it.
    for signal in [rustix::process::Signal::HUP, rustix::process::Signal::INT] {
        let pid = rustix::process::Pid::from_raw(pid as i32).expect("a pid");
        rustix::process::kill_process(pid, signal).expect("sent");
    }
    let mut coordinator = Coordinator::start(&world, 1);
    until("a knock heard", || knock(&world.files())).await;
    coordinator.meet().await;
}

#[tokio::test]
async fn after_the_greeting_comes_a_heartbeat_and_then_the_queue_in_order_once() {
    let world = World::new();
    world.start().await;
    let reports = || unacknowledged_on_disk(&world.files().outbox()).len();
    until("the first report, on disk", || reports() == 1).await;
    let mut coordinator = Coordinator::start(&world, 1);
    until("a knock heard", || knock(&world.files())).await;
    coordinator.hello().await;
    coordinator.welcome(0);
    assert!(matches!(coordinator.frame().await, Upward::Heartbeat { .. }));
    assert!(matches!(coordinator.frame().await, Upward::Report { n: 1, .. }));
    coordinator.go(1, "no-signal");
    until("the second report, on disk", || reports() == 2).await;
    // Both again on the next connection, since nobody acknowledged them, and in the same order.
    drop(coordinator);
    let mut coordinator = Coordinator::start(&world, 2);
    until("a knock heard", || knock(&world.files())).await;
    coordinator.hello().await;
    coordinator.welcome(0);
    assert!(matches!(coordinator.frame().await, Upward::Heartbeat { .. }));
    for expected in 1..=2 {
        let frame = coordinator.frame().await;
        assert!(matches!(frame, Upward::Report { n, .. } if n == expected), "{frame:?}");
    }
    coordinator.ack(2);
    coordinator.order(Order::Stop { grace_secs: 0 });
    assert_eq!(coordinator.next().await.map(|(n, _)| n), Some(3), "nothing twice");
}

#[tokio::test]
async fn more_reports_than_a_connection_holds_arrive_in_order_and_once() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    let mut expected = 2;
    // All at the end of an iteration: first while somebody listens, then while nobody is there.
    coordinator.go(1, "repeat 100: print <swarm>LEARNING: npm ci</swarm>\nno-signal");
    takes_a_hundred_learnings(&mut coordinator, &mut expected).await;
    coordinator.go(
        2,
        "repeat 100: print <swarm>LEARNING: npm ci</swarm>\nwrite told yes\nwait-for go-on\nno-signal",
    );
    until("the second iteration", || world.read("told") == "yes\n").await;
    drop(coordinator);
    std::fs::write(world.spec.worktree.join("go-on"), "").expect("written");
    let reports = || unacknowledged_on_disk(&world.files().outbox()).len();
    until("all of it, on disk", || reports() == 101).await;
    let mut coordinator = Coordinator::start(&world, 2);
    until("a knock heard", || knock(&world.files())).await;
    coordinator.hello().await;
    coordinator.welcome(0);
    takes_a_hundred_learnings(&mut coordinator, &mut expected).await;
    coordinator.order(Order::Stop { grace_secs: 0 });
    assert_eq!(coordinator.report().await, FromDaemon::Ended { how: Ended::Stopped });
    assert_eq!(world.last_word().await.unacknowledged, vec![]);
}

/// A hundred learnings and the boundary behind them, over the connection that stands, each as the next number.
async fn takes_a_hundred_learnings(coordinator: &mut Coordinator, expected: &mut u64) {
    for nth in 1..=101 {
        let (n, report) = coordinator.next().await.expect("the connection stands");
        assert_eq!(n, *expected);
        assert_eq!(matches!(report, FromDaemon::Signal { .. }), nth <= 100, "{report:?}");
        coordinator.ack(n);
        *expected += 1;
    }
}

#[tokio::test]
async fn what_a_killed_daemon_had_to_say_is_read_from_its_disk() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(1, "tool Bash make\nprint half way\nwrite a.txt one\nno-signal");
    let (n, boundary) = coordinator.next().await.expect("connected");
    assert_eq!(n, 2);
    world.kill_daemon();
    let DaemonEnd::Died(death) = world.watch().await else { panic!("it had no last word") };
    assert_eq!(death.unacknowledged, [(2, boundary)], "not acknowledged: said again, once");
    let context = ContextFiles::new(&world.spec.swarm_dir(), &world.spec.task).read().expect("a context");
    assert_eq!((context.iteration, context.under_way), (1, false));
}

#[tokio::test]
async fn five_tries_in_vain_are_told_to_the_supervisor_and_taken_back_when_somebody_answers() {
    let world = World::new();
    world.start().await;
    // Each knock is a try at once.
    until("the cry for help", || {
        knock(&world.files());
        cannot_reconnect(&world.files())
    })
    .await;
    let mut coordinator = Coordinator::start(&world, 1);
    until("a knock heard", || knock(&world.files())).await;
    coordinator.meet().await;
    until("it is taken back", || !cannot_reconnect(&world.files())).await;
}
