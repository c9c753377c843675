//! Operations, checkpoints and hooks; and what a command would do.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use swarm_engine::look::Look;
use swarm_protocol::command::Command;
use swarm_protocol::ids::CommandId;

use super::body::must_be_json;
use super::commands::{parse, read_command};
use super::views::{Asked, When, see};
use crate::api_state::ApiState;
use crate::fault::Fault;
use crate::peer::{Caller, Role};

/// Operations that are remembered, newest first
#[utoipa::path(
    get, path = "/v1/operations", tag = "operations", params(When),
    responses(
        (status = 200, description = "The view and the record it was read at", body = ref("#/components/schemas/SeenOperations")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "There is no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn operations(State(api): State<Arc<ApiState>>, when: Asked<When>) -> Result<Response, Fault> {
    see(&api, Look::Operations, when).await
}

/// One operation: its step, everything it changed, and whether it can be undone
#[utoipa::path(
    get, path = "/v1/operations/{id}", tag = "operations",
    params(("id" = String, Path, description = "The operation: the id of its command"), When),
    responses(
        (status = 200, description = "The view and the record it was read at", body = ref("#/components/schemas/SeenOperation")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "It is not remembered, or there is no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn operation(
    State(api): State<Arc<ApiState>>,
    Path(id): Path<String>,
    when: Asked<When>,
) -> Result<Response, Fault> {
    let id = CommandId::new(id).map_err(|error| Fault::bad_request(error.to_string()))?;
    see(&api, Look::Operation(id), when).await
}

/// Checkpoints that can be returned to, newest first
#[utoipa::path(
    get, path = "/v1/checkpoints", tag = "operations", params(When),
    responses(
        (status = 200, description = "The view and the record it was read at", body = ref("#/components/schemas/SeenCheckpoints")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "There is no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn checkpoints(State(api): State<Arc<ApiState>>, when: Asked<When>) -> Result<Response, Fault> {
    see(&api, Look::Checkpoints, when).await
}

/// Hooks that wait, run or ran, newest first
#[utoipa::path(
    get, path = "/v1/hooks", tag = "operations", params(When),
    responses(
        (status = 200, description = "The view and the record it was read at", body = ref("#/components/schemas/SeenHooks")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "There is no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn hooks(State(api): State<Arc<ApiState>>, when: Asked<When>) -> Result<Response, Fault> {
    see(&api, Look::Hooks, when).await
}

/// What a command would do now
///
/// Nothing is changed. For an operation with steps the answer has `expect`: sent with the command, it is carried out only
/// if it would still do exactly this.
#[utoipa::path(
    post, path = "/v1/preview", tag = "operations",
    request_body(content = ref("#/components/schemas/Command"), content_type = "application/json"),
    responses(
        (status = 200, description = "What would happen", body = ref("#/components/schemas/PreviewView")),
        (status = 400, description = "Not a command", body = ref("#/components/schemas/ErrorBody")),
        (status = 403, description = "Not for an agent", body = ref("#/components/schemas/ErrorBody")),
        (status = 408, description = "The body did not come in time", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "It would be refused", body = ref("#/components/schemas/ErrorBody")),
        (status = 413, description = "Too large", body = ref("#/components/schemas/ErrorBody")),
        (status = 415, description = "Not JSON", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The world failed", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn preview(
    State(api): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Fault> {
    if caller.role(request.headers()) == Role::Agent {
        let message = "An agent may not ask what commands would do";
        return Err(Fault::new(
            StatusCode::FORBIDDEN,
            "not_for_agents",
            message,
            "Do the task, and say what is missing",
        ));
    }
    must_be_json(request.headers())?;
    let command = read_command(&api, request, parse, |command: &Command| command).await?;
    Ok(Json(api.preview(command).await?).into_response())
}
