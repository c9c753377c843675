//! What a run is made of, and what is put right before it starts: repository, settings, ledger, trunk, leftovers. Every
//! front end that lets a swarm run begins here; what it has to tell a person goes through `note`.

mod agent;
mod error;
mod review;
mod trunk;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use swarm_agents::learnings::LearningFiles;
use swarm_agents::prompts::Prompts;
use swarm_agents::{Surroundings, ready};
use swarm_git::Git;
use swarm_process::caller::am_i_inside;
use swarm_process::take_room_for_files;
use swarm_protocol::command::{Command, Envelope, SaveKind};
use swarm_protocol::config::{Collector, Config};
use swarm_protocol::ids::{CommandId, RunId};
use swarm_protocol::outcome::Mode;
use swarm_protocol::plan::{ExecutionProfile, PlanFile};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::review::Reviewer;
use swarm_work::supervisor::{Launch, secret_key, sweep_leftovers};

use crate::by_hand::filter_rule;
use crate::coordinator::{Coordinator, Outfit, World};
use crate::paths::Paths;
use crate::store::{OpenOptions, Opened, Store, StoreError};
use crate::trust::Trust;
use crate::{anchor, half_written, present, settings};

pub use error::SessionError;

/// Its ledger, socket, watches, a few front ends and the git calls that go on beside each other.
const FILES_OF_A_COORDINATOR: u64 = 64;
/// The connection to its daemon, and a git call for it.
const FILES_OF_AN_AGENT: u64 = 8;
/// How long the lock of a coordinator that was killed may outlive it.
const LOCK_OF_THE_DEAD_MAX: Duration = Duration::from_secs(2);
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// What the person asked for.
#[derive(Debug, Default)]
pub struct Wishes {
    /// A plan to save first, and where it comes from.
    pub plan: Option<(PlanFile, String)>,
    pub agents: Option<u32>,
    pub agent: Option<String>,
    pub mode: Option<Mode>,
    pub review: Option<Reviewer>,
    /// Agents are to be started, so their program has to be there.
    pub starts_agents: bool,
    /// For the first run of the plan; later it has its own.
    pub trunk: Option<String>,
    /// The branch that the person began on; none: the one that is checked out now.
    pub here: Option<String>,
    /// What was taken back by an abort is merged again.
    pub retry: bool,
}

/// Where the person asks, and how they are told.
pub struct Asker<'a> {
    /// Somewhere inside the repository.
    pub repo: &'a Path,
    /// Variables that may set keys of the configuration.
    pub environment: &'a BTreeMap<String, String>,
    /// The front end, as the ledger names it: `person:cli`.
    pub by: &'a str,
    pub note: &'a dyn Fn(&str),
    /// Told where the swarm lies and how it is configured, before anything is done about it.
    pub found: &'a dyn Fn(&Paths, &Config),
}

/// Everything is checked and the ledger is ours; nothing runs yet.
pub struct Session {
    store: Store,
    world: Arc<World>,
    paths: Paths,
}

