//! What is asked, and who answers it. The order is the point: the name first, then whose process it is, then whose
//! session, and only then what is wanted.

use std::net::SocketAddrV4;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use swarm_server::api::body::{must_be_json, read_up_to};
use swarm_server::api::{Fault, WORK_PATH};
use swarm_server::client::Client;
use swarm_server::peer::{Role, Who};
use tokio::sync::{OnceCell, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::assets;
use crate::forward::{Wish, hand_on, in_our_name, read_body};
use crate::guard::{clothed, comes_from_us, host_is_ours, is_of_a_page, origin_is_ours};
use crate::holder::{Holder, holder_of};
use crate::limits::{KEY_BODY_MAX, Limits, MESSAGE_MAX};
use crate::live;
use crate::mcp::{self, Mcp};
use crate::places::Place;
use crate::scrape::Token;
use crate::sessions::{Clock, Session, Sessions};
use crate::tail::Tail;

/// A key is a few bytes: whoever takes longer over them does not want to come in.
const KEY_WITHIN: Duration = Duration::from_secs(5);

/// Looks for the holder of a connection at once, for those who show a session and for those who do not: each reads a lot
/// of `/proc`.
pub const HOLDERS_AT_ONCE: [usize; 2] = [4, 2];

/// What all connections share.
pub struct Front {
    pub port: u16,
    /// The name of the repository's folder.
    pub place: String,
    pub trunk: Arc<dyn Fn() -> Option<String> + Send + Sync>,
    /// The cookie's name: browsers keep cookies by host, whatever the port.
    pub cookie: String,
    pub sessions: Arc<Sessions>,
    pub scrape: Token,
    pub clock: Clock,
    pub who: Who,
    pub client: Client,
    pub tail: Tail,
    pub limits: Limits,
    /// Large bodies that are read at once.
    pub heavy: Semaphore,
    /// Looks for holders that may still be begun, of those who show a session and of the others.
    pub looks: [Arc<Semaphore>; 2],
    /// Live connections that may still be opened.
    pub live: Arc<Semaphore>,
    pub mcp: Mcp,
    pub end: CancellationToken,
}

/// One connection.
pub struct Connection {
    pub theirs: SocketAddrV4,
    pub ours: SocketAddrV4,
    pub place: Place,
    /// Looked up when it first asks for something, and the same from then on.
    pub holder: OnceCell<Holder>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyBody {
    key: String,
}

#[derive(Serialize)]
struct Me<'a> {
    role: &'a str,
    ledger: Option<String>,
    place: &'a str,
    version: &'a str,
    trunk: Option<String>,
}

/// Answers one request, whatever it is.
pub async fn answer(front: &Arc<Front>, connection: &Connection, request: Request<Body>) -> Response {
    connection.place.speak();
    let mut response = match judged(front, connection, request).await {
        Ok(response) => response,
        Err(fault) => fault.into_response(),
    };
    // One that is not a person's will never be: its place is wanted.
    if connection.holder.get().is_some_and(|holder| *holder != Holder::Person) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let streams =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    if !streams && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        connection.place.idle();
    }
    clothed(response)
}

async fn judged(
    front: &Arc<Front>,
    connection: &Connection,
    request: Request<Body>,
) -> Result<Response, Fault> {
    host_is_ours(&request, front.port)?;
    let path = request.uri().path().to_owned();
    let is_api = path == "/v1" || path.starts_with("/v1/");
    let is_page = !is_api && !["/session", "/live", "/metrics", "/mcp"].contains(&path.as_str());
    comes_from_us(&request, is_page)?;
    // To look takes a while, in which thousands may come: who shows a session keeps the place meanwhile.
    let shows_one = shown(front, &request).any(|secret| front.sessions.knows(secret));
    if shows_one {
        connection.place.keep();
    }
    let holder = connection.holder.get_or_init(|| who_is_it(front, connection, shows_one)).await;
    admitted(holder)?;
    match (request.method(), path.as_str()) {
        (&Method::POST, "/session") => enter(front, request).await,
        (_, "/session") => {
            let session = session_of(front, &request)?;
            session_asked(front, session, request.method(), request.headers()).await
        }
        (_, "/live") => {
            let session = session_of(front, &request)?;
            go_live(front, connection, session, request).await
        }
        (&Method::GET, "/metrics") => {
            if !front.scrape.is_shown(request.headers()) {
                session_of(front, &request)?;
            }
            let target = Uri::from_static("/metrics");
            let (method, role, body) = (Method::GET, Role::Viewer, Default::default());
            hand_on(&front.client, &front.tail, &Wish { method, target, role, last_event_id: None, body })
                .await
        }
        (_, "/mcp") => {
            let reading = (&front.heavy, front.limits.body_within);
            mcp::answer(&front.mcp, &connection.place, reading, request).await
        }
        _ if is_api => {
            let session = session_of(front, &request)?;
            connection.place.keep();
            api(front, session, request).await
        }
        (&Method::GET | &Method::HEAD, _) => {
            let none = || Fault::not_found(format!("There is nothing at {path}"), "Open the page at /");
            assets::page(&path).ok_or_else(none)
        }
        (method, _) => Err(Fault::wrong_method(method, &path)),
    }
}

/// Whoever leaves while it waits for its turn is not looked for.
async fn who_is_it(front: &Arc<Front>, connection: &Connection, shows_one: bool) -> Holder {
    let turns = &front.looks[usize::from(!shows_one)];
    let Ok(turn) = Arc::clone(turns).acquire_owned().await else { return Holder::Unseen };
    let (theirs, ours, who) = (connection.theirs, connection.ours, Arc::clone(&front.who));
    let looking = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        holder_of(theirs, ours, &who)
    });
    looking.await.unwrap_or(Holder::Unseen)
}

