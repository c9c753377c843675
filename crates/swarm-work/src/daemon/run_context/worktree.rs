//! What the daemon does to the worktree between two orders.

use swarm_protocol::channel::{CommandLine, FromDaemon};
use swarm_protocol::ids::Oid;
use swarm_protocol::outcome::Gate;

use super::super::commands::{Judged, judge};
use super::super::context::Write;
use super::super::own_tip::OVERSTEP;
use super::super::program::StopWish;
use super::super::walls::Who;
use super::{RunContext, Yield};
use crate::rescue::{self, Rest};
use swarm_git::GitError;

/// Why what was left is not on the branch.
#[derive(Debug)]
pub enum NotCommitted {
    /// The agent can do something about it.
    Failed(String),
    /// Git itself failed: another iteration would be paid for nothing.
    Broken(GitError),
    /// The same would happen again and again: only a person can say what is to become of it.
    ForAPerson(String),
}

impl RunContext {
    /// Runs the check commands on what is committed; the last `scans` of them are scans.
    pub async fn check(
        &self,
        iteration: u32,
        (commands, scans): (&[CommandLine], u32),
        timeout_secs: u64,
        stop: &mut StopWish,
    ) -> Yield {
        let (tip, tree) = match self.committed().await {
            Ok(committed) => committed,
            Err(text) => return Yield::NoWorkspace { text },
        };
        match judge(self, Who::Command, commands, timeout_secs, stop).await {
            Judged::Ended { passed, output, failed } => {
                self.remember(Write::Durably, |left| left.checked(&output));
                let checks = commands.len().saturating_sub(scans as usize);
                let gate = failed.map(|place| if place < checks { Gate::Check } else { Gate::Scan });
                Yield::Report(FromDaemon::Checked { iteration, passed, tip, tree, output, gate })
            }
            Judged::Stopped => Yield::Stopped,
        }
    }

    /// Runs the verification commands on whatever the worktree holds.
    pub async fn verify(&self, commands: &[CommandLine], timeout_secs: u64, stop: &mut StopWish) -> Yield {
        match judge(self, Who::Command, commands, timeout_secs, stop).await {
            Judged::Ended { passed, output, .. } => Yield::Report(FromDaemon::Verified { passed, output }),
            Judged::Stopped => Yield::Stopped,
        }
    }

    async fn committed(&self) -> Result<(Oid, Oid), String> {
        let tip = self.tip().await.map_err(|error| error.to_string())?;
        let tip = tip.ok_or_else(|| format!("the branch {} is gone", self.spec.task.branch()))?;
        let tree = self.git().await.map_err(|error| error.to_string())?.tree_of(&tip).await;
        Ok((tip, tree.map_err(|error| error.to_string())?))
    }

    /// Where the task's branch is, by the repository's own refs: the worktree's git files may be planted.
    pub async fn tip(&self) -> Result<Option<Oid>, GitError> {
        self.git().await?.ref_value(&format!("refs/heads/{}", self.spec.task.branch())).await
    }

    /// Commits what is left, so that the tip is all of the work. Answers with the tip.
    pub async fn commit_rest(&self) -> Result<Oid, NotCommitted> {
        let words = NotCommitted::Broken;
        let gone = || NotCommitted::Failed(format!("the branch {} is gone", self.spec.task.branch()));
        let (git, task) = (self.git().await.map_err(words)?, &self.spec.task);
        let tip = self.tip().await.map_err(words)?.ok_or_else(gone)?;
        let message = rescue::message_of_rest(task, &self.spec.title);
        let (place, max) = (&self.spec.worktree, self.spec.file_max_bytes);
        match rescue::commit_rest(git, place, task, &tip, &message, max).await.map_err(words)? {
            Rest::Clean => {
                self.traces.committed();
                // The agent's own git has synced nothing, and the tip is about to be recorded.
                git.make_durable().await.map_err(words)?;
                Ok(tip)
            }
            Rest::Committed(tip) => {
                self.traces.committed();
                Ok(tip)
            }
            Rest::Moved { .. } => Err(NotCommitted::Failed(format!(
                "the branch {} moves although nobody should work on it",
                task.branch()
            ))),
            Rest::UnderWay { what } => Err(NotCommitted::Failed(format!(
                "a {what} is under way in the worktree: resolve what conflicts, `git add` it and conclude the {what}, or abort it"
            ))),
            Rest::LeftOut { path } => {
                let why = rescue::why_left_out(place, &path);
                Err(NotCommitted::ForAPerson(format!(
                    "{} cannot be committed: {why}. Remove it, let git ignore it, or change that",
                    path.display()
                )))
            }
        }
    }

    /// What a person should know about the worktree and was found while git looked at it.
    pub async fn oversteps(&self) -> Vec<FromDaemon> {
        let Ok(git) = self.git().await else { return Vec::new() };
        let told = git.take_notices().into_iter();
        told.map(|notice| FromDaemon::Signal { signal: OVERSTEP.into(), text: notice.text }).collect()
    }

    /// Saves what is not committed under a ref; none when there is nothing.
    pub async fn save_wip(&self) -> Result<Option<Oid>, String> {
        if self.traces.all_committed() {
            return Ok(None);
        }
        let words = |error: GitError| error.to_string();
        let Some(tip) = self.tip().await.map_err(words)? else { return Ok(None) };
        let git = self.git().await.map_err(words)?;
        rescue::save_wip(git, &self.spec.worktree, &self.spec.task, &self.spec.run, &tip).await.map_err(words)
    }
}
