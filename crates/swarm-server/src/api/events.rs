//! The feed: every record from one on, as it becomes durable, and the latest news of agents.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use serde::Deserialize;

use super::LEDGER_HEADER;
use super::views::{Asked, asked, with_seq};
use crate::api_state::ApiState;
use crate::fault::Fault;
use crate::hub::Reader;
use crate::sse::Outlet;

/// Where to begin.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct From {
    /// The first record; the next one to come when it is left out. `Last-Event-ID` goes before it
    pub from: Option<u64>,
    /// The `Swarm-Ledger` of the answer that is resumed: with another one the numbers would mean something else
    pub ledger: Option<String>,
}

/// Follow what happens
///
/// Server-sent events: `id` is the record's number, `event` its type, `data` the record. Events named `agent` have no id: they are
/// news that never enter the ledger. A reader that cannot keep up gets `cut` with the record to resume at; `end` says
/// that the coordinator has ended.
#[utoipa::path(
    get, path = "/v1/events", tag = "ledger",
    params(From, ("Last-Event-ID" = Option<u64>, Header, description = "The last record that was seen")),
    responses(
        (status = 200, description = "A stream of server-sent events", content_type = "text/event-stream", body = String),
        (status = 400, description = "Not a number", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "The ledger is not that long: it is another one", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "The plan that was followed is closed, this is another one", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn events(
    State(api): State<Arc<ApiState>>,
    headers: HeaderMap,
    from: Asked<From>,
) -> Result<Response, Fault> {
    let asked = asked(from)?;
    let ledger = api.hub.ledger_id().await.map_err(|error| Fault::world(error.to_string()))?;
    if let (Some(wanted), Some(now)) = (&asked.ledger, &ledger)
        && wanted != now
    {
        let message = "The plan that you followed is closed, and this is another one";
        let hint = "Start again with GET /v1/status";
        return Err(Fault::new(StatusCode::CONFLICT, "another_ledger", message, hint));
    }
    let last = api.hub.feed.position().seq;
    let next = match last_event_id(&headers)? {
        Some(seen) => seen.saturating_add(1),
        None => asked.from.unwrap_or(last + 1).max(1),
    };
    if next > last + 1 {
        let message = format!("There is no record {}; the last one is {last}", next - 1);
        let hint = "Is it another plan now? Start again with GET /v1/status";
        return Err(Fault::new(StatusCode::NOT_FOUND, "no_such_record", message, hint));
    }
    let (outlet, response) = Outlet::open(api.limits.stall);
    let reader = Reader::new(Arc::clone(&api.hub), outlet, next);
    tokio::spawn(reader.run(api.end.clone()));
    let mut response = with_seq(last, response);
    if let Some(ledger) = ledger.and_then(|id| HeaderValue::from_str(&id).ok()) {
        response.headers_mut().insert(LEDGER_HEADER, ledger);
    }
    Ok(response)
}

/// Where a reader wants to resume, by the header that browsers send by themselves.
pub(super) fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>, Fault> {
    let Some(id) = headers.get("last-event-id") else { return Ok(None) };
    let number = id.to_str().ok().and_then(|id| id.parse().ok());
    number.map(Some).ok_or_else(|| Fault::bad_request("Last-Event-ID is not a number"))
}
