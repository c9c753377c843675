//! The places where work happens: task worktrees made ready and given up, the merge worktree shown.

use std::path::PathBuf;
use std::time::Duration;

use swarm_core::effect::StartsFrom;
use swarm_core::input::Report;
use swarm_protocol::ids::{CommandId, Oid, RunId, TaskId};
use swarm_protocol::operation::Left;

use super::outfit::Outfit;
use super::world::World;
use swarm_agents::handover::ContextFiles;
use swarm_git::Identity;
use swarm_git::tips;
use swarm_process::Containment;
use swarm_process::complain;
use swarm_process::launcher::Launcher;
use swarm_work::build::{Unmade, Work};
use swarm_work::daemon::{DaemonSpec, Guard};
use swarm_work::merge_tree::{self, NAME as MERGE};
use swarm_work::no_room;
use swarm_work::operation::left::{self, NotBack};
use swarm_work::operation::moving::rebuild;
use swarm_work::regenerate;
use swarm_work::remove::{DISPOSABLE, GivingUp, Removal, TrashRule, give_up, tend_trash};
use swarm_work::worktree::copy::{CopyRule, copy_in};
use swarm_work::worktree::pool::{self, PoolRule};
use swarm_work::worktree::ports::port_base;
use swarm_work::worktree::{BaseRule, Flaw, TakesUp, Wanted, prepare_as};

impl World {
    fn pool_rule(&self, max: u32) -> PoolRule {
        PoolRule {
            dir: self.paths.worktrees.clone(),
            max,
            plan: self.plan.clone(),
            disposable: DISPOSABLE.map(String::from).to_vec(),
            keep_caches: true,
        }
    }

    pub(super) fn copy_rule(&self) -> CopyRule {
        CopyRule::new(&self.config.worktree.copy)
    }

    /// The task's worktree, from the pool where it has one, with what is copied into every worktree. What
    /// somebody else did to the branch meanwhile is put right, and told. The first part of a task that was split begins
    /// where that was left.
    pub(super) async fn make_workplace(
        &self,
        run: RunId,
        task: &TaskId,
        from: Option<&StartsFrom>,
        begins: Option<&Oid>,
    ) -> (Report, Vec<Report>) {
        let whole = match from {
            Some(from) => self.tip_of(&from.task).await,
            None => None,
        };
        let base = whole.clone().map_or_else(|| BaseRule::Trunk(self.trunk()), BaseRule::At);
        let (pool, copy) = (self.pool_rule(self.config.worktree.pool), self.copy_rule());
        let dir = &self.paths.worktrees;
        let max_file_bytes = self.config.worktree.max_file << 20;
        let saved = from.and_then(|from| from.wip.as_ref());
        let takes_up = whole.as_ref().zip(saved).map(|(tip, saved)| TakesUp { tip, saved });
        let (pool, copy) = (Some(&pool), Some(&copy));
        let wanted = Wanted { task, dir, base: &base, begins, takes_up, pool, copy, max_file_bytes };
        match prepare_as(&self.git, &wanted).await {
            Ok(made) => {
                let mut news = told_of_flaws(&run, task, &made.flaws);
                let (tip, told) = match tips::right(&self.git, &made.record, task).await {
                    Ok(Some(righted)) => {
                        let told = Report::Righted { task: task.clone(), what: righted.what };
                        (righted.tip, Some(told))
                    }
                    Ok(None) => (made.tip, None),
                    Err(error) => {
                        complain::<(), _>("compare a branch with its worktree", Err(error));
                        (made.tip, None)
                    }
                };
                news.extend(told);
                let base = match (from, &whole) {
                    (Some(from), Some(_)) => from.base.clone(),
                    _ => made.base,
                };
                (Report::Prepared { run, branch: made.branch, base, tip }, news)
            }
            Err(failure) => {
                let full = no_room::met_by(&failure);
                let setup = !full && !failure.may_pass();
                let why = self.without_root(&with_causes(&failure));
                // Told first: while the disk is full no task is to blame for it.
                let told = full.then(|| Report::Disk { low: true, why: why.clone() });
                (Report::PrepareFailed { run, why, setup }, told.into_iter().collect())
            }
        }
    }

    async fn tip_of(&self, task: &TaskId) -> Option<Oid> {
        let tip = self.git.ref_value(&format!("refs/heads/{}", task.branch())).await;
        tip.map_err(|error| complain::<(), _>("find where the whole was left", Err(error))).ok().flatten()
    }

