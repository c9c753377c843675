//! A body read within its bounds: bytes, and time between two pieces.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;

use crate::fault::Fault;

/// Refuses what does not say that it is JSON: a form of a foreign page cannot say so.
pub fn must_be_json(headers: &HeaderMap) -> Result<(), Fault> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let message = format!("The body must be application/json, not {kind:?}");
    let hint = "Send the header content-type: application/json";
    Err(Fault::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "wrong_media_type", message, hint))
}

/// What the body says it has; none when it comes in pieces.
pub fn announced(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads the rest of a body behind what is there already; false when it is longer than the bound.
pub async fn read_up_to(
    body: &mut Body,
    into: &mut Vec<u8>,
    bytes_max: usize,
    within: Duration,
) -> Result<bool, Fault> {
    loop {
        let slow = || {
            Fault::new(
                StatusCode::REQUEST_TIMEOUT,
                "too_slow",
                "The body did not come in time",
                "Send it without a pause",
            )
        };
        let frame = tokio::time::timeout(within, body.frame()).await.map_err(|_| slow())?;
        let Some(frame) = frame else { return Ok(true) };
        let frame = frame.map_err(|error| Fault::bad_request(format!("The body ended early: {error}")))?;
        let Ok(bytes) = frame.into_data() else { continue };
        into.extend_from_slice(&bytes);
        if into.len() > bytes_max {
            return Ok(false);
        }
    }
}
