//! The API where nobody coordinates: the same routes, answered from the ledger and from journals.
//!
//! A front end that must go on while coordinators come and go keeps one of these. Records and news are told to it,
//! by whoever knows how far the ledger is durable.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use swarm_engine::feed::Feed;
use swarm_engine::paths::Paths;
use tokio_util::sync::CancellationToken;

use crate::api;
use crate::api_state::ApiState;
use crate::hub::Hub;
use crate::ledger::Ledger;
use crate::limits::Limits;
use crate::peer::{Caller, Peer, Standing};

/// The routes, and what they need.
#[derive(Clone)]
pub struct Unattended {
    router: Router,
}

impl Unattended {
    /// Serves until the token is cancelled; streams end with it.
    pub fn new(
        paths: &Paths,
        ledger: Arc<dyn Ledger>,
        feed: Feed,
        limits: Limits,
        end: &CancellationToken,
    ) -> Self {
        let hub = Hub::start(feed, paths.ledger.clone(), limits, end);
        let state = ApiState::unattended(paths.clone(), limits, hub, ledger, end.clone());
        Self { router: api::router(state) }
    }

    /// Answers in our own name: who the caller is has been judged before. The header `Swarm-Role` still lowers it.
    pub async fn answer(&self, mut request: Request<Body>) -> Response {
        let peer = Peer { pid: std::process::id(), uid: rustix::process::geteuid().as_raw() };
        let caller = Caller { peer, standing: Standing::Outside, daemons_only: false };
        request.extensions_mut().insert(caller);
        match TowerToHyperService::new(self.router.clone()).call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}
