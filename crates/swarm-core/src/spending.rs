//! What was spent and what came of it, read off the records: a view of the whole ledger, not of one moment.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use swarm_protocol::event::Event;
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::{AgentId, RunId, TaskId};
use swarm_protocol::outcome::Ended;
pub use swarm_protocol::over_time::CostRow;
use swarm_protocol::plan::Status;
use swarm_protocol::time::Timestamp;

/// What became of the work that was paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is on trunk.
    Merged,
    /// Another attempt did it again.
    Redone,
    /// The attempt crashed, failed or was given up.
    Lost,
    /// It was on trunk and was taken back.
    RolledBack,
    UnderWay,
}

impl Outcome {
    pub const ALL: [Self; 5] = [Self::Merged, Self::Redone, Self::Lost, Self::RolledBack, Self::UnderWay];

    pub fn word(self) -> &'static str {
        match self {
            Self::Merged => "merged",
            Self::Redone => "redone",
            Self::Lost => "lost",
            Self::RolledBack => "rolled_back",
            Self::UnderWay => "under_way",
        }
    }
}

/// By what it is added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    Task,
    Agent,
    Outcome,
    Day,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostView {
    pub total: Usage,
    pub rows: Vec<CostRow>,
}

/// One attempt and all that was spent on it, its reviews included.
#[derive(Debug, Clone)]
struct Paid {
    task: TaskId,
    agent: AgentId,
    usage: Usage,
    days: BTreeMap<String, Usage>,
    /// It ended without a result by itself.
    broken: bool,
    /// The task was done after it, before anybody tried again.
    was_done: bool,
}

/// Built record by record.
#[derive(Debug, Clone, Default)]
pub struct Spending {
    attempts: Vec<Paid>,
    by_run: BTreeMap<RunId, usize>,
    /// The newest attempt of each task: reviews and merges are about it.
    newest: BTreeMap<TaskId, usize>,
}

