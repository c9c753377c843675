//! Operations: looked at before, asked for, and followed to their end.

use std::time::{Duration, Instant};

use swarm_core::effect::Effect;
use swarm_core::operation::checkpoints;
use swarm_core::{owed, show};
use swarm_engine::present::as_on_trunk;
use swarm_engine::preview::{NoPreview, Place, preview};
use swarm_protocol::board::Choice;
use swarm_protocol::command::Command;
use swarm_protocol::config::OnDamage;
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::oplog::{CheckpointView, OperationState, OperationView, PreviewView};
use swarm_protocol::refusal::Refusal;

use super::Swarm;
use crate::error::CliError;
use crate::output;
use crate::watch::Watch;

/// A coordinator that died is started again after seconds, by whoever watches it.
const BACK_WITHIN: Duration = Duration::from_secs(30);

/// Agents have their grace to stop, and a large tree takes its time; what takes longer hangs.
const END_WITHIN: Duration = Duration::from_secs(900);

impl Swarm {
    /// What the command would do now. Nothing is changed by asking.
    pub fn preview(&self, command: &Command) -> Result<PreviewView, CliError> {
        let looked = match self.looked_at(command)? {
            Err(NoPreview::Git(_)) if self.clear_torn_here()? => self.looked_at(command)?,
            looked => looked,
        };
        looked.map_err(no_preview)
    }

    /// After a power cut git may stumble over files that were never written. The next coordinator clears them away; who
    /// only wants to look is not told to start one first.
    fn clear_torn_here(&self) -> Result<bool, CliError> {
        if !self.state(None)?.running {
            return Ok(false);
        }
        let Some(store) = self.writer("preview", OnDamage::Ask)? else {
            return Ok(false);
        };
        let cleared = self.runtime.block_on(self.git.clear_torn())?;
        self.tell(&store.finish()?);
        Ok(cleared > 0)
    }

    pub(super) fn looked_at(&self, command: &Command) -> Result<Result<PreviewView, NoPreview>, CliError> {
        // As the command would meet it: what has gone from trunk meanwhile is gone for it too.
        let mut state = self.runtime.block_on(as_on_trunk(&self.git, self.state(None)?));
        if state.plan.as_ref().is_some_and(|plan| plan.closed) {
            // On its way into the archive: the next command meets an empty place.
            state = swarm_core::State::default();
        }
        // Where nothing was ever merged a branch need not even be checked out.
        let trunk = self.runtime.block_on(self.trunk_name()).unwrap_or_default();
        let config = self.configuration()?.config;
        if !self.is_coordinated() {
            // Whoever carries it out then goes by the configuration as it is now.
            let now = config.policy();
            state.policy.dispatch = false;
            (state.policy.resolve_max, state.policy.verifies) = (now.resolve_max, now.verifies);
        }
        let paths = self.paths.clone().with_worktrees(&config.worktree.dir);
        let regenerate = &config.merge.regenerate;
        let place = Place { git: &self.git, paths: &paths, trunk: &trunk, regenerate };
        let now = self.now().max(state.at);
        Ok(self.runtime.block_on(preview(&place, &state, command, now)))
    }

    /// Asks, and stays until it is over, one way or the other.
    pub fn operate(&self, command: Command) -> Result<OperationView, CliError> {
        self.operate_as(self.by, command)
    }

    /// The same for a part of a command that is no wish of its own.
    pub(super) fn operate_as(&self, by: &str, command: Command) -> Result<OperationView, CliError> {
        let watch = self.watch_ledger();
        let id = self.ask_as(by, command)?.id;
        let mut began = Instant::now();
        let mut step = None;
        loop {
            let view = self.operation(&id)?;
            match view.state {
                OperationState::UnderWay => {}
                OperationState::Failed => return Err(failed(&view)),
                OperationState::Done | OperationState::Undone | OperationState::Waits => {
                    self.clear_away_here()?;
                    return Ok(view);
                }
            }
            if step != view.step {
                output::note(&format!("… {}", output::harmless(view.step.as_deref().unwrap_or_default())));
                step = view.step;
            }
            // An agent that is asked takes its own time, which has its own bound.
            if step.as_deref().is_some_and(|step| step.starts_with("resolving")) {
                began = Instant::now();
            }
            if began.elapsed() > END_WITHIN {
                let text = format!("The operation is still under way after {} s", END_WITHIN.as_secs());
                return Err(CliError::environment(text).run_instead(format!("swarm op show {id}")));
            }
            if self.has_coordinator() {
                watch.wait();
            } else {
                self.carry_out_ourselves()?;
                self.must_be_over(&id)?;
            }
        }
    }

