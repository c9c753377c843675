//! Wishes carried out beside the loop; whatever comes of them comes back as an input.

use std::time::Duration;

use swarm_protocol::ids::TaskId;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::feed;
use crate::input::{Input, Wish};
use crate::source::Source;

/// Between two boards.
const AT_MOST_EVERY: Duration = Duration::from_millis(50);

pub struct Hands {
    source: Source,
    told: mpsc::Sender<Input>,
    board: Board,
    log: Option<JoinHandle<()>>,
}

/// The board is asked for one at a time; whoever asks meanwhile gets the next one.
struct Board {
    asks: mpsc::Sender<Option<u64>>,
}

impl Hands {
    pub fn new(source: Source, told: mpsc::Sender<Input>) -> Self {
        let (asks, asked) = mpsc::channel(64);
        tokio::spawn(boards(source.clone(), told.clone(), asked));
        Self { source, told, board: Board { asks }, log: None }
    }

    /// `past`: the record that is looked at.
    pub fn carry_out(&mut self, wish: Wish, past: Option<u64>) {
        let (source, told) = (self.source.clone(), self.told.clone());
        match wish {
            Wish::Board(at) => drop(self.board.asks.try_send(at)),
            Wish::Task(id) => {
                spawn(told, async move { Input::Task(id.clone(), source.task(id, past).await.map(Box::new)) })
            }
            Wish::Allowed(task) => spawn(told, async move {
                Input::Allowed(task.clone(), source.allowed(task).await.unwrap_or_default())
            }),
            Wish::Choices(ticket, task) => {
                spawn(told, async move { Input::Choices(ticket, source.choices(task).await) });
            }
            Wish::Preview(ticket, command) => {
                spawn(
                    told,
                    async move { Input::Preview(ticket, source.preview(command).await.map(Box::new)) },
                )
            }
            Wish::Send(ticket, command) => {
                spawn(told, async move { Input::Answer(ticket, source.send(command).await) });
            }
            Wish::Diff(task) => {
                spawn(told, async move { Input::Diff(task.clone(), source.diff(task).await.map(Box::new)) })
            }
            Wish::Follow(run) => {
                if let Some(log) = self.log.take() {
                    log.abort();
                }
                self.log = run.map(|run| tokio::spawn(feed::log(source.client, run, told)));
            }
            // Those of the terminal are the loop's.
            Wish::Editor(_) | Wish::Copy(_) | Wish::Title(_) | Wish::Bell => {}
            Wish::Suspend | Wish::Redraw | Wish::Leave(_) => {}
        }
    }

    pub fn edit(&self, task: &TaskId) -> Result<(), String> {
        self.source.ledger.edit(task)
    }
}

fn spawn(told: mpsc::Sender<Input>, asking: impl Future<Output = Input> + Send + 'static) {
    tokio::spawn(async move {
        let input = asking.await;
        let _ = told.send(input).await;
    });
}

async fn boards(source: Source, told: mpsc::Sender<Input>, mut asked: mpsc::Receiver<Option<u64>>) {
    while let Some(mut at) = asked.recv().await {
        // What came meanwhile is answered by this one, too.
        while let Ok(later) = asked.try_recv() {
            at = later;
        }
        let board = source.board(at).await.map(Box::new);
        if told.send(Input::Board(board)).await.is_err() {
            return;
        }
        // A storm of records must not keep the coordinator busy with boards.
        tokio::time::sleep(AT_MOST_EVERY).await;
    }
}
