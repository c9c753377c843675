//! The tree of phases and tasks as it is shown, and where things stand in it.

use std::collections::BTreeMap;

use swarm_protocol::board::BoardRow;
use swarm_protocol::ids::TaskId;

use super::Model;

/// A line of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    Phase(u32),
    Task(TaskId),
}

impl Model {
    /// The lines of the tree as they are shown.
    pub fn nodes(&self) -> &[Node] {
        &self.tree
    }

    /// Makes the tree anew; to be called by whatever changes tasks, folding or filter.
    pub fn grow(&mut self) {
        let Some(board) = &self.board else { return };
        let mut tasks: BTreeMap<u32, Vec<&BoardRow>> = BTreeMap::new();
        for row in board.rows.iter().filter(|row| self.filter.as_ref().is_none_or(|f| f.fits(row))) {
            tasks.entry(row.row.phase).or_default().push(row);
        }
        let mut nodes = Vec::with_capacity(board.rows.len() + board.status.phases.len());
        for phase in &board.status.phases {
            let tasks = tasks.remove(&phase.id).unwrap_or_default();
            if tasks.is_empty() && self.filter.is_some() {
                continue;
            }
            nodes.push(Node::Phase(phase.id));
            if !self.folded.contains(&phase.id) || self.filter.is_some() {
                nodes.extend(tasks.into_iter().map(|row| Node::Task(row.row.id.clone())));
            }
        }
        self.places = board.rows.iter().enumerate().map(|(at, row)| (row.row.id.clone(), at)).collect();
        self.tree = nodes;
    }

    /// Notes where the selected line stands; called after every change.
    pub fn settle(&mut self) {
        if self.node.as_ref() != self.tree.get(self.node_at) {
            let selected = |node: &Node| Some(node) == self.node.as_ref();
            self.node_at = self.tree.iter().position(selected).unwrap_or_default();
        }
    }
}
