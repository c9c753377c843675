//! Where views come from and commands go to: the coordinator, or the ledger where nobody coordinates.

use std::sync::Arc;

use serde::Deserialize;
use swarm_protocol::api::{ApiError, HistoryPage, Seen, Since};
use swarm_protocol::board::{AllowedView, BoardView, Choice};
use swarm_protocol::command::{Answer, Command, Envelope};
use swarm_protocol::diff::{DiffAsk, DiffView};
use swarm_protocol::event::{Event, line_by};
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::over_time::OverTimeView;
use swarm_protocol::record::event_of;
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::TaskView;
use swarm_server::client::{Client, ClientError};
use swarm_server::either::{carried_out, or_beside};
use swarm_server::ledger::{Ledger, beside};

use crate::input::EventLine;
use crate::said::moment;
use crate::typed::{Does, Looked, Typist};
use crate::visit::{Visit, Visited};

/// Records that are shown from before the screen was opened.
const BEFORE: u64 = 200;

/// Records that are fetched at once when somebody reads backwards.
const OLDER: u64 = 500;

/// The swarm where nobody coordinates, and what only a terminal can do.
pub trait Desk: Ledger {
    /// Opens the worktree of the task in the person's editor and stays until it is closed.
    fn edit(&self, task: &TaskId) -> Result<(), String>;
    /// Shows this text in it; what is changed there changes nothing.
    fn show(&self, text: &str) -> Result<(), String>;
    /// How far this person has seen the ledger; record 0: never. None where there is no plan.
    fn last_visit(&self) -> Option<Visit>;
    /// Remembers it for the next time, if that is possible.
    fn note_visit(&self, visit: &Visit);
}

#[derive(Clone)]
pub struct Source {
    pub client: Client,
    pub ledger: Arc<dyn Desk>,
    pub typist: Arc<dyn Typist>,
}

impl Source {
    pub async fn board(&self, at: Option<u64>) -> Result<BoardView, ApiError> {
        let asked = self.client.view("board", at).await.map(|seen: Seen<BoardView>| seen.view);
        self.or(asked, move |ledger| ledger.board(at)).await
    }

    pub async fn task(&self, id: TaskId, at: Option<u64>) -> Result<TaskView, ApiError> {
        let asked = self.client.view(&format!("tasks/{id}"), at).await;
        self.or(asked.map(|seen: Seen<TaskView>| seen.view), move |ledger| ledger.task(&id, at)).await
    }

    pub async fn allowed(&self, task: Option<TaskId>) -> Result<Vec<AllowedView>, ApiError> {
        let path = match &task {
            Some(task) => format!("/v1/allowed?task={task}"),
            None => "/v1/allowed".to_owned(),
        };
        let asked = self.client.get(&path).await.map(|seen: Seen<Vec<AllowedView>>| seen.view);
        self.or(asked, move |ledger| ledger.allowed(task.as_ref())).await
    }

    pub async fn choices(&self, task: TaskId) -> Result<Vec<Choice>, ApiError> {
        let asked = self.client.view(&format!("tasks/{task}/redirect"), None).await;
        self.or(asked.map(|seen: Seen<Vec<Choice>>| seen.view), move |ledger| ledger.choices(&task)).await
    }

    pub async fn preview(&self, command: Command) -> Result<PreviewView, ApiError> {
        let asked = self.client.preview(&command).await;
        self.or(asked, move |ledger| ledger.preview(&command)).await
    }

    pub async fn diff(&self, ask: DiffAsk) -> Result<DiffView, ApiError> {
        let part = [("round", ask.round), ("since", ask.since)];
        let part = part.iter().filter_map(|(name, number)| Some(format!("{name}={}", (*number)?)));
        let part = part.collect::<Vec<_>>().join("&");
        let asked = self.client.get(&format!("/v1/tasks/{}/diff?{part}", ask.task)).await;
        self.or(asked, move |ledger| ledger.diff(&ask)).await
    }

    pub async fn over_time(&self) -> Result<OverTimeView, ApiError> {
        let asked = self.client.get("/v1/usage").await;
        self.or(asked, |ledger| ledger.over_time()).await
    }

    /// Which ledger this is, and what happened since the person was here last.
    pub async fn visited(&self) -> Option<Visited> {
        let visit = self.beside(|ledger| Ok(ledger.last_visit())).await.ok().flatten()?;
        let (ledger, record) = (visit.ledger, visit.record);
        if record == 0 {
            return Some(Visited { ledger, since: None });
        }
        let asked: Result<Since, ClientError> = self.client.get(&format!("/v1/since?record={record}")).await;
        let since = self.or(asked, move |ledger| Ok(since(record, &ledger.records(u64::MAX)))).await.ok();
        Some(Visited { ledger, since: since.map(|since| (visit.at, since)) })
    }

    /// A lost answer is asked for again with the same id, so that nothing is done twice.
    pub async fn send(&self, command: Command) -> Result<Answer, ApiError> {
        let id = CommandId::new(ulid::Ulid::generate().to_string())
            .map_err(|error| ApiError::new("bad_id", error.to_string(), ""))?;
        let envelope = Envelope { id, by: "person:tui".into(), command };
        carried_out(&self.client, &self.ledger, envelope).await
    }

    /// What a typed command says; one that changes something only says what it would do.
    pub async fn look(&self, words: Vec<String>, does: Does) -> Result<Looked, ApiError> {
        self.typed(move |typist| typist.look(&words, does)).await
    }

