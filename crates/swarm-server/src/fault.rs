//! Errors as they leave: one shape, whatever went wrong.

use axum::Json;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use swarm_engine::store::StoreError;
use swarm_protocol::api::{ApiError, ErrorBody};
use swarm_protocol::deed::Deed;
use swarm_protocol::refusal::Refusal;

use crate::api_state::Lost;
use crate::peer::Role;

/// What came in place of an answer.
pub const NO_ANSWER: &str = "The coordinator ended before it answered";

/// A status and what is said with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub status: StatusCode,
    pub error: ApiError,
}

impl Fault {
    pub fn new(status: StatusCode, kind: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status, error: ApiError::new(kind, message, hint) }
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "bad_request",
            message,
            "GET /v1/openapi.json says what is expected",
        )
    }

    pub fn not_found(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message, hint)
    }

    pub fn wrong_method(method: &Method, path: &str) -> Self {
        let message = format!("{method} is not possible at {path}");
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            message,
            "GET /v1/openapi.json lists all routes",
        )
    }

    pub fn too_large(what: &str, bytes_max: usize) -> Self {
        let message = format!("{what} has more than {bytes_max} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message, "Send less at once")
    }

    /// The world failed, not the wish.
    pub fn world(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "world_failed", message, "swarm doctor")
    }

    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "busy",
            message,
            "Close connections that are not needed, then ask again",
        )
    }

    pub fn not_for_agents(message: impl Into<String>) -> Self {
        let hint = "Say what you need in your output: BLOCKED: with the reason. A person reads it";
        Self::new(StatusCode::FORBIDDEN, "not_for_agents", message, hint)
    }

    /// Nobody knows whether it was done. `why`: what came in place of an answer; `see`: how it is found out.
    pub fn lost(why: &str, see: impl Into<String>) -> Self {
        let message = format!("{why}: it is not known whether it was done");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "lost", message, see)
    }

    /// The same of a command, whose id answers for it.
    pub fn lost_command(why: &str) -> Self {
        Self::lost(why, "Ask again with the same id: what was done is not done twice")
    }

    /// The same of what is done by hand.
    pub fn lost_deed(why: &str, deed: &Deed) -> Self {
        Self::lost(
            why,
            format!("`{}` shows whether it was; look there before you ask again", deed.shown_by()),
        )
    }

    pub fn is_lost(&self) -> bool {
        self.error.kind == "lost"
    }

    /// More, or faster, than the bound of one attempt.
    pub fn too_often() -> Self {
        let message = "This attempt asks too often";
        let hint = "Ask less, and wait a second between two questions";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too_often", message, hint)
    }

    /// Whoever asks may look, and this is more.
    pub fn not_for_viewers(role: Role) -> Self {
        let message = format!("A {} may look, but not command", role.word());
        let hint = "Ask from a shell of your own, outside of any attempt, without the header Swarm-Role";
        Self::new(StatusCode::FORBIDDEN, "not_for_viewers", message, hint)
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self { status: StatusCode::CONFLICT, error: refusal.into() }
    }
}

/// What the ledger said where nobody coordinates. Its kinds are those of the command line.
impl From<ApiError> for Fault {
    fn from(error: ApiError) -> Self {
        let status = match error.kind.as_str() {
            "not_found" | "no_such_record" => StatusCode::NOT_FOUND,
            "not_for_agents" | "not_allowed" => StatusCode::FORBIDDEN,
            "environment" | "no_coordinator" | "failed" | "bug" => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::CONFLICT,
        };
        Self { status, error }
    }
}

impl From<Lost> for Fault {
    fn from(_: Lost) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "lost", NO_ANSWER, "Ask again")
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoSuchRecord { asked, last } => Self::new(
                StatusCode::NOT_FOUND,
                "no_such_record",
                format!("There is no record {asked}; the last one is {last}"),
                "GET /v1/history shows the records",
            ),
            StoreError::Refused(refusal) => refusal.into(),
            other => Self::world(other.to_string()),
        }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        (self.status, Json(ErrorBody { error: self.error })).into_response()
    }
}
