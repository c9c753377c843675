//! Who is meant by a word on the command line: a task (1.2), an agent (ed-001) or a run (r17). The one place that
//! decides it, so that every `swarm agent …` command takes all three.

use swarm_core::{State, show};
use swarm_protocol::ids::{AgentId, RunId, TaskId};
use swarm_protocol::refusal::Refusal;

use super::Swarm;
use super::read::meant;
use super::runs::RunRow;
use crate::error::CliError;

const LIST: &str = "swarm agent list";

/// A task comes first: its name is the person's own choice, the others are ours.
enum Who {
    Task(TaskId),
    Agent(AgentId),
    Run(RunRow),
}

impl Swarm {
    /// The task: itself, the one that the agent has, or that of a run which has not ended.
    pub fn task_of(&self, who: &str) -> Result<TaskId, CliError> {
        let state = self.planned(None)?;
        match self.who(&state, who)? {
            Who::Task(task) => Ok(task),
            Who::Agent(agent) => {
                let agents = show::status(&state, state.at).agents;
                let at_work = agents.into_iter().find(|row| row.agent == agent);
                at_work.map(|row| row.task).ok_or_else(|| {
                    CliError::refused_now(format!("Agent {agent} has no task")).run_instead(LIST)
                })
            }
            // Whoever works on the task now is another run: stopping that one was not asked for.
            Who::Run(row) if row.ended.is_some() => {
                Err(CliError::refused_now(format!("Run {} has ended", row.run))
                    .run_instead(format!("swarm task show {}", row.task)))
            }
            Who::Run(row) => Ok(row.task),
        }
    }

    /// The agent: itself, the one of the run, or of a task the one out of service, else the last one.
    pub fn agent_of(&self, who: &str) -> Result<AgentId, CliError> {
        let state = self.planned(None)?;
        let none = |what: String| CliError::refused_now(what).run_instead(LIST);
        match self.who(&state, who)? {
            Who::Agent(agent) => Ok(agent),
            Who::Run(row) => row.agent.ok_or_else(|| none(format!("Run {} has no agent", row.run))),
            Who::Task(task) => {
                let runs = self.runs()?;
                let worked =
                    || runs.iter().rev().filter(|row| row.task == task).filter_map(|row| row.agent.as_ref());
                let is_out =
                    |agent: &&AgentId| state.agents.get(*agent).is_some_and(|a| a.degraded.is_some());
                let agent = worked().find(is_out).or_else(|| worked().next()).cloned();
                agent.ok_or_else(|| none(format!("No agent has worked on task {task} yet")))
            }
        }
    }

    /// The run: itself, or the newest one of the agent or the task.
    pub fn run_of(&self, who: &str) -> Result<RunRow, CliError> {
        let state = self.planned(None)?;
        let newest = |is_meant: &dyn Fn(&RunRow) -> bool| -> Result<Option<RunRow>, CliError> {
            Ok(self.runs()?.into_iter().rev().find(is_meant))
        };
        match self.who(&state, who)? {
            Who::Run(row) => Ok(row),
            Who::Agent(agent) => newest(&|row| row.agent.as_ref() == Some(&agent))?.ok_or_else(|| {
                CliError::refused_now(format!("Agent {agent} has not worked yet")).run_instead(LIST)
            }),
            Who::Task(task) => newest(&|row| row.task == task && row.kind == "work")?.ok_or_else(|| {
                CliError::refused_now(format!("No agent has worked on task {task} yet"))
                    .run_instead(format!("swarm task show {task}"))
            }),
        }
    }

    fn who(&self, state: &State, name: &str) -> Result<Who, CliError> {
        let (task, agent, run) = (TaskId::new(name).ok(), AgentId::new(name).ok(), RunId::new(name).ok());
        if task.is_none() && agent.is_none() && run.is_none() {
            return Err(CliError::usage(format!("{name} is not a task, agent or run")).run_instead(LIST));
        }
        if let Some(task) = task.filter(|task| state.task(task).is_some()) {
            return Ok(Who::Task(task));
        }
        if let Some(agent) = agent.filter(|agent| state.agents.contains_key(agent)) {
            return Ok(Who::Agent(agent));
        }
        if let Some(run) = run
            && let Some(row) = self.runs()?.into_iter().find(|row| row.run == run)
        {
            return Ok(Who::Run(row));
        }
        let refusal = Refusal::UnknownTask { task: name.to_owned(), near: None };
        let mut unknown = CliError::from(refusal);
        unknown.message = format!("There is no task, agent or run {name}");
        let names = state.tasks.keys().map(TaskId::as_str).chain(state.agents.keys().map(AgentId::as_str));
        Err(meant(unknown, name, names, LIST))
    }
}
