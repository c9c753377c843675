//! Rules of recovery, read off the log: who is out of service, which gates are closed, who begins again.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::event::Event;
use swarm_protocol::ids::{AgentId, RunId, TaskId};
use swarm_protocol::outcome::Next;
use swarm_protocol::policy::Policy;

use super::oracle::{Broken, broken};
use super::truth::Truth;

#[derive(Debug, Default)]
pub struct Recovery {
    policy: Policy,
    degraded: BTreeSet<AgentId>,
    /// Tasks whose agent begins again.
    restarting: BTreeMap<TaskId, AgentId>,
    closed: BTreeSet<String>,
    probing: BTreeMap<String, RunId>,
    /// The last run that was claimed before the gate of a group was opened.
    opened_after: BTreeMap<String, u64>,
    runs: u64,
}

fn number(run: &RunId) -> u64 {
    run.as_str()[1..].parse().unwrap_or(0)
}

impl Recovery {
    pub fn read(&mut self, event: &Event) {
        match event {
            Event::CoordinatorStarted { policy, .. } => self.policy = policy.clone(),
            Event::TaskClaimed { task, run, .. } => {
                self.restarting.remove(task);
                self.runs = number(run);
            }
            Event::ReviewStarted { run, .. }
            | Event::VerificationStarted { run, .. }
            | Event::BaseCheckStarted { run, .. }
            | Event::TrunkTrialStarted { run, .. } => self.runs = number(run),
            Event::AgentFailed { task, agent, next: Next::Restart { .. }, .. } => {
                self.restarting.insert(task.clone(), agent.clone());
            }
            Event::AgentFailed { task, .. }
            | Event::AgentStopped { task, .. }
            | Event::TaskStatusChanged { task, .. }
            | Event::TaskRemoved { task } => drop(self.restarting.remove(task)),
            Event::PlanReset {} => self.restarting.clear(),
            Event::AgentDegraded { agent, .. } => drop(self.degraded.insert(agent.clone())),
            Event::AgentRevived { agent } => drop(self.degraded.remove(agent)),
            Event::QuotaExhausted { group, .. } => drop(self.closed.insert(group.clone())),
            Event::QuotaProbeStarted { group, run, .. } => {
                self.runs = number(run);
                self.probing.insert(group.clone(), run.clone());
            }
            Event::QuotaProbeFailed { group, .. } | Event::QuotaHeld { group } => {
                self.probing.remove(group);
            }
            Event::QuotaRestored { group, .. } => {
                self.closed.remove(group);
                self.probing.remove(group);
                self.opened_after.insert(group.clone(), self.runs);
            }
            _ => {}
        }
    }

    fn group(&self, profile: Option<&str>) -> String {
        let name = profile.unwrap_or(&self.policy.profile);
        let rule = self.policy.profiles.iter().find(|rule| rule.name == name);
        let group = rule.map_or(name, |rule| &rule.quota_group);
        if group.is_empty() { "default".into() } else { group.into() }
    }

    pub fn judge(
        &self,
        event: &Event,
        truth: &Truth,
        at_work: &BTreeMap<RunId, TaskId>,
        slots: usize,
    ) -> Result<(), Broken> {
        match event {
            Event::TaskClaimed { task, agent, profile, .. } => {
                self.may_claim(task, agent, profile.as_deref())?;
                let holds = |t: &&TaskId| !at_work.values().any(|at| at == *t);
                let taken = at_work.len() + self.restarting.keys().filter(holds).count();
                if !self.restarting.contains_key(task) && taken >= slots {
                    let text = format!("{task}: {taken} of {slots} are taken");
                    return Err(broken("an agent that begins again keeps its slot", text));
                }
                Ok(())
            }
            Event::QuotaExhausted { group, run, .. }
                if number(run) <= self.opened_after.get(group).copied().unwrap_or(0) =>
            {
                Err(broken("a late word does not close a gate that was opened", format!("{group}: {run}")))
            }
            Event::QuotaProbeStarted { group, run, .. } => match self.probing.get(group) {
                Some(other) => Err(broken(
                    "one probe at a time asks for a group",
                    format!("{group}: {other}, then {run}"),
                )),
                None => Ok(()),
            },
            Event::QuotaRestored { group, .. } if !self.closed.contains(group) => {
                Err(broken("a gate that is closed is opened once", group.clone()))
            }
            Event::MessageLanded { id, run, .. } if !truth.told.get(run).is_some_and(|t| t.contains(id)) => {
                Err(broken("a message lands where a prompt contained it", format!("{id} in {run}")))
            }
            _ => Ok(()),
        }
    }

    fn may_claim(&self, task: &TaskId, agent: &AgentId, profile: Option<&str>) -> Result<(), Broken> {
        if self.degraded.contains(agent) {
            return Err(broken("an agent out of service gets no work", format!("{task} by {agent}")));
        }
        let closed = self.group(profile);
        let all = self.policy.quota_stops_all && !self.closed.is_empty();
        if all || self.closed.contains(&closed) {
            return Err(broken("nothing is started on a used-up allowance", format!("{task} on {closed}")));
        }
        match self.restarting.get(task) {
            Some(own) if own != agent => {
                let text = format!("{task}: {own} crashed, {agent} begins");
                Err(broken("an agent that crashed goes on with its task", text))
            }
            _ => Ok(()),
        }
    }
}