    /// The worktree of a closed task, given up by proof: to the pool, or to the trash.
    pub(super) async fn give_up_workplace(
        &self,
        task: TaskId,
        remember: Option<u64>,
        merged: Option<&Oid>,
    ) -> Result<Report, String> {
        let pool = self.pool_rule(self.config.worktree.pool);
        let asked = GivingUp {
            task: &task,
            dir: &self.paths.worktrees,
            disposable: &self.config.worktree.disposable,
            max_file_bytes: self.config.worktree.max_file << 20,
            pool: (pool.max > 0).then_some(&pool),
            only_look: false,
            remember,
            merged,
            force: false,
        };
        Ok(match give_up(&self.git, &asked).await.map_err(|error| with_causes(&error))? {
            Removal::Removed => {
                complain("remove the context", ContextFiles::new(&self.paths.swarm, &task).remove());
                let left = remember.and_then(|name| left::of_removal(&self.git, &task, name));
                Report::WorktreeRemoved { task, left }
            }
            Removal::Kept { why } => Report::WorktreeKept { task, why: self.without_root(&why.to_string()) },
        })
    }

    /// What was given up with the worktree of a task that is open again.
    pub(super) async fn bring_workplace_back(&self, task: TaskId, left: &Left) -> Result<Report, String> {
        let revived = left::revive(&self.git, &task, &self.paths.worktrees, left).await;
        Ok(match revived.map_err(|error| with_causes(&error))? {
            Ok(base) => Report::Revived { task, base },
            Err(NotBack { why, hint }) => {
                let hint = hint.map(|hint| self.without_root(&hint));
                Report::NotRevived { task, why: self.without_root(&why), hint }
            }
        })
    }

    /// Makes given-up worktrees ready for the next task, off everybody's way. One at a time is enough.
    pub(super) async fn tend_pool(&self) {
        let Ok(_mine) = self.tending.try_lock() else { return };
        let tended = pool::tend(&self.git, &self.pool_rule(self.config.worktree.pool)).await;
        complain("make a used worktree ready", tended);
    }

    /// Nothing is left to do: the pool is not kept for a plan that may never come.
    pub(super) async fn drop_pool(&self) {
        let _mine = self.tending.lock().await;
        complain("give up the kept worktrees", pool::tend(&self.git, &self.pool_rule(0)).await);
    }

    /// Deletes what has been in the trash for long enough.
    pub async fn empty_trash(&self) {
        let older_than = std::time::Duration::from_secs(self.config.worktree.trash.secs);
        let rule = TrashRule { older_than, ..TrashRule::default() };
        tend_trash(&self.git, &self.paths.worktrees, &rule).await;
    }

    /// The merge worktree at this commit, with what is copied into every worktree.
    pub(super) async fn show_merge(&self, commit: &Oid) -> Result<(), String> {
        let place = self.merge_worktree();
        merge_tree::show(&self.git, &place, commit).await.map_err(|error| with_causes(&error))?;
        copy_in(&self.git, MERGE, &place, &self.copy_rule()).await.map_err(|error| with_causes(&error))?;
        Ok(())
    }

    /// The files that commands are to make again, made in the merge worktree. The inner error is a sentence for a person.
    pub(super) async fn make_again(
        &self,
        work: &Work,
        unmade: &Unmade,
        written_under: &str,
    ) -> Result<Result<Vec<Vec<u8>>, String>, String> {
        let name = work.task.to_string();
        self.make_files(&name, written_under, &unmade.commit, &unmade.resolution.generated).await
    }

    /// The same for commits that are taken back.
    pub(super) async fn make_for_revert(
        &self,
        op: &CommandId,
        unmade: &rebuild::Unmade,
    ) -> Result<Result<Vec<Vec<u8>>, String>, String> {
        let name = op.as_str().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        self.make_files(&name, &self.agent, &unmade.commit, &unmade.resolution.generated).await
    }

    async fn make_files(
        &self,
        name: &str,
        written_under: &str,
        commit: &Oid,
        paths: &[PathBuf],
    ) -> Result<Result<Vec<Vec<u8>>, String>, String> {
        self.show_merge(commit).await?;
        let boxed = match self.merge_box(format!("regenerate-{}-{name}", self.plan), written_under).await {
            Ok(boxed) => boxed,
            Err(none) => return Ok(Err(format!("no command could be started to make it again: {none}"))),
        };
        Ok(boxed.make(&regenerate::rules_for(&self.config.merge.regenerate, paths), paths).await)
    }

