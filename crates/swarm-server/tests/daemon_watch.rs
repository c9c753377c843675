//! What a daemon notices of its agent by itself: circles, silence, denials; and the small question to a service.

use crate::world;

use std::time::{Duration, Instant};

use swarm_protocol::channel::{FromDaemon, IterationOutcome, Order, RunKind};
use swarm_protocol::failure::{Failure, FailureClass};
use swarm_protocol::outcome::Ended;
use world::{Coordinator, World, git, until};

/// A world with short clocks.
fn world() -> World {
    let mut world = World::new();
    let setup = world.spec.agent_setup.as_mut().expect("an agent");
    (setup.loop_note, setup.loop_stop, setup.stall_secs) = (3, 6, 2);
    world
}

/// Plays one iteration: what was noted on the way, and how it ended.
async fn played(world: &World, lines: &str) -> (Vec<String>, IterationOutcome) {
    let mut coordinator = Coordinator::start(world, 1);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(1, lines);
    let mut notes = Vec::new();
    loop {
        match coordinator.report().await {
            FromDaemon::Noted { text } => notes.push(text),
            FromDaemon::Boundary { iteration: 1, outcome, .. } => return (notes, outcome),
            other => panic!("{other:?}"),
        }
    }
}

fn failure(outcome: IterationOutcome) -> (FailureClass, String) {
    match outcome {
        IterationOutcome::Failed { failure } => (failure.class, failure.text),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_agent_in_a_circle_is_noted_and_then_ended_with_its_work_saved() {
    let world = world();
    let began = Instant::now();
    let lines = "ignore-term\nspawn-child 300\nwrite half.txt half\nrepeat 500: tool Bash cargo test\nhang";
    let (notes, outcome) = played(&world, lines).await;
    assert_eq!(notes, ["the same call 3 times in a row without a new commit: Bash cargo test"]);
    let text = "the same call 6 times in a row without a new commit: Bash cargo test".to_owned();
    assert_eq!(failure(outcome), (FailureClass::Looping, text));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(world.living(), [0u32; 0], "the whole tree is gone, whatever it ignores");
    let wip = git(&world.spec.root, &["show", "refs/swarm/wip/t1/r1:half.txt"]);
    assert_eq!(wip, "half");
    let printed = world.journal().iter().filter(|line| line.text.contains("cargo test")).count();
    assert!(printed >= 6, "what it said until then is kept");
}

#[tokio::test]
async fn two_calls_in_turns_are_a_circle_and_commits_between_them_are_progress() {
    let circle = "tool Read a.rs\ntool Bash make\n".repeat(6);
    let (notes, outcome) = played(&world(), &format!("{circle}hang")).await;
    assert_eq!(notes.len(), 1, "{notes:?}");
    let (class, text) = failure(outcome);
    assert_eq!(class, FailureClass::Looping);
    assert_eq!(text, "the same 2 calls 6 times round without a new commit: Read a.rs; Bash make");
    let steps: String = (0..8)
        .map(|n| format!("tool Bash make\nwrite a.txt {n}\ncommit change {n}\ntool Bash make\n"))
        .collect();
    let (notes, outcome) = played(&world(), &format!("{steps}complete")).await;
    assert_eq!((notes, outcome), (vec![], IterationOutcome::Complete));
}

#[tokio::test]
async fn silence_is_noted_at_half_time_and_then_ended() {
    let world = world();
    let (notes, outcome) = played(&world, "write half.txt half\nhang").await;
    assert_eq!(notes, ["neither output nor work for 1 s while no tool ran"]);
    assert_eq!(failure(outcome).0, FailureClass::Stalled);
    assert_eq!(git(&world.spec.root, &["show", "refs/swarm/wip/t1/r1:half.txt"]), "half");
}

#[tokio::test]
async fn work_without_words_and_a_tool_that_takes_its_time_are_no_silence() {
    let outcome_of = async |lines: &str| {
        let mut world = world();
        world.spec.agent_setup.as_mut().expect("an agent").stall_secs = 3;
        played(&world, lines).await.1
    };
    let (by_itself, by_a_child, in_a_tool) = tokio::join!(
        outcome_of("burn 5000\ncomplete"),
        // The work of a child in a session of its own is the agent's.
        outcome_of("sh setsid timeout 5 sh -c 'while :; do :; done'\ncomplete"),
        outcome_of("tool-begin Bash sleep\nsleep 5000\ntool-end\ncomplete"),
    );
    let expected = IterationOutcome::Complete;
    assert_eq!([by_itself, by_a_child, in_a_tool], [expected.clone(), expected.clone(), expected]);
}

#[tokio::test]
async fn a_denial_ends_the_work_only_where_the_agent_found_no_way_around_it() {
    let outcome = |lines: &'static str| async move { played(&World::new(), lines).await.1 };
    let denied = |text: &str| (FailureClass::Denied, text.to_owned());
    assert_eq!(failure(outcome("denied Bash touch /etc/x\nno-signal").await), denied("Bash touch /etc/x"));
    assert_eq!(
        failure(outcome("blocked sandbox-denied write to /srv/data").await),
        denied("write to /srv/data")
    );
    assert_eq!(outcome("denied Bash touch /etc/x\ncomplete").await, IterationOutcome::Complete);
    assert_eq!(outcome("denied Bash a\ntool Write b\nno-signal").await, IterationOutcome::NoSignal);
    let asks = IterationOutcome::AsksHuman { text: "which port?".into() };
    assert_eq!(outcome("blocked which port?").await, asks);
}

#[tokio::test]
async fn what_a_plain_program_says_of_its_failure_its_cost_and_its_prompt_is_handed_on() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    let lines =
        "usage input=100 output=20 cost=0.5\nusage input=10\nsession s-1\nfail quota resets=90 all gone";
    let prompt = world::script(lines);
    coordinator.order(Order::Go { iteration: 1, prompt, session: None, known: 41, context: None });
    let FromDaemon::Boundary { outcome, usage, session, known, .. } = coordinator.report().await else {
        panic!("no boundary")
    };
    let quota = Failure { resets_in_secs: Some(90), ..Failure::new(FailureClass::Quota, "all gone") };
    assert_eq!(outcome, IterationOutcome::Failed { failure: quota });
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cost_micros), (110, 20, 500_000));
    assert_eq!((session.as_deref(), known), (Some("s-1"), 41));
}

