//! What a coordinator lets out while it runs: how far the ledger is durable, and the latest news of
//! each agent. Front ends wait for changes of these and fetch the rest themselves, so that a slow one
//! costs the loop nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use swarm_protocol::api::AgentNews;
use swarm_protocol::ids::RunId;
use tokio::sync::watch;

use crate::meters::Meters;

/// The last durable record and the byte of the ledger behind it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position {
    pub seq: u64,
    pub end: u64,
}

/// The coordinator's side.
#[derive(Debug)]
pub struct FeedSource {
    position: watch::Sender<Position>,
    news: Arc<Mutex<News>>,
    newest: watch::Sender<u64>,
    /// What the coordinator counts of itself.
    pub meters: Meters,
}

/// A front end's side.
#[derive(Debug, Clone)]
pub struct Feed {
    position: watch::Receiver<Position>,
    news: Arc<Mutex<News>>,
    newest: watch::Receiver<u64>,
    pub meters: Meters,
}

/// The latest of every run, each with the number of its last change. Only runs that may have
/// processes are in it, so it is as small as the swarm.
#[derive(Debug, Default)]
struct News {
    changes: u64,
    by_run: BTreeMap<RunId, (u64, AgentNews)>,
}

impl Default for FeedSource {
    fn default() -> Self {
        Self {
            position: watch::channel(Position::default()).0,
            news: Arc::default(),
            newest: watch::channel(0).0,
            meters: Meters::default(),
        }
    }
}

impl FeedSource {
    pub fn feed(&self) -> Feed {
        Feed {
            position: self.position.subscribe(),
            news: Arc::clone(&self.news),
            newest: self.newest.subscribe(),
            meters: self.meters.clone(),
        }
    }

    /// The ledger is durable up to here.
    pub fn durable(&self, position: Position) {
        self.position.send_if_modified(|now| std::mem::replace(now, position) != position);
    }

    /// Something of a run has changed; `first` describes a run that was not heard before.
    pub fn heard(&self, run: &RunId, first: impl FnOnce() -> AgentNews, change: impl FnOnce(&mut AgentNews)) {
        let mut news = lock(&self.news);
        news.changes += 1;
        let number = news.changes;
        let (changed, latest) = news.by_run.entry(run.clone()).or_insert_with(|| (number, first()));
        *changed = number;
        change(latest);
        drop(news);
        self.newest.send_replace(number);
    }

    /// Forgets runs that are over.
    pub fn keep_only(&self, wanted: impl Fn(&RunId) -> bool) {
        lock(&self.news).by_run.retain(|run, _| wanted(run));
    }

    pub fn latest(&self, run: &RunId) -> Option<AgentNews> {
        lock(&self.news).by_run.get(run).map(|(_, news)| news.clone())
    }
}

impl Feed {
    /// A feed of a ledger that nobody writes, for front ends without a coordinator.
    pub fn still(position: Position) -> Self {
        let source = FeedSource::default();
        source.durable(position);
        source.feed()
    }

    pub fn position(&self) -> Position {
        *self.position.borrow()
    }

    /// Waits until more is durable than when this was last asked; false when the coordinator has ended.
    pub async fn moved(&mut self) -> bool {
        self.position.changed().await.is_ok()
    }

    /// Waits until there is news; false when the coordinator has ended.
    pub async fn news(&mut self) -> bool {
        self.newest.changed().await.is_ok()
    }

    /// What has changed since the change numbered `since`, and the number to ask with next time.
    pub fn news_since(&self, since: u64) -> (u64, Vec<AgentNews>) {
        let news = lock(&self.news);
        let newer = news.by_run.values().filter(|(changed, _)| *changed > since);
        (news.changes, newer.map(|(_, latest)| latest.clone()).collect())
    }
}

fn lock(news: &Mutex<News>) -> MutexGuard<'_, News> {
    news.lock().unwrap_or_else(PoisonError::into_inner)
}