    pub async fn call(&self, words: Vec<String>, seen: Option<String>) -> Result<Looked, ApiError> {
        self.typed(move |typist| typist.call(&words, seen.as_deref()).map(Looked::Text)).await
    }

    async fn typed(
        &self,
        what: impl FnOnce(&dyn Typist) -> Result<Looked, ApiError> + Send + 'static,
    ) -> Result<Looked, ApiError> {
        let typist = Arc::clone(&self.typist);
        let done = tokio::task::spawn_blocking(move || what(typist.as_ref())).await;
        done.unwrap_or_else(|error| Err(ApiError::new("failed", error.to_string(), "swarm doctor")))
    }

    /// The newest records from before the screen was opened.
    pub async fn before(&self) -> Vec<EventLine> {
        let last: Result<Seen<serde_json::Value>, _> = self.client.view("attention", None).await;
        let texts: Vec<String> = match last {
            Ok(seen) => {
                let path =
                    format!("/v1/history?limit={BEFORE}&from={}", seen.seq.saturating_sub(BEFORE - 1).max(1));
                let page: Result<HistoryPage, _> = self.client.get(&path).await;
                page.map(|page| page.records.iter().map(ToString::to_string).collect()).unwrap_or_default()
            }
            Err(_) => self.beside(|ledger| Ok(ledger.records(BEFORE))).await.unwrap_or_default(),
        };
        texts.iter().filter_map(|text| event_line(text)).collect()
    }

    /// Records before this one, as many as stand on a few screens.
    pub async fn older(&self, before: u64, newest: u64) -> Vec<EventLine> {
        let first = before.saturating_sub(OLDER).max(1);
        let (mut from, mut lines) = (first, Vec::new());
        while from < before {
            let path = format!("/v1/history?from={from}&limit={}", before - from);
            let page: Result<HistoryPage, _> = self.client.get(&path).await;
            let Ok(page) = page else {
                let last = newest.saturating_sub(first) + 1;
                let texts = self.beside(move |ledger| Ok(ledger.records(last))).await.unwrap_or_default();
                let lines = texts.iter().filter_map(|text| event_line(text));
                return lines.filter(|line| (first..before).contains(&line.seq)).collect();
            };
            lines.extend(page.records.iter().filter_map(|record| event_line(&record.to_string())));
            // A page of long records may be shorter than was asked for.
            match page.next {
                Some(next) if next > from => from = next,
                _ => break,
            }
        }
        lines
    }

    /// The ledger, where nobody coordinates (any more).
    async fn or<T: Send + 'static>(
        &self,
        asked: Result<T, ClientError>,
        otherwise: impl FnOnce(&dyn Desk) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        or_beside(&self.ledger, asked, otherwise).await
    }

    pub async fn beside<T: Send + 'static>(
        &self,
        what: impl FnOnce(&dyn Desk) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        beside(&self.ledger, what).await
    }
}

#[derive(Deserialize)]
struct Margin {
    seq: u64,
    ts: Timestamp,
    #[serde(rename = "type")]
    kind: String,
    by: String,
}

/// What these records say of the time after one of them.
fn since(record: u64, texts: &[String]) -> Since {
    let mut since = Since { from: record, seq: record, ..Since::default() };
    for (margin, event) in texts.iter().filter_map(|text| parts(text)).filter(|(m, _)| m.seq > record) {
        since.seq = margin.seq;
        event.iter().for_each(|event| since.note(event));
    }
    since
}

/// What stands around the event, and the event where this version knows it.
fn parts(text: &str) -> Option<(Margin, Option<Event>)> {
    let mut members: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).ok()?;
    let kind = members.remove("type")?;
    // In the ledger's own order its type comes first; what has travelled through other hands has another one.
    let rest = serde_json::to_string(&members).ok()?;
    let body = format!("\"type\":{kind},{}", rest.get(1..rest.len().checked_sub(1)?)?);
    let margin: Margin = serde_json::from_str(text).ok()?;
    Some((margin, event_of(body.as_bytes()).ok()))
}

/// A record as one line; none for what cannot be read.
pub fn event_line(text: &str) -> Option<EventLine> {
    let (margin, event) = parts(text)?;
    let at = margin.ts;
    Some(EventLine {
        seq: margin.seq,
        at,
        task: event.as_ref().and_then(|event| event.task().cloned()),
        by: margin.by,
        text: event.as_ref().and_then(|event| line_by(event, &|other: Timestamp| moment(other, at))),
        kind: margin.kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_a_line_for_people_or_machinery() {
        let record = r#"{"len":"1","seq":7,"batch":7,"ts":"2026-01-13T10:00:00.000Z","type":"mode_changed","data":{"mode":"autopilot"},"by":"person:cli","prev":"a","hash":"b"}"#;
        let line = event_line(record).expect("a record");
        assert_eq!((line.seq, line.text.as_deref()), (7, Some("the mode is autopilot now")));
        let sorted: serde_json::Value = serde_json::from_str(record).expect("a record");
        assert_eq!(event_line(&sorted.to_string()), Some(line), "whatever the order of its members");
        let after = since(6, &[record.to_owned()]);
        assert_eq!((after.seq, after.tasks.len(), since(7, &[record.to_owned()]).seq), (7, 0, 7));
        let record = record.replace("mode_changed", "something_new");
        let line = event_line(&record).expect("a record of a later version");
        assert_eq!((line.text, line.kind.as_str()), (None, "something_new"));
    }
}
