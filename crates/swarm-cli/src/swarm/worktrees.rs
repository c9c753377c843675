//! Worktrees by hand: the same hands that the coordinator has, with regard for who works in them.

use std::path::PathBuf;

use swarm_engine::git::trunk::{look, way_back};
use swarm_engine::hands::remove::{DISPOSABLE, GivingUp, Removal, give_up};
use swarm_engine::hands::restore::{self, Restored, Saved};
use swarm_engine::hands::worktree::copy::CopyRule;
use swarm_engine::hands::worktree::overview::{Seen, overview};
use swarm_engine::hands::worktree::{BaseRule, Prepared, Submission, Wanted, prepare_as, submission};
use swarm_protocol::config::Config;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::plan::Status;
use swarm_protocol::view::TaskRow;

use super::Swarm;
use crate::commands::run::unfit;
use crate::error::CliError;

impl Swarm {
    fn worktrees(&self, config: &Config) -> PathBuf {
        self.paths.root.join(&config.worktree.dir)
    }

    /// The tasks of the plan; none where there is no plan.
    pub fn rows_if_any(&self) -> Result<Vec<TaskRow>, CliError> {
        self.rows_and_last_phase().map(|(rows, _)| rows)
    }

    pub fn seen_worktrees(&self) -> Result<Vec<Seen>, CliError> {
        let config = self.configuration()?.config;
        let merge = self.paths.swarm.join("worktrees").join("merge");
        Ok(self.runtime.block_on(overview(&self.git, &self.worktrees(&config), &merge))?)
    }

    /// Where the worktree of a task is, if there is one.
    pub fn worktree_of(&self, task: &TaskId) -> Result<PathBuf, CliError> {
        let path = self.worktrees(&self.configuration()?.config).join(task.as_str());
        let none = CliError::environment(format!("There is no worktree of {task}"));
        if path.is_dir() { Ok(path) } else { Err(none.run_instead(format!("swarm worktree create {task}"))) }
    }

    /// Makes or finds the worktree of a task, as an attempt would.
    pub fn make_worktree(&self, task: &TaskId, from: Option<&str>) -> Result<Prepared, CliError> {
        self.not_while_worked_on(task)?;
        let config = self.configuration()?.config;
        let (dir, copy) = (self.worktrees(&config), CopyRule::new(&config.worktree.copy));
        let made = self.runtime.block_on(async {
            let base = match from {
                Some(name) => match self.git.resolve(name).await? {
                    Some(commit) => BaseRule::At(commit),
                    None => {
                        return Err(CliError::usage(format!("There is no commit {name}"))
                            .run_instead("git branch -a"));
                    }
                },
                None => BaseRule::Trunk(self.trunk_name().await?),
            };
            let state = self.state(None)?;
            let begins = state.task(task).and_then(|task| task.base.as_ref());
            let wanted = Wanted { task, dir: &dir, base: &base, begins, pool: None, copy: Some(&copy) };
            prepare_as(&self.git, &wanted).await.map_err(|failure| {
                CliError::environment(format!("Cannot make a worktree for {task}")).because_of(&failure)
            })
        });
        self.ensure_ignored_quietly();
        made
    }

    /// None when the branch is there, else the commit at which it would be made.
    pub fn branch_or_start(&self, name: &str) -> Result<Option<Oid>, CliError> {
        Ok(self.runtime.block_on(look(&self.git, name)).map_err(unfit)?.err())
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
            CliError::usage("Your checkout is on no branch").say("Name where to start with --from REF")
        })
    }

    /// What a merge of this task's worktree would take.
    pub fn submission(&self, task: &TaskId) -> Result<Submission, CliError> {
        self.not_while_worked_on(task)?;
        let dir = self.worktrees(&self.configuration()?.config);
        let found = self.runtime.block_on(submission(&self.git, &dir, task))?;
        found.ok_or_else(|| {
            CliError::environment(format!("There is no worktree of {task}"))
                .run_instead(format!("swarm worktree create {task}"))
        })
    }

    /// Removes the worktree of a task by proof, or says why it stays.
    pub fn give_up_worktree(&self, task: &TaskId, only_look: bool) -> Result<Removal, CliError> {
        let config = self.configuration()?.config;
        let (dir, disposable) = (self.worktrees(&config), DISPOSABLE.map(String::from));
        let up = GivingUp {
            task,
            dir: &dir,
            disposable: &disposable,
            max_file_bytes: config.worktree.max_file.saturating_mul(1024 * 1024),
            pool: None,
            only_look,
            remember: None,
            merged: None,
        };
        Ok(self.runtime.block_on(give_up(&self.git, &up))?)
    }

    /// Who or what needs the worktree of this task now.
    pub fn worked_on(row: Option<&TaskRow>) -> Option<String> {
        let row = row?;
        match (row.status, &row.agent) {
            (Status::Active | Status::Review, Some(agent)) => Some(format!("{agent} works in it")),
            (Status::Active | Status::Review | Status::Merging, _) => {
                Some(format!("the task is {}", row.stage))
            }
            _ => None,
        }
    }

    fn not_while_worked_on(&self, task: &TaskId) -> Result<(), CliError> {
        let rows = self.rows_if_any()?;
        match Self::worked_on(rows.iter().find(|row| row.id == *task)) {
            Some(why) => Err(CliError::changed_meanwhile(format!("The worktree of {task} is in use"))
                .because(why)
                .run_instead(format!("swarm agent stop {task}"))),
            None => Ok(()),
        }
    }

    pub fn saved_work(&self) -> Result<Vec<Saved>, CliError> {
        let dir = self.worktrees(&self.configuration()?.config);
        Ok(self.runtime.block_on(restore::saved(&self.git, &dir))?)
    }

    /// Brings something back below `.swarm/restored`.
    pub fn restore_work(&self, saved: &Saved) -> Result<Restored, CliError> {
        let dir = self.paths.swarm.join("restored");
        self.ensure_ignored_quietly();
        Ok(self.runtime.block_on(restore::restore(&self.git, saved, &dir))?)
    }

    /// Folders of worktrees must not show up as new files of the person's; where that cannot be written, git shows it.
    fn ensure_ignored_quietly(&self) {
        let _ = swarm_engine::store::ensure_ignored(&self.paths);
    }
}
