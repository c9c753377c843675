//! A ledger that takes no records for some seconds, beside a coordinator that has work to do.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use swarm_engine::channel::FromSocket;
use swarm_engine::look::Look;
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::event::Event;
use swarm_protocol::ids::CommandId;
use swarm_protocol::plan::TaskSpec;
use tokio::sync::{mpsc, oneshot};

use crate::faults::{BadDisk, Faults};
use crate::fixture::Fixture;
use crate::git_scratch::{Scratch, task};

/// Long enough for two reports that find no room: the first is refused by the disk, the second before it gets there.
const FULL_FOR: Duration = Duration::from_millis(3500);

/// A plan whose first task is ready to be merged.
async fn with_work() -> (Scratch, Fixture, Arc<Faults>) {
    let scratch = Scratch::new();
    let mut fixture = Fixture::with_plan(&scratch.repo).await;
    // Whatever room this machine has.
    (fixture.config.disk.low, fixture.config.disk.enough) = (1, 1);
    let faults = Arc::new(Faults::default());
    fixture.disk = Some(BadDisk(faults.clone()));
    fixture.work("1.1", &[("first.txt", "first\n")]);
    (scratch, fixture, faults)
}

/// The disk is full from here on, and for a while.
fn fills_up(faults: &Arc<Faults>) {
    faults.full.store(true, SeqCst);
    let faults = faults.clone();
    tokio::spawn(async move {
        tokio::time::sleep(FULL_FOR).await;
        faults.full.store(false, SeqCst);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn an_effect_whose_report_found_no_room_is_asked_for_again() {
    let (_scratch, fixture, faults) = with_work().await;
    let (id, mut filled) = (task("1.1"), false);
    fixture
        .coordinate(true, |event| {
            if matches!(event, Event::TrunkGranted { .. }) && !std::mem::replace(&mut filled, true) {
                fills_up(&faults);
            }
            matches!(event, Event::MergeCompleted { task, .. } if *task == id)
        })
        .await;
    assert_eq!(fixture.stage("1.1"), "Done");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_that_could_not_be_recorded_is_recorded_when_there_is_room_again() {
    let (_scratch, fixture, faults) = with_work().await;
    let (mut filled, mut stops) = (false, false);
    fixture
        .coordinate(true, |event| {
            stops |= matches!(event, Event::DrainStarted { .. });
            let granted = matches!(event, Event::TrunkGranted { .. });
            let now = granted && !std::mem::replace(&mut filled, true);
            if now {
                fills_up(&faults);
            }
            now
        })
        .await;
    assert!(stops, "it leaves in good order");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_looks_while_nothing_can_be_recorded_is_answered() {
    let (_scratch, fixture, faults) = with_work().await;
    let mut coordinator = fixture.coordinator(true).await;
    let ((knocks, mut socket), (_urge, mut urges)) = (mpsc::channel(2), mpsc::channel(1));
    faults.full.store(true, SeqCst);
    // In one turn with a command that finds no room.
    let id = CommandId::new("full").expect("an id");
    let command = Command::AddTask { phase: None, after: None, task: TaskSpec::new(task("x"), "Do x") };
    let (reply, _refused) = oneshot::channel();
    let envelope = Envelope { id, by: "person:test".into(), command };
    knocks.try_send(FromSocket::Command { envelope, reply }).expect("there is room for two");
    let (reply, looked) = oneshot::channel();
    knocks.try_send(FromSocket::Look { what: Look::Status, reply }).expect("there is room for two");
    let looked = tokio::select! {
        ended = coordinator.run(&mut socket, &mut urges, |_| ()) => panic!("it has ended: {ended:?}"),
        looked = tokio::time::timeout(FULL_FOR, looked) => looked,
    };
    assert!(looked.expect("within a moment").is_ok_and(|looked| looked.view.is_ok()));
}
