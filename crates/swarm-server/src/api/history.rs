//! Records of the ledger, page by page.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use swarm_protocol::api::Since;

use super::views::{Asked, asked, with_seq};
use crate::api_state::ApiState;
use crate::fault::Fault;
use crate::limits::HISTORY_MAX;
use crate::past::{each_from, read};

/// Which records.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Which {
    /// The first record; 1 when it is left out
    pub from: Option<u64>,
    /// How many at most, up to 1000; 100 when it is left out
    pub limit: Option<usize>,
}

/// `HistoryPage` of the protocol, with the records as they stand in the ledger.
#[derive(Serialize)]
struct Page {
    seq: u64,
    records: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

/// From when on.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct FromThen {
    /// The last record that was seen
    pub record: u64,
}

/// What happened since a record: tasks by what they have become, and what was spent
#[utoipa::path(
    get, path = "/v1/since", tag = "ledger", params(FromThen),
    responses(
        (status = 200, description = "Tasks whose status is another one than then, by their status now", body = ref("#/components/schemas/Since")),
        (status = 400, description = "Not a record number", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn since(State(api): State<Arc<ApiState>>, then: Asked<FromThen>) -> Result<Response, Fault> {
    let from = asked(then)?.record;
    let since = api.costly(&api.looks, move |api| async move { what_became(&api, from).await }).await?;
    Ok(with_seq(since.seq, Json(since).into_response()))
}

async fn what_became(api: &ApiState, from: u64) -> Result<Since, Fault> {
    let mut since = Since { from, ..Since::default() };
    since.seq = each_from(api, from.saturating_add(1), |record| {
        if let Some((event, _)) = read(record) {
            since.note(&event);
        }
    })
    .await?;
    Ok(since)
}

/// Records of the ledger, oldest first
#[utoipa::path(
    get, path = "/v1/history", tag = "ledger", params(Which),
    responses(
        (status = 200, description = "Some records and where to go on", body = ref("#/components/schemas/HistoryPage")),
        (status = 400, description = "Not a number", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn history(State(api): State<Arc<ApiState>>, which: Asked<Which>) -> Result<Response, Fault> {
    let which = asked(which)?;
    let _turn = api.turn().await?;
    let (from, limit) = (which.from.unwrap_or(1).max(1), which.limit.unwrap_or(100).clamp(1, HISTORY_MAX));
    let unreadable = |error: std::io::Error| Fault::world(format!("The ledger cannot be read: {error}"));
    let (position, page) = api.hub.read(from, None, limit).await.map_err(unreadable)?;
    let last = page.records.last().map(|record| record.seq);
    let raw = page.records.into_iter().map(|record| RawValue::from_string(record.text));
    let records = raw.collect::<Result<_, _>>().map_err(|error| unreadable(error.into()))?;
    let next = last.map(|last| last + 1).filter(|next| *next <= position.seq);
    Ok(with_seq(position.seq, Json(Page { seq: position.seq, records, next }).into_response()))
}
