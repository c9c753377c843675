//! Worktrees by hand: the same hands that the coordinator has, with regard for who works in them.

use std::path::PathBuf;

use swarm_engine::by_hand::{GiveUp, Hands};
use swarm_git::trunk::{look, way_back};
use swarm_protocol::command::Command;
use swarm_protocol::deed::{CleanedUp, RestoredView, WorktreeMade, WorktreeView};
use swarm_protocol::ids::{Oid, TaskId};
use swarm_work::remove::Removal;
use swarm_work::restore::Saved;
use swarm_work::worktree::overview::Seen;

use super::Swarm;
use crate::error::CliError;
use crate::exit::Exit;

impl Swarm {
    /// The hands that every front end has.
    pub fn hands(&self) -> Result<Hands, CliError> {
        let config = self.configuration()?.config;
        Ok(Hands { git: self.git.clone(), paths: self.paths.clone(), config })
    }

    pub fn seen_worktrees(&self) -> Result<Vec<Seen>, CliError> {
        Ok(self.runtime.block_on(self.hands()?.seen_worktrees())?)
    }

    /// Every worktree there is, for whoever lists them.
    pub fn worktree_views(&self) -> Result<Vec<WorktreeView>, CliError> {
        Ok(self.runtime.block_on(self.hands()?.worktree_views())?)
    }

    /// Where the worktree of a task is, if there is one.
    pub fn worktree_of(&self, task: &TaskId) -> Result<PathBuf, CliError> {
        let path: PathBuf =
            self.paths.root.join(self.configuration()?.config.worktree.dir).join(task.as_str());
        let none = CliError::environment(format!("There is no worktree of {task}"));
        if path.is_dir() { Ok(path) } else { Err(none.run_instead(format!("swarm worktree create {task}"))) }
    }

    /// What making it would do.
    pub fn would_make_worktree(&self, task: &TaskId, from: Option<&str>) -> Result<Vec<String>, CliError> {
        Ok(self.runtime.block_on(self.hands()?.would_make_worktree(task, from))?)
    }

    /// Makes or finds the worktree of a task, as an attempt would.
    pub fn make_worktree(&self, task: &TaskId, from: Option<&str>) -> Result<WorktreeMade, CliError> {
        Ok(self.runtime.block_on(self.hands()?.make_worktree(task, from))?)
    }

    /// None when the branch is there, else the commit at which it would be made.
    pub fn branch_or_start(&self, name: &str) -> Result<Option<Oid>, CliError> {
        Ok(self.runtime.block_on(look(&self.git, name))?.err())
    }

    /// The trunk that the plan has been run on, if it has.
    pub fn pinned_trunk(&self) -> Result<Option<String>, CliError> {
        Ok(self.state(None)?.pinned_trunk().map(str::to_owned))
    }

    /// What to say where the plan's trunk was deleted or renamed.
    pub fn trunk_is_gone(&self, trunk: &str) -> Result<Option<String>, CliError> {
        if self.runtime.block_on(self.git.ref_value(&format!("refs/heads/{trunk}")))?.is_some() {
            return Ok(None);
        }
        let state = self.state(None)?;
        if state.pinned_trunk() != Some(trunk) {
            return Ok(None);
        }
        let way = way_back(trunk, state.last_seen_on_trunk().as_ref());
        Ok(Some(format!("the trunk {trunk} is gone: {way}")))
    }

    pub(super) async fn trunk_name(&self) -> Result<String, CliError> {
        let state = self.state(None)?;
        let pinned = state.pinned_trunk().map(str::to_owned);
        pinned.or_else(|| self.git.current_branch()).or(state.trunk).ok_or_else(|| {
            CliError::environment("No branch is checked out here, so there is no trunk")
                .say("Check out a branch, or name one: `swarm run --trunk BRANCH`")
        })
    }

    /// The work in the worktree of a task as a command; refused where files of it are not committed.
    pub fn submits(&self, task: &TaskId) -> Result<Command, CliError> {
        Ok(self.runtime.block_on(self.hands()?.submits(task))?)
    }

    /// Removes the worktree of a task by proof, or says why it stays.
    pub fn give_up_worktree(&self, task: &TaskId, how: GiveUp) -> Result<Removal, CliError> {
        Ok(self.runtime.block_on(self.hands()?.give_up_worktree(task, how))?)
    }

    /// The same for a task of the plan, and the ledger knows of it; or what that would do.
    pub fn clean_up(&self, task: &TaskId, force: bool, dry_run: bool) -> Result<CleanedUp, CliError> {
        self.refuse_without_worktree(task)?;
        let (line, record) = self.runtime.block_on(self.hands()?.cleaned_up(task, force, dry_run))?;
        if let Some(command) = record {
            match self.ask(command) {
                // A coordinator was quicker to find out.
                Err(error) if error.exit == Exit::Refused => {}
                asked => drop(asked?),
            }
        }
        Ok(line)
    }

    /// What is not there is neither removed nor kept.
    pub fn refuse_without_worktree(&self, task: &TaskId) -> Result<(), CliError> {
        if self.runtime.block_on(self.hands()?.has_worktree(task))? {
            return Ok(());
        }
        let none = CliError::refused_now(format!("There is no worktree of {task}"));
        Err(none.run_instead("swarm worktree list"))
    }

    /// Tasks with a worktree that the swarm will not come back to by itself.
    pub fn with_worktrees_of_closed(&self) -> Result<Vec<TaskId>, CliError> {
        Ok(self.runtime.block_on(self.hands()?.with_worktrees_of_closed())?)
    }

    pub fn saved_work(&self) -> Result<Vec<Saved>, CliError> {
        Ok(self.runtime.block_on(self.hands()?.saved_work())?)
    }

    /// What is meant by a name of the list, or by a task.
    pub fn chosen_work<'a>(&self, all: &'a [Saved], name: &str) -> Result<&'a Saved, CliError> {
        Ok(self.runtime.block_on(self.hands()?.chosen(all, name))?)
    }

    /// Where it would come back.
    pub fn would_restore(&self, saved: &Saved) -> Result<RestoredView, CliError> {
        Ok(self.runtime.block_on(self.hands()?.would_restore(saved))?)
    }

    /// Brings something back below `.swarm/restored`.
    pub fn restore_work(&self, saved: &Saved) -> Result<RestoredView, CliError> {
        Ok(self.runtime.block_on(self.hands()?.restore_work(saved))?)
    }
}
