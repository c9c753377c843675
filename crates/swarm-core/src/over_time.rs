//! How far the plan came and what it cost over time, read off the records one after the other.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::event::Event;
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::over_time::{CostsView, MomentView, OverTimeView};
use swarm_protocol::plan::Status;
use swarm_protocol::time::Timestamp;

use crate::spending::{By, Spending};

/// More moments than this are thinned out.
const MOMENTS_MAX: usize = 400;

/// Built record by record.
#[derive(Debug, Clone, Default)]
pub struct OverTime {
    /// What each task of the plan is; none: it was cancelled.
    tasks: BTreeMap<TaskId, Status>,
    /// Tasks to be done, and done: counted along, so that no record costs more than another.
    open: u64,
    done: u64,
    usage: Usage,
    spending: Spending,
    /// Runs of agents at work.
    running: BTreeSet<RunId>,
    moments: Vec<MomentView>,
    /// Moments closer to one another are one.
    step_ms: u64,
}

impl OverTime {
    pub fn note(&mut self, event: &Event, at: Timestamp) {
        self.spending.note(event, at);
        match event {
            Event::TaskClaimed { run, .. } => {
                self.running.insert(run.clone());
            }
            Event::AttemptStopped { run, .. }
            | Event::AgentCompleted { run, .. }
            | Event::AgentFailed { run, .. } => {
                self.running.remove(run);
            }
            Event::TaskAdded { task, .. } => self.becomes(task, Some(Status::Pending)),
            Event::TaskRemoved { task } => self.becomes(task, None),
            Event::PlanReset {} => {
                let all: Vec<TaskId> = self.tasks.keys().cloned().collect();
                all.iter().for_each(|task| self.becomes(task, Some(Status::Pending)));
            }
            Event::Iteration { usage: Some(usage), .. }
            | Event::ReviewAnswered { usage: Some(usage), .. } => {
                self.usage = self.usage.plus(*usage);
            }
            _ => {}
        }
        if let (Some(task), Some(status)) = (event.task(), event.status())
            && self.tasks.contains_key(task)
        {
            self.becomes(task, Some(status));
        }
        self.mark(at);
    }

    fn becomes(&mut self, task: &TaskId, status: Option<Status>) {
        let before = match status {
            Some(status) => self.tasks.insert(task.clone(), status),
            None => self.tasks.remove(task),
        };
        for (status, sign) in [(before, -1), (status, 1)] {
            match status {
                None | Some(Status::Cancelled) => {}
                Some(Status::Done) => self.done = self.done.saturating_add_signed(sign),
                Some(_) => self.open = self.open.saturating_add_signed(sign),
            }
        }
    }

    fn mark(&mut self, at: Timestamp) {
        let agents = self.running.len() as u64;
        let now = MomentView { at, open: self.open, done: self.done, agents, usage: self.usage };
        let Some(last) = self.moments.last_mut() else {
            self.moments.push(now);
            return;
        };
        if *last == (MomentView { at: last.at, ..now }) {
            return;
        }
        if at.0.saturating_sub(last.at.0) < self.step_ms {
            *last = MomentView { at: last.at, ..now };
            return;
        }
        self.moments.push(now);
        if self.moments.len() > MOMENTS_MAX {
            self.thin_out();
        }
    }

    /// Every second one goes; the newest stays.
    fn thin_out(&mut self) {
        let (first, last) = (self.moments[0].at.0, self.moments[self.moments.len() - 1].at.0);
        self.step_ms = (last.saturating_sub(first) / (MOMENTS_MAX as u64 / 2)).max(self.step_ms * 2);
        let newest = self.moments.len() - 1;
        let mut at = 0;
        self.moments.retain(|_| {
            at += 1;
            (at - 1) % 2 == 0 || at - 1 == newest
        });
    }

