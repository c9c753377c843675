//! Agents can move each other's branches. At each boundary the branch of this task is compared with what
//! its own worktree did, and put back.

use swarm_protocol::channel::FromDaemon;

use super::walls::admin_dir_of;
use super::workshop::{Workshop, complain};
use crate::git::tips::{self, Tip};

/// The word of the report, for which the coordinator has an attention entry.
pub const OVERSTEP: &str = "OVERSTEP";

impl Workshop {
    /// Some: the branch was somebody else's doing, and is right again. Nothing of the agent may run now.
    pub(super) async fn right_the_tip(&self) -> Option<FromDaemon> {
        let task = &self.spec.task;
        let git = self.git().await.ok()?;
        let record = admin_dir_of(&git.common_dir, &self.spec.worktree)?;
        let (wrong, right) = match tips::look(git, &record, task).await {
            Ok(Tip::Foreign { now, own }) => (now, own),
            Ok(_) => return None,
            Err(error) => {
                complain::<(), _>("compare the branch with its worktree", Err(error));
                return None;
            }
        };
        match tips::put_back(git, task, &wrong, &right).await {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => {
                complain::<(), _>("put the branch back", Err(error));
                return None;
            }
        }
        let text = format!(
            "somebody else moved the branch {} to {}; it is back at {}",
            task.branch(),
            wrong.short(),
            right.short()
        );
        self.note(&text);
        Some(FromDaemon::Signal { signal: OVERSTEP.into(), text })
    }
}
