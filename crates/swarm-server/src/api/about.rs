//! About the coordinator itself.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use swarm_protocol::api::{API_VERSION, Pong};

use super::describe::DESCRIPTION;
use crate::peer::Caller;

/// Is anybody there
#[utoipa::path(
    get, path = "/v1/ping", tag = "about",
    responses((status = 200, description = "Yes", body = ref("#/components/schemas/Pong")))
)]
pub async fn ping(Extension(caller): Extension<Caller>, headers: HeaderMap) -> Json<Pong> {
    let role = caller.role(&headers).word().to_owned();
    Json(Pong { swarm: env!("CARGO_PKG_VERSION").into(), api: API_VERSION, role })
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