    /// Whether a commit that no task brings passes what a merge has to. The inner error is a sentence for a person. Asked
    /// only while nothing else is in the merge worktree.
    pub(super) async fn verified(&self, commit: &Oid, name: &str) -> Result<Result<(), String>, String> {
        let verify = self.config.verify_commands();
        if verify.commands.is_empty() {
            return Ok(Ok(()));
        }
        self.show_merge(commit).await?;
        let name = name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let boxed = match self.merge_box(format!("judge-{}-{name}", self.plan), &self.agent).await {
            Ok(boxed) => boxed,
            Err(none) => return Ok(Err(format!("no command could be started to verify it: {none}"))),
        };
        let rule = &self.config.worktree;
        match boxed.judge(rule.setup.as_slice(), rule.setup_timeout).await {
            Ok(()) => Ok(boxed.judge(&verify.commands, verify.timeout).await),
            red => Ok(red),
        }
    }

    /// Where commands run that have no daemon, in the merge worktree: behind the walls of a verification.
    async fn merge_box(&self, nonce: String, written_under: &str) -> Result<regenerate::Box<'_>, String> {
        let launcher = Launcher::of(&self.launch.program);
        let containment = match self.net().await {
            Some(net) => Ok(net),
            None => Containment::choose(self.config.containment, &launcher).await,
        };
        Ok(regenerate::Box {
            place: self.merge_worktree(),
            swarm_dir: &self.paths.swarm,
            kept: self.git.swarm_dir(),
            launcher,
            containment: containment.map_err(|none| none.to_string())?,
            guarded: guarded(Outfit::guard_of_commands(&self.config, written_under)),
            nonce,
            grace: Duration::from_secs(self.config.stop.grace.secs),
        })
    }

    /// The net for all runs, tried out with the program that is going to use it. None: each daemon tries for itself,
    /// and says what is wrong.
    async fn net(&self) -> Option<Containment> {
        let tried = self.containment.get_or_init(async || {
            let launcher = Launcher::of(&self.launch.program);
            Containment::choose(self.config.containment, &launcher).await.ok()
        });
        tried.await.clone()
    }

    /// What the programs of a run find in their environment about their place.
    pub(super) async fn with_place(&self, spec: DaemonSpec, merge: bool) -> DaemonSpec {
        let name = if merge { MERGE.to_owned() } else { spec.task.to_string() };
        let mut spec = spec;
        if self.git.identity == Identity::of_the_swarm() {
            spec.env.extend(identity_of(spec.agent.as_ref().map_or("swarm", |agent| agent.as_str())));
        }
        spec.known.containment = self.net().await;
        match port_base(&self.git, &name, self.config.worktree.ports).await {
            Ok(base) => {
                spec.env.insert("SWARM_PORT_BASE".into(), base.to_string());
            }
            // Servers of two tasks may meet then: a worktree without a server is none the worse for it.
            Err(error) => complain::<(), _>(&format!("give {name} ports of its own"), Err(error)),
        }
        spec
    }
}

fn guarded(guard: Guard) -> regenerate::Guarded {
    let Guard { sandbox, network, writable, hide, limits, env, .. } = guard;
    regenerate::Guarded { sandbox, network, writable, hide, limits, env }
}

/// The error with what lies behind it, once each.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        next = cause.source();
    }
    text
}

/// A line for the history where something had to be put right.
fn told_of_flaws(run: &RunId, task: &TaskId, flaws: &[Flaw]) -> Vec<Report> {
    if !flaws.iter().any(|flaw| *flaw != Flaw::HalfMade && !matches!(flaw, Flaw::Uncommitted { .. })) {
        return vec![];
    }
    let words: Vec<String> = flaws.iter().map(|flaw| flaw.describe(task)).collect();
    vec![Report::Noted { run: run.clone(), text: format!("the worktree: {}", words.join("; ")) }]
}

/// Nobody has told git who commits here: the agent's own name, so that its commits do not fail for want of one.
fn identity_of(agent: &str) -> [(String, String); 4] {
    let email = format!("{agent}@localhost");
    [
        ("GIT_AUTHOR_NAME".into(), agent.into()),
        ("GIT_AUTHOR_EMAIL".into(), email.clone()),
        ("GIT_COMMITTER_NAME".into(), agent.into()),
        ("GIT_COMMITTER_EMAIL".into(), email),
    ]
}
