//! Looks that cost: into the past, into git. Few at once, bounded in time, and each keeps its place until it has come
//! back, whoever has hung up meanwhile: nine tabs wait for one another, and the coordinator waits for none of them.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use swarm_engine::channel::FromSocket;
use swarm_engine::look::{Look, Looked, look_back};
use swarm_engine::preview::NoPreview;
use swarm_protocol::command::Command;
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::trunk::{TrunkAsk, TrunkView};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::api_state::{ApiState, Lost};
use crate::fault::Fault;
use crate::ledger::beside;
use crate::peer::{Caller, Standing};

tokio::task_local! {
    /// Whether an agent asks, or somebody who may be one.
    static IS_AGENTS: bool;
}

impl ApiState {
    /// Agents look one after the other where it costs: however many of them ask, a place is left for people, who have no
    /// turn to wait for.
    pub(crate) async fn turn(&self) -> Result<Option<OwnedSemaphorePermit>, Lost> {
        if !IS_AGENTS.try_with(|is_agents| *is_agents).unwrap_or(false) {
            return Ok(None);
        }
        Ok(Some(Arc::clone(&self.agents).acquire_owned().await.map_err(|_| Lost)?))
    }

    /// A look that costs. `places`: how many of its kind there may be at once.
    pub(crate) async fn costly<T, Looking>(
        self: &Arc<Self>,
        places: &Arc<Semaphore>,
        look: impl FnOnce(Arc<Self>) -> Looking,
    ) -> Result<T, Fault>
    where
        T: Send + 'static,
        Looking: Future<Output = Result<T, Fault>> + Send + 'static,
    {
        let looking = async {
            let turn = self.turn().await?;
            let place = Arc::clone(places).acquire_owned().await.map_err(|_| Lost)?;
            let looking = look(Arc::clone(self));
            let looking = tokio::spawn(async move {
                let _kept = (turn, place);
                looking.await
            });
            looking.await.unwrap_or_else(|error| Err(Fault::world(error.to_string())))
        };
        let bounded = tokio::time::timeout(self.limits.look_within, looking);
        bounded.await.unwrap_or_else(|_| Err(too_slow()))
    }

    /// A look into the past, which reads the ledger.
    pub async fn look_back(self: &Arc<Self>, what: Look, at: u64) -> Result<Looked, Fault> {
        let paths = self.paths.clone();
        self.costly(&self.looks, move |_| async move {
            let looked = tokio::task::spawn_blocking(move || look_back(&paths, &what, at)).await;
            Ok(looked.map_err(|_| Lost)??)
        })
        .await
    }

    /// What a command would do now. Looked for beside the loop.
    pub async fn preview(self: &Arc<Self>, command: Command) -> Result<PreviewView, Fault> {
        self.costly(&self.previews, move |api| async move {
            if let Some(ledger) = &api.ledger {
                return Ok(beside(ledger, move |ledger| ledger.preview(&command)).await?);
            }
            let command = Box::new(command);
            let asked = api.ask(|reply| FromSocket::Preview { command, reply }).await?;
            asked.map_err(|error| match error {
                NoPreview::Refused(refusal) => refusal.into(),
                error => Fault::world(error.to_string()),
            })
        })
        .await
    }

    /// A place on trunk, and what brought its lines. Git may have to look through the whole history for it.
    pub async fn trunk(self: &Arc<Self>, ask: TrunkAsk) -> Result<TrunkView, Fault> {
        self.costly(&self.looks, move |api| async move {
            if let Some(ledger) = &api.ledger {
                return Ok(beside(ledger, move |ledger| ledger.trunk(&ask)).await?);
            }
            Ok(api.ask(|reply| FromSocket::Trunk { ask, reply }).await??)
        })
        .await
    }
}

fn too_slow() -> Fault {
    let message = "Others are still looking, or git is";
    Fault::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message, "Ask again in a moment")
}

/// Remembers while it is answered whether an agent asks.
pub async fn asked_by(request: Request, next: Next) -> Response {
    let caller = request.extensions().get::<Caller>();
    let is_agents = caller.is_some_and(|caller| caller.standing != Standing::Outside);
    IS_AGENTS.scope(is_agents, next.run(request)).await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use swarm_engine::feed::FeedSource;
    use swarm_engine::paths::Paths;
    use tokio::sync::mpsc;
    use tokio::task::JoinHandle;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::hub::Hub;
    use crate::limits::Limits;

    struct Desk {
        api: Arc<ApiState>,
        asked: mpsc::Receiver<FromSocket>,
        _kept: (tempfile::TempDir, FeedSource),
    }

    impl Desk {
        fn open() -> Self {
            let dir = tempfile::tempdir().expect("a folder");
            let paths = Paths::new(dir.path(), &dir.path().join(".git"));
            let limits = Limits { look_within: Duration::from_millis(100), ..Limits::default() };
            let (end, source) = (CancellationToken::new(), FeedSource::default());
            let hub = Hub::start(source.feed(), paths.ledger.clone(), limits, &end);
            let (queue, asked) = mpsc::channel(8);
            Self { api: ApiState::new(paths, limits, hub, queue, end), asked, _kept: (dir, source) }
        }

        fn look(&self, is_agents: bool) -> JoinHandle<Result<TrunkView, Fault>> {
            let (api, ask) = (Arc::clone(&self.api), TrunkAsk::new("", 1).expect("the top"));
            tokio::spawn(IS_AGENTS.scope(is_agents, async move { api.trunk(ask).await }))
        }
    }

    #[tokio::test]
    async fn a_look_that_was_given_up_keeps_its_place_until_it_has_come_back() {
        let mut desk = Desk::open();
        let mut under_way = Vec::new();
        for _ in 0..2 {
            let tab = desk.look(false);
            under_way.push(desk.asked.recv().await.expect("a question"));
            tab.abort();
        }
        let third = desk.look(false).await.expect("no panic").expect_err("both places are taken");
        assert_eq!((third.status.as_u16(), third.error.kind.as_str()), (503, "busy"));
        assert!(desk.asked.try_recv().is_err(), "the coordinator was not asked");
        // A preview does not wait for those who only read.
        let preview = desk.api.preview(Command::Abort { force: Default::default(), expect: None });
        let (_, heard) = tokio::join!(preview, desk.asked.recv());
        assert!(matches!(heard, Some(FromSocket::Preview { .. })));
        drop(under_way);
        let fourth = desk.look(false);
        assert!(matches!(desk.asked.recv().await, Some(FromSocket::Trunk { .. })), "a place is free again");
        assert!(fourth.await.expect("no panic").expect_err("nobody answered").is_lost());
    }

    #[tokio::test]
    async fn an_agent_that_hangs_up_has_its_turn_until_its_look_has_come_back() {
        let mut desk = Desk::open();
        let tab = desk.look(true);
        let under_way = desk.asked.recv().await.expect("a question");
        tab.abort();
        let second = desk.look(true).await.expect("no panic").expect_err("another agent looks");
        assert_eq!(second.error.kind.as_str(), "busy");
        assert!(desk.asked.try_recv().is_err(), "the coordinator was not asked");
        let person = desk.look(false);
        assert!(matches!(desk.asked.recv().await, Some(FromSocket::Trunk { .. })), "people have a place");
        drop((under_way, person));
    }
}
