//! What the records add up to, read page by page: never more of the ledger in memory than one page.

use std::sync::Arc;

use serde::Deserialize;
use swarm_engine::channel::FromSocket;
use swarm_engine::records::Record;
use swarm_engine::work_diff::part;
use swarm_engine::{KINDS_OF_ROUNDS, note_round};
use swarm_protocol::diff::{DiffAsk, DiffView, RoundView};
use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::record::event_of;
use swarm_protocol::time::Timestamp;

use crate::api_state::ApiState;
use crate::fault::Fault;
use crate::ledger::beside;
use crate::limits::HISTORY_MAX;

/// Every record from one on, up to what is durable when the last one is taken. Gives back its number.
pub async fn each_from(api: &ApiState, from: u64, mut take: impl FnMut(&Record)) -> Result<u64, Fault> {
    let unreadable = |error: std::io::Error| Fault::world(format!("The ledger cannot be read: {error}"));
    let (mut seq, mut at) = (from.saturating_sub(1), None);
    loop {
        let (position, page) = api.hub.read(seq + 1, at, HISTORY_MAX).await.map_err(unreadable)?;
        for record in &page.records {
            seq = record.seq;
            take(record);
        }
        if page.records.is_empty() || seq >= position.seq {
            return Ok(seq);
        }
        at = Some(page.at);
    }
}

/// What it says and when; none: a record of a newer program says nothing that we could use.
pub fn read(record: &Record) -> Option<(Event, Timestamp)> {
    #[derive(Deserialize)]
    struct Moment {
        ts: Timestamp,
    }
    let text = &record.text;
    let body = text.find("\"type\":\"").zip(text.rfind('}')).map(|(from, to)| &text[from..to])?;
    let event = event_of(body.as_bytes()).ok()?;
    Some((event, serde_json::from_str::<Moment>(text).ok()?.ts))
}

impl ApiState {
    /// What the work of a task changes. Looked for beside the loop, too.
    pub async fn diff(self: &Arc<Self>, ask: DiffAsk) -> Result<DiffView, Fault> {
        self.costly(&self.looks, move |api| async move { api.diff_now(ask).await }).await
    }

    async fn diff_now(&self, ask: DiffAsk) -> Result<DiffView, Fault> {
        if let Some(ledger) = &self.ledger {
            return Ok(beside(ledger, move |ledger| ledger.diff(&ask)).await?);
        }
        let rounds = rounds_of(self, &ask.task).await?;
        let (task, part) = (ask.task.clone(), part(&ask, &rounds)?);
        let found = self.ask(|reply| FromSocket::Diff { task: ask.task, part, reply }).await?;
        let none = || {
            let message = format!("Task {task} has no work to show yet");
            Fault::not_found(message, format!("swarm task show {task}"))
        };
        let found = found.map_err(|error| Fault::world(error.to_string()))?.ok_or_else(none)?;
        Ok(DiffView { round: ask.round, since: ask.since, rounds, ..found })
    }
}

/// Everything that was ever submitted for this task, oldest first.
pub async fn rounds_of(api: &ApiState, task: &TaskId) -> Result<Vec<RoundView>, Fault> {
    let mut rounds = Vec::new();
    each_from(api, 1, |record| {
        if KINDS_OF_ROUNDS.contains(&record.kind.as_str())
            && let Some((event, at)) = read(record)
            && event.task() == Some(task)
        {
            note_round(&mut rounds, event, at);
        }
    })
    .await?;
    Ok(rounds)
}