    pub fn view(&self) -> OverTimeView {
        let status = |task: &TaskId| self.tasks.get(task).copied();
        let by = |by| self.spending.view(by, status).rows;
        let costs = CostsView { outcome: by(By::Outcome), task: by(By::Task), agent: by(By::Agent) };
        OverTimeView { moments: self.moments.clone(), costs: Some(costs) }
    }
}

#[cfg(test)]
mod tests {
    use swarm_protocol::ids::AgentId;

    use super::*;

    #[test]
    fn moments_are_thinned_out_and_the_first_and_the_newest_stay() {
        let mut over = OverTime::default();
        for n in 0..5000_u64 {
            over.usage.cost_micros += 1;
            over.mark(Timestamp(n * 1000));
        }
        let moments = over.view().moments;
        assert!(moments.len() <= MOMENTS_MAX && moments.len() > MOMENTS_MAX / 4, "{}", moments.len());
        assert_eq!(moments[0].at, Timestamp(0));
        assert_eq!(moments.last().map(|moment| moment.usage.cost_micros), Some(5000));
        assert!(moments.is_sorted_by_key(|moment| moment.at));
    }

    #[test]
    fn agents_are_counted_and_what_they_cost_is_added_up() {
        let (mut over, id) = (OverTime::default(), |id: &str| TaskId::new(id).expect("an id"));
        let run = RunId::nth(1);
        let claimed = Event::TaskClaimed {
            task: id("1.1"),
            status: Status::Active,
            run: run.clone(),
            agent: AgentId::new("ed-001").expect("an agent"),
            attempt: 1,
            nonce: "n".into(),
            profile: None,
            restart: None,
        };
        let paid = Event::Iteration {
            task: id("1.1"),
            run: run.clone(),
            iteration: 1,
            tip: None,
            note: None,
            usage: Some(Usage { cost_micros: 7, ..Usage::default() }),
            session: None,
            class: None,
        };
        let stopped = Event::AttemptStopped { task: id("1.1"), run, wip: None, session: None };
        over.becomes(&id("1.1"), Some(Status::Pending));
        for (second, event) in [claimed, paid, stopped].iter().enumerate() {
            over.note(event, Timestamp(second as u64 * 1000));
        }
        let OverTimeView { moments, costs } = over.view();
        assert_eq!(moments.iter().map(|moment| moment.agents).collect::<Vec<_>>(), [1, 1, 0]);
        let costs = costs.expect("they are added up");
        let of = |rows: &[crate::spending::CostRow], name: &str| {
            rows.iter().find(|row| row.name == name).map(|row| row.usage.cost_micros)
        };
        assert_eq!(of(&costs.outcome, "under_way"), Some(7));
        assert_eq!((of(&costs.task, "1.1"), of(&costs.agent, "ed-001")), (Some(7), Some(7)));
    }

    #[test]
    fn after_a_reset_of_the_plan_everything_is_open_again() {
        let (mut over, id) = (OverTime::default(), |id: &str| TaskId::new(id).expect("an id"));
        over.becomes(&id("1.1"), Some(Status::Done));
        over.becomes(&id("1.2"), Some(Status::Cancelled));
        over.note(&Event::PlanReset {}, Timestamp(1000));
        assert_eq!(over.view().moments.last().map(|now| (now.open, now.done)), Some((2, 0)));
    }

    #[test]
    fn tasks_count_as_open_done_or_not_at_all() {
        let (mut over, id) = (OverTime::default(), |id: &str| TaskId::new(id).expect("an id"));
        let counts = |over: &OverTime| (over.open, over.done);
        for task in ["1.1", "1.2", "1.3"] {
            over.becomes(&id(task), Some(Status::Pending));
        }
        over.becomes(&id("1.1"), Some(Status::Done));
        over.becomes(&id("1.2"), Some(Status::Cancelled));
        assert_eq!(counts(&over), (1, 1));
        over.becomes(&id("1.1"), Some(Status::Pending));
        over.becomes(&id("1.3"), None);
        assert_eq!(counts(&over), (1, 0));
    }
}
