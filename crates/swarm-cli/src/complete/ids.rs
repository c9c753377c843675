//! Ids of the plan, from the ledger as it lies on disk: read without a lock, silent where there is none.

use std::sync::OnceLock;

use swarm_core::{State, show};
use swarm_engine::paths::Paths;
use swarm_engine::settings;
use swarm_engine::store::{OpenOptions, Store};
use swarm_protocol::config::Hook;

use super::place;
use crate::swarm::environment;

/// What an id may be of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Task,
    Agent,
    Run,
    Phase,
    Profile,
    Group,
    Checkpoint,
    Operation,
    Hook,
}

/// A candidate with a word about it, which zsh and fish show beside it.
pub struct Id {
    pub text: String,
    pub about: String,
}

impl Id {
    fn new(text: impl ToString, about: impl Into<String>) -> Self {
        Self { text: text.to_string(), about: about.into() }
    }
}

/// All ids of these kinds in the repository that the command line is about.
pub fn of_here(kinds: &[Kind]) -> Vec<Id> {
    let Some((paths, state)) = here() else { return vec![] };
    kinds.iter().flat_map(|kind| of_kind(*kind, paths, state)).collect()
}

/// Read once: one press of Tab may ask for several kinds.
fn here() -> Option<&'static (Paths, State)> {
    static HERE: OnceLock<Option<(Paths, State)>> = OnceLock::new();
    HERE.get_or_init(|| {
        let paths = place::of_command_line(std::env::args_os().skip(1))?;
        // Without a ledger there is nothing to read; profiles do not need one.
        let state = Store::open_reader(&paths, &OpenOptions::new("read"), None)
            .map_or_else(|_| State::default(), |reading| reading.state);
        Some((paths, state))
    })
    .as_ref()
}

fn of_kind(kind: Kind, paths: &Paths, state: &State) -> Vec<Id> {
    match kind {
        Kind::Task => tasks(state),
        Kind::Agent => state.agents.keys().map(|agent| Id::new(agent, "")).collect(),
        Kind::Run => state.runs.keys().map(|run| Id::new(run, "")).collect(),
        Kind::Phase => {
            let phases = state.plan.iter().flat_map(|plan| &plan.phases);
            phases.map(|phase| Id::new(phase.id, phase.name.as_str())).collect()
        }
        Kind::Profile => profiles(paths),
        Kind::Group => state.quotas.keys().map(|group| Id::new(group, "")).collect(),
        Kind::Checkpoint => {
            let all = show::checkpoints(state).into_iter().map(|view| view.checkpoint);
            all.map(|checkpoint| Id::new(checkpoint.name, checkpoint.trigger)).collect()
        }
        Kind::Operation => {
            show::operations(state).iter().map(|view| Id::new(view.seq, &*view.text)).collect()
        }
        Kind::Hook => Hook::NAMES.into_iter().map(|name| Id::new(name, "")).collect(),
    }
}

/// Open tasks stand first: they are the ones that something is to be done with.
fn tasks(state: &State) -> Vec<Id> {
    let id = |task: &swarm_core::state::Task| {
        Id::new(&task.spec.id, format!("{}: {}", task.stage.status().word(), task.spec.title))
    };
    let (closed, open): (Vec<_>, Vec<_>) = state.tasks_in_order().partition(|task| task.stage.is_closed());
    open.into_iter().chain(closed).map(id).collect()
}

fn profiles(paths: &Paths) -> Vec<Id> {
    let Ok(settings) = settings::load(&paths.config, &environment(), &[]) else { return vec![] };
    settings.config.profiles.keys().map(|name| Id::new(name, "")).collect()
}
