//! Views: of now from the coordinator, of any record from the ledger.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use swarm_engine::look::Look;
use swarm_protocol::api::Seen;
use swarm_protocol::ids::TaskId;

use super::SEQ_HEADER;
use crate::api_state::ApiState;
use crate::fault::Fault;

/// When to look.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The record to look at; now when it is left out
    pub at: Option<u64>,
}

pub(super) type Asked<T> = Result<Query<T>, QueryRejection>;

pub(super) fn asked<T>(query: Asked<T>) -> Result<T, Fault> {
    query.map(|Query(query)| query).map_err(|error| Fault::bad_request(error.body_text()))
}

/// Says which record the answer was read at.
pub(super) fn with_seq(seq: u64, mut response: Response) -> Response {
    response.headers_mut().insert(SEQ_HEADER, HeaderValue::from(seq));
    response
}

pub(super) async fn see(api: &Arc<ApiState>, what: Look, when: Asked<When>) -> Result<Response, Fault> {
    see_at(api, what, asked(when)?.at).await
}

pub(super) async fn see_at(api: &Arc<ApiState>, what: Look, at: Option<u64>) -> Result<Response, Fault> {
    let looked = match at {
        None => api.look(what).await?,
        Some(at) => api.look_back(what, at).await?,
    };
    let seq = looked.seq;
    Ok(with_seq(seq, Json(Seen { seq, view: looked.view? }).into_response()))
}

/// The swarm at a glance
#[utoipa::path(
    get, path = "/v1/status", tag = "views", params(When),
    responses(
        (status = 200, description = "The view and the record it was read at", body = ref("#/components/schemas/SeenStatus")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "There is no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn status(State(api): State<Arc<ApiState>>, when: Asked<When>) -> Result<Response, Fault> {
    see(&api, Look::Status, when).await
}

/// All tasks in the order of the plan
#[utoipa::path(
    get, path = "/v1/tasks", tag = "views", params(When),
    responses(
        (status = 200, description = "The view and the record it was read at", body = ref("#/components/schemas/SeenTasks")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "There is no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn tasks(State(api): State<Arc<ApiState>>, when: Asked<When>) -> Result<Response, Fault> {
    see(&api, Look::Tasks, when).await
}

/// Agents that have a task, with the latest news of each
#[utoipa::path(
    get, path = "/v1/agents", tag = "views", params(When),
    responses(
        (status = 200, description = "The view and the record it was read at", body = ref("#/components/schemas/SeenAgents")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "There is no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn agents(State(api): State<Arc<ApiState>>, when: Asked<When>) -> Result<Response, Fault> {
    see(&api, Look::Agents, when).await
}

/// Everything that waits for a person
#[utoipa::path(
    get, path = "/v1/attention", tag = "views", params(When),
    responses(
        (status = 200, description = "The view and the record it was read at", body = ref("#/components/schemas/SeenAttention")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "There is no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn attention(State(api): State<Arc<ApiState>>, when: Asked<When>) -> Result<Response, Fault> {
    see(&api, Look::Attention, when).await
}

/// The plan as a file would have it
#[utoipa::path(
    get, path = "/v1/plan", tag = "views", params(When),
    responses(
        (status = 200, description = "The view and the record it was read at", body = ref("#/components/schemas/SeenPlan")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "There is no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn plan(State(api): State<Arc<ApiState>>, when: Asked<When>) -> Result<Response, Fault> {
    see(&api, Look::Plan, when).await
}

/// The plan that a person agreed to, and whether it has drifted
#[utoipa::path(
    get, path = "/v1/plan/approved", tag = "views", params(When),
    responses(
        (status = 200, description = "The view and the record it was read at", body = ref("#/components/schemas/SeenApprovedPlan")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "There is no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn approved_plan(State(api): State<Arc<ApiState>>, when: Asked<When>) -> Result<Response, Fault> {
    see(&api, Look::ApprovedPlan, when).await
}

/// What a fresh agent or person needs to go on
#[utoipa::path(
    get, path = "/v1/handoff", tag = "views", params(When),
    responses(
        (status = 200, description = "The view and the record it was read at", body = ref("#/components/schemas/SeenHandoff")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "There is no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn handoff(State(api): State<Arc<ApiState>>, when: Asked<When>) -> Result<Response, Fault> {
    see(&api, Look::Handoff, when).await
}

/// Submitted work that is or waits to be reviewed, longest waiting first
#[utoipa::path(
    get, path = "/v1/reviews", tag = "views", params(When),
    responses(
        (status = 200, description = "The view and the record it was read at", body = ref("#/components/schemas/SeenReviews")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "There is no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn reviews(State(api): State<Arc<ApiState>>, when: Asked<When>) -> Result<Response, Fault> {
    see(&api, Look::Reviews, when).await
}

/// Everything about one task
#[utoipa::path(
    get, path = "/v1/tasks/{id}", tag = "views",
    params(("id" = String, Path, description = "The task"), When),
    responses(
        (status = 200, description = "The view and the record it was read at", body = ref("#/components/schemas/SeenTask")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "There is no such task, or no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn task(
    State(api): State<Arc<ApiState>>,
    Path(id): Path<String>,
    when: Asked<When>,
) -> Result<Response, Fault> {
    let id = TaskId::new(id).map_err(|error| Fault::bad_request(error.to_string()))?;
    see(&api, Look::Task(id), when).await
}
