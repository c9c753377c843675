//! The routes, one file per group, and the description that is made of them.

pub mod body;
mod commands;
mod views;
mod history;
mod events;
mod logs;
mod operations;
mod screens;
mod trunk;
mod work;
mod metrics;
mod about;
mod doctor;
mod deeds;
mod lying;
mod describe;

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, Uri};
use axum::middleware::{self, Next};
use axum::response::Response;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api_state::ApiState;
pub use crate::fault::{Fault, NO_ANSWER};
use crate::looks::asked_by;
pub use describe::{DESCRIPTION, described_routes};
pub(crate) use work::Seat;
pub use work::WORK_PROTOCOL;

/// Where daemons go.
pub const WORK_PATH: &str = "/v1/work";

/// What the answers carry besides their bodies: the last record they know of.
pub const SEQ_HEADER: &str = "swarm-seq";

/// Which ledger a feed is of: numbers of another one mean nothing.
pub const LEDGER_HEADER: &str = "swarm-ledger";

/// All routes with what is said about them. A route that is not here does not exist.
pub(crate) fn routes() -> OpenApiRouter<Arc<ApiState>> {
    OpenApiRouter::with_openapi(describe::frame())
        .routes(routes!(about::ping))
        .routes(routes!(about::openapi))
        .routes(routes!(about::configuration))
        .routes(routes!(doctor::doctor))
        .routes(routes!(commands::send))
        .routes(routes!(commands::delivery))
        .routes(routes!(deeds::send))
        .routes(routes!(deeds::preview))
        .routes(routes!(lying::worktrees))
        .routes(routes!(lying::saved))
        .routes(routes!(lying::learnings))
        .routes(routes!(lying::prompts))
        .routes(routes!(lying::programs))
        .routes(routes!(views::status))
        .routes(routes!(views::tasks))
        .routes(routes!(views::task))
        .routes(routes!(views::agents))
        .routes(routes!(views::attention))
        .routes(routes!(views::plan))
        .routes(routes!(views::approved_plan))
        .routes(routes!(views::handoff))
        .routes(routes!(views::reviews))
        .routes(routes!(screens::board))
        .routes(routes!(screens::allowed))
        .routes(routes!(screens::choices))
        .routes(routes!(screens::diff))
        .routes(routes!(metrics::usage))
        .routes(routes!(trunk::trunk))
        .routes(routes!(operations::operations))
        .routes(routes!(operations::operation))
        .routes(routes!(operations::checkpoints))
        .routes(routes!(operations::hooks))
        .routes(routes!(operations::preview))
        .routes(routes!(history::history))
        .routes(routes!(history::since))
        .routes(routes!(events::events))
        .routes(routes!(logs::of_agent))
        .routes(routes!(logs::of_run))
        .routes(routes!(logs::prompt))
        .routes(routes!(metrics::metrics))
        .routes(routes!(metrics::livez))
        .routes(routes!(metrics::readyz))
        .routes(routes!(work::work))
}

pub(crate) fn router(api: Arc<ApiState>) -> Router {
    let (router, _) = routes().split_for_parts();
    let router = router.fallback(no_route).method_not_allowed_fallback(wrong_method);
    router
        .layer(middleware::from_fn(asked_by))
        .layer(middleware::from_fn_with_state(Arc::clone(&api), counted))
        .with_state(api)
}

/// Counts what is answered, by the route as it is described and never by what was asked for.
async fn counted(State(api): State<Arc<ApiState>>, request: Request, next: Next) -> Response {
    let (route, since) = (request.extensions().get::<MatchedPath>().cloned(), Instant::now());
    let response = next.run(request).await;
    let route = route.as_ref().map(MatchedPath::as_str);
    api.hub.feed.meters.asked(route, response.status().as_u16(), since.elapsed());
    response
}

async fn no_route(uri: Uri) -> Fault {
    Fault::not_found(format!("There is nothing at {}", uri.path()), "GET /v1/openapi.json lists all routes")
}

async fn wrong_method(method: Method, uri: Uri) -> Fault {
    Fault::wrong_method(&method, uri.path())
}