impl Spending {
    pub fn note(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::TaskClaimed { task, run, agent, restart, .. } => match self.goes_on(task, agent, *restart)
            {
                // What its earlier starts have cost is part of the same attempt, and it is not lost yet.
                Some(at) => {
                    self.by_run.insert(run.clone(), at);
                    self.attempts[at].broken = false;
                }
                None => self.begin(task, run, agent),
            },
            // What a reviewer costs is part of what the work costs.
            Event::ReviewStarted { task, run, .. } => {
                if let Some(attempt) = self.newest.get(task) {
                    self.by_run.insert(run.clone(), *attempt);
                }
            }
            Event::Iteration { run, usage: Some(usage), .. }
            | Event::ReviewAnswered { run, usage: Some(usage), .. } => self.pay(run, *usage, at),
            Event::AgentFailed { run, how, .. } => {
                let broken = !matches!(how, Ended::Stopped);
                self.change(run, |paid| paid.broken = broken);
            }
            Event::MergeCompleted { task, .. } | Event::WorkBack { task, .. } => {
                if let Some(paid) = self.newest.get(task).and_then(|at| self.attempts.get_mut(*at)) {
                    (paid.was_done, paid.broken) = (true, false);
                }
            }
            _ => {}
        }
    }

    /// The attempt that a restarted agent goes on with.
    fn goes_on(&self, task: &TaskId, agent: &AgentId, restart: Option<u32>) -> Option<usize> {
        let newest = restart.filter(|starts| *starts > 0).and_then(|_| self.newest.get(task).copied());
        newest.filter(|at| self.attempts[*at].agent == *agent)
    }

    fn begin(&mut self, task: &TaskId, run: &RunId, agent: &AgentId) {
        let at = self.attempts.len();
        self.by_run.insert(run.clone(), at);
        self.newest.insert(task.clone(), at);
        let (usage, days) = (Usage::default(), BTreeMap::new());
        let (task, agent) = (task.clone(), agent.clone());
        self.attempts.push(Paid { task, agent, usage, days, broken: false, was_done: false });
    }

    fn pay(&mut self, run: &RunId, usage: Usage, at: Timestamp) {
        let day: String = at.to_string().chars().take(10).collect();
        self.change(run, |paid| {
            paid.usage = paid.usage.plus(usage);
            let spent = paid.days.entry(day).or_default();
            *spent = spent.plus(usage);
        });
    }

    fn change(&mut self, run: &RunId, change: impl FnOnce(&mut Paid)) {
        if let Some(paid) = self.by_run.get(run).and_then(|at| self.attempts.get_mut(*at)) {
            change(paid);
        }
    }

    /// `status`: what each task is now; none for one that is no longer in the plan.
    fn outcome(&self, at: usize, status: impl Fn(&TaskId) -> Option<Status>) -> Outcome {
        let paid = &self.attempts[at];
        let now = status(&paid.task);
        match (paid.was_done, self.newest.get(&paid.task) == Some(&at)) {
            (true, true) if now == Some(Status::Done) => Outcome::Merged,
            (true, _) => Outcome::RolledBack,
            (false, _) if paid.broken => Outcome::Lost,
            (false, false) => Outcome::Redone,
            (false, true) => match now {
                // Taken for done without a merge: an accepted or empty one.
                Some(Status::Done) => Outcome::Merged,
                Some(Status::Failed | Status::Timeout | Status::Cancelled) | None => Outcome::Lost,
                Some(Status::Gone) => Outcome::RolledBack,
                Some(_) => Outcome::UnderWay,
            },
        }
    }

    pub fn view(&self, by: By, status: impl Fn(&TaskId) -> Option<Status>) -> CostView {
        let mut rows: BTreeMap<String, (BTreeSet<usize>, Usage)> = BTreeMap::new();
        if by == By::Outcome {
            rows.extend(Outcome::ALL.map(|outcome| (outcome.word().to_owned(), Default::default())));
        }
        for (at, paid) in self.attempts.iter().enumerate() {
            let parts: Vec<(String, Usage)> = match by {
                By::Task => vec![(paid.task.to_string(), paid.usage)],
                By::Agent => vec![(paid.agent.to_string(), paid.usage)],
                By::Outcome => vec![(self.outcome(at, &status).word().to_owned(), paid.usage)],
                By::Day => paid.days.iter().map(|(day, usage)| (day.clone(), *usage)).collect(),
            };
            for (name, usage) in parts {
                let row = rows.entry(name).or_default();
                row.0.insert(at);
                row.1 = row.1.plus(usage);
            }
        }
        let rows = rows.into_iter();
        let rows =
            rows.map(|(name, (attempts, usage))| CostRow { name, attempts: attempts.len() as u64, usage });
        let total = self.attempts.iter().fold(Usage::default(), |sum, paid| sum.plus(paid.usage));
        CostView { total, rows: rows.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarm_protocol::ids::Oid;
    use swarm_protocol::outcome::Next;
    use swarm_protocol::proof::Proof;

    fn task(id: &str) -> TaskId {
        TaskId::new(id).expect("a task")
    }

    fn run(id: &str) -> RunId {
        RunId::new(id).expect("a run")
    }

    fn claimed(id: &str, of: &str) -> Event {
        restarted(id, of, None)
    }

    fn restarted(id: &str, of: &str, restart: Option<u32>) -> Event {
        Event::TaskClaimed {
            task: task(of),
            status: Status::Active,
            run: run(id),
            agent: AgentId::new("ed-001").expect("an agent"),
            attempt: 1,
            nonce: "n".into(),
            profile: None,
            restart,
        }
    }

    fn paid(id: &str, of: &str, cost_micros: u64) -> Event {
        Event::Iteration {
            task: task(of),
            run: run(id),
            iteration: 1,
            tip: None,
            note: None,
            usage: Some(Usage { cost_micros, ..Usage::default() }),
            session: None,
            class: None,
        }
    }

    fn crashed(id: &str, of: &str) -> Event {
        Event::AgentFailed {
            task: task(of),
            status: Status::Pending,
            run: run(id),
            agent: AgentId::new("ed-001").expect("an agent"),
            how: Ended::Crashed { code: Some(1), signal: None, text: String::new() },
            next: Next::Pending { not_before: Timestamp::ZERO, counts: true },
            after: None,
        }
    }

    fn merged(of: &str) -> Event {
        let commit = Oid::new("a".repeat(40)).expect("a commit");
        Event::MergeCompleted { task: task(of), proof: Proof::new("main", commit, vec![]) }
    }

    fn costs(events: &[Event], status: Status) -> Vec<(String, u64)> {
        let mut spending = Spending::default();
        for event in events {
            spending.note(event, Timestamp(1_768_298_400_000));
        }
        let view = spending.view(By::Outcome, |_| Some(status));
        let spent = view.rows.iter().filter(|row| row.usage.cost_micros > 0);
        spent.map(|row| (row.name.clone(), row.usage.cost_micros)).collect()
    }

    #[test]
    fn an_agent_that_is_started_again_goes_on_with_its_attempt() {
        let mut spending = Spending::default();
        let (monday, tuesday) = (Timestamp(1_768_298_400_000), Timestamp(1_768_384_800_000));
        let story = [
            (claimed("r1", "1.1"), monday),
            (paid("r1", "1.1", 5), monday),
            (crashed("r1", "1.1"), monday),
            (restarted("r2", "1.1", Some(1)), tuesday),
            (paid("r2", "1.1", 7), tuesday),
        ];
        story.iter().for_each(|(event, at)| spending.note(event, *at));
        let rows = |by| -> Vec<(String, u64, u64)> {
            let view = spending.view(by, |_| Some(Status::Active));
            let spent = view.rows.into_iter().filter(|row| row.usage.cost_micros > 0);
            spent.map(|row| (row.name, row.attempts, row.usage.cost_micros)).collect()
        };
        assert_eq!(rows(By::Task), [("1.1".to_owned(), 1, 12)]);
        assert_eq!(rows(By::Agent), [("ed-001".to_owned(), 1, 12)]);
        assert_eq!(rows(By::Outcome), [("under_way".to_owned(), 1, 12)]);
        let days = ["2026-01-13", "2026-01-14"].map(str::to_owned);
        assert_eq!(rows(By::Day), [(days[0].clone(), 1, 5), (days[1].clone(), 1, 7)]);
        // Another attempt is another one, whoever makes it.
        for event in [crashed("r2", "1.1"), claimed("r3", "1.1"), paid("r3", "1.1", 11)] {
            spending.note(&event, tuesday);
        }
        let view = spending.view(By::Task, |_| None);
        assert_eq!((view.rows[0].attempts, view.rows[0].usage.cost_micros), (2, 23));
    }

    #[test]
    fn each_attempt_is_paid_for_by_what_became_of_it() {
        let story = [
            claimed("r1", "1.1"),
            paid("r1", "1.1", 5),
            crashed("r1", "1.1"),
            claimed("r2", "1.1"),
            paid("r2", "1.1", 7),
            claimed("r3", "1.1"),
            paid("r3", "1.1", 11),
        ];
        let named = |costs: &[(&str, u64)]| -> Vec<(String, u64)> {
            costs.iter().map(|(name, cost)| ((*name).to_owned(), *cost)).collect()
        };
        assert_eq!(costs(&story, Status::Active), named(&[("lost", 5), ("redone", 7), ("under_way", 11)]));
        let mut done = story.to_vec();
        done.push(merged("1.1"));
        assert_eq!(costs(&done, Status::Done), named(&[("lost", 5), ("merged", 11), ("redone", 7)]));
        // Taken back, whether or not somebody tries again.
        assert_eq!(costs(&done, Status::Pending), named(&[("lost", 5), ("redone", 7), ("rolled_back", 11)]));
        done.extend([claimed("r4", "1.1"), paid("r4", "1.1", 13)]);
        assert_eq!(
            costs(&done, Status::Active),
            named(&[("lost", 5), ("redone", 7), ("rolled_back", 11), ("under_way", 13)])
        );
    }
}
