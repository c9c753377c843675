//! What waits for a verdict.

use swarm_protocol::ids::TaskId;
use swarm_protocol::view::ReviewView;

use super::Model;

impl Model {
    /// What waits for a verdict about this task now.
    pub fn submitted(&self, task: &TaskId) -> Option<&ReviewView> {
        self.board.as_ref()?.reviews.iter().find(|review| review.task == *task)
    }

    /// Something newer waits than this.
    pub fn is_overtaken(&self, review: &ReviewView) -> bool {
        let now = self.submitted(&review.task);
        now.is_some_and(|now| (now.round, &now.submitted) != (review.round, &review.submitted))
    }
}