fn admitted(holder: &Holder) -> Result<(), Fault> {
    let refused = |kind, message, hint| Err(Fault::new(StatusCode::FORBIDDEN, kind, message, hint));
    match holder {
        Holder::Person => Ok(()),
        Holder::Agent(_) => Err(Fault::not_for_agents("Agents may not use the web UI")),
        Holder::OtherUser => refused(
            "other_user",
            "You are another user",
            "Only the user who runs the swarm may connect to it",
        ),
        Holder::Unseen => refused(
            "unseen",
            "The process at the other end of this connection cannot be identified",
            "Connect from your own program on this machine, or through an SSH tunnel",
        ),
    }
}

/// What stands in our cookies.
fn shown<'a>(front: &'a Front, request: &'a Request<Body>) -> impl Iterator<Item = &'a str> {
    let cookies = request.headers().get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == front.cookie).map(|(_, secret)| secret)
}

fn session_of(front: &Front, request: &Request<Body>) -> Result<Session, Fault> {
    let session = shown(front, request).find_map(|secret| front.sessions.of(secret, (front.clock)()));
    session.ok_or_else(|| {
        let hint = "Run `swarm web` for a link that opens the web UI";
        Fault::new(StatusCode::UNAUTHORIZED, "no_session", "You have no session, or it has ended", hint)
    })
}

/// A key becomes a session.
async fn enter(front: &Front, request: Request<Body>) -> Result<Response, Fault> {
    is_of_a_page(request.headers())?;
    must_be_json(request.headers())?;
    let (mut body, mut bytes) = (request.into_body(), Vec::new());
    let reading = read_up_to(&mut body, &mut bytes, KEY_BODY_MAX, KEY_WITHIN);
    let slow = || {
        Fault::new(
            StatusCode::REQUEST_TIMEOUT,
            "too_slow",
            "The key did not arrive in time",
            "Open the link again",
        )
    };
    if !tokio::time::timeout(KEY_WITHIN, reading).await.map_err(|_| slow())?? {
        return Err(Fault::too_large("The body", KEY_BODY_MAX));
    }
    let KeyBody { key } = serde_json::from_slice(&bytes)
        .map_err(|_| Fault::bad_request("The body must be {\"key\": \"…\"}"))?;
    let entered =
        front.sessions.enter(&key, (front.clock)()).map_err(|error| Fault::world(error.to_string()))?;
    let secret = entered.ok_or_else(|| {
        let (message, hint) =
            ("This link has been used, or is older than five minutes", "Run `swarm web` for a new one");
        Fault::new(StatusCode::UNAUTHORIZED, "bad_key", message, hint)
    })?;
    Ok(with_cookie(front, &secret, front.limits.session_idle.as_secs()))
}

fn with_cookie(front: &Front, value: &str, seconds: u64) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let cookie = format!("{}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}", front.cookie);
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

async fn session_asked(
    front: &Front,
    session: Session,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Response, Fault> {
    match *method {
        Method::GET => {
            let trunk = Arc::clone(&front.trunk);
            let trunk = tokio::task::spawn_blocking(move || trunk()).await.ok().flatten();
            let ledger = front.tail.era.borrow().ledger.clone();
            let version = env!("CARGO_PKG_VERSION");
            let me = Me { role: session.role.word(), ledger, place: &front.place, version, trunk };
            Ok(Json(me).into_response())
        }
        Method::DELETE => {
            is_of_a_page(headers)?;
            front.sessions.revoke(Some(&session.id));
            Ok(with_cookie(front, "", 0))
        }
        ref method => Err(Fault::wrong_method(method, "/session")),
    }
}

async fn go_live(
    front: &Arc<Front>,
    connection: &Connection,
    session: Session,
    request: Request<Body>,
) -> Result<Response, Fault> {
    origin_is_ours(request.headers())?;
    let (mut parts, _) = request.into_parts();
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
        Ok(upgrade) => upgrade,
        Err(rejection) => return Err(Fault::bad_request(rejection.body_text())),
    };
    let full = |_| Fault::busy("Too many live connections are open");
    let places = [
        Arc::clone(&session.live).try_acquire_owned().map_err(full)?,
        Arc::clone(&front.live).try_acquire_owned().map_err(full)?,
    ];
    connection.place.keep();
    let page = live::Page {
        session,
        sessions: Arc::clone(&front.sessions),
        clock: Arc::clone(&front.clock),
        tail: front.tail.clone(),
        limits: front.limits,
        end: front.end.clone(),
        places,
    };
    let upgrade = upgrade.max_message_size(MESSAGE_MAX).max_frame_size(MESSAGE_MAX);
    Ok(upgrade.on_upgrade(move |socket| live::serve(socket, page)))
}

async fn api(front: &Arc<Front>, session: Session, request: Request<Body>) -> Result<Response, Fault> {
    let (method, target) = (request.method().clone(), request.uri().clone());
    if target.path().starts_with(WORK_PATH) {
        return Err(Fault::not_found("Daemons cannot connect here", "GET /v1/openapi.json lists all routes"));
    }
    let last_event_id = request.headers().get("last-event-id").cloned();
    let body = match (&method, target.path()) {
        (&Method::GET, _) => Default::default(),
        (&Method::POST, path) => {
            is_of_a_page(request.headers())?;
            must_be_json(request.headers())?;
            let path = path.to_owned();
            let body = read_body(request, &front.heavy, front.limits.body_within).await?;
            in_our_name(&path, body)?
        }
        (method, path) => return Err(Fault::wrong_method(method, path)),
    };
    let wish = Wish { method, target, role: session.role, last_event_id, body };
    hand_on(&front.client, &front.tail, &wish).await
}
