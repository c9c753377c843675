//! The OpenAPI description. Served is the printed file: the schemas of the types that travel cost as much to build as
//! the types themselves, so that only the test that prints it makes them (`tests/api/schemas.rs`).

use serde_json::Value;
use utoipa::openapi::{InfoBuilder, OpenApi, OpenApiBuilder};

/// The whole description, as printed.
pub const DESCRIPTION: &str = include_str!("../../reference/openapi.json");

/// What stands above the routes.
pub fn frame() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Swarm")
        .version(format!("v{}", swarm_protocol::api::API_VERSION))
        .description(Some(
            "The coordinator of a running swarm, at `.swarm/run/coordinator.sock`. See docs/reference/api.md.",
        ))
        .build();
    OpenApiBuilder::new().info(info).build()
}

/// The routes as their handlers describe them, without the schemas that they name.
pub fn described_routes() -> Value {
    let (_, described) = super::routes().split_for_parts();
    serde_json::to_value(&described).unwrap_or_default()
}
