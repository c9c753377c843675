//! Worktrees by hand, with regard for who works in them.

use std::path::{Path, PathBuf};

use swarm_core::show;
use swarm_core::stage::Stage;
use swarm_core::state::Task;
use swarm_protocol::command::Command;
use swarm_protocol::deed::{CleanedUp, WorktreeMade, WorktreeView};
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::Status;
use swarm_protocol::review::Reviewer;
use swarm_protocol::view::TaskRow;
use swarm_work::operation::left;
use swarm_work::remove::{GivingUp, Removal, give_up};
use swarm_work::shell_word::path_word;
use swarm_work::worktree::copy::CopyRule;
use swarm_work::worktree::overview::{Kind, Seen, overview};
use swarm_work::worktree::{BaseRule, Flaw, Wanted, examine, prepare_as, submission};

use super::{ByHandError, Hands};

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

impl Hands {
    fn worktrees(&self) -> PathBuf {
        self.paths.root.join(&self.config.worktree.dir)
    }

    /// Everything that lies in the folder of worktrees, and git's own records of it.
    pub async fn seen_worktrees(&self) -> Result<Vec<Seen>, ByHandError> {
        let merge = self.paths.swarm.join("worktrees").join("merge");
        Ok(overview(&self.git, &self.worktrees(), &merge).await?)
    }

    /// The same, as people are told of it.
    pub async fn worktree_views(&self) -> Result<Vec<WorktreeView>, ByHandError> {
        let rows = self.rows()?;
        Ok(self.seen_worktrees().await?.iter().map(|seen| self.view_of(&rows, seen)).collect())
    }

    fn view_of(&self, rows: &[TaskRow], seen: &Seen) -> WorktreeView {
        let path = self.shown(&seen.path);
        let plain = |state: &str| WorktreeView {
            task: None,
            path: path.clone(),
            branch: None,
            state: state.into(),
            uncommitted: None,
        };
        let of_task = |task: &TaskId, state: String| WorktreeView {
            task: Some(task.clone()),
            path: path.clone(),
            branch: Some(task.branch()),
            state,
            uncommitted: seen.uncommitted,
        };
        match &seen.kind {
            Kind::Task(task) => {
                let row = rows.iter().find(|row| row.id == *task);
                of_task(task, worked_on(row).unwrap_or_else(|| at_rest(row)))
            }
            Kind::HalfMade(task) => of_task(task, "incomplete: the next attempt recreates it".into()),
            Kind::FolderGone(task) => of_task(task, "its folder is gone, the branch is there".into()),
            Kind::Merge => plain("merged work is verified here"),
            Kind::Shared { tasks } if tasks.is_empty() => plain("shared by tasks; nobody works in it"),
            Kind::Shared { tasks } => {
                let ids: Vec<&str> = tasks.iter().map(|task| task.as_str()).collect();
                plain(&format!("shared by {}", ids.join(", ")))
            }
            Kind::Pool { ready: true } => plain("kept for the next task"),
            Kind::Pool { ready: false } => plain("to be cleaned for the next task"),
            // The notes about worktrees are covered there.
            Kind::Orphan if std::env::var_os("SWARM_RUN").is_some() => {
                plain("its owner cannot be seen from here")
            }
            Kind::Orphan => plain("not made by the swarm: never touched"),
        }
    }

    /// Where the branch of a new worktree begins.
    async fn base_rule(&self, from: Option<&str>) -> Result<BaseRule, ByHandError> {
        let Some(name) = from else { return Ok(BaseRule::Trunk(self.trunk_name().await?)) };
        match self.git.resolve(name).await? {
            Some(commit) => Ok(BaseRule::At(commit)),
            None => Err(ByHandError::usage(format!("There is no commit {name}")).run("git branch -a").into()),
        }
    }

    /// What making it would do.
    pub async fn would_make_worktree(
        &self,
        task: &TaskId,
        from: Option<&str>,
    ) -> Result<Vec<String>, ByHandError> {
        self.not_while_worked_on(task)?;
        let path = self.worktrees().join(task.as_str());
        let branch = self.git.ref_value(&format!("refs/heads/{}", task.branch())).await?;
        if path.is_dir() && branch.is_some() {
            return Ok(vec![format!("{} is there and is put in order", self.shown(&path))]);
        }
        let base = match (&branch, self.base_rule(from).await?) {
            (Some(tip), _) => format!("on its branch {} at {}", task.branch(), tip.short()),
            (None, BaseRule::At(commit)) => {
                format!("on a new branch {} at {}", task.branch(), commit.short())
            }
            (None, BaseRule::Trunk(name)) => format!("on a new branch {} at {name}", task.branch()),
        };
        Ok(vec![format!("{} is made {base}", self.shown(&path))])
    }

