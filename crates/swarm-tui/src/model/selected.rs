//! What is selected in each view.

use swarm_protocol::board::BoardView;
use swarm_protocol::ids::TaskId;
use swarm_protocol::oplog::OperationView;

use super::{Model, Node, View};

impl Model {
    /// How many lines a view has.
    pub fn length(&self, view: View) -> usize {
        let Some(board) = &self.board else { return 0 };
        match view {
            View::Attention => board.attention.len(),
            View::Plan => self.nodes().len(),
            View::Agents => board.agents.len(),
            View::Events => self.shown_events().count(),
            View::Checkpoints => board.checkpoints.len(),
            View::Operations => board.operations.len(),
        }
    }

    /// What is selected in a list, by a name that survives a new board.
    pub fn chosen(&self, view: View) -> Option<String> {
        let (board, at) = (self.board.as_ref()?, self.cursor(view));
        self.name_at(board, view, at)
    }

    fn name_at(&self, board: &BoardView, view: View, at: usize) -> Option<String> {
        Some(match view {
            View::Attention => board.attention.get(at)?.id.clone(),
            View::Agents => board.agents.get(at)?.agent.agent.to_string(),
            View::Checkpoints => board.checkpoints.get(at)?.name.clone(),
            View::Operations => board.operations.get(at)?.id.to_string(),
            View::Plan | View::Events => return None,
        })
    }

    /// Selects what has this name, wherever it stands now; false when it is gone.
    pub fn choose_again(&mut self, view: View, name: &str) -> bool {
        let Some(board) = &self.board else { return false };
        let named = |at: &usize| self.name_at(board, view, *at).is_some_and(|other| other == name);
        let found = (0..self.length(view)).find(named);
        if let Some(at) = found {
            self.cursors[view.index()] = at;
        }
        found.is_some()
    }

    pub fn cursor(&self, view: View) -> usize {
        match view {
            View::Plan => {
                let nodes = self.nodes();
                if self.node.is_some() && nodes.get(self.node_at) == self.node.as_ref() {
                    return self.node_at;
                }
                nodes.iter().position(|node| Some(node) == self.node.as_ref()).unwrap_or_default()
            }
            view => self.cursors[view.index()].min(self.length(view).saturating_sub(1)),
        }
    }

    /// The operation that is selected in their list.
    pub fn selected_operation(&self) -> Option<&OperationView> {
        self.board.as_ref()?.operations.get(self.cursor(View::Operations))
    }

    /// The one that covers the board, wherever it stands by now.
    pub fn opened_operation(&self) -> Option<&OperationView> {
        let id = self.opened.as_ref()?;
        self.board.as_ref()?.operations.iter().find(|op| op.id == *id)
    }

    /// The task that is selected in the focused view.
    pub fn selected_task(&self) -> Option<TaskId> {
        let board = self.board.as_ref()?;
        let at = self.cursor(self.view);
        match self.view {
            View::Attention => board.attention.get(at)?.task.clone(),
            View::Plan => match self.node.as_ref()? {
                Node::Task(id) => Some(id.clone()),
                Node::Phase(_) => None,
            },
            View::Agents => Some(board.agents.get(at)?.agent.task.clone()),
            View::Events => self.shown_events().nth(at)?.task.clone(),
            View::Checkpoints => None,
            View::Operations => self.task_of(board.operations.get(at)?),
        }
    }

    /// The task that an operation is about, where it is about one that there is.
    pub fn task_of(&self, op: &OperationView) -> Option<TaskId> {
        let subject = TaskId::new(op.subject.as_deref()?).ok()?;
        self.row(&subject).map(|row| row.row.id.clone())
    }
}
