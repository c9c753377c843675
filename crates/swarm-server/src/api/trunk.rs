//! From a line of trunk to what brought it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use swarm_protocol::trunk::TrunkAsk;

use super::views::{Asked, asked};
use crate::api_state::ApiState;
use crate::fault::Fault;

/// Where on trunk.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Where {
    /// A folder or file, written from the top of the repository; the top when it is left out
    pub path: Option<String>,
    /// The first line of a file, from 1
    pub from: Option<u64>,
}

/// A folder of trunk, or five hundred lines of a file with the commit and the task that brought each of them
#[utoipa::path(
    get, path = "/v1/trunk", tag = "screens", params(Where),
    responses(
        (status = 200, description = "What stands there", body = ref("#/components/schemas/TrunkView")),
        (status = 400, description = "Not a path of the repository", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "Nothing stands there", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "There is no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "Git failed or needed too long, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn trunk(State(api): State<Arc<ApiState>>, at: Asked<Where>) -> Result<Response, Fault> {
    let Where { path, from } = asked(at)?;
    let ask = TrunkAsk::new(&path.unwrap_or_default(), from.unwrap_or(1)).map_err(Fault::bad_request)?;
    Ok(Json(api.trunk(ask).await?).into_response())
}
