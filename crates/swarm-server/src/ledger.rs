//! A swarm that nobody coordinates, as front ends see it: read from the ledger, written under a lock of one's own.
//!
//! Whoever starts a front end hands one of these in; the front end asks the coordinator first and this where nobody
//! answers.

use std::sync::Arc;

pub use swarm_engine::feed::Position;
pub use swarm_engine::look::Look;
use swarm_protocol::any_view::AnyView;
use swarm_protocol::api::{ApiError, Seen};
use swarm_protocol::board::{AllowedView, BoardView, Choice};
use swarm_protocol::command::{Answer, Command, Envelope};
use swarm_protocol::diff::{DiffAsk, DiffView};
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::over_time::OverTimeView;
use swarm_protocol::trunk::{TrunkAsk, TrunkView};
use swarm_protocol::view::TaskView;

/// What is to be seen and done where nobody coordinates. Its functions may take their time: they are called beside the
/// loop, see [`beside`].
pub trait Ledger: Send + Sync + 'static {
    /// Any view and the record it was read at, now or at a record.
    fn look(&self, what: &Look, at: Option<u64>) -> Result<Seen<AnyView>, ApiError>;
    fn preview(&self, command: &Command) -> Result<PreviewView, ApiError>;
    /// Carries it out, whoever has the ledger by then. The id makes it safe to have been asked before.
    fn ask(&self, envelope: Envelope) -> Result<Answer, ApiError>;
    /// What a command with this id was answered before.
    fn past_answer(&self, id: &CommandId) -> Option<Answer>;
    fn diff(&self, ask: &DiffAsk) -> Result<DiffView, ApiError>;
    /// How far the plan came and what it cost, from its beginning to now.
    fn over_time(&self) -> Result<OverTimeView, ApiError>;
    /// A place on trunk, and what brought its lines.
    fn trunk(&self, ask: &TrunkAsk) -> Result<TrunkView, ApiError>;
    /// The last so many records, oldest first.
    fn records(&self, last: u64) -> Vec<String>;
    /// Which ledger there is, and how far it goes; none where there is no plan.
    fn position(&self) -> Option<(String, Position)>;
    /// Comes back when the ledger may have changed; true when it has.
    fn changed(&self) -> bool;

    fn board(&self, at: Option<u64>) -> Result<BoardView, ApiError> {
        match self.look(&Look::Board, at)?.view {
            AnyView::Board(board) => Ok(*board),
            _ => Err(another_view()),
        }
    }

    fn task(&self, id: &TaskId, at: Option<u64>) -> Result<TaskView, ApiError> {
        match self.look(&Look::Task(id.clone()), at)?.view {
            AnyView::Task(task) => Ok(task),
            _ => Err(another_view()),
        }
    }

    fn allowed(&self, task: Option<&TaskId>) -> Result<Vec<AllowedView>, ApiError> {
        match self.look(&Look::Allowed(task.cloned()), None)?.view {
            AnyView::Allowed(allowed) => Ok(allowed),
            _ => Err(another_view()),
        }
    }

    fn choices(&self, task: &TaskId) -> Result<Vec<Choice>, ApiError> {
        match self.look(&Look::Choices(task.clone()), None)?.view {
            AnyView::Choices(choices) => Ok(choices),
            _ => Err(another_view()),
        }
    }
}

fn another_view() -> ApiError {
    ApiError::new("bug", "Another view was made than was asked for", "swarm doctor")
}

/// Asks the ledger on a thread that may wait.
pub async fn beside<L: ?Sized + Ledger, T: Send + 'static>(
    ledger: &Arc<L>,
    what: impl FnOnce(&L) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let ledger = Arc::clone(ledger);
    let done = tokio::task::spawn_blocking(move || what(ledger.as_ref())).await;
    done.unwrap_or_else(|error| Err(ApiError::new("failed", error.to_string(), "swarm doctor")))
}
