//! What screens need beyond the views of the command line: everything at once, what could be asked for now, candidates
//! for a redirect, and a task's work as a patch.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use swarm_engine::look::Look;
use swarm_protocol::diff::DiffAsk;
use swarm_protocol::ids::TaskId;

use super::views::{Asked, When, asked, see, see_at};
use crate::api_state::ApiState;
use crate::fault::Fault;

/// Of which task, and when.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct OfTask {
    /// Verbs about this task too
    pub task: Option<String>,
    /// The record to look at; now when it is left out
    pub at: Option<u64>,
}

/// Everything on the main screen, of one record
#[utoipa::path(
    get, path = "/v1/board", tag = "screens", params(When),
    responses(
        (status = 200, description = "The view and the record it was read at", body = ref("#/components/schemas/SeenBoard")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "There is no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn board(State(api): State<Arc<ApiState>>, when: Asked<When>) -> Result<Response, Fault> {
    see(&api, Look::Board, when).await
}

/// What a person could ask for now, and why something would be refused
#[utoipa::path(
    get, path = "/v1/allowed", tag = "screens", params(OfTask),
    responses(
        (status = 200, description = "The view and the record it was read at", body = ref("#/components/schemas/SeenAllowed")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "There is no such task, or no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn allowed(State(api): State<Arc<ApiState>>, of: Asked<OfTask>) -> Result<Response, Fault> {
    let OfTask { task, at } = asked(of)?;
    let task = task.map(named).transpose()?;
    see_at(&api, Look::Allowed(task), at).await
}

/// Ready tasks that the agent of this task could take up instead, best first
#[utoipa::path(
    get, path = "/v1/tasks/{id}/redirect", tag = "screens",
    params(("id" = String, Path, description = "The task"), When),
    responses(
        (status = 200, description = "The view and the record it was read at", body = ref("#/components/schemas/SeenChoices")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "No agent works on it, or there is no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn choices(
    State(api): State<Arc<ApiState>>,
    Path(id): Path<String>,
    when: Asked<When>,
) -> Result<Response, Fault> {
    see(&api, Look::Choices(named(id)?), when).await
}

/// Which part of the work.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct WhichWork {
    /// As it was submitted the nth time; as it is now when it is left out
    pub round: Option<usize>,
    /// Only what is another than when it was submitted the nth time
    pub since: Option<usize>,
    /// Only this file, with its lines and the words marked that differ
    pub file: Option<String>,
}

/// What the work of a task changes, as a patch
///
/// The committed work of the task and nothing else, as `swarm task diff` has it. Cut after two megabytes.
#[utoipa::path(
    get, path = "/v1/tasks/{id}/diff", tag = "screens",
    params(("id" = String, Path, description = "The task"), WhichWork),
    responses(
        (status = 200, description = "The patch and between which commits it is", body = ref("#/components/schemas/DiffView")),
        (status = 400, description = "Not a task, or not a number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "It has no work to show yet, or was not submitted so many times", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "Git failed, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn diff(
    State(api): State<Arc<ApiState>>,
    Path(id): Path<String>,
    which: Asked<WhichWork>,
) -> Result<Response, Fault> {
    let WhichWork { round, since, file } = asked(which)?;
    Ok(Json(api.diff(DiffAsk { task: named(id)?, round, since, file }).await?).into_response())
}

fn named(id: String) -> Result<TaskId, Fault> {
    TaskId::new(id).map_err(|error| Fault::bad_request(error.to_string()))
}
