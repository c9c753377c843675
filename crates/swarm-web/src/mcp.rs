//! `/mcp`: the swarm for MCP clients that come by HTTP. One message, one answer, nothing kept between two; who comes is
//! known by a token, after the name and the process have been judged as for everything else behind this door.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use swarm_server::api::Fault;
use swarm_server::api::body::{announced, must_be_json, read_up_to};
use swarm_server::limits::BODY_MAX;
use swarm_server::peer::Role;
use swarm_server::sse::{Outlet, event};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::guard::origin_is_ours;
use crate::limits::{MCP_BODY_MAX, MCP_CALLS};
use crate::places::Place;
use crate::tokens::Tokens;

/// What a client reads that takes an answer in pieces.
const EVENTS: &str = "text/event-stream";

/// Words under way to one client.
const WORDS: usize = 8;

/// What comes of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answered {
    /// It wants no answer.
    Accepted,
    Json(String),
    /// It is no request, which the answer says in the protocol's words.
    Bad(String),
}

pub type Answering = Pin<Box<dyn Future<Output = Answered> + Send>>;

/// One message of a client.
#[derive(Debug, Clone)]
pub struct Said {
    /// What the client's header says that it speaks.
    pub version: Option<String>,
    pub message: Vec<u8>,
}

/// Whoever speaks the protocol.
pub trait Speaks: Send + Sync {
    /// `on_the_way`: who takes what is to be said before the answer.
    fn answer(&self, role: Role, said: Said, on_the_way: Option<mpsc::Sender<String>>) -> Answering;
    /// Whether there will be anything to say before the answer.
    fn asks_for_words(&self, message: &[u8]) -> bool;
}

/// What it takes to answer here.
pub struct Mcp {
    /// None: nobody speaks it.
    speaks: Option<Arc<dyn Speaks>>,
    tokens: Tokens,
    calls: Arc<Semaphore>,
}

impl Mcp {
    pub fn new(speaks: Option<Arc<dyn Speaks>>, tokens: Tokens) -> Self {
        Self { speaks, tokens, calls: Arc::new(Semaphore::new(MCP_CALLS)) }
    }
}

/// `heavy`: large bodies that are read at once; `within`: between two pieces of a body.
pub async fn answer(
    mcp: &Mcp,
    place: &Place,
    (heavy, within): (&Semaphore, Duration),
    request: Request<Body>,
) -> Result<Response, Fault> {
    let Some(speaks) = &mcp.speaks else {
        return Err(Fault::not_found("MCP is not served here", "Use `swarm mcp` over stdio"));
    };
    // Clients send none; a page sends the one that it is of.
    if request.headers().contains_key(header::ORIGIN) {
        origin_is_ours(request.headers())?;
    }
    let role = match role_of(&mcp.tokens, request.headers()).await? {
        Some(role) => role,
        None => return Ok(unknown()),
    };
    if request.method() != Method::POST {
        return Err(Fault::wrong_method(request.method(), "/mcp"));
    }
    must_be_json(request.headers())?;
    place.keep();
    let version = said(request.headers(), "mcp-protocol-version");
    let reads_events = request.headers().get_all(header::ACCEPT).iter();
    let reads_events =
        reads_events.filter_map(|kinds| kinds.to_str().ok()).any(|kinds| kinds.contains(EVENTS));
    let message = read(heavy, within, request).await?;
    let call = mcp.calls.clone().try_acquire_owned();
    let call = call.map_err(|_| Fault::busy("Too many calls are under way"))?;
    let streams = reads_events && speaks.asks_for_words(&message);
    let said = Said { version, message };
    if streams {
        let (outlet, response) = Outlet::open(within);
        tokio::spawn(stream(speaks.clone(), role, said, outlet, call));
        return Ok(response);
    }
    let json = |status: StatusCode, text: String| {
        (status, [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], text).into_response()
    };
    let answered = speaks.answer(role, said, None).await;
    drop(call);
    Ok(match answered {
        Answered::Accepted => StatusCode::ACCEPTED.into_response(),
        Answered::Json(text) => json(StatusCode::OK, text),
        Answered::Bad(text) => json(StatusCode::BAD_REQUEST, text),
    })
}

/// The words on the way and then the answer, each as an event. A client that leaves ends its call, as it does where it
/// waits for JSON; what it began in the ledger goes on.
async fn stream(
    speaks: Arc<dyn Speaks>,
    role: Role,
    said: Said,
    outlet: Outlet,
    _call: OwnedSemaphorePermit,
) {
    let (words, mut heard) = mpsc::channel(WORDS);
    let mut answering = speaks.answer(role, said, Some(words));
    let answered = loop {
        tokio::select! {
            biased;
            Some(word) = heard.recv() => {
                if outlet.send(event(None, "message", &word)).await.is_err() {
                    return;
                }
            }
            answered = &mut answering => break answered,
            () = outlet.gone() => return,
        }
    };
    if let Answered::Json(text) | Answered::Bad(text) = answered {
        let _ = outlet.send(event(None, "message", &text)).await;
    }
}

fn said(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// By the token alone: a cookie is for pages.
async fn role_of(tokens: &Tokens, headers: &HeaderMap) -> Result<Option<Role>, Fault> {
    let mut shown = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(shown), None) = (shown.next(), shown.next()) else { return Ok(None) };
    let token = shown.to_str().ok().and_then(|text| text.split_once(' '));
    let Some((scheme, token)) = token else { return Ok(None) };
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Ok(None);
    }
    let (tokens, token) = (tokens.clone(), token.trim().to_owned());
    let looked = tokio::task::spawn_blocking(move || tokens.role_of(&token)).await;
    match looked {
        Ok(Ok(role)) => Ok(role),
        Ok(Err(error)) => Err(Fault::world(format!("The tokens cannot be read: {error}"))),
        Err(_) => Err(Fault::world("The tokens cannot be read")),
    }
}

fn unknown() -> Response {
    let hint = "Make one with `swarm mcp token`, and send it as Authorization: Bearer TOKEN";
    let message = "There is no token here, or it was revoked";
    let mut response = Fault::new(StatusCode::UNAUTHORIZED, "no_token", message, hint).into_response();
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

/// Only a plan is large, and such bodies are read one or two at a time.
async fn read(heavy: &Semaphore, within: Duration, request: Request<Body>) -> Result<Vec<u8>, Fault> {
    let too_large = || Fault::too_large("The body", MCP_BODY_MAX);
    if announced(request.headers()).is_some_and(|bytes| bytes > MCP_BODY_MAX) {
        return Err(too_large());
    }
    let (mut body, mut bytes) = (request.into_body(), Vec::new());
    if read_up_to(&mut body, &mut bytes, BODY_MAX.min(MCP_BODY_MAX), within).await? {
        return Ok(bytes);
    }
    let _permit = heavy.acquire().await.map_err(|_| Fault::busy("The door is closing"))?;
    match read_up_to(&mut body, &mut bytes, MCP_BODY_MAX, within).await? {
        true => Ok(bytes),
        false => Err(too_large()),
    }
}
