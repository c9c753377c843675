//! What is done about a finding: data first, then carried out. Each looks again before it acts.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use swarm_protocol::ids::{Oid, RunId, TaskId};

use super::patient::Patient;
use super::runs::nonce_of;
use crate::store::Store;
use swarm_git::{Checkout, GitError, Head, RefChange, RefOutcome};
use swarm_process::{Sweep, containment};
use swarm_work::daemon::RunFiles;
use swarm_work::remove::{Removal, TrashRule, keep_commit, move_to_trash, remove, tend_trash};
use swarm_work::supervisor::{Left, foreign, sweep_leftovers};
use swarm_work::worktree::{BaseRule, prepare};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cure {
    /// Whoever takes the ledger for writing repairs it, its copy and what is made from it.
    TakeTheLedger,
    RebuildSnapshot(PathBuf),
    ClearGitLock(PathBuf),
    ForgetWorktree(Checkout),
    RemoveWorktree(TaskId),
    MendWorktree(TaskId),
    RestoreBranch {
        task: TaskId,
        tip: Oid,
    },
    EndRun(RunId),
    EndProcesses(RunId),
    /// Whoever is in the control group of this nonce, and the group.
    EndGroup(String),
    EmptyTrash(TrashRule),
    RemoveSocket,
    Close {
        path: PathBuf,
        mode: u32,
    },
    PutAway(PathBuf),
}

impl Cure {
    /// Whether it gets in nobody's way while a coordinator runs.
    pub fn is_safe_beside_a_coordinator(&self) -> bool {
        matches!(self, Self::Close { .. } | Self::EmptyTrash(_) | Self::ClearGitLock(_))
    }

    /// Carries it out; the words of an error are for people. `store` is the ledger, taken for writing, where
    /// the cure needs it.
    pub async fn carry_out(&self, patient: &Patient, store: Option<&mut Store>) -> Result<(), String> {
        let git = &patient.git;
        match self {
            Self::TakeTheLedger => {}
            Self::RebuildSnapshot(damaged) => {
                put_away(patient, damaged)?;
                if let Some(store) = store {
                    store.write_snapshot().map_err(|error| error.to_string())?;
                }
            }
            Self::ClearGitLock(lock) => {
                if !git.clear_if_abandoned(lock).await && lock.exists() {
                    return Err(format!("{} is in use again", patient.shown(lock)));
                }
            }
            Self::ForgetWorktree(checkout) => forget(patient, checkout).await.map_err(describe)?,
            Self::RemoveWorktree(task) => {
                match remove(git, task, &patient.paths.worktrees, &patient.config.worktree.disposable)
                    .await
                    .map_err(describe)?
                {
                    Removal::Removed => {}
                    Removal::Kept { why } => return Err(format!("kept: {why}")),
                }
            }
            Self::MendWorktree(task) => {
                let trunk = patient.state.trunk.clone().or_else(|| git.current_branch());
                let trunk = trunk.ok_or("no branch is checked out, so there is no trunk to begin at")?;
                let base = BaseRule::Trunk(trunk);
                let made = prepare(git, task, &patient.paths.worktrees, &base).await;
                made.map(drop).map_err(|error| error.to_string())?;
            }
            Self::RestoreBranch { task, tip } => {
                let change = RefChange::create(format!("refs/heads/{}", task.branch()), tip);
                match git
                    .update_refs(&[change], "swarm: branch of a task restored")
                    .await
                    .map_err(describe)?
                {
                    RefOutcome::Changed => git.make_durable().await.map_err(describe)?,
                    RefOutcome::Lost { .. } => return Err("somebody created it in the meantime".into()),
                }
            }
            Self::EndRun(run) => end_run(patient, run).await?,
            Self::EndProcesses(run) => {
                let files = RunFiles::new(&patient.paths.swarm, run);
                if let Some(owner) = foreign(&files, &patient.paths.root) {
                    return Err(format!("it was left alone: {owner}"));
                }
                if let Some(nonce) = nonce_of(&files) {
                    end_by_nonce(patient, &nonce).await?;
                }
            }
            Self::EndGroup(nonce) => end_by_nonce(patient, nonce).await?,
            Self::EmptyTrash(rule) => match tend_trash(git, &patient.paths.worktrees, rule).await.failed {
                0 => {}
                n => return Err(format!("{n} things cannot be deleted")),
            },
            Self::RemoveSocket => {
                std::fs::remove_file(&patient.paths.socket).map_err(|error| error.to_string())?
            }
            Self::Close { path, mode } => {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(*mode))
                    .map_err(|error| error.to_string())?
            }
            Self::PutAway(path) => put_away(patient, path)?,
        }
        Ok(())
    }
}

async fn end_by_nonce(patient: &Patient, nonce: &str) -> Result<(), String> {
    match containment::end_run(nonce, grace(patient)).await {
        Sweep::Empty { .. } => Ok(()),
        Sweep::Left { pids } => Err(format!("processes {pids:?} cannot be ended")),
    }
}

fn describe(error: GitError) -> String {
    error.to_string()
}

fn grace(patient: &Patient) -> Duration {
    Duration::from_secs(patient.config.stop.grace.secs)
}

/// Into the trash, where it can be looked at for a while.
fn put_away(patient: &Patient, path: &std::path::Path) -> Result<(), String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    move_to_trash(&patient.git, &name, path).map(drop).map_err(describe)
}

/// A worktree whose folder is gone: what only its HEAD holds is kept, its record goes to the trash.
async fn forget(patient: &Patient, checkout: &Checkout) -> Result<(), GitError> {
    if checkout.path.exists() {
        return Ok(());
    }
    let name = checkout.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let (Head::Detached(commit), Ok(task)) = (&checkout.head, TaskId::new(&name))
        && patient.git.resolve(commit.as_str()).await?.is_some()
    {
        keep_commit(&patient.git, "rescue", &task, commit).await?;
        patient.git.make_durable().await?;
    }
    move_to_trash(&patient.git, &name, &checkout.git_dir).map(drop)
}

/// Everything of one run the ledger does not know: processes ended, work saved, files removed.
async fn end_run(patient: &Patient, run: &RunId) -> Result<(), String> {
    let others = patient.state.runs.keys().cloned();
    let current =
        others.chain(super::runs::runs_on_disk(patient).into_iter().filter(|other| other != run)).collect();
    let ended = sweep_leftovers(&patient.git, &patient.paths.swarm, &current, None, grace(patient)).await;
    let failed = ended.into_iter().find_map(|leftover| match leftover.left {
        Left::Ended(ended) => Some(ended.err()?.to_string()),
        Left::Alone(owner) => Some(format!("it was left alone: {owner}")),
    });
    failed.map_or(Ok(()), Err)
}
