//! Worktrees by hand: the same hands that the coordinator has, with regard for who works in them.

use std::path::{Path, PathBuf};

use swarm_core::stage::Stage;
use swarm_git::trunk::{look, way_back};
use swarm_protocol::command::Command;
use swarm_protocol::config::Config;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::plan::Status;
use swarm_protocol::review::Reviewer;
use swarm_protocol::view::TaskRow;
use swarm_work::operation::left;
use swarm_work::remove::{GivingUp, Removal, give_up};
use swarm_work::restore::{self, Restored, Saved, Shelf};
use swarm_work::worktree::copy::CopyRule;
use swarm_work::worktree::overview::{Seen, overview};
use swarm_work::worktree::{BaseRule, Flaw, Prepared, Submission, Wanted, examine, prepare_as, submission};

use super::Swarm;
use crate::error::CliError;
use crate::exit::Exit;

/// How a worktree is given up.
#[derive(Debug, Clone, Copy, Default)]
pub struct GiveUp {
    /// Nothing is saved and nothing is removed.
    pub only_look: bool,
    /// Also one with files that nobody can prove to be of no value.
    pub force: bool,
    /// What lies there is noted under this name.
    pub remember: Option<u64>,
}

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

    /// Where the branch of a new worktree begins.
    async fn base_rule(&self, from: Option<&str>) -> Result<BaseRule, CliError> {
        let Some(name) = from else { return Ok(BaseRule::Trunk(self.trunk_name().await?)) };
        match self.git.resolve(name).await? {
            Some(commit) => Ok(BaseRule::At(commit)),
            None => Err(CliError::usage(format!("There is no commit {name}")).run_instead("git branch -a")),
        }
    }

    /// What making it would do.
    pub fn would_make_worktree(&self, task: &TaskId, from: Option<&str>) -> Result<Vec<String>, CliError> {
        self.not_while_worked_on(task)?;
        let path = self.worktrees(&self.configuration()?.config).join(task.as_str());
        let branch = self.runtime.block_on(self.git.ref_value(&format!("refs/heads/{}", task.branch())))?;
        if path.is_dir() && branch.is_some() {
            return Ok(vec![format!("{} is there and is put in order", self.relative(&path))]);
        }
        let base = match (&branch, self.runtime.block_on(self.base_rule(from))?) {
            (Some(tip), _) => format!("on its branch {} at {}", task.branch(), tip.short()),
            (None, BaseRule::At(commit)) => {
                format!("on a new branch {} at {}", task.branch(), commit.short())
            }
            (None, BaseRule::Trunk(name)) => format!("on a new branch {} at {name}", task.branch()),
        };
        Ok(vec![format!("{} is made {base}", self.relative(&path))])
    }

    /// Makes or finds the worktree of a task, as an attempt would.
    pub fn make_worktree(&self, task: &TaskId, from: Option<&str>) -> Result<Prepared, CliError> {
        self.not_while_worked_on(task)?;
        let config = self.configuration()?.config;
        let (dir, copy) = (self.worktrees(&config), CopyRule::new(&config.worktree.copy));
        let made = self.runtime.block_on(async {
            let base = self.base_rule(from).await?;
            let state = self.state(None)?;
            let begins = state.task(task).and_then(|task| task.base.as_ref());
            let max_file_bytes = config.worktree.max_file.saturating_mul(1024 * 1024);
            let wanted = Wanted {
                task,
                dir: &dir,
                base: &base,
                begins,
                pool: None,
                copy: Some(&copy),
                max_file_bytes,
            };
            prepare_as(&self.git, &wanted).await.map_err(|failure| {
                CliError::environment(format!("Cannot make a worktree for {task}")).because_of(&failure)
            })
        });
        self.ensure_ignored_quietly();
        made
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
            CliError::usage("No branch is checked out").say("Pass --from REF to name where to start")
        })
    }

    /// What a merge of this task's worktree would take.
    pub fn submission(&self, task: &TaskId) -> Result<Submission, CliError> {
        // Nobody is in a worktree that waits for a person's review, and that person may put the last touches to it.
        let review = swarm_core::show::review(&self.state(None)?, task);
        if review.is_none_or(|review| review.reviewer != Reviewer::Human) {
            self.not_while_worked_on(task)?;
        }
        let dir = self.worktrees(&self.configuration()?.config);
        self.on_its_branch(task, &dir)?;
        let found = self.runtime.block_on(submission(&self.git, &dir, task))?;
        found.ok_or_else(|| {
            CliError::refused_now(format!("There is no worktree of {task}"))
                .run_instead(format!("swarm worktree create {task}"))
        })
    }

    /// Refused where the worktree shows something else than the branch, which is what is merged.
    fn on_its_branch(&self, task: &TaskId, dir: &Path) -> Result<(), CliError> {
        let place = self.relative(&dir.join(task.as_str()));
        let refused = |flaw| match flaw {
            Flaw::MidWay(what) => {
                let (what, end) = what.describe();
                let end = end.strip_prefix("git ").unwrap_or(end);
                let words = format!("The worktree of {task} is in the middle of {what}");
                Some(CliError::changed_meanwhile(words).run_instead(format!("git -C {place} {end}")))
            }
            Flaw::Astray { on } => {
                let branch = task.branch();
                let words = format!("The worktree of {task} is on {on}, not on {branch}");
                Some(CliError::changed_meanwhile(words).because("only the commits of its branch are merged").say(
                    format!("Go there with `git -C {place} checkout {branch}`, and take along what you made with `git -C {place} merge -`"),
                ))
            }
            _ => None,
        };
        let flaws = self.runtime.block_on(examine(&self.git, task, dir))?;
        flaws.into_iter().find_map(refused).map_or(Ok(()), Err)
    }

    /// Removes the worktree of a task by proof, or says why it stays. With `force` it is kept in the trash for good.
    pub fn give_up_worktree(&self, task: &TaskId, how: GiveUp) -> Result<Removal, CliError> {
        let config = self.configuration()?.config;
        let dir = self.worktrees(&config);
        let up = GivingUp {
            task,
            dir: &dir,
            disposable: &config.worktree.disposable,
            max_file_bytes: config.worktree.max_file.saturating_mul(1024 * 1024),
            pool: None,
            only_look: how.only_look,
            remember: how.remember,
            merged: None,
            force: how.force,
        };
        Ok(self.runtime.block_on(give_up(&self.git, &up))?)
    }

    /// The same for a task of the plan, and the ledger knows of it. One that was cancelled can be wanted back.
    pub fn clean_up(&self, task: &TaskId, force: bool) -> Result<Removal, CliError> {
        let state = self.state(None)?;
        let known = state.task(task).filter(|task| task.worktree);
        let remember = known.filter(|task| task.stage == Stage::Cancelled).map(|task| task.cancelled);
        let removal = self.give_up_worktree(task, GiveUp { force, remember, only_look: false })?;
        if removal == Removal::Removed && known.is_some() {
            let left = remember.and_then(|name| left::of_removal(&self.git, task, name));
            match self.ask(Command::RecordRemoval { task: task.clone(), left }) {
                // A coordinator was quicker to find out.
                Err(error) if error.exit == Exit::Refused => {}
                asked => drop(asked?),
            }
        }
        Ok(removal)
    }

    /// The folder of a worktree that was removed by force, as `swarm restore` names it.
    pub fn kept_whole(&self, task: &TaskId) -> Result<Option<String>, CliError> {
        let mut kept = self.saved_work()?.into_iter().filter(|one| one.shelf == Shelf::Trash && one.keep);
        Ok(kept.find(|one| one.task == task.as_str()).map(|one| one.name))
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
        Ok(self.runtime.block_on(async {
            // Where nothing says what trunk is, nothing is counted against it.
            let trunk = self.trunk_name().await.unwrap_or_default();
            restore::saved(&self.git, &dir, &trunk).await
        })?)
    }

    /// Of what was saved of a task, that which holds its work.
    pub fn best_saved<'a>(&self, all: &'a [Saved], task: &str) -> Result<Option<&'a Saved>, CliError> {
        Ok(self.runtime.block_on(restore::best(&self.git, all, task))?)
    }

    /// Where it would come back.
    pub fn would_restore(&self, saved: &Saved) -> Result<Restored, CliError> {
        let dir = self.paths.swarm.join("restored");
        Ok(self.runtime.block_on(restore::place_of(&self.git, saved, &dir))?)
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