    /// An operation whose command was killed, with nobody there to go on with it, is brought to its end first: nobody has
    /// to start agents for that. False: there is none, or somebody else carries it out.
    pub fn finish_interrupted(&self) -> Result<bool, CliError> {
        let under_way = || -> Result<_, CliError> {
            let all = show::operations(&self.state(None)?);
            Ok(all.into_iter().find(|view| view.state == OperationState::UnderWay))
        };
        let Some(view) = under_way()?.filter(|_| !self.has_coordinator()) else { return Ok(false) };
        output::note(&format!("Finishing an interrupted operation first: {}", output::harmless(&view.kind)));
        self.carry_out_ourselves()?;
        Ok(under_way()?.is_none())
    }

    /// The loop that ran here has ended: either the operation has, or somebody else carries it out.
    fn must_be_over(&self, id: &CommandId) -> Result<(), CliError> {
        if self.operation(id)?.state != OperationState::UnderWay || self.has_coordinator() {
            return Ok(());
        }
        let error = CliError::environment("Interrupted; nothing is lost");
        Err(error.say("`swarm run` finishes it first"))
    }

    /// Refs and tags of a checkpoint that is gone go now, and worktrees of tasks that are wanted back come now, not at
    /// the next run.
    pub(super) fn clear_away_here(&self) -> Result<(), CliError> {
        let left = |effect: &Effect| matches!(effect, Effect::Forget { .. } | Effect::Revive { .. });
        if owed(&self.state(None)?).iter().any(left) && !self.has_coordinator() {
            self.carry_out_ourselves()?;
        }
        Ok(())
    }

    /// With nobody there to carry it out, the same loop runs here, and starts nothing new.
    pub(super) fn carry_out_ourselves(&self) -> Result<(), CliError> {
        let state = self.state(None)?;
        // One that died may be started again by the `swarm run` that watches it, and goes on with its agents: they would
        // be brought to rest here.
        let watch = Watch::folder(&self.paths.run);
        watch.until(BACK_WITHIN, || self.has_coordinator() || !self.is_watched());
        if state.running && self.has_coordinator() {
            return Ok(());
        }
        match self.bring_to_rest() {
            // Somebody was quicker: he carries it out.
            Err(error) if error.kind == "owned" => {
                super::ask::wait(Duration::from_millis(50));
                Ok(())
            }
            done => done,
        }
    }

    /// Newest first.
    pub fn operations(&self, at: Option<u64>) -> Result<Vec<OperationView>, CliError> {
        Ok(show::operations(&self.planned(at)?))
    }

    pub fn checkpoints(&self, at: Option<u64>) -> Result<Vec<CheckpointView>, CliError> {
        Ok(show::checkpoints(&self.planned(at)?))
    }

    fn operation(&self, id: &CommandId) -> Result<OperationView, CliError> {
        let all = self.operations(None)?;
        let text = format!("Operation {id} is no longer recorded");
        all.into_iter()
            .find(|view| view.id == *id)
            .ok_or_else(|| CliError::refused_now(text).run_instead("swarm op log"))
    }

    /// The operation that is meant: by its id, or by the number of its record as `swarm op log` shows it.
    pub fn operation_named(&self, name: &str) -> Result<OperationView, CliError> {
        let number = name.trim_start_matches('#').parse::<u64>().ok();
        let is_it = |view: &OperationView| view.id.as_str() == name || Some(view.seq) == number;
        let unknown = CliError::refused_now(format!("There is no operation {name:?}"));
        self.operations(None)?.into_iter().find(is_it).ok_or_else(|| unknown.run_instead("swarm op log"))
    }

    /// By its name, or by its number in the list: names are long.
    pub fn checkpoint_named(&self, name: &str) -> Result<CheckpointView, CliError> {
        let state = self.planned(None)?;
        let all = show::checkpoints(&state);
        let number = name.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        let found = all.iter().find(|view| view.checkpoint.name == name).or_else(|| all.get(number?));
        match found {
            Some(view) => Ok(view.clone()),
            None => {
                let unknown = checkpoints::known(&state, name).err();
                Err(unknown.unwrap_or(Refusal::NothingToChange { what: format!("Checkpoint {name}") }).into())
            }
        }
    }

    /// Ready tasks that an agent could be given instead, the best one first, with the reason.
    pub fn could_take_up(&self, instead_of: &TaskId) -> Result<Vec<Choice>, CliError> {
        Ok(show::choices(&self.planned(None)?, instead_of)?)
    }
}

pub(super) fn no_preview(error: NoPreview) -> CliError {
    match error {
        NoPreview::Refused(refusal) => refusal.into(),
        NoPreview::Git(error) => error.into(),
        error => CliError::environment("Cannot preview the command").because_of(&error),
    }
}

fn failed(view: &OperationView) -> CliError {
    let error = CliError::refused_now(output::harmless(&view.text));
    match view.hint.as_deref() {
        Some(hint) if hint.starts_with("swarm ") || hint.starts_with("git ") => error.run_instead(hint),
        Some(hint) if !hint.is_empty() => error.say(hint),
        _ => error.run_instead(format!("swarm op show {}", view.id)),
    }
}
