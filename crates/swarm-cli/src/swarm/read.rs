//! Views of the swarm: read from the ledger, without a lock, at any record.

use swarm_core::input::Input;
use swarm_core::predict::{self, Branch};
use swarm_core::{State, react, show};
use swarm_engine::conflicts::Conflicts;
use swarm_engine::present::as_on_trunk;
use swarm_engine::store::Store;
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::near::nearest;
use swarm_protocol::oplog::OperationState;
use swarm_protocol::outcome::Mode;
use swarm_protocol::plan::{ExecutionProfile, PlanFile, Status};
use swarm_protocol::planfile::Known;
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::RetryOptions;
use swarm_protocol::view::{
    ApprovedPlanView, AttentionView, Budgets, HandoffView, MessageView, StatusView, TaskBudget, TaskRow,
    TaskView,
};

use super::Swarm;
use super::ask::Presence;
use crate::error::CliError;
use crate::watch::Watch;

/// The swarm as one look finds it.
pub struct Glance {
    pub view: StatusView,
    pub now: Timestamp,
    /// What was asked for and has not come to its end, as it was typed.
    pub under_way: Option<String>,
    /// Who coordinates, where the look had to ask.
    pub there: Option<Presence>,
}

impl Swarm {
    /// The state at a record, or now.
    pub(super) fn state(&self, at: Option<u64>) -> Result<State, CliError> {
        let mut reading = Store::open_reader(&self.paths, &self.options_to_read(), at)?;
        self.tell(&reading.notices);
        // While nobody coordinates, the mode that the next one would have is the one that counts.
        if let (None, false, Ok(settings)) = (at, reading.state.running, self.configuration()) {
            reading.state.policy.mode = settings.config.mode;
        }
        Ok(reading.state)
    }

    /// The same, where there is nothing to show without a plan.
    pub(super) fn planned(&self, at: Option<u64>) -> Result<State, CliError> {
        let mut state = self.state(at)?;
        if at.is_none() {
            // Nobody may be watching trunk: what has gone from it since is said here.
            state = self.runtime.block_on(as_on_trunk(&self.git, state));
        }
        // A closed plan whose ledger is on its way into the archive is as good as gone.
        let open = state.plan.as_ref().is_some_and(|plan| at.is_some() || !plan.closed);
        if open { Ok(state) } else { Err(Refusal::NoPlan.into()) }
    }

    /// And the moment it was looked at, for "since".
    pub fn status(&self, at: Option<u64>) -> Result<(StatusView, Timestamp), CliError> {
        let Glance { view, now, .. } = self.glance(at)?;
        Ok((view, now))
    }

    /// The same, with what was found out on the way.
    pub fn glance(&self, at: Option<u64>) -> Result<Glance, CliError> {
        let state = self.planned(at)?;
        let now = if at.is_some() { state.at } else { self.now().max(state.at) };
        let under_way = show::operations(&state).into_iter().find(|o| o.state == OperationState::UnderWay);
        let under_way = under_way.map(|operation| {
            let subject = operation.subject.map(|subject| format!(" {subject}")).unwrap_or_default();
            crate::output::harmless(&format!("swarm {}{subject}", operation.kind))
        });
        let mut view = show::status(&state, now);
        let mut there = None;
        if at.is_none() {
            there = self.show_as_left_alone(&state, &mut view);
            let (conflicts, branches) = self.conflicts(&state);
            conflicts.show_in_status(&mut view, &branches);
            if let Ok(settings) = self.configuration() {
                view.without_walls = settings.config.without_walls();
            }
        }
        Ok(Glance { view, now, under_way, there })
    }

    /// Everything that waits for a person, and the moment it was looked at.
    pub fn attention(&self, at: Option<u64>) -> Result<(Vec<AttentionView>, Timestamp), CliError> {
        let (status, now) = self.status(at)?;
        Ok((status.attention, now))
    }

    /// What was spent of what may be spent, where bounds are set.
    pub fn budgets(&self, at: Option<u64>) -> Result<Budgets, CliError> {
        let state = self.planned(at)?;
        let open = state.tasks_in_order().filter(|task| !task.stage.is_closed());
        let tasks = open
            .filter_map(|task| show::task(&state, &task.spec.id))
            .filter_map(|view| Some(TaskBudget { task: view.row.id, budget: view.budget? }));
        Ok(Budgets { swarm: show::status(&state, state.at).budget, tasks: tasks.collect() })
    }

    /// What became of a message.
    pub fn message(&self, task: &TaskId, id: &CommandId) -> Result<Option<MessageView>, CliError> {
        Ok(self.task(task, None)?.messages.into_iter().find(|message| message.id == *id))
    }

