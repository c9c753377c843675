//! Wishes carried out beside the loop; whatever comes of them comes back as an input.

use std::collections::BTreeMap;
use std::time::Duration;

use swarm_protocol::ids::{RunId, TaskId};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::feed;
use crate::input::{Input, Wish};
use crate::source::Source;

/// Between two answers of one kind.
const AT_MOST_EVERY: Duration = Duration::from_millis(50);

pub struct Hands {
    source: Source,
    told: mpsc::Sender<Input>,
    /// Each of these is asked for one at a time, and only the newest question counts: whoever moves through a long
    /// list does not wait for the tasks that they passed by.
    board: watch::Sender<Option<Option<u64>>>,
    task: watch::Sender<Option<(TaskId, Option<u64>)>>,
    allowed: watch::Sender<Option<Option<TaskId>>>,
    logs: BTreeMap<RunId, JoinHandle<()>>,
}

impl Hands {
    pub fn new(source: Source, told: mpsc::Sender<Input>) -> Self {
        let asks = source.clone();
        let board = newest(&told, async move |at| Input::Board(asks.board(at).await.map(Box::new)));
        let asks = source.clone();
        let task = newest(&told, async move |(id, at): (TaskId, Option<u64>)| {
            Input::Task(id.clone(), asks.task(id, at).await.map(Box::new))
        });
        let asks = source.clone();
        let allowed = newest(&told, async move |task: Option<TaskId>| {
            Input::Allowed(task.clone(), asks.allowed(task).await.unwrap_or_default())
        });
        Self { source, told, board, task, allowed, logs: BTreeMap::new() }
    }

    /// `past`: the record that is looked at.
    pub fn carry_out(&mut self, wish: Wish, past: Option<u64>) {
        let (source, told) = (self.source.clone(), self.told.clone());
        match wish {
            Wish::Board(at) => drop(self.board.send_replace(Some(at))),
            Wish::Visited => {
                tokio::spawn(async move {
                    if let Some(visited) = source.visited().await {
                        let _ = told.send(Input::Visited(Box::new(visited))).await;
                    }
                });
            }
            Wish::Task(id) => drop(self.task.send_replace(Some((id, past)))),
            Wish::Allowed(task) => drop(self.allowed.send_replace(Some(task))),
            Wish::Choices(ticket, task) => {
                spawn(told, async move { Input::Choices(ticket, source.choices(task).await) });
            }
            Wish::Preview(ticket, command) => {
                spawn(
                    told,
                    async move { Input::Preview(ticket, source.preview(command).await.map(Box::new)) },
                );
            }
            Wish::Send(ticket, command) => {
                spawn(told, async move { Input::Answer(ticket, source.send(command).await) });
            }
            Wish::Look(ticket, words, does) => {
                spawn(told, async move { Input::Told(ticket, source.look(words, does).await) });
            }
            Wish::Call(ticket, words, seen) => {
                spawn(told, async move { Input::Told(ticket, source.call(words, seen).await) });
            }
            Wish::OverTime => {
                spawn(told, async move { Input::OverTime(source.over_time().await.map(Box::new)) });
            }
            Wish::Diff(ask) => {
                spawn(told, async move { Input::Diff(ask.clone(), source.diff(ask).await.map(Box::new)) });
            }
            Wish::Follow(runs) => {
                for (_, log) in self.logs.extract_if(.., |run, _| !runs.contains(run)) {
                    log.abort();
                }
                for run in runs {
                    let (client, told) = (source.client.clone(), told.clone());
                    let follow = || tokio::spawn(feed::log(client, run.clone(), told));
                    self.logs.entry(run.clone()).or_insert_with(follow);
                }
            }
            Wish::FollowAnew(run) => {
                let log = tokio::spawn(feed::log(source.client.clone(), run.clone(), told));
                if let Some(before) = self.logs.insert(run, log) {
                    before.abort();
                }
            }
            Wish::OlderLog { run, before, byte } => {
                spawn(told, async move {
                    let lines = feed::older(&source.client, &run, before, byte).await;
                    Input::OlderLog(run, lines)
                });
            }
            Wish::OlderEvents { before, newest } => {
                spawn(told, async move { Input::OlderEvents(source.older(before, newest).await) });
            }
            Wish::NewestEvents => {
                spawn(told, async move { Input::Events(source.before().await) });
            }
            // Those of the terminal are the loop's.
            Wish::Editor(_)
            | Wish::Show(_)
            | Wish::CallHere(_)
            | Wish::Copy(_)
            | Wish::Title(_)
            | Wish::Bell(_) => {}
            Wish::Suspend | Wish::Redraw | Wish::Leave(_) => {}
        }
    }

    pub fn call_here(&self, words: &[String]) -> Result<(), String> {
        self.source.typist.call_here(words)
    }

    pub fn show(&self, text: &str) -> Result<(), String> {
        self.source.ledger.show(text)
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

/// A place for the newest question, and one worker that answers it.
fn newest<Q, F>(told: &mpsc::Sender<Input>, mut answer: F) -> watch::Sender<Option<Q>>
where
    Q: Clone + 'static,
    F: AsyncFnMut(Q) -> Input + 'static,
{
    let (asks, mut asked) = watch::channel(None::<Q>);
    let told = told.clone();
    tokio::task::spawn_local(async move {
        while asked.changed().await.is_ok() {
            let question = asked.borrow_and_update().clone();
            let Some(question) = question else { continue };
            let input = answer(question).await;
            if told.send(input).await.is_err() {
                return;
            }
            // A storm of records must not keep the coordinator busy with answers.
            tokio::time::sleep(AT_MOST_EVERY).await;
        }
    });
    asks
}
