//! A run in this process: the session that the engine opened, its socket, and what the person is told meanwhile.

use std::path::Path;

use swarm_core::State;
use swarm_engine::coordinator::{Finish, Finished, Told};
use swarm_engine::feed::Feed;
use swarm_engine::paths::Paths;
use swarm_engine::session::{Asker, Session, Wishes};
use swarm_engine::unsaved::Unsaved;
use swarm_process::environment::secret_arguments;
use swarm_protocol::config::Config;
use swarm_protocol::view::without_walls;
use swarm_server::listener::{Listener, SOCKET_QUEUE};
use swarm_server::telemetry::Telemetry;
use tokio::sync::mpsc;

use super::settings::environment;
use super::signals;
use crate::error::CliError;
use crate::log;
use crate::output;

/// Shows a person what happens while the loop turns.
pub trait Watching {
    fn begin(&mut self, state: &State, feed: Feed);
    fn told(&mut self, told: Told<'_>);
    fn end(&mut self);
}

/// What a run came to.
pub struct Ran {
    pub state: State,
    /// A person stopped it.
    pub drained: bool,
    /// No command is configured that tests what is merged.
    pub untested: bool,
    /// What agents had not committed and nobody could save.
    pub unsaved: Vec<Unsaved>,
}

/// As much as the main thread has; only what is used is taken.
const STACK_BYTES: usize = 8 * 1024 * 1024;

pub fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build()
        .map_err(|e| CliError::environment("Cannot start the runtime").because(e))
}

fn note(text: &str) {
    output::note(&output::harmless(text));
}

/// From here on the log has its place and knows what must not stand in it.
fn found(paths: &Paths, config: &Config) {
    let lines =
        config.profiles.values().map(|profile| [profile.command.clone(), profile.args.clone()].concat());
    log::hide(lines.flat_map(|words| secret_arguments(&words)).collect::<Vec<_>>());
    log::lies_in(&paths.swarm);
}

pub async fn open(repo: &Path, wishes: Wishes) -> Result<Session, CliError> {
    let asker = Asker { repo, environment: &environment(), by: "person:cli", note: &note, found: &found };
    Ok(Session::open(&asker, wishes).await?)
}

/// Runs until nothing is left to do or a person stops it.
pub async fn run(session: Session, watching: &mut dyn Watching) -> Result<Ran, CliError> {
    if let Some(bounds) = session.budget() {
        note(&format!(
            "Budget: {bounds}; the swarm pauses when it is spent (`budget.session`, 0 for no bound)"
        ));
    }
    if let Some(sentence) = without_walls(&session.without_walls()) {
        note(&format!("Warning: {sentence}"));
    }
    Box::pin(coordinate(session, true, Some(watching))).await
}

/// Brings everything to rest that an earlier coordinator left running, and starts nothing.
pub async fn bring_to_rest(session: Session) -> Result<Ran, CliError> {
    Box::pin(coordinate(session, false, None)).await
}

async fn coordinate(
    session: Session,
    dispatch: bool,
    mut watching: Option<&mut dyn Watching>,
) -> Result<Ran, CliError> {
    let mut urges = signals::listen()?;
    let (requests, mut socket) = mpsc::channel(SOCKET_QUEUE);
    let paths = session.paths().clone();
    let untested = session.tests_nothing();
    let collector = session.collector().cloned();
    let mut coordinator = session.start(dispatch, &note).await?;
    let listener = Listener::start(&paths, requests, coordinator.feed()).map_err(|e| {
        CliError::environment(format!("Cannot listen on {}", paths.socket.display())).because(e)
    })?;
    let telemetry = collector.map(|collector| Telemetry::start(collector, &paths, coordinator.feed()));
    if let Some(watching) = &mut watching {
        watching.begin(coordinator.state(), coordinator.feed());
    }
    let tell = |told: Told<'_>| watching.iter_mut().for_each(|watching| watching.told(told));
    let finish = coordinator.run(&mut socket, &mut urges, tell).await?;
    if let Some(watching) = watching {
        watching.end();
    }
    // From here on commands find nobody at the socket and wait for the ledger itself.
    listener.close().await;
    let left = coordinator.leave().await?;
    if let Some(telemetry) = telemetry {
        telemetry.end().await;
    }
    left.notices.iter().for_each(|notice| note(&notice.text));
    let Finished { state, unsaved, .. } = left;
    Ok(Ran { state, drained: finish == Finish::Drained, untested, unsaved })
}