    /// Whether a message for this task can still arrive.
    pub fn may_deliver(&self, task: &TaskId) -> bool {
        let open = |view: TaskView| !matches!(view.row.status, Status::Done | Status::Cancelled);
        self.is_coordinated() && self.task(task, None).is_ok_and(open)
    }

    /// The tasks of the present plan, for a file whose tasks have no ids; none where there is no plan that can be read.
    pub fn known_tasks(&self) -> Known {
        let state = self.state(None).ok();
        let tasks = state.iter().flat_map(|state| state.tasks_in_order());
        Known(tasks.map(|task| (task.spec.id.clone(), task.spec.title.clone())).collect())
    }

    /// A group of profiles whose quota can be spoken of.
    pub fn quota_group(&self, name: &str) -> Result<String, CliError> {
        let state = self.planned(None)?;
        if state.quotas.contains_key(name) {
            return Ok(name.to_owned());
        }
        let configured = state.policy.profiles.iter().map(|rule| rule.quota_group.as_str());
        let known = state.quotas.keys().map(String::as_str).chain(configured);
        // One that is configured is decided about by the rules, which say that it is open.
        if known.clone().any(|known| known == name) {
            return Ok(name.to_owned());
        }
        Err(meant(
            CliError::refused_now(format!("There is no quota group {name:?}")),
            name,
            known,
            "swarm quota",
        ))
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

    /// What a run would begin with, as far as the plan is saved.
    pub fn would_begin(
        &self,
        trunk: Option<&str>,
        agents: Option<u32>,
        mode: Mode,
    ) -> Result<Vec<String>, CliError> {
        let trunk = match trunk {
            Some(name) => name.to_owned(),
            None => self.runtime.block_on(self.trunk_name())?,
        };
        let state = self.state(None)?;
        let slots = agents.unwrap_or_else(|| state.plan.as_ref().map_or(1, |plan| plan.profile.slots()));
        let mut lines = vec![
            format!("finished work is merged into {trunk}"),
            match slots {
                1 => format!("one agent works at a time, in the mode {}", mode.word()),
                _ => format!("up to {slots} agents work at once, in the mode {}", mode.word()),
            },
        ];
        let ready: Vec<String> = match state.plan.as_ref().is_some_and(|plan| !plan.closed) {
            true => self.ready(None)?.iter().map(|row| row.id.to_string()).collect(),
            false => vec![],
        };
        if !ready.is_empty() {
            lines.push(format!("ready of what is planned already: {}", ready.join(", ")));
        }
        Ok(lines)
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
        let mut view = show::task(&state, id).ok_or_else(|| unknown(&state, id))?;
        if at.is_none() {
            let (conflicts, branches) = self.conflicts(&state);
            conflicts.show_in_task(&mut view, &branches);
        }
        Ok(view)
    }

    /// What the coordinator found that will conflict, and whose branches are on their way.
    pub(super) fn conflicts(&self, state: &State) -> (Conflicts, Vec<Branch>) {
        let branches = predict::branches(state);
        let found = match branches.is_empty() {
            true => Conflicts::default(),
            false => self.runtime.block_on(Conflicts::read(&self.git, state.trunk.as_deref())),
        };
        (found, branches)
    }

    /// The ways on, where something failed or was aborted.
    pub fn retry_options(&self) -> Result<Option<RetryOptions>, CliError> {
        Ok(show::retry_options(&self.planned(None)?))
    }

    pub fn handoff(&self, at: Option<u64>) -> Result<HandoffView, CliError> {
        let state = self.planned(at)?;
        let mut view = show::handoff(&state);
        if at.is_none() {
            let (conflicts, branches) = self.conflicts(&state);
            show::foresee(&mut view, conflicts.shown(&branches));
        }
        Ok(view)
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

/// Adds the name that was probably meant, or the command that lists them.
pub(super) fn meant<'a>(
    error: CliError,
    text: &str,
    names: impl Iterator<Item = &'a str>,
    list: &str,
) -> CliError {
    match nearest(text, names) {
        Some(near) => error.say(format!("Did you mean {near}? Run `{list}`")),
        None => error.run_instead(list),
    }
}

/// The refusal that any command about this task would get, with the name that was probably meant.
pub(super) fn unknown(state: &State, id: &TaskId) -> CliError {
    let command = Command::UnblockTask { task: id.clone() };
    let envelope =
        Envelope { id: CommandId::new("look").expect("a plain word"), by: "person:cli".into(), command };
    match react(state, Input::Command(envelope), state.at) {
        Err(refusal) => refusal.into(),
        Ok(_) => Refusal::UnknownTask { task: id.to_string(), near: None }.into(),
    }
}
