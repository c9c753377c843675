//! A run in this process: the session that the engine opened, its socket, and what the person is told meanwhile.

use std::error::Error;
use std::io::ErrorKind;
use std::path::Path;

use swarm_core::State;
use swarm_engine::coordinator::{Finish, Finished, Told};
use swarm_engine::feed::Feed;
use swarm_engine::paths::Paths;
use swarm_engine::session::{Asker, Session, SessionError, Wishes};
use swarm_engine::store::StoreError;
use swarm_engine::unsaved::Unsaved;
use swarm_process::environment::secret_arguments;
use swarm_protocol::config::Config;
use swarm_protocol::event::{Event, line};
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
    Box::pin(coordinate(session, false, Some(&mut Asking))).await
}

/// Says that an agent is asked in an operation: it may think for long, and nothing else shows that it does.
struct Asking;

impl Watching for Asking {
    fn begin(&mut self, _: &State, _: Feed) {}

    fn told(&mut self, told: Told<'_>) {
        for (_, _, event) in told {
            let way_out = match event {
                Event::ResolverStarted { .. } => " (Ctrl+C ends it, and trunk stays as it is)",
                Event::ResolverEnded { .. } => "",
                _ => continue,
            };
            line(event).into_iter().for_each(|line| note(&format!("… {line}{way_out}")));
        }
    }

    fn end(&mut self) {}
}

fn not_begun(error: SessionError) -> CliError {
    let full = matches!(&error, SessionError::Store(StoreError::NoRoom(_))) || has_no_room(&error);
    let error = CliError::from(error);
    if full { error.not_begun() } else { error }
}

/// The disk takes nothing, and will not a second later either.
fn has_no_room(error: &(dyn Error + 'static)) -> bool {
    use ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    matches!(kind, Some(StorageFull | QuotaExceeded | ReadOnlyFilesystem))
        || error.source().is_some_and(has_no_room)
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
    let mut coordinator = session.start(dispatch, &note).await.map_err(not_begun)?;
    let listener = Listener::start(&paths, requests, coordinator.feed()).map_err(|e| {
        let full = has_no_room(&e);
        let error = CliError::environment(format!("Cannot listen on {}", paths.socket.display())).because(e);
        if full { error.not_begun() } else { error }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_finds_no_room_has_not_begun_and_one_that_fails_otherwise_has_crashed() {
        let io = |code| StoreError::Io {
            doing: "write",
            path: "plan.json".into(),
            source: std::io::Error::from_raw_os_error(code),
        };
        let [enospc, erofs, edquot, eacces] = [28, 30, 122, 13];
        for code in [enospc, erofs, edquot] {
            assert!(not_begun(SessionError::Store(io(code))).not_begun, "{code}");
        }
        assert!(!not_begun(SessionError::Store(io(eacces))).not_begun);
        let full = StoreError::NoRoom(swarm_ledger::AppendError::NoRoom("waiting for room".into()));
        let error = not_begun(SessionError::Store(full));
        assert!(error.not_begun && error.hint.is_some(), "{error}");
        assert!(!not_begun(SessionError::Store(StoreError::GitSync)).not_begun);
    }
}
