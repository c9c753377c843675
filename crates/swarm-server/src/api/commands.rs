//! Commands: who may, within which bounds, and what became of them.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response as HttpResponse};
use axum::{Extension, Json};
use serde::de::DeserializeOwned;
use swarm_protocol::api::{CommandRequest, Delivery};
use swarm_protocol::channel::{REQUEST_MAX, Response};
use swarm_protocol::command::{Actor, Command, Envelope};
use swarm_protocol::ids::CommandId;

use super::body::{announced, must_be_json, read_up_to};
use super::views::with_seq;
use crate::api_state::ApiState;
use crate::fault::{Fault, NO_ANSWER};
use crate::limits::{AGENT_BODY_MAX, BODY_MAX};
use crate::peer::{Caller, Inside, Role};

/// The front ends a person may come through, and the one step that the command line takes by itself. Anything else is just
/// a program that speaks to us.
const DOORS: [&str; 6] =
    ["person:cli", "person:tui", "person:web", "person:mcp", "person:api", "swarm:close"];

/// Carry out a command
///
/// Answered when the disk has it. A client that lost the answer sends the same id again and gets the old answer.
#[utoipa::path(
    post, path = "/v1/commands", tag = "commands",
    request_body(content = ref("#/components/schemas/CommandRequest"), content_type = "application/json"),
    responses(
        (status = 200, description = "It is done, and the disk has it", body = ref("#/components/schemas/Delivery")),
        (status = 400, description = "Not a command", body = ref("#/components/schemas/ErrorBody")),
        (status = 403, description = "Not for an agent or a viewer", body = ref("#/components/schemas/ErrorBody")),
        (status = 408, description = "The body did not come in time", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "Refused, nothing was changed", body = ref("#/components/schemas/ErrorBody")),
        (status = 413, description = "Too large", body = ref("#/components/schemas/ErrorBody")),
        (status = 415, description = "Not JSON", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The world failed, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn send(
    State(api): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<HttpResponse, Fault> {
    let role = caller.role(request.headers());
    if let (Role::Agent, Some(inside)) = (role, caller.inside()) {
        return Err(refuse_agent(&api, inside, request).await);
    }
    if role != Role::Operator {
        return Err(Fault::not_for_viewers(role));
    }
    must_be_json(request.headers())?;
    let CommandRequest { id, by, command } =
        read_command(&api, request, parse, |asked: &CommandRequest| &asked.command).await?;
    let envelope = Envelope { id, by: front_end(by), command };
    let done = api.to_the_end(move |api| async move { api.command(envelope).await }).await;
    match done.map_err(|fault| if fault.is_lost() { Fault::lost_command(NO_ANSWER) } else { fault })? {
        Response::Answer(answer) => {
            let seq = answer.seq;
            Ok(with_seq(seq, Json(Delivery::Landed { answer }).into_response()))
        }
        Response::Refused { refusal } => Err(refusal.into()),
        Response::Failed { text } => Err(Fault::world(text)),
    }
}

/// The front end as the ledger names it.
pub(super) fn front_end(by: Option<Actor>) -> Actor {
    by.filter(|by| DOORS.contains(&by.as_str())).unwrap_or_else(|| "person:api".into())
}

/// Only a plan may be large, and large bodies are read one or two at a time.
pub(super) async fn read_command<T: Send + 'static>(
    api: &ApiState,
    request: Request,
    parse: fn(&[u8]) -> Result<T, Fault>,
    command: fn(&T) -> &Command,
) -> Result<T, Fault> {
    if announced(request.headers()).is_some_and(|bytes| bytes > REQUEST_MAX) {
        return Err(Fault::too_large("The body", REQUEST_MAX));
    }
    let mut body = request.into_body();
    let (mut bytes, within) = (Vec::new(), api.limits.body_within);
    if read_up_to(&mut body, &mut bytes, BODY_MAX, within).await? {
        return parse(&bytes);
    }
    let _permit = api.heavy.acquire().await.map_err(|_| crate::api_state::Lost)?;
    if !read_up_to(&mut body, &mut bytes, REQUEST_MAX, within).await? {
        return Err(Fault::too_large("The body", REQUEST_MAX));
    }
    let parsing = tokio::task::spawn_blocking(move || parse(&bytes));
    let asked = parsing.await.map_err(|_| Fault::world("reading the body failed"))??;
    match command(&asked) {
        Command::SavePlan { .. } => Ok(asked),
        _ => Err(Fault::too_large("A command that saves no plan", BODY_MAX)),
    }
}

pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Fault> {
    serde_json::from_slice(bytes).map_err(|error| {
        let message = format!("This is not a command: {error}");
        let hint =
            "Does the running swarm have another version? GET /v1/openapi.json says what it understands";
        Fault::new(StatusCode::BAD_REQUEST, "bad_command", message, hint)
    })
}

/// An agent is told so, and people are told of it.
async fn refuse_agent(api: &ApiState, inside: &Inside, request: Request) -> Fault {
    let (mut body, mut bytes) = (request.into_body(), Vec::new());
    let read = read_up_to(&mut body, &mut bytes, AGENT_BODY_MAX, api.limits.body_within).await;
    let wish = read.ok().and_then(|_| parse::<CommandRequest>(&bytes).ok()).map(|asked| asked.command);
    let what = match wish {
        Some(command) => match command.subject() {
            Some(subject) => format!("swarm {} {subject}", command.kind()),
            None => format!("swarm {}", command.kind()),
        },
        None => "a command that cannot be read".into(),
    };
    api.overstep(inside, &what).await;
    let who = inside.run.as_ref().map_or_else(|| "a run".into(), |run| format!("run {run}"));
    Fault::not_for_agents(format!("{what} was asked from inside {who}: an agent may not do this"))
}

/// What became of a command
///
/// Known for the last 1,000 commands that were carried out, and for those refused since the coordinator started.
#[utoipa::path(
    get, path = "/v1/commands/{id}", tag = "commands",
    params(("id" = String, Path, description = "The id the client gave the command")),
    responses(
        (status = 200, description = "How far it has come", body = ref("#/components/schemas/Delivery")),
        (status = 400, description = "Not an id", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn delivery(
    State(api): State<Arc<ApiState>>,
    Path(id): Path<String>,
) -> Result<Json<Delivery>, Fault> {
    let id = CommandId::new(id).map_err(|error| Fault::bad_request(error.to_string()))?;
    Ok(Json(api.delivery(id).await?))
}
