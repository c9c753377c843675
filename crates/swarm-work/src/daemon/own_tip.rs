//! Agents can move each other's branches. At each boundary the branch of this task is compared with what
//! its own worktree did, and put back.

use swarm_protocol::channel::FromDaemon;

use super::run_context::RunContext;
use super::walls::admin_dir_of;
use swarm_git::tips;
use swarm_process::complain;

/// The word of the report, for which the coordinator has an attention entry.
pub const OVERSTEP: &str = "OVERSTEP";

/// The same where nobody knows whose doing it was: a person can move and delete branches as well.
pub const RIGHTED: &str = "RIGHTED";

impl RunContext {
    /// Some: the branch was somebody else's doing, and is right again. Nothing of the agent may run now.
    pub(super) async fn right_the_tip(&self) -> Option<FromDaemon> {
        let task = &self.spec.task;
        let git = self.git().await.ok()?;
        let record = admin_dir_of(&git.common_dir, &self.spec.worktree)?;
        let righted = match tips::right(git, &record, task).await {
            Ok(righted) => righted?,
            Err(error) => {
                complain::<(), _>("compare the branch with its worktree", Err(error));
                return None;
            }
        };
        let text = righted.what;
        self.note(&text);
        Some(FromDaemon::Signal { signal: RIGHTED.into(), text })
    }
}
