//! A run put together: repository, settings, ledger, socket, loop.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use swarm_agents::learnings::LearningFiles;
use swarm_agents::prompts::Prompts;
use swarm_agents::{Surroundings, ready};
use swarm_engine::coordinator::{Coordinator, Finish, Outfit, Told, World};
use swarm_engine::paths::Paths;
use swarm_engine::store::{OpenOptions, Opened, Store, stopped_hint};
use swarm_engine::{anchor, half_written, settings};
use swarm_git::Git;
use swarm_protocol::command::{Command, Envelope, SaveKind};
use swarm_protocol::config::Config;
use swarm_protocol::ids::{CommandId, RunId};
use swarm_protocol::outcome::Mode;
use swarm_protocol::plan::{ExecutionProfile, PlanFile};
use swarm_protocol::refusal::Refusal;
use swarm_server::listener::{Listener, SOCKET_QUEUE};
use swarm_work::supervisor::{Launch, Left, Leftover, secret_key, sweep_leftovers};
use tokio::sync::mpsc;

use super::progress::Progress;
use super::signals;
use super::summary::Summary;
use super::trunk;
use crate::error::CliError;
use crate::output;
use crate::swarm::inside::refuse_agents;

/// What the person asked for.
#[derive(Debug, Default)]
pub struct Wishes {
    /// A plan to save first, and where it comes from.
    pub plan: Option<(PlanFile, String)>,
    pub agents: Option<u32>,
    pub agent: Option<String>,
    pub mode: Option<Mode>,
    /// Agents are to be started, so their program has to be there.
    pub starts_agents: bool,
    /// For the first run of the plan; later it has its own.
    pub trunk: Option<String>,
    /// The branch that the person began on; none: the one that is checked out now.
    pub here: Option<String>,
    /// What was taken back by an abort is merged again.
    pub retry: bool,
}

/// Everything is checked and the ledger is ours; nothing runs yet.
pub struct Session {
    store: Store,
    world: Arc<World>,
    paths: Paths,
}

pub fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| CliError::environment("Cannot start the runtime").because(e))
}

impl Session {
    pub async fn open(repo: &Path, wishes: Wishes) -> Result<Self, CliError> {
        let git = Git::discover(repo).await?;
        let paths = Paths::new(&git.main_checkout, &git.common_dir);
        let environment = crate::swarm::environment();
        let mut config = settings::load(&paths.config, &environment, &[])?.config;
        // The profile that was asked for is the one that tasks are granted under.
        config.agent = wishes.agent.clone().unwrap_or(config.agent);
        let paths = paths.with_worktrees(&config.worktree.dir);
        let swarm = std::env::current_exe()
            .map_err(|e| CliError::environment("Cannot find the swarm program").because(e))?;
        let agent = config.agent.clone();
        let outfit = Outfit::of(&config, &agent).map_err(|error| CliError::usage(error.to_string()))?;
        if wishes.starts_agents {
            is_ready(&outfit)?;
        }
        let mut store = open_store(&git, &paths, &config).await?;
        let trunk = trunk::of(&git, store.state(), &wishes).await?;
        prepare_plan(&mut store, wishes.plan, wishes.agents)?;
        prepare_mode(&mut store, wishes.mode, config.mode)?;
        if wishes.retry {
            prepare_retry(&git, &mut store).await?;
        }
        let key = secret_key(&paths.run)
            .map_err(|e| CliError::environment("Cannot create the key file of the swarm").because(e))?;
        let launch = Launch::of(swarm);
        let prompts = Prompts::load(&paths.swarm.join("prompts")).map_err(|error| {
            CliError::environment(error.to_string())
                .say("Fix the template, or delete the file to use the built-in one")
        })?;
        let learnings = LearningFiles::new(&paths.swarm);
        let plan = store.ledger_id().unwrap_or_default().to_owned();
        let world = World {
            git,
            paths: paths.clone(),
            config,
            trunk: trunk.into(),
            launch,
            agent,
            prompts,
            learnings,
            plan,
            tending: Default::default(),
            previewing: Default::default(),
            containment: Default::default(),
            key,
        };
        Ok(Self { store, world: Arc::new(world), paths })
    }

    /// Runs until nothing is left to do or a person stops it.
    pub async fn run(self, progress: Progress) -> Result<Summary, CliError> {
        if let Some(bounds) = self.world.config.budget.session.describe() {
            output::note(&format!(
                "Budget: {bounds}; then the swarm pauses and asks (`budget.session`, 0: no bound)"
            ));
        }
        self.coordinate(true, Some(progress)).await
    }

    /// Brings everything to rest that an earlier coordinator left running, and starts nothing.
    pub async fn bring_to_rest(self) -> Result<Summary, CliError> {
        self.coordinate(false, None).await
    }

