//! Another plan in the place of the one that the screen shows: nothing of the old one is taken for the new one.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use swarm_protocol::any_view::AnyView;
use swarm_protocol::api::{ApiError, Seen};
use swarm_protocol::command::{Answer, Command, Envelope};
use swarm_protocol::diff::{DiffAsk, DiffView};
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::over_time::OverTimeView;
use swarm_protocol::trunk::{TrunkAsk, TrunkView};
use swarm_server::client::Client;
use swarm_server::ledger::{Ledger, Look, Position};
use swarm_tui::input::{Input, Key, Link};
use swarm_tui::session::follow;
use swarm_tui::source::{Desk, Source};
use swarm_tui::typed::{Does, Looked, Typed, Typist};
use swarm_tui::visit::Visit;
use tokio::sync::mpsc::{Receiver, UnboundedSender};

use crate::looks::screen;
use crate::support::{Stage, board, sent};

/// A ledger that is another one when the test says so.
struct Folder {
    /// Its id, and how many records it has.
    ledger: Mutex<(&'static str, u64)>,
    /// Told each time that somebody waits for a change.
    waits: UnboundedSender<()>,
    changes: Mutex<mpsc::Receiver<()>>,
}

fn nothing() -> ApiError {
    ApiError::new("none", "There is nothing of that here", "")
}

impl Ledger for Folder {
    fn look(&self, _: &Look, _: Option<u64>) -> Result<Seen<AnyView>, ApiError> {
        Err(nothing())
    }

    fn preview(&self, _: &Command) -> Result<PreviewView, ApiError> {
        Err(nothing())
    }

    fn ask(&self, _: Envelope) -> Result<Answer, ApiError> {
        Err(nothing())
    }

    fn past_answer(&self, _: &CommandId) -> Option<Answer> {
        None
    }

    fn diff(&self, _: &DiffAsk) -> Result<DiffView, ApiError> {
        Err(nothing())
    }

    fn over_time(&self) -> Result<OverTimeView, ApiError> {
        Err(nothing())
    }

    fn trunk(&self, _: &TrunkAsk) -> Result<TrunkView, ApiError> {
        Err(nothing())
    }

    fn records(&self, _: u64) -> Vec<String> {
        let count = self.ledger.lock().expect("nobody has died with it").1;
        let record = |seq| {
            format!(
                r#"{{"seq":{seq},"ts":"2026-01-13T10:00:00.000Z","type":"mode_changed","data":{{"mode":"autopilot"}},"by":"person:cli"}}"#
            )
        };
        (1..=count).map(record).collect()
    }

    fn position(&self) -> Option<(String, Position)> {
        let (id, seq) = *self.ledger.lock().expect("nobody has died with it");
        Some((id.to_owned(), Position { seq, end: seq }))
    }

    fn changed(&self) -> bool {
        let _ = self.waits.send(());
        self.changes.lock().expect("nobody has died with it").recv().is_ok()
    }
}

impl Desk for Folder {
    fn edit(&self, _: &TaskId) -> Result<(), String> {
        Ok(())
    }

    fn show(&self, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn last_visit(&self) -> Option<Visit> {
        None
    }

    fn note_visit(&self, _: &Visit) {}
}

struct Nobody;

impl Typist for Nobody {
    fn commands(&self) -> Vec<Typed> {
        vec![]
    }

    fn look(&self, _: &[String], _: Does) -> Result<Looked, ApiError> {
        Err(nothing())
    }

    fn call(&self, _: &[String], _: Option<&str>) -> Result<String, ApiError> {
        Err(nothing())
    }

    fn call_here(&self, _: &[String]) -> Result<(), String> {
        Ok(())
    }
}

async fn next(heard: &mut Receiver<Input>) -> Input {
    let heard = tokio::time::timeout(Duration::from_secs(20), heard.recv()).await;
    heard.expect("in time").expect("somebody tells")
}

/// How many events were told.
async fn events(heard: &mut Receiver<Input>) -> usize {
    match next(heard).await {
        Input::Events(events) => events.len(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_longer_plan_in_the_place_of_another_is_seen_where_nobody_coordinates() {
    let (waits, mut waiting) = tokio::sync::mpsc::unbounded_channel();
    let (change, changes) = mpsc::channel();
    let folder = Arc::new(Folder { ledger: Mutex::new(("one", 3)), waits, changes: Mutex::new(changes) });
    let (told, mut heard) = tokio::sync::mpsc::channel(8);
    let client = Client::new("/nowhere/swarm.sock");
    tokio::spawn(follow(Source { client, ledger: folder.clone(), typist: Arc::new(Nobody) }, told));
    assert_eq!(events(&mut heard).await, 3);
    assert!(matches!(next(&mut heard).await, Input::Link(Link::Offline)));
    waiting.recv().await.expect("it waits for a change");
    *folder.ledger.lock().expect("nobody has died with it") = ("two", 9);
    change.send(()).expect("it waits");
    assert!(matches!(next(&mut heard).await, Input::Anew), "its records are numbered from one again");
    assert_eq!(events(&mut heard).await, 9);
    waiting.recv().await.expect("it waits again");
    *folder.ledger.lock().expect("nobody has died with it") = ("two", 10);
    change.send(()).expect("it waits");
    assert_eq!(events(&mut heard).await, 10, "the same plan goes on");
}

#[test]
fn marks_and_an_open_dialog_do_not_meet_the_tasks_of_another_plan() {
    let mut stage = Stage::new(80, 24);
    stage.char('*');
    assert_eq!(stage.model.marked.len(), 1);
    stage.char('M');
    stage.keys("use the other");
    stage.take(Input::Anew);
    assert!(stage.model.marked.is_empty());
    stage.take(Input::Board(Ok(board())));
    assert!(screen(&stage).contains("Another plan is here now"), "{}", screen(&stage));
    let wishes = stage.keys(" Sz table");
    assert_eq!(sent(&wishes), [], "whoever types on gives no commands");
    assert_eq!(sent(&stage.press(Key::Enter)), [], "the task of that name is another one");
    stage.press(Key::Esc);
    assert!(stage.model.dialog.is_none());
}
