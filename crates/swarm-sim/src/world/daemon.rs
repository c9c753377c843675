//! Daemons: they outlive the coordinator, work under the newest order, and keep every report until
//! it is acknowledged.

use std::collections::{BTreeMap, VecDeque};

use swarm_core::effect::{ReviewingAgent, WorkOrder};
use swarm_core::input::Report;
use swarm_protocol::channel::RunKind;
use swarm_protocol::failure::{Failure, FailureClass};
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::outcome::Ended;

#[derive(Debug, Clone, PartialEq)]
pub enum Doing {
    /// Stands at its boundary.
    Waiting,
    Iterating {
        iteration: u32,
    },
    /// The agent will never end by itself.
    Hanging,
    /// No output any more; the daemon's stall clock runs.
    Silent {
        iteration: u32,
    },
    Checking {
        iteration: u32,
        waived: bool,
    },
    Verifying {
        commit: Oid,
    },
    Reviewing {
        tip: Oid,
        /// None: the commands do.
        agent: Option<ReviewingAgent>,
    },
    /// Asks the service whether this allowance is back.
    Probing {
        group: String,
    },
    /// Told to end; the tree is being ended.
    Ending,
}

#[derive(Debug, Clone)]
pub struct Daemon {
    pub run: RunId,
    pub task: TaskId,
    pub kind: RunKind,
    /// Beside others of the same kind: the members of a council read at the same time.
    pub beside_others: bool,
    pub alive: bool,
    pub doing: Doing,
    /// Counts what it turned to; planned steps of an earlier turn are void.
    pub turn: u64,
    pub iterated: u32,
    pub checked: Option<u32>,
    pub order: Option<WorkOrder>,
    /// The group of the profile it works under.
    pub group: String,
    /// How much of the ledger the prompt of its iteration knew.
    pub known: u64,
    /// What was acknowledged: never sent again.
    pub acknowledged: Vec<Report>,
    pub epoch: u64,
    pub exit: Option<Ended>,
    /// Reports that nobody has acknowledged.
    pub frames: VecDeque<(u64, Report)>,
    pub sent: u64,
    /// The executor of the present coordinator that listens to it.
    pub heard_by: Option<u64>,
}

impl Daemon {
    pub fn new(run: RunId, task: TaskId, kind: RunKind, epoch: u64) -> Self {
        Self {
            run,
            task,
            kind,
            beside_others: false,
            alive: true,
            doing: Doing::Waiting,
            turn: 0,
            iterated: 0,
            checked: None,
            order: None,
            group: String::new(),
            known: 0,
            acknowledged: Vec::new(),
            epoch,
            exit: None,
            frames: VecDeque::new(),
            sent: 0,
            heard_by: None,
        }
    }

    pub fn turn_to(&mut self, doing: Doing) -> u64 {
        self.doing = doing;
        self.turn += 1;
        self.turn
    }

    /// Writes a report to its journal; returns its number.
    pub fn say(&mut self, report: Report) -> u64 {
        self.sent += 1;
        self.frames.push_back((self.sent, report));
        self.sent
    }

    pub fn acknowledged(&mut self, n: u64) {
        let acknowledged = self.frames.iter().filter(|(number, _)| *number == n);
        self.acknowledged.extend(acknowledged.map(|(_, report)| report.clone()));
        self.frames.retain(|(number, _)| *number != n);
    }

    /// The process ends with a last word.
    pub fn ends(&mut self, how: Ended) -> u64 {
        self.alive = false;
        self.turn += 1;
        self.exit = Some(how.clone());
        let last = match self.kind {
            RunKind::Work => Report::WorkEnded { run: self.run.clone(), how },
            RunKind::Probe => {
                let failure = Some(Failure::new(FailureClass::Unknown, how.describe()));
                Report::Probed { run: self.run.clone(), failure }
            }
            RunKind::Verify => {
                Report::VerifyLost { run: self.run.clone(), task: self.task.clone(), why: how.describe() }
            }
            RunKind::Review => {
                Report::ReviewLost { run: self.run.clone(), task: self.task.clone(), why: how.describe() }
            }
        };
        self.say(last)
    }

    /// The process vanishes without a word.
    pub fn vanishes(&mut self) {
        self.alive = false;
        self.turn += 1;
    }
}

/// All daemons there ever were.
#[derive(Debug, Default)]
pub struct Daemons {
    all: BTreeMap<RunId, Daemon>,
}

impl Daemons {
    pub fn get(&self, run: &RunId) -> Option<&Daemon> {
        self.all.get(run)
    }

    pub fn get_mut(&mut self, run: &RunId) -> Option<&mut Daemon> {
        self.all.get_mut(run)
    }

    /// A second daemon of the run cannot lock and ends, so only the first counts. Two living ones of
    /// a task are a broken rule.
    pub fn spawn(&mut self, daemon: Daemon) -> Result<(), String> {
        // An agent and a review share the task's worktree; a verification has one of its own, and a
        // probe has none.
        let place = |kind: RunKind| match kind {
            RunKind::Work | RunKind::Review => 0,
            RunKind::Verify => 1,
            RunKind::Probe => 2,
        };
        let same = |d: &&Daemon| {
            let both_read = d.beside_others && daemon.beside_others;
            d.task == daemon.task && place(d.kind) == place(daemon.kind) && !both_read
        };
        if let Some(other) = self.alive().find(same) {
            return Err(format!("{} starts for task {} while {} lives", daemon.run, daemon.task, other.run));
        }
        self.all.insert(daemon.run.clone(), daemon);
        Ok(())
    }

    pub fn alive(&self) -> impl Iterator<Item = &Daemon> {
        self.all.values().filter(|daemon| daemon.alive)
    }

    /// The coordinator is gone: nobody listens any more.
    pub fn unheard(&mut self) {
        for daemon in self.all.values_mut() {
            daemon.heard_by = None;
        }
    }
}