    async fn coordinate(
        mut self,
        dispatch: bool,
        mut progress: Option<Progress>,
    ) -> Result<Summary, CliError> {
        for notice in self.store.take_notices() {
            output::note(&output::harmless(&notice.text));
        }
        let mut urges = signals::listen()?;
        let (request, mut socket) = mpsc::channel(SOCKET_QUEUE);
        let known: BTreeSet<RunId> = self.store.state().runs.keys().cloned().collect();
        let grace = Duration::from_secs(self.world.config.stop.grace.secs);
        let (git, ledger) = (&self.world.git, self.store.ledger_id());
        if self.store.state().running && git.clear_torn().await? > 0 {
            output::note(
                "Files that a power cut had left without content were removed from the git directory",
            );
        }
        half_written::clear(&self.paths, &git.swarm_dir());
        git.clear_own_ref_locks().await;
        for Leftover { run, left } in sweep_leftovers(git, &self.paths.swarm, &known, ledger, grace).await {
            output::note(&output::harmless(&match left {
                Left::Ended(Ok(_)) => format!("A leftover of {run} was ended and its work saved"),
                Left::Ended(Err(error)) => format!("A leftover stays: {error}. Run `swarm doctor`"),
                Left::Alone(owner) => format!("{run} is not ours and is left alone: {owner}"),
            }));
        }
        let world = self.world.clone();
        tokio::spawn(async move { world.empty_trash().await });
        let mut coordinator = Coordinator::start(self.store, self.world.clone(), dispatch).await?;
        let listener = Listener::start(&self.paths, request, coordinator.feed()).map_err(|e| {
            CliError::environment(format!("Cannot listen on {}", self.paths.socket.display())).because(e)
        })?;
        if let Some(progress) = &mut progress {
            progress.begin(coordinator.state(), coordinator.feed());
        }
        let tell = |told: Told<'_>| progress.iter_mut().for_each(|progress| progress.told(told));
        let finish = coordinator.run(&mut socket, &mut urges, tell).await?;
        if let Some(progress) = progress {
            progress.end();
        }
        // From here on commands find nobody at the socket and wait for the ledger itself.
        listener.close().await;
        let left = coordinator.leave().await?;
        left.notices.iter().for_each(|notice| output::note(&output::harmless(&notice.text)));
        Ok(Summary::of(&left.state, finish == Finish::Drained))
    }
}

/// A program that is not there is told at once, before anything is recorded or granted.
fn is_ready(outfit: &Outfit) -> Result<(), CliError> {
    ready(&outfit.setup, &Surroundings::of_this_process()).map_err(|failure| {
        let error =
            CliError::environment(format!("The agent {} cannot be used", outfit.name)).because(failure.text);
        match failure.hint {
            Some(hint) => error.run_instead(hint),
            None => error.run_instead("swarm doctor"),
        }
    })
}

async fn open_store(git: &Git, paths: &Paths, config: &Config) -> Result<Store, CliError> {
    let anchors = anchor::witnesses(git).await?;
    let options = OpenOptions::new("coordinator").on_damage(config.recovery.on_damage).anchors(anchors);
    match Store::become_coordinator(paths, options)? {
        Opened::Writer(store) => {
            refuse_agents("run")?;
            Ok(store)
        }
        Opened::Busy(owner) => {
            let who = owner.as_ref().map_or_else(|| "somebody".to_string(), |o| o.to_string());
            let error = CliError::owned(format!("A coordinator is already running: {who}"));
            Err(match owner.filter(|owner| owner.is_stopped()) {
                Some(stopped) => error.say(stopped_hint(stopped.pid)),
                None => error.run_instead("swarm status --watch"),
            })
        }
    }
}

fn prepare_plan(
    store: &mut Store,
    plan: Option<(PlanFile, String)>,
    agents: Option<u32>,
) -> Result<(), CliError> {
    if let Some((plan, source)) = plan {
        ask(store, Command::SavePlan { plan, kind: SaveKind::Save, source, reset_statuses: false })?;
    }
    let Some(plan) = &store.state().plan else { return Err(Refusal::NoPlan.into()) };
    let now = plan.profile;
    if let Some(agents) = agents.filter(|n| *n != now.slots()) {
        let profile =
            ExecutionProfile { parallelization_enabled: agents > 1, max_concurrent_tasks: agents, ..now };
        ask(store, Command::SetProfile { profile })?;
    }
    Ok(())
}

/// Records the mode where it differs from the one that would hold anyway.
fn prepare_mode(store: &mut Store, wished: Option<Mode>, configured: Mode) -> Result<(), CliError> {
    match wished {
        Some(mode) if store.state().mode.unwrap_or(configured) != mode => {
            ask(store, Command::SetMode { mode })
        }
        _ => Ok(()),
    }
}

/// What was taken back by an abort, or has gone from trunk, is merged again. Whether something has gone is asked of git
/// first: nobody may have looked since.
async fn prepare_retry(git: &Git, store: &mut Store) -> Result<(), CliError> {
    swarm_engine::present::record(git, store, "swarm:run").await?;
    match ask(store, Command::Retry) {
        Err(error) if error.kind == "nothing_to_change" => Ok(()),
        other => other,
    }
}

fn ask(store: &mut Store, command: Command) -> Result<(), CliError> {
    let id = CommandId::new(ulid::Ulid::generate().to_string()).expect("an ulid is a command id");
    let now = store.clock().now();
    let answer = store.submit_blocking(Envelope { id, by: "person:cli".into(), command }, now)?;
    output::note(&output::harmless(&answer.text));
    Ok(())
}
