//! Where views come from and commands go to: the coordinator, or the ledger where nobody coordinates.

use std::sync::Arc;

use serde_json::Value;
use swarm_protocol::api::{ApiError, HistoryPage, Seen};
use swarm_protocol::command::{Answer, Command, Envelope};
use swarm_protocol::diff::{DiffAsk, DiffView};
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::oplog::PreviewView;
use swarm_server::client::{Client, ClientError};
use swarm_server::either::{carried_out, or_beside};
use swarm_server::ledger::{Look, beside};

use crate::desk::Desk;

/// Through which front end the ledger says that a person came.
const BY: &str = "person:mcp";

#[derive(Clone)]
pub struct Source {
    pub client: Client,
    pub desk: Arc<dyn Desk>,
}

impl Source {
    /// Any view as JSON, and the record it was read at.
    pub async fn look(&self, what: Look, at: Option<u64>) -> Result<Seen<Value>, ApiError> {
        let asked = self.client.view(&route(&what), at).await;
        self.or(asked, move |desk| {
            let Seen { seq, view } = desk.look(&what, at)?;
            let view = serde_json::to_value(view).map_err(|error| bug(&error.to_string()))?;
            Ok(Seen { seq, view })
        })
        .await
    }

    pub async fn preview(&self, command: Command) -> Result<PreviewView, ApiError> {
        let asked = self.client.preview(&command).await;
        self.or(asked, move |desk| desk.preview(&command)).await
    }

    pub async fn diff(&self, task: TaskId) -> Result<DiffView, ApiError> {
        let asked = self.client.get(&format!("/v1/tasks/{task}/diff")).await;
        self.or(asked, move |desk| desk.diff(&DiffAsk::of(task))).await
    }

    pub async fn history(&self, from: u64, limit: usize) -> Result<HistoryPage, ApiError> {
        let asked = self.client.get(&format!("/v1/history?from={from}&limit={limit}")).await;
        self.or(asked, move |desk| desk.history(from, limit)).await
    }

    /// Carried out once, however often it is sent: a lost answer is asked for again with the same id.
    pub async fn send(&self, id: CommandId, command: Command) -> Result<Answer, ApiError> {
        let envelope = Envelope { id, by: BY.into(), command };
        carried_out(&self.client, &self.desk, envelope).await
    }

    /// The ledger, where nobody coordinates (any more).
    async fn or<T: Send + 'static>(
        &self,
        asked: Result<T, ClientError>,
        otherwise: impl FnOnce(&dyn Desk) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        or_beside(&self.desk, asked, otherwise).await
    }

    pub async fn beside<T: Send + 'static>(
        &self,
        what: impl FnOnce(&dyn Desk) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        beside(&self.desk, what).await
    }
}

fn bug(text: &str) -> ApiError {
    ApiError::new("bug", text, "swarm doctor")
}

/// Where the coordinator serves a view.
fn route(what: &Look) -> String {
    match what {
        Look::Status => "status".into(),
        Look::Board => "board".into(),
        Look::Allowed(None) => "allowed".into(),
        Look::Allowed(Some(task)) => format!("allowed?task={task}"),
        Look::Choices(task) => format!("tasks/{task}/redirect"),
        Look::Tasks => "tasks".into(),
        Look::Task(task) => format!("tasks/{task}"),
        Look::Agents => "agents".into(),
        Look::Attention => "attention".into(),
        Look::Plan => "plan".into(),
        Look::ApprovedPlan => "plan/approved".into(),
        Look::Handoff => "handoff".into(),
        Look::Operations => "operations".into(),
        Look::Operation(id) => format!("operations/{id}"),
        Look::Checkpoints => "checkpoints".into(),
        Look::Hooks => "hooks".into(),
        Look::Reviews => "reviews".into(),
    }
}
