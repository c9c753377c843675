//! Views of the swarm: read from the ledger, without a lock, at any record.

use swarm_core::input::Input;
use swarm_core::{State, react, show};
use swarm_engine::store::Store;
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::plan::{ExecutionProfile, PlanFile};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::{ApprovedPlanView, HandoffView, StatusView, TaskRow, TaskView};

use super::Swarm;
use crate::error::CliError;
use crate::watch::Watch;

impl Swarm {
    /// The state at a record, or now.
    pub(super) fn state(&self, at: Option<u64>) -> Result<State, CliError> {
        let mut reading = Store::open_reader(&self.paths, &self.options("read"), at)?;
        self.tell(&reading.notices);
        // While nobody coordinates, the mode that the next one would have is the one that counts.
        if let (None, false, Ok(settings)) = (at, reading.state.running, self.configuration()) {
            reading.state.policy.mode = settings.config.mode;
        }
        Ok(reading.state)
    }

    /// The same, where there is nothing to show without a plan.
    fn planned(&self, at: Option<u64>) -> Result<State, CliError> {
        let state = self.state(at)?;
        // A closed plan whose ledger is on its way into the archive is as good as gone.
        let open = state.plan.as_ref().is_some_and(|plan| at.is_some() || !plan.closed);
        if open { Ok(state) } else { Err(Refusal::NoPlan.into()) }
    }

    /// And the moment it was looked at, for "since".
    pub fn status(&self, at: Option<u64>) -> Result<(StatusView, Timestamp), CliError> {
        let state = self.planned(at)?;
        let now = if at.is_some() { state.at } else { self.now().max(state.at) };
        Ok((show::status(&state, now), now))
    }

    /// Wakes when a record is written.
    pub fn watch_ledger(&self) -> Watch {
        Watch::folder(&self.paths.swarm).and(&self.paths.ledger)
    }

    /// Differs when the ledger has grown, was repaired or replaced.
    pub fn ledger_mark(&self) -> Option<(u64, std::time::SystemTime)> {
        let meta = std::fs::metadata(&self.paths.ledger).ok()?;
        Some((meta.len(), meta.modified().ok()?))
    }

    pub fn tasks(&self, at: Option<u64>) -> Result<Vec<TaskRow>, CliError> {
        Ok(show::rows(&self.planned(at)?))
    }

    /// Tasks that a slot could be given to.
    pub fn ready(&self, at: Option<u64>) -> Result<Vec<TaskRow>, CliError> {
        let mut rows = self.tasks(at)?;
        // Those that wait for a word to start are ready too.
        rows.retain(|row| row.stage == "ready" || row.stage.starts_with("ready:"));
        Ok(rows)
    }

    pub fn task(&self, id: &TaskId, at: Option<u64>) -> Result<TaskView, CliError> {
        let state = self.planned(at)?;
        show::task(&state, id).ok_or_else(|| unknown(&state, id))
    }

    pub fn handoff(&self, at: Option<u64>) -> Result<HandoffView, CliError> {
        Ok(show::handoff(&self.planned(at)?))
    }

    pub fn approved(&self, at: Option<u64>) -> Result<ApprovedPlanView, CliError> {
        Ok(show::approved_plan(&self.planned(at)?))
    }

    pub fn plan_file(&self, at: Option<u64>) -> Result<PlanFile, CliError> {
        Ok(swarm_core::export::plan_file(&self.planned(at)?))
    }

    pub fn profile(&self, at: Option<u64>) -> Result<ExecutionProfile, CliError> {
        Ok(self.planned(at)?.plan.map(|plan| plan.profile).unwrap_or_default())
    }

    /// All tasks and the phase that a new one goes to; an empty plan where there is none yet.
    pub fn rows_and_last_phase(&self) -> Result<(Vec<TaskRow>, u32), CliError> {
        let state = self.state(None)?;
        let last = state.plan.as_ref().and_then(|plan| plan.phases.last()).map_or(1, |phase| phase.id);
        Ok((show::rows(&state), last))
    }
}

/// The refusal that any command about this task would get, with the name that was probably meant.
fn unknown(state: &State, id: &TaskId) -> CliError {
    let command = Command::UnblockTask { task: id.clone() };
    let envelope =
        Envelope { id: CommandId::new("look").expect("a plain word"), by: "person:cli".into(), command };
    match react(state, Input::Command(envelope), state.at) {
        Err(refusal) => refusal.into(),
        Ok(_) => Refusal::UnknownTask { task: id.to_string(), near: None }.into(),
    }
}