    /// Makes or finds the worktree of a task, as an attempt would.
    pub async fn make_worktree(
        &self,
        task: &TaskId,
        from: Option<&str>,
    ) -> Result<WorktreeMade, ByHandError> {
        self.not_while_worked_on(task)?;
        let (dir, copy) = (self.worktrees(), CopyRule::new(&self.config.worktree.copy));
        let base = self.base_rule(from).await?;
        let begins = self.state()?.task(task).and_then(|task| task.base.clone());
        let wanted = Wanted {
            task,
            dir: &dir,
            base: &base,
            begins: begins.as_ref(),
            takes_up: None,
            pool: None,
            copy: Some(&copy),
            max_file_bytes: self.config.worktree.max_file.saturating_mul(1024 * 1024),
        };
        let made = prepare_as(&self.git, &wanted).await.map_err(|failure| {
            ByHandError::environment(format!("Cannot make a worktree for {task}")).because_of(&failure)
        });
        self.ensure_ignored_quietly();
        let made = made?;
        Ok(WorktreeMade {
            task: task.clone(),
            path: self.shown(&made.path),
            branch: made.branch,
            tip: made.tip.to_string(),
            created: !made.reattached,
        })
    }

    /// The work in the worktree of a task as a command; refused where files of it are not committed.
    pub async fn submits(&self, task: &TaskId) -> Result<Command, ByHandError> {
        // Nobody is in a worktree that waits for a person's review, and that person may put the last touches to it.
        let review = show::review(&self.state()?, task);
        if review.is_none_or(|review| review.reviewer != Reviewer::Human) {
            self.not_while_worked_on(task)?;
        }
        let dir = self.worktrees();
        self.on_its_branch(task, &dir).await?;
        let none = || {
            ByHandError::nothing_there(format!("There is no worktree of {task}"))
                .run(format!("swarm worktree create {task}"))
        };
        let work = submission(&self.git, &dir, task).await?.ok_or_else(none)?;
        if work.uncommitted > 0 {
            let files = match work.uncommitted {
                1 => "1 file is".to_owned(),
                n => format!("{n} files are"),
            };
            return Err(ByHandError::changed_meanwhile(format!(
                "The worktree of {task} has uncommitted files"
            ))
            .because(format!("{files} not committed in its worktree"))
            .say("Commit what belongs to the task, or delete it")
            .into());
        }
        Ok(Command::SubmitWork { task: task.clone(), base: work.base, tip: work.tip, tree: work.tree })
    }

    /// Refused where the worktree shows something else than the branch, which is what is merged.
    async fn on_its_branch(&self, task: &TaskId, dir: &Path) -> Result<(), ByHandError> {
        // From wherever the person stands, also below the root.
        let place = path_word(&dir.join(task.as_str()));
        let refused = |flaw| match flaw {
            Flaw::MidWay(what) => {
                let (what, end) = what.describe();
                let end = end.strip_prefix("git ").unwrap_or(end);
                let words = format!("The worktree of {task} is in the middle of {what}");
                Some(ByHandError::changed_meanwhile(words).run(format!("git -C {place} {end}")))
            }
            Flaw::Astray { on } => {
                let branch = task.branch();
                let words = format!("The worktree of {task} is on {on}, not on {branch}");
                let way = format!(
                    "Switch to it with `git -C {place} checkout {branch}`, and bring your commits along with `git \
                        -C {place} merge -`"
                );
                let refused = ByHandError::changed_meanwhile(words);
                Some(refused.because("only the commits of its branch are merged").say(way))
            }
            _ => None,
        };
        let flaws = examine(&self.git, task, dir).await?;
        flaws.into_iter().find_map(refused).map_or(Ok(()), |refused| Err(refused.into()))
    }

    /// Removes the worktree of a task by proof, or says why it stays. With `force` it is kept in the trash for good.
    pub async fn give_up_worktree(&self, task: &TaskId, how: GiveUp) -> Result<Removal, ByHandError> {
        let up = GivingUp {
            task,
            dir: &self.worktrees(),
            disposable: &self.config.worktree.disposable,
            max_file_bytes: self.config.worktree.max_file.saturating_mul(1024 * 1024),
            pool: None,
            only_look: how.only_look,
            remember: how.remember,
            merged: None,
            force: how.force,
        };
        Ok(give_up(&self.git, &up).await?)
    }

    /// The same for a task of the plan. The ledger has to know of it: that is the command. A task that was cancelled can be
    /// wanted back.
    async fn clean_up(&self, task: &TaskId, force: bool) -> Result<(Removal, Option<Command>), ByHandError> {
        let state = self.state()?;
        let known = state.task(task).filter(|task| task.worktree || task.not_back().is_some());
        let remember = known.filter(|task| task.stage == Stage::Cancelled).map(|task| task.cancelled);
        let removal = self.give_up_worktree(task, GiveUp { force, remember, only_look: false }).await?;
        if removal != Removal::Removed || known.is_none() {
            return Ok((removal, None));
        }
        let left = remember.and_then(|name| left::of_removal(&self.git, task, name));
        Ok((removal, Some(Command::RecordRemoval { task: task.clone(), left })))
    }

