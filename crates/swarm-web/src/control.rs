//! The socket by which the command line speaks to a door that is open: a new link, who is in, who has to leave.
//! It lies beside the coordinator's, for the same user only, and no agent is listened to.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde::{Deserialize, Serialize};
use swarm_server::api::Fault;
use swarm_server::client::{Client, ClientError};
use swarm_server::limits::HEAD_MAX;
use swarm_server::patient::Patient;
use swarm_server::peer::{Peer, Role, Standing, Who};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;

use crate::front::Front;
pub use crate::sessions::SessionView;

/// Connections at once: the command line makes one at a time. As many more of those that are told no.
const CALLERS: usize = 16;

/// `.swarm/run/web.sock`.
pub fn socket_in(run: &Path) -> PathBuf {
    run.join("web.sock")
}

/// What may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkWish {
    pub viewer: bool,
}

/// A link that opens the door once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub url: String,
    pub role: String,
    pub port: u16,
    /// The process of the door.
    pub pid: u32,
    /// Seconds that it is good for.
    pub seconds: u64,
}

/// Whose session ends; none: everybody's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revoke {
    pub id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revoked {
    pub ended: usize,
}

/// The command line's end.
pub struct Control(Client);

impl Control {
    pub fn new(run: &Path) -> Self {
        Self(Client::new(socket_in(run)))
    }

    pub async fn link(&self, viewer: bool) -> Result<Link, ClientError> {
        self.0.post("/link", &LinkWish { viewer }).await
    }

    pub async fn sessions(&self) -> Result<Vec<SessionView>, ClientError> {
        self.0.get("/sessions").await
    }

    pub async fn revoke(&self, id: Option<String>) -> Result<Revoked, ClientError> {
        self.0.post("/revoke", &Revoke { id }).await
    }
}

/// Makes a link of this door.
pub fn link_of(front: &Front, role: Role) -> std::io::Result<Link> {
    let key = front.sessions.new_key(role, (front.clock)())?;
    let port = front.port;
    Ok(Link {
        url: format!("http://127.0.0.1:{port}/#{key}"),
        role: role.word().into(),
        port,
        pid: std::process::id(),
        seconds: front.limits.key_for.as_secs(),
    })
}

async fn link(State(front): State<Arc<Front>>, Json(wish): Json<LinkWish>) -> Result<Json<Link>, Fault> {
    let role = if wish.viewer { Role::Viewer } else { Role::Operator };
    link_of(&front, role).map(Json).map_err(|error| Fault::world(error.to_string()))
}

async fn sessions(State(front): State<Arc<Front>>) -> Json<Vec<SessionView>> {
    Json(front.sessions.list((front.clock)()))
}

async fn revoke(State(front): State<Arc<Front>>, Json(wish): Json<Revoke>) -> Json<Revoked> {
    Json(Revoked { ended: front.sessions.revoke(wish.id.as_deref()) })
}

/// Serves the command line.
pub async fn accept(listener: UnixListener, front: Arc<Front>) {
    let router = Router::new()
        .route("/link", post(link))
        .route("/sessions", get(sessions))
        .route("/revoke", post(revoke))
        .with_state(Arc::clone(&front));
    let callers = Arc::new(Semaphore::new(CALLERS));
    let strangers = Arc::new(Semaphore::new(CALLERS));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            continue;
        };
        // Looked at first: thousands that say nothing take no place of the command line's, and are gone at once.
        let Some(refused) = Peer::of(&stream).ok().map(|peer| refuse(peer, &front.who)) else { continue };
        let place = match &refused {
            None => Arc::clone(&callers).acquire_owned().await,
            Some(_) => match Arc::clone(&strangers).try_acquire_owned() {
                Ok(place) => Ok(place),
                Err(_) => {
                    tokio::task::yield_now().await;
                    continue;
                }
            },
        };
        let Ok(place) = place else { return };
        let serving = serve(Arc::clone(&front), router.clone(), stream, refused);
        let end = front.end.clone();
        tokio::spawn(end.run_until_cancelled_owned(async move {
            serving.await;
            drop(place);
        }));
    }
}

async fn serve(front: Arc<Front>, router: Router, stream: UnixStream, refused: Option<Fault>) {
    let limits = front.limits;
    let service = service_fn(move |request: Request<Incoming>| {
        let (router, refused) = (router.clone(), refused.clone());
        async move {
            Ok::<Response, Infallible>(match refused {
                Some(fault) => fault.into_response(),
                None => {
                    let Ok(response) = TowerToHyperService::new(router).call(request.map(Body::new)).await;
                    response
                }
            })
        }
    });
    let _ = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_within)
        .max_buf_size(HEAD_MAX)
        .serve_connection(TokioIo::new(Patient::new(stream, limits.stall)), service)
        .await;
}

fn refuse(peer: Peer, who: &Who) -> Option<Fault> {
    if peer.uid != rustix::process::geteuid().as_raw() {
        let hint = "Only the user who runs the swarm may connect to it";
        return Some(Fault::new(StatusCode::FORBIDDEN, "other_user", "You are another user", hint));
    }
    match who(peer) {
        Standing::Outside => None,
        Standing::Inside(_) | Standing::Unseen => {
            Some(Fault::not_for_agents("Agents may not open the web UI"))
        }
    }
}
