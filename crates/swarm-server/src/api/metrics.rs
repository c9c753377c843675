//! For monitoring: numbers in the text format of Prometheus, and whether the coordinator lives and can do its work.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use swarm_engine::Around;
use swarm_engine::coordinator::free_bytes;
use swarm_engine::look::Look;
use swarm_engine::store::StoreError;
use swarm_protocol::any_view::AnyView;
use swarm_protocol::outcome::PauseReason;

use super::views::{Asked, When, asked, with_seq};
use crate::api_state::{ApiState, Counted};
use crate::fault::Fault;
use crate::past::{each_from, read};

/// What the format calls itself.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Numbers of the swarm, for Prometheus
#[utoipa::path(
    get, path = "/metrics", tag = "about",
    responses(
        (status = 200, description = "The text format 0.0.4", content_type = "text/plain", body = String),
        (status = 409, description = "There is no plan", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn metrics(State(api): State<Arc<ApiState>>) -> Result<Response, Fault> {
    // One at a time: whoever comes second finds everything counted.
    let mut counted = api.tally.lock().await;
    count(&api, &mut counted, u64::MAX).await?;
    let AnyView::Board(board) = api.look(Look::Board).await?.view? else {
        return Err(Fault::world("another view was made than was asked for"));
    };
    // Where nobody coordinates, nobody counts.
    let live = api.is_attended().then(|| api.hub.feed.meters.now());
    let around = Around { disk_free: free_bytes(&api.paths.swarm), live };
    let page = counted.tally.text(&board, env!("CARGO_PKG_VERSION"), &around);
    Ok(([(header::CONTENT_TYPE, TEXT)], page).into_response())
}

/// Counts the records that came since it was last asked for, up to this one.
async fn count(api: &ApiState, counted: &mut Counted, to: u64) -> Result<(), Fault> {
    let from = counted.seq + 1;
    each_from(api, from, |record| {
        if record.seq > to {
            return;
        }
        counted.seq = record.seq;
        if let Some((event, at)) = read(record) {
            counted.tally.note(record.seq, &event, at);
            counted.over_time.note(&event, at);
        }
    })
    .await
    .map(drop)
}

/// How far the plan came and what it cost, from its beginning to now
#[utoipa::path(
    get, path = "/v1/usage", tag = "screens", params(When),
    responses(
        (status = 200, description = "Moments at which something changed, and what all of it was spent on", body = ref("#/components/schemas/OverTimeView")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "No such record", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn usage(State(api): State<Arc<ApiState>>, when: Asked<When>) -> Result<Response, Fault> {
    if let Some(at) = asked(when)?.at {
        let then = api.costly(&api.looks, move |api| async move { counted_then(&api, at).await }).await?;
        return Ok(with_seq(then.seq, Json(then.over_time.view()).into_response()));
    }
    let mut counted = api.tally.lock().await;
    count(&api, &mut counted, u64::MAX).await?;
    Ok(with_seq(counted.seq, Json(counted.over_time.view()).into_response()))
}

/// What the records up to this one add up to.
async fn counted_then(api: &ApiState, at: u64) -> Result<Counted, Fault> {
    let mut then = Counted::default();
    count(api, &mut then, at).await?;
    match then.seq == at {
        true => Ok(then),
        false => Err(StoreError::NoSuchRecord { asked: at, last: then.seq }.into()),
    }
}

/// Does it live
#[utoipa::path(
    get, path = "/livez", tag = "about",
    responses((status = 200, description = "It answers", content_type = "text/plain", body = String))
)]
pub async fn livez() -> &'static str {
    "alive\n"
}

/// Can it do its work
#[utoipa::path(
    get, path = "/readyz", tag = "about",
    responses(
        (status = 200, description = "Yes", body = serde_json::Value),
        (status = 503, description = "No, with the reasons", body = serde_json::Value),
    )
)]
pub async fn readyz(State(api): State<Arc<ApiState>>) -> Response {
    // The loop answers only after the disk has what came before.
    let reasons = match api.look(Look::Status).await {
        Err(_) => vec!["the coordinator is ending".to_owned()],
        Ok(looked) => match looked.view {
            Ok(AnyView::Status(status)) => {
                let disk = status.paused.contains(&PauseReason::Disk).then(|| "the disk is full".to_owned());
                let loss = status.loss.map(|loss| format!("records were lost: {loss}"));
                disk.into_iter().chain(loss).collect()
            }
            _ => vec!["there is no plan".to_owned()],
        },
    };
    let code = if reasons.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (code, Json(json!({ "ready": reasons.is_empty(), "reasons": reasons }))).into_response()
}