impl Session {
    pub async fn open(asker: &Asker<'_>, wishes: Wishes) -> Result<Self, SessionError> {
        let git = Git::discover(asker.repo).await?;
        // A repository that has lost the commit that it stands on is refused here, in git's words, and not by each agent.
        git.resolve("HEAD").await?;
        let paths = Paths::new(&git.main_checkout, &git.common_dir);
        if let Some(file) = Trust::of(&paths).unknown(&git, &paths).await?.into_iter().next() {
            return Err(SessionError::Untrusted(file.path));
        }
        let mut config = settings::load(&paths.config, asker.environment, &[])?.config;
        git.run_filters(filter_rule(&config));
        (asker.found)(&paths, &config);
        let paths = paths.with_worktrees(&config.worktree.dir);
        let swarm = std::env::current_exe().map_err(SessionError::io("find the swarm program"))?;
        let mut store = open_store(&git, &paths, &config).await?;
        // Of no interest where no agent is started.
        let note: &dyn Fn(&str) = if wishes.starts_agents { asker.note } else { &|_| {} };
        let (agent, agent_chosen) = agent::of(wishes.agent.as_deref(), &store.state().policy, &config, note);
        // The profile that was asked for is the one that tasks are granted under.
        config.agent = agent.clone();
        let reviewer = review::of(wishes.review, &store.state().policy, &config, note);
        config.review.policy = reviewer.or(config.review.policy);
        let outfit =
            Outfit::of(&config, &agent).map_err(|error| SessionError::NoProfile(error.to_string()))?;
        // Without a plan it does not matter whether an agent could work.
        if wishes.plan.is_none() && store.state().plan.is_none() {
            return Err(Refusal::NoPlan.into());
        }
        if wishes.starts_agents {
            is_ready(&outfit)?;
            let planned = store.state().plan.as_ref().map_or(1, |plan| plan.profile.slots());
            have_room_for_files(wishes.agents.unwrap_or(planned))?;
        }
        let trunk = trunk::of(&git, store.state(), &wishes, asker.note).await?;
        let mut plan = Preparation { asker, store: &mut store };
        plan.plan(wishes.plan, wishes.agents)?;
        plan.mode(wishes.mode, config.mode)?;
        if wishes.retry {
            plan.retry(&git).await?;
        }
        let key = secret_key(&paths.run).map_err(SessionError::io("create the key file of the swarm"))?;
        let launch = Launch::of(swarm);
        let prompts = Prompts::load(&paths.swarm.join("prompts"))
            .map_err(|error| SessionError::Prompts(error.to_string()))?;
        let learnings = LearningFiles::new(&paths.swarm);
        let plan = store.ledger_id().unwrap_or_default().to_owned();
        let world = World {
            git,
            paths: paths.clone(),
            config,
            trunk: trunk.into(),
            launch,
            agent,
            agent_chosen,
            reviewer_chosen: reviewer.is_some(),
            prompts,
            learnings,
            plan,
            tending: Default::default(),
            previewing: Default::default(),
            armed: Default::default(),
            containment: Default::default(),
            key,
        };
        Ok(Self { store, world: Arc::new(world), paths })
    }

    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Who gets the spans of the run; none: nobody.
    pub fn collector(&self) -> Option<&Collector> {
        self.world.config.telemetry.otlp.as_ref()
    }

    /// Whether no command is configured that tests work before or after it is merged.
    pub fn tests_nothing(&self) -> bool {
        let config = &self.world.config;
        config.check.commands.is_empty() && config.verify_commands().commands.is_empty()
    }

    /// Profiles whose agents run without walls.
    pub fn without_walls(&self) -> Vec<String> {
        self.world.config.without_walls()
    }

    /// What the session may spend, in words; none: without bound.
    pub fn budget(&self) -> Option<String> {
        self.world.config.budget.session.describe()
    }

    /// Puts right what earlier coordinators and daemons left, and starts the loop; with `dispatch` false it brings
    /// things to rest and begins nothing.
    pub async fn start(mut self, dispatch: bool, note: &dyn Fn(&str)) -> Result<Coordinator, SessionError> {
        for notice in self.store.take_notices() {
            note(&notice.text);
        }
        // At each start, until a person has seen it.
        if let Some(loss) = &self.store.state().loss {
            note(&format!("The ledger lost records: {loss}; `swarm plan salvage` brings back what it can"));
        }
        let git = &self.world.git;
        if self.store.state().running && git.clear_torn().await? > 0 {
            note("Files that a power cut had left without content were removed from the git directory");
        }
        if git.forget_pruned().await? > 0 {
            note("Refs below refs/swarm were removed whose commits `git gc --prune=now` had taken");
        }
        half_written::clear(&self.paths, &git.swarm_dir());
        git.clear_own_ref_locks().await;
        let known: BTreeSet<RunId> = self.store.state().runs.keys().cloned().collect();
        let grace = Duration::from_secs(self.world.config.stop.grace.secs);
        let ledger = self.store.ledger_id();
        for leftover in sweep_leftovers(git, &self.paths.swarm, &known, ledger, grace).await {
            note(&leftover.sentence());
        }
        let world = self.world.clone();
        tokio::spawn(async move { world.empty_trash().await });
        Ok(Coordinator::start(self.store, self.world, dispatch).await?)
    }
}