    /// Cleans up after a task, or says what that would do.
    pub async fn cleaned_up(
        &self,
        task: &TaskId,
        force: bool,
        dry_run: bool,
    ) -> Result<(CleanedUp, Option<Command>), ByHandError> {
        let rows = self.rows()?;
        let mut line = CleanedUp { task: task.clone(), removed: false, dry_run, why: None, saved: None };
        let mut record = None;
        // Nobody works where nothing has come back to.
        let not_back = self.state()?.task(task).is_some_and(|task| task.not_back().is_some());
        let row = rows.iter().find(|row| row.id == *task).filter(|_| !not_back);
        line.why = match worked_on(row) {
            Some(why) => Some(why),
            None if dry_run => self.would_stay(force, &mut line).await?,
            None => {
                let (removal, command) = self.clean_up(task, force).await?;
                record = command;
                why_kept(removal)
            }
        };
        line.removed = line.why.is_none();
        if force && line.removed && !dry_run {
            line.saved = self.kept_whole(task).await?;
        }
        Ok((line, record))
    }

    /// Whether anything is there, or the ledger believes so.
    pub async fn has_worktree(&self, task: &TaskId) -> Result<bool, ByHandError> {
        let is_known = |task: &Task| task.worktree || task.kept.is_some() || task.not_back().is_some();
        let known = self.state()?.task(task).is_some_and(is_known);
        if known || self.worktrees().join(task.as_str()).exists() {
            return Ok(true);
        }
        let is_its = |seen: &Seen| matches!(&seen.kind, Kind::FolderGone(gone) if gone == task);
        Ok(self.seen_worktrees().await?.iter().any(is_its))
    }

    /// Why it would stay. By force it would be saved whole, because of what would have kept it.
    async fn would_stay(&self, force: bool, line: &mut CleanedUp) -> Result<Option<String>, ByHandError> {
        let look = GiveUp { only_look: true, ..GiveUp::default() };
        let Some(why) = why_kept(self.give_up_worktree(&line.task, look).await?) else { return Ok(None) };
        if !force {
            return Ok(Some(why));
        }
        line.saved = Some(format!("trash/{}-…, because {why}", line.task));
        Ok(why_kept(self.give_up_worktree(&line.task, GiveUp { force, ..look }).await?))
    }

    /// Tasks with a worktree that the swarm will not come back to by itself.
    pub async fn with_worktrees_of_closed(&self) -> Result<Vec<TaskId>, ByHandError> {
        let rows = self.rows()?;
        let open = |task: &TaskId| {
            let row = rows.iter().find(|row| row.id == *task);
            row.is_some_and(|row| !matches!(row.status, Status::Done | Status::Cancelled))
        };
        let tasks = self.seen_worktrees().await?.into_iter().filter_map(|seen| match seen.kind {
            Kind::Task(task) | Kind::HalfMade(task) | Kind::FolderGone(task) => Some(task),
            Kind::Merge | Kind::Shared { .. } | Kind::Pool { .. } | Kind::Orphan => None,
        });
        Ok(tasks.filter(|task| !open(task)).collect())
    }

    fn not_while_worked_on(&self, task: &TaskId) -> Result<(), ByHandError> {
        let rows = self.rows()?;
        match worked_on(rows.iter().find(|row| row.id == *task)) {
            Some(why) => Err(ByHandError::changed_meanwhile(format!("The worktree of {task} is in use"))
                .because(why)
                .run(format!("swarm agent stop {task}"))
                .into()),
            None => Ok(()),
        }
    }
}

fn why_kept(removal: Removal) -> Option<String> {
    match removal {
        Removal::Removed => None,
        Removal::Kept { why } => Some(why.to_string()),
    }
}

/// Who or what needs the worktree of this task now.
pub fn worked_on(row: Option<&TaskRow>) -> Option<String> {
    let row = row?;
    match (row.status, &row.agent) {
        (Status::Active | Status::Review, Some(agent)) => Some(format!("{agent} works in it")),
        (Status::Active | Status::Review | Status::Merging, _) => Some(row.stage.clone()),
        _ => None,
    }
}

fn at_rest(row: Option<&TaskRow>) -> String {
    match row {
        None => "no task of the plan".into(),
        Some(row) if matches!(row.status, Status::Done | Status::Cancelled) => {
            format!("{}: `swarm worktree cleanup {}` removes it or says why not", row.status.word(), row.id)
        }
        Some(row) => row.stage.clone(),
    }
}
