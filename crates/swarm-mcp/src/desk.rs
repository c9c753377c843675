//! What only the program itself can do: files of the repository, worktrees, journals, the end of a plan.

use serde_json::Value;
use swarm_protocol::api::{ApiError, HistoryPage, LogPage};
use swarm_protocol::command::Command;
use swarm_protocol::config::Confirm;
use swarm_protocol::ids::TaskId;
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::reservation::Isolation;
use swarm_server::ledger::Ledger;

/// A deed that is no command of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    Init { isolation: Option<Isolation> },
    CreateWorktree { task: TaskId, from: Option<String> },
    CleanUp { task: TaskId },
    ClosePlan { stop: bool },
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// One sentence.
    pub text: String,
    pub data: Value,
}

/// The swarm where nobody coordinates, and what is done beside the ledger. Whoever implements it refuses what a process
/// inside an attempt may not do: here nobody else looks.
pub trait Desk: Ledger {
    /// Who confirms what moves git or takes something back.
    fn confirm(&self) -> Result<Confirm, ApiError>;
    fn would(&self, deed: &Deed) -> Result<PreviewView, ApiError>;
    fn carry_out(&self, deed: &Deed) -> Result<Done, ApiError>;
    /// The work in the worktree of a task, as a command that submits it.
    fn submission(&self, task: &TaskId) -> Result<Command, ApiError>;
    fn worktrees(&self) -> Result<Value, ApiError>;
    /// Lines that the newest run of a task or an agent, or a run, has printed, from a byte on.
    fn log(&self, who: &str, from: u64, lines: usize) -> Result<LogPage, ApiError>;
    /// Records of the ledger from this one on.
    fn history(&self, from: u64, limit: usize) -> Result<HistoryPage, ApiError>;
}