/// Where files run out, every part of a run fails in a way of its own: that is said before it begins.
fn have_room_for_files(agents: u32) -> Result<(), SessionError> {
    let needed = FILES_OF_A_COORDINATOR + FILES_OF_AN_AGENT * u64::from(agents);
    match take_room_for_files() {
        Some(allowed) if allowed < needed => {
            let agents =
                if agents == 1 { "A run with 1 agent".into() } else { format!("A run with {agents} agents") };
            Err(SessionError::TooFewFiles { agents, needed, allowed })
        }
        _ => Ok(()),
    }
}

/// A program that is not there is told at once, before anything is recorded or granted.
fn is_ready(outfit: &Outfit) -> Result<(), SessionError> {
    ready(&outfit.setup, &Surroundings::of_this_process()).map_err(|failure| SessionError::NotReady {
        agent: outfit.name.to_string(),
        why: failure.text,
        hint: failure.hint.unwrap_or_else(|| "swarm doctor".into()),
    })
}

async fn open_store(git: &Git, paths: &Paths, config: &Config) -> Result<Store, SessionError> {
    let anchors = anchor::witnesses(git).await?;
    let until = Instant::now() + LOCK_OF_THE_DEAD_MAX;
    loop {
        let options =
            OpenOptions::new("coordinator").on_damage(config.recovery.on_damage).anchors(anchors.clone());
        return match Store::become_coordinator(paths, options)? {
            Opened::Writer(_) if am_i_inside().is_some() => {
                Err(Refusal::NotForAgents { what: "run".into() }.into())
            }
            Opened::Writer(store) => Ok(store),
            Opened::Busy(Some(owner)) if owner.is_dead() && Instant::now() < until => {
                tokio::time::sleep(LOOK_AGAIN_AFTER).await;
                continue;
            }
            Opened::Busy(owner) => Err(SessionError::Busy(owner)),
        };
    }
}

/// What the person wants recorded before the loop turns.
struct Preparation<'a> {
    asker: &'a Asker<'a>,
    store: &'a mut Store,
}

impl Preparation<'_> {
    fn plan(&mut self, plan: Option<(PlanFile, String)>, agents: Option<u32>) -> Result<(), SessionError> {
        if let Some((plan, source)) = plan {
            self.ask(Command::SavePlan {
                plan,
                kind: SaveKind::Save,
                source,
                reset_statuses: false,
                planning: None,
            })?;
        }
        let Some(plan) = &self.store.state().plan else { return Err(Refusal::NoPlan.into()) };
        let now = plan.profile;
        if let Some(agents) = agents.filter(|n| *n != now.slots()) {
            let profile =
                ExecutionProfile { parallelization_enabled: agents > 1, max_concurrent_tasks: agents, ..now };
            self.ask(Command::SetProfile { profile })?;
        }
        Ok(())
    }

    /// Records the mode where it differs from the one that would hold anyway.
    fn mode(&mut self, wished: Option<Mode>, configured: Mode) -> Result<(), SessionError> {
        match wished {
            Some(mode) if self.store.state().mode.unwrap_or(configured) != mode => {
                self.ask(Command::SetMode { mode })
            }
            _ => Ok(()),
        }
    }

    /// What was taken back by an abort, or has gone from trunk, is merged again. Whether something has gone is asked of
    /// git first: nobody may have looked since.
    async fn retry(&mut self, git: &Git) -> Result<(), SessionError> {
        present::record(git, self.store, "swarm:run").await?;
        match self.ask(Command::Retry) {
            Err(SessionError::Store(StoreError::Refused(Refusal::NothingToChange { .. }))) => Ok(()),
            other => other,
        }
    }

    fn ask(&mut self, command: Command) -> Result<(), SessionError> {
        let id = CommandId::new(ulid::Ulid::generate().to_string()).expect("an ulid is a command id");
        let now = self.store.clock().now();
        let envelope = Envelope { id, by: self.asker.by.into(), command };
        let answer = self.store.submit_blocking(envelope, now)?;
        (self.asker.note)(&answer.text);
        Ok(())
    }
}