/// Asks once, with this as the script of the answer.
async fn probed(answer: Option<&str>) -> Option<Failure> {
    let mut world = World::new();
    (world.spec.kind, world.spec.agent) = (RunKind::Probe, None);
    world.spec.worktree = Default::default();
    if let Some(answer) = answer {
        std::fs::create_dir_all(world.spec.swarm_dir()).expect("a folder");
        std::fs::write(world.spec.swarm_dir().join("script-probe"), answer).expect("written");
    }
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.hello().await;
    coordinator.welcome(0);
    let ask = Order::Probe { prompt: "Say yes.".into(), timeout_secs: 2 };
    coordinator.order(ask.clone());
    coordinator.order(ask);
    let FromDaemon::Probed { failure } = coordinator.report().await else { panic!("no answer") };
    assert_eq!(coordinator.report().await, FromDaemon::Ended { how: Ended::Stopped });
    let last = world.last_word().await;
    assert_eq!((last.unacknowledged, last.wip), (vec![], None));
    assert_eq!(world.living(), [0u32; 0]);
    failure
}

#[tokio::test]
async fn a_probe_asks_once_in_an_empty_folder_and_ends_with_the_answer() {
    assert_eq!(probed(None).await, None);
    assert_eq!(probed(Some("sh test -z \"$(ls -A)\" && echo empty > ../was-empty\nsh test -f ../was-empty && exit 0; kill $PPID")).await, None);
    let quota = probed(Some("fail quota resets=60 still empty")).await.expect("a failure");
    assert_eq!((quota.class, quota.resets_in_secs), (FailureClass::Quota, Some(60)));
    let crashed = probed(Some("crash 3")).await.expect("a failure");
    assert_eq!(crashed.class, FailureClass::Crashed);
    let silent = probed(Some("repeat 900: sleep 10\nprint late")).await.expect("a failure");
    assert_eq!(silent, Failure::new(FailureClass::Stalled, "no answer within 2 s"));
}

#[tokio::test]
async fn notes_come_before_the_boundary_that_they_led_to_and_survive_the_coordinator() {
    let world = world();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(1, "repeat 4: tool Bash make\nwrite told yes\nwait-for go-on\nno-signal");
    until("the calls", || world.read("told") == "yes\n").await;
    drop(coordinator);
    std::fs::write(world.spec.worktree.join("go-on"), "").expect("written");
    let mut second = Coordinator::start(&world, 2);
    swarm_work::supervisor::knock(&world.files());
    second.hello().await;
    second.welcome(1);
    assert!(matches!(second.report().await, FromDaemon::Noted { .. }));
    assert_eq!(second.boundary().await.1, IterationOutcome::NoSignal);
}
