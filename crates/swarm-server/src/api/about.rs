//! About the coordinator itself.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use swarm_engine::settings::{SettingsError, environment, load};
use swarm_protocol::api::{API_VERSION, Pong};

use super::describe::DESCRIPTION;
use crate::api_state::ApiState;
use crate::fault::Fault;
use crate::peer::Caller;

/// Is anybody there
#[utoipa::path(
    get, path = "/v1/ping", tag = "about",
    responses((status = 200, description = "Yes", body = ref("#/components/schemas/Pong")))
)]
pub async fn ping(Extension(caller): Extension<Caller>, headers: HeaderMap) -> Json<Pong> {
    let role = caller.role(&headers).word().to_owned();
    Json(Pong { swarm: swarm_process::release(), api: API_VERSION, role })
}

/// Every setting, its value and where that comes from
#[utoipa::path(
    get, path = "/v1/configuration", tag = "about",
    responses(
        (status = 200, description = "As `swarm config show --json` has it", body = ref("#/components/schemas/Settings")),
        (status = 403, description = "It is not an agent's to read", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "The file cannot be used", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The file cannot be read", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn configuration(
    State(api): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Fault> {
    if caller.inside().is_some() {
        return Err(Fault::not_for_agents("Agents may not read the configuration"));
    }
    let file = api.paths.config.clone();
    let read = tokio::task::spawn_blocking(move || load(&file, &environment(), &[]));
    let settings = read.await.map_err(|error| Fault::world(error.to_string()))?;
    let unusable =
        |error: SettingsError| Fault::new(StatusCode::CONFLICT, "usage", error.to_string(), error.hint);
    Ok(Json(settings.map_err(unusable)?.listed()).into_response())
}

/// This description
#[utoipa::path(
    get, path = "/v1/openapi.json", tag = "about",
    responses((status = 200, description = "OpenAPI 3.1", content_type = "application/json", body = serde_json::Value))
)]
pub async fn openapi() -> Response {
    let mut response = DESCRIPTION.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
