//! Closing a plan looked at before, and taken back.

use swarm_core::{State, checkpoint_of_close, show};
use swarm_engine::preview::{Place, preview};
use swarm_engine::store::{Archived, OpenOptions, Opened, Store, archived};
use swarm_protocol::command::{Answer, Command, Envelope};
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::refusal::Refusal;

use super::Swarm;
use super::operate::no_preview;
use crate::context::Context;
use crate::error::CliError;

/// Whatever a command wanted of a plan: after a close the way on is a new one or the old one, and both are said.
pub fn after_a_close(error: CliError, cx: &Context) -> CliError {
    if error.kind != Refusal::NoPlan.kind() {
        return error;
    }
    let Ok(swarm) = Swarm::open(cx) else { return error };
    // Whoever closed it may have been killed before it was in the archive.
    let half = swarm.state(None).is_ok_and(|state| state.plan.is_some());
    let last = match half {
        true => Some("the last one".into()),
        false => archived(&swarm.paths).into_iter().next().map(|last| last.name),
    };
    let Some(last) = last else { return error };
    CliError { message: format!("No plan is open; {last} was closed"), ..error }
        .say("Run `swarm plan reopen` to continue it, or `swarm plan save FILE` for a new one")
}

impl Swarm {
    /// What closing the plan would do now; with `stop`, after the agents are stopped.
    pub fn preview_close(&self, stop: bool) -> Result<PreviewView, CliError> {
        let state = self.planned(None)?;
        let mut at_rest = state.clone();
        if stop {
            at_rest.runs.clear();
            at_rest.trunk_held_by = None;
        }
        let archive = self.archive_name();
        let mut view = self.preview_in(&at_rest, &Command::ClosePlan { archive: archive.clone() })?;
        if stop {
            view.stops = show::stops(&state, &at_rest);
        }
        let with_worktree = self.with_worktree(&state)?;
        let checkpoint = checkpoint_of_close(&archive);
        let goes =
            |task: &TaskId| format!("the worktree of {task} goes; what is in it is kept in {checkpoint}");
        view.says.work.extend(with_worktree.iter().map(goes));
        view.says.work.push(format!("the ledger goes to .swarm/archive/{archive}.jsonl"));
        view.checkpoint = (!with_worktree.is_empty()).then_some(checkpoint);
        Ok(view)
    }

    /// Whether the last thing that happened here is that a plan was closed.
    pub fn was_closed(&self) -> Result<bool, CliError> {
        let state = self.state(None)?;
        Ok(match &state.plan {
            Some(plan) => plan.closed,
            None => !archived(&self.paths).is_empty(),
        })
    }

    /// The closed plan that is meant: by its name, or the one that was closed last.
    pub fn closed_plan(&self, name: Option<&str>) -> Result<Archived, CliError> {
        let all = archived(&self.paths);
        match self.state(None)?.plan {
            Some(plan) if !plan.closed => {
                let open = CliError::refused_now("A plan is already open");
                return Err(open.say("Close it first with `swarm close`; it can be reopened later"));
            }
            // On its way into the archive, or out of it: whoever did that was killed.
            Some(_) => {
                let (path, at) = (self.paths.ledger.clone(), std::time::SystemTime::now());
                return Ok(Archived { name: name.unwrap_or("plan").into(), path, at });
            }
            None => {}
        }
        let Some(newest) = all.first() else {
            return Err(
                CliError::refused_now("No plan was ever closed here").run_instead("swarm plan save FILE")
            );
        };
        let Some(name) = name else { return Ok(newest.clone()) };
        let wanted = name.strip_suffix(".jsonl").unwrap_or(name);
        let found = all.iter().find(|one| one.name == wanted);
        found.cloned().ok_or_else(|| {
            let names: Vec<&str> = all.iter().take(5).map(|one| one.name.as_str()).collect();
            CliError::refused_now(format!("There is no plan {wanted:?} in the archive"))
                .say(format!("There are {}", names.join(", ")))
        })
    }

    /// What reopening it would do.
    pub fn preview_reopen(&self, closed: &Archived) -> Result<PreviewView, CliError> {
        let state = closed.read(&self.paths, &self.options("read"))?.state;
        let mut view = self.preview_in(&state, &Command::ReopenPlan)?;
        if closed.path != self.paths.ledger {
            view.says.work.push(format!("the ledger comes back from {}", self.relative(&closed.path)));
        }
        view.checkpoint = None;
        Ok(view)
    }

    /// Takes the closing back, and brings the worktrees back that went with it.
    pub fn reopen(&self, closed: &Archived) -> Result<Answer, CliError> {
        super::inside::refuse_agents("plan reopen")?;
        let id = CommandId::new(ulid::Ulid::generate().to_string()).expect("a ulid is a good id");
        let envelope = Envelope { id, by: self.by.into(), command: Command::ReopenPlan };
        let options = OpenOptions::new("plan reopen");
        let mut store = match Store::open_archived(&self.paths, options, &closed.name)? {
            Opened::Writer(store) => store,
            Opened::Busy(_) => {
                return Err(CliError::refused_now("A swarm is running here").run_instead("swarm stop"));
            }
        };
        let now = store.clock().now();
        let answer = store.submit_blocking(envelope, now)?;
        let notices = store.finish()?;
        self.tell(&notices);
        self.clear_away_here()?;
        Ok(answer)
    }

    /// The preview of a command on a state that is not that of the ledger in its place.
    fn preview_in(&self, state: &State, command: &Command) -> Result<PreviewView, CliError> {
        let trunk = self.runtime.block_on(self.trunk_name()).unwrap_or_default();
        let config = self.configuration()?.config;
        let paths = self.paths.clone().with_worktrees(&config.worktree.dir);
        let regenerate = &config.merge.regenerate;
        let place = Place { git: &self.git, paths: &paths, trunk: &trunk, regenerate };
        let now = self.now().max(state.at);
        self.runtime.block_on(preview(&place, state, command, now)).map_err(no_preview)
    }
}
