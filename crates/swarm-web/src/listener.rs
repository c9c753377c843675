//! Accepts on loopback and serves HTTP to whoever comes.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use swarm_server::limits::HEAD_MAX;
use swarm_server::patient::Patient;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::TaskTracker;

use crate::front::{Connection, Front, answer};
use crate::places::{Place, Places};

/// The port that is tried first, so that a bookmark stays good.
pub const PORT: u16 = 7717;

/// Ports behind it that are tried too: each swarm on a machine has a door of its own.
const PORTS: u16 = 32;

/// Takes a port: the one that is wanted, or the first free one from the usual one on.
pub async fn bind(wanted: Option<u16>) -> std::io::Result<TcpListener> {
    let bound = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    if let Some(port) = wanted {
        return bound(port).await;
    }
    for port in PORT..PORT + PORTS {
        if let Ok(listener) = bound(port).await {
            return Ok(listener);
        }
    }
    bound(0).await
}

pub async fn accept(listener: TcpListener, front: Arc<Front>, connections: TaskTracker) {
    let places = Places::new(front.limits.connections);
    loop {
        match listener.accept().await {
            Ok((stream, from)) => match places.enter() {
                Some(place) => drop(connections.spawn(serve(Arc::clone(&front), stream, from, place))),
                // Everybody who is here has a session and is at work: this one is dropped.
                None => drop(stream),
            },
            // Out of file handles, mostly: others may end meanwhile.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn serve(front: Arc<Front>, stream: TcpStream, from: SocketAddr, place: Place) {
    let (SocketAddr::V4(theirs), Ok(SocketAddr::V4(ours))) = (from, stream.local_addr()) else { return };
    let _ = stream.set_nodelay(true);
    let leave = place.leave.clone();
    let (end, limits) = (front.end.clone(), front.limits);
    let connection = Arc::new(Connection { theirs, ours, place, holder: Default::default() });
    let service = service_fn(move |request: Request<Incoming>| {
        let (front, connection) = (Arc::clone(&front), Arc::clone(&connection));
        async move { Ok::<Response, Infallible>(answer(&front, &connection, request.map(Body::new)).await) }
    });
    let serving = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_within)
        .max_buf_size(HEAD_MAX)
        .serve_connection(TokioIo::new(Patient::new(stream, limits.stall)), service)
        .with_upgrades();
    tokio::pin!(serving);
    // What went wrong on a connection is known to the one who has it.
    tokio::select! {
        _ = serving.as_mut() => {}
        () = leave.cancelled() => {}
        () = end.cancelled() => {
            serving.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(limits.farewell, serving).await;
        }
    }
}
