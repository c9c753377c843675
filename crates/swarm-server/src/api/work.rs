//! The work channel: a daemon's connection leaves HTTP and goes on in frames.

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, body::Body};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use swarm_engine::channel::{DaemonLink, FromSocket, LinkId};
use swarm_protocol::channel::{Downward, FRAME_MAX, Hello, Upward};
use swarm_protocol::ids::RunId;
use swarm_work::daemon::RunFiles;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::mpsc;

use crate::api_state::ApiState;
use crate::fault::Fault;
use crate::frames::{FrameReader, write_frame};
use crate::peer::Caller;
use crate::places::Place;

/// The protocol a daemon asks to go on with.
pub const WORK_PROTOCOL: &str = "swarm-work/1";

/// The place of a connection, which a daemon takes along when it leaves HTTP.
pub type Seat = Arc<Mutex<Option<Place>>>;

/// The work channel of a daemon
///
/// Only for daemons: the connection goes on as lines of JSON in both directions, the first being the daemon's HELLO.
#[utoipa::path(
    get, path = "/v1/work", tag = "daemons",
    responses(
        (status = 101, description = "Go on with frames"),
        (status = 426, description = "Asked without an upgrade", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn work(
    State(api): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    Extension(seat): Extension<Seat>,
    mut request: Request,
) -> Response {
    if !asks_for_work(request.headers()) {
        let hint = "This is for daemons; people look at /v1/agents";
        let fault =
            Fault::new(StatusCode::UPGRADE_REQUIRED, "upgrade_required", "Only daemons work here", hint);
        return going_on(fault.into_response());
    }
    let upgrade = hyper::upgrade::on(&mut request);
    let mut place = seat.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(place) = &mut place {
        api.places.seat_daemon(place);
    }
    let end = api.end.clone();
    tokio::spawn(end.run_until_cancelled_owned(async move {
        serve(api, caller, upgrade).await;
        drop(place);
    }));
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    going_on(response)
}

fn asks_for_work(headers: &HeaderMap) -> bool {
    headers.get(header::UPGRADE).is_some_and(|upgrade| upgrade == WORK_PROTOCOL)
}

fn going_on(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static(WORK_PROTOCOL));
    response
}

async fn serve(api: Arc<ApiState>, caller: Caller, upgrade: OnUpgrade) {
    let Ok(Ok(upgraded)) = tokio::time::timeout(api.limits.hello_within, upgrade).await else { return };
    let (from, to) = tokio::io::split(TokioIo::new(upgraded));
    let mut frames = FrameReader::new(from);
    let first = tokio::time::timeout(api.limits.hello_within, frames.next(FRAME_MAX)).await;
    let Ok(Ok(Some(Upward::Hello(hello)))) = first else { return };
    if is_its_daemon(&api, &caller, &hello).await {
        serve_daemon(hello, api.next_link(), frames, to, api.queue()).await;
    }
}

/// A secret can be read by whoever can read its file; a process cannot be another one. So besides the secret,
/// which the coordinator checks, the caller must be the very process that the run's record names.
async fn is_its_daemon(api: &ApiState, caller: &Caller, hello: &Hello) -> bool {
    if let Some(inside) = caller.inside() {
        api.overstep(inside, &format!("pretended to be the daemon of {}", hello.run)).await;
        return false;
    }
    caller.peer.is_daemon_of(&RunFiles::new(&api.paths.swarm, &hello.run))
}

async fn serve_daemon(
    hello: Hello,
    id: LinkId,
    frames: FrameReader<ReadHalf<TokioIo<Upgraded>>>,
    to: WriteHalf<TokioIo<Upgraded>>,
    api: mpsc::Sender<FromSocket>,
) {
    let run = hello.run.clone();
    let (link, queue) = DaemonLink::new(id, run.clone());
    if api.send(FromSocket::Daemon { hello, link }).await.is_err() {
        return;
    }
    // Whichever ends first, the connection is over.
    tokio::select! {
        () = write_orders(queue, to) => {}
        () = read_reports(frames, id, &run, &api) => {}
    }
    let _ = api.send(FromSocket::Lost { link: id, run }).await;
}

async fn write_orders(mut queue: mpsc::Receiver<Downward>, mut to: impl AsyncWrite + Unpin) {
    while let Some(frame) = queue.recv().await {
        if write_frame(&mut to, &frame, FRAME_MAX).await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}

async fn read_reports(
    mut frames: FrameReader<impl AsyncRead + Unpin>,
    link: LinkId,
    run: &RunId,
    api: &mpsc::Sender<FromSocket>,
) {
    while let Ok(Some(frame)) = frames.next::<Upward>(FRAME_MAX).await {
        if api.send(FromSocket::Frame { link, run: run.clone(), frame }).await.is_err() {
            return;
        }
    }
}
