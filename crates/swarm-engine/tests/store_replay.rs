//! Any history: replayed from empty it is the live state, and so are a snapshot and its tail.

use crate::store_support;

use proptest::prelude::*;
use store_support::*;
use swarm_core::input::Input;
use swarm_engine::store::Store;
use swarm_protocol::command::Command;
use swarm_protocol::outcome::{Gate, PauseReason};
use swarm_protocol::plan::{ExecutionProfile, TaskPatch, TaskSpec};
use swarm_protocol::policy::Policy;
use swarm_protocol::time::Timestamp;

fn some_task() -> impl Strategy<Value = swarm_protocol::ids::TaskId> {
    (0..12u8).prop_map(|n| task(&format!("t{n}")))
}

fn some_command() -> impl Strategy<Value = Command> {
    let text = "[a-zé\"\\\\ ]{1,12}";
    prop_oneof![
        8 => (some_task(), text, proptest::option::of(some_task()), proptest::collection::vec(some_task(), 0..3)).prop_map(
            |(id, title, after, depends)| {
                let mut spec = TaskSpec::new(id, format!("x{title}"));
                spec.depends = depends;
                Command::AddTask { phase: None, after, task: spec }
            }
        ),
        2 => (some_task(), text).prop_map(|(task, text)| Command::EditTask {
            task,
            patch: TaskPatch { description: Some(text), ..TaskPatch::default() }
        }),
        1 => some_task().prop_map(|task| Command::RemoveTask { task }),
        2 => (some_task(), proptest::option::of(some_task())).prop_map(|(task, after)| Command::MoveTask { task, after, phase: None }),
        2 => (some_task(), text).prop_map(|(task, reason)| Command::BlockTask { task, reason: format!("x{reason}") }),
        2 => some_task().prop_map(|task| Command::UnblockTask { task }),
        1 => some_task().prop_map(|task| Command::DeferTask { task }),
        1 => some_task().prop_map(|task| Command::CancelTask { task }),
        1 => some_task().prop_map(|task| Command::WaiveGate { task, gate: Gate::Check, reason: "because".into() }),
        1 => some_task().prop_map(|task| Command::StopAgent { task }),
        1 => (1..5u32).prop_map(|max| Command::SetProfile {
            profile: ExecutionProfile { parallelization_enabled: true, max_concurrent_tasks: max, ..ExecutionProfile::default() }
        }),
        1 => Just(Command::LockProfile),
        1 => Just(Command::ApprovePlan),
        1 => Just(Command::ResetPlan),
        1 => Just(Command::Pause { reason: PauseReason::User, why: "tired".into(), force: false }),
        1 => Just(Command::Resume { reason: PauseReason::User }),
        1 => Just(save(PLAN)),
    ]
}

#[derive(Debug, Clone)]
enum Move {
    Command(Command),
    /// A coordinator takes over: from now on tasks are claimed.
    Start,
    Leave,
    Tick(u64),
    Snapshot,
    /// The process ends and another one begins.
    Restart,
}

fn some_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        20 => some_command().prop_map(Move::Command),
        1 => Just(Move::Start),
        1 => Just(Move::Leave),
        2 => (0..4000u64).prop_map(Move::Tick),
        2 => Just(Move::Snapshot),
        2 => Just(Move::Restart),
    ]
}

fn input(n: u64, one: &Move, epoch: u64) -> Option<Input> {
    match one {
        Move::Command(wish) => Some(command(n, wish.clone())),
        Move::Start => Some(Input::Started {
            epoch: epoch + 1,
            version: "0".into(),
            host: "h".into(),
            trunk: "main".into(),
            policy: Policy { snapshot_every: 7, ..Policy::default() },
        }),
        Move::Leave => Some(Input::Leaving),
        Move::Tick(_) => Some(Input::Tick),
        Move::Snapshot | Move::Restart => None,
    }
}

fn play(moves: &[Move]) {
    let place = place();
    let mut store = place.open().expect("free");
    let mut now = Timestamp(1_800_000_000_000);
    for (n, one) in moves.iter().enumerate() {
        if let Move::Tick(secs) = one {
            now = now.plus_secs(*secs);
        }
        match input(n as u64, one, store.state().epoch) {
            // Refused or decided: both are fine, and neither may disturb what is there.
            Some(input) => drop(store.submit(input, now, "test")),
            None if matches!(one, Move::Snapshot) => store.write_snapshot().expect("written"),
            None => {
                let live = store.state().clone();
                store.finish().expect("finished");
                store = place.open().expect("free");
                assert_eq!(*store.state(), live, "after a restart");
            }
        }
    }
    store.wait_durable().expect("durable");
    let live = store.state().clone();
    if live.plan.is_none() {
        return;
    }
    assert_eq!(place.read().state, live, "snapshot and tail");
    for snapshot in [&place.paths.snapshot, &place.paths.snapshot_prev] {
        let _ = std::fs::remove_file(snapshot);
    }
    assert_eq!(place.read().state, live, "every record from the first");
    drop(store);
    let report = Store::verify(&place.paths, &place.options).expect("verified");
    assert!(report.integrity.is_empty() && report.completeness.is_empty(), "{report:?}");
    let notices = place.read().notices;
    assert!(notices.is_empty(), "{notices:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 200, ..ProptestConfig::default() })]
    #[test]
    fn replay_of_any_history_is_the_live_state(moves in proptest::collection::vec(some_move(), 1..80)) {
        play(&moves);
    }
}
