//! Every run there ever was, read off the ledger: who worked on what, how long, and what it came to.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use swarm_ledger::Line;
use swarm_protocol::event::Event;
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::{AgentId, RunId, TaskId};
use swarm_protocol::record::event_of;
use swarm_protocol::time::Timestamp;

use super::Swarm;
use crate::error::CliError;

/// One run.
#[derive(Debug, Clone, Serialize)]
pub struct RunRow {
    pub run: RunId,
    /// `work`, `review`, `verify` or `probe`.
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    pub task: TaskId,
    pub attempt: u32,
    pub iteration: u32,
    pub since: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// What it is at, or what it came to.
    pub state: String,
    #[serde(skip_serializing_if = "Usage::is_none")]
    pub usage: Usage,
}

impl RunRow {
    fn new(run: &RunId, kind: &'static str, task: &TaskId, at: Timestamp) -> Self {
        Self {
            run: run.clone(),
            kind,
            agent: None,
            task: task.clone(),
            attempt: 0,
            iteration: 0,
            since: at,
            ended: None,
            state: "preparing".into(),
            usage: Usage::default(),
        }
    }
}

/// Runs by their number, oldest first.
#[derive(Debug, Default)]
struct Runs {
    by_run: BTreeMap<RunId, RunRow>,
    order: Vec<RunId>,
}

impl Swarm {
    /// All runs of this ledger, oldest first.
    pub fn runs(&self) -> Result<Vec<RunRow>, CliError> {
        let mut runs = Runs::default();
        self.records(None, &mut |line| {
            runs.take(line);
            Ok(())
        })?;
        let Runs { mut by_run, order } = runs;
        Ok(order.iter().filter_map(|run| by_run.remove(run)).collect())
    }

    /// Where the output of this run is kept.
    pub fn journal_of(&self, run: &RunRow) -> PathBuf {
        let who = run.agent.as_ref().map_or("verify", AgentId::as_str);
        let place = |who: &str| self.paths.agents.join(who).join("logs").join(format!("{}.jsonl", run.run));
        let own = place(who);
        // Runs without an agent lie under the name of their kind.
        if own.exists() || run.agent.is_some() { own } else { place(run.kind) }
    }

    /// Whether processes of this run may still be there.
    pub fn is_going_on(&self, run: &RunId) -> bool {
        let files = swarm_work::daemon::RunFiles::new(&self.paths.swarm, run);
        files.spec().exists() && !files.exit().exists()
    }

    /// The folder in which a run says that it has ended.
    pub fn daemons_folder(&self) -> &std::path::Path {
        &self.paths.daemons
    }
}

impl Runs {
    fn take(&mut self, line: &Line<'_>) {
        // A record of a newer program says nothing about runs that we could show.
        let Ok(event) = event_of(line.body) else { return };
        let at = std::str::from_utf8(line.ts).ok().and_then(Timestamp::parse).unwrap_or_default();
        self.note(&event, at);
    }

    fn note(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::TaskClaimed { task, run, agent, attempt, .. } => {
                let row = RunRow::new(run, "work", task, at);
                self.begin(RunRow { agent: Some(agent.clone()), attempt: *attempt, ..row });
            }
            Event::ReviewStarted { task, run, .. } => {
                self.begin(RunRow { state: "reviewing".into(), ..RunRow::new(run, "review", task, at) });
            }
            Event::VerificationStarted { task, run, .. }
            | Event::TrunkTrialStarted { task, run, .. }
            | Event::BaseCheckStarted { task, run, .. } => {
                self.begin(RunRow { state: "verifying".into(), ..RunRow::new(run, "verify", task, at) });
            }
            Event::QuotaProbeStarted { task, run, .. } => {
                self.begin(RunRow { state: "asking".into(), ..RunRow::new(run, "probe", task, at) });
            }
            Event::QuotaProbeFailed { run, why, .. } => {
                self.change(run, |row| row.state = format!("no: {why}"));
            }
            Event::AgentSpawned { run, .. } => self.change(run, |row| {
                row.state = "working".into();
                row.iteration = 1;
            }),
            Event::Iteration { run, iteration, usage, .. } => self.change(run, |row| {
                row.iteration = (*iteration).max(row.iteration);
                row.usage = row.usage.plus(usage.unwrap_or_default());
            }),
            Event::WorkSubmitted { run, .. } | Event::CheckingResumed { run, .. } => {
                self.change(run, |row| row.state = "checking".into())
            }
            Event::ChecksFailed { run, iteration, .. } => self.change(run, |row| {
                row.state = "working".into();
                row.iteration = iteration + 1;
            }),
            Event::AgentCompleted { run, .. } => self.change(run, |row| row.state = "completed".into()),
            Event::AgentFailed { run, how, .. } => self.change(run, |row| row.state = how.describe()),
            Event::AgentStopped { run, why, .. } => {
                self.change(run, |row| row.state = format!("stopped: {why}"))
            }
            Event::ReviewAnswered { run, usage, said, .. } => self.change(run, |row| {
                row.usage = row.usage.plus(usage.unwrap_or_default());
                row.state = if said.is_empty() { "no verdict".into() } else { said.clone() };
            }),
            Event::CouncilSpoke { run, member, voice, .. } => {
                self.change(run, |row| row.state = format!("{member} {}", voice.word()))
            }
            Event::ReviewFailed { run, .. } | Event::ChangesRequested { run: Some(run), .. } => {
                self.change(run, |row| row.state = "wants changes".into())
            }
            Event::VerificationPassed { run: Some(run), .. } => {
                self.change(run, |row| row.state = "green".into())
            }
            Event::VerificationFailed { run, .. } => self.change(run, |row| row.state = "red".into()),
            Event::AttemptStopped { run, .. } => self.change(run, |row| row.ended = Some(at)),
            _ => {}
        }
    }

    fn begin(&mut self, row: RunRow) {
        self.order.push(row.run.clone());
        self.by_run.insert(row.run.clone(), row);
    }

    fn change(&mut self, run: &RunId, change: impl FnOnce(&mut RunRow)) {
        if let Some(row) = self.by_run.get_mut(run) {
            change(row);
        }
    }
}
