//! Daemons and records of runs that the ledger no longer knows as current.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use swarm_protocol::channel::RunKind;
use swarm_protocol::ids::RunId;

use super::owner::{Foreign, foreign_leftover};
use super::stop::{Rescue, StopError, Stopped, stop_run};
use crate::daemon::{DaemonSpec, RunFiles};
use swarm_git::Git;
use swarm_process::containment::cgroup::leaves_of_swarm;
use swarm_process::containment::end_run;

/// A run that should not have been there any more, and what became of it.
#[derive(Debug)]
pub struct Leftover {
    pub run: RunId,
    pub left: Left,
}

impl Leftover {
    /// What a person is told. Often there are files alone: an older `.swarm` that was put back, a killed start.
    pub fn sentence(&self) -> String {
        let run = &self.run;
        match &self.left {
            Left::Ended(Ok(Stopped { wip: Some(_), .. })) => {
                format!("What was left of {run} is cleared away, and its work is saved")
            }
            Left::Ended(Ok(_)) => {
                format!("What was left of {run} is cleared away; no work of it was unsaved")
            }
            Left::Ended(Err(error)) => format!("A leftover stays: {error}. Run `swarm doctor`"),
            Left::Alone(owner) => format!("{run} is not ours and is left alone: {owner}"),
        }
    }
}

#[derive(Debug)]
pub enum Left {
    Ended(Result<Stopped, StopError>),
    /// Somebody else's: not touched.
    Alone(Foreign),
}

/// Ends every run with files under `run/daemons` that is not among `current`; its work is saved first. What is
/// somebody else's (of another `ledger`, machine or folder) is left alone.
pub async fn sweep_leftovers(
    git: &Git,
    swarm_dir: &Path,
    current: &BTreeSet<RunId>,
    ledger: Option<&str>,
    grace: Duration,
) -> Vec<Leftover> {
    let mut leftovers = Vec::new();
    let mut spared = current.clone();
    for run in runs_on_disk(swarm_dir).into_iter().filter(|run| !current.contains(run)) {
        let files = RunFiles::new(swarm_dir, &run);
        if let Some(owner) = foreign_leftover(&files, &git.main_checkout, ledger) {
            spared.insert(run.clone());
            leftovers.push(Leftover { run, left: Left::Alone(owner) });
            continue;
        }
        let spec = DaemonSpec::read(&files.spec()).or_else(|_| DaemonSpec::read(&files.ended_spec())).ok();
        let nonce = spec.as_ref().map(|spec| spec.nonce.clone()).or_else(|| Some(files.read_record()?.nonce));
        let rescue = spec.filter(|spec| spec.kind == RunKind::Work).map(|spec| Rescue {
            task: spec.task,
            worktree: spec.worktree,
            max_file_bytes: spec.file_max_bytes,
        });
        // Without a nonce it never began: there is nothing but files.
        let nonce = nonce.unwrap_or_else(|| format!("none-of-{run}"));
        let ended = stop_run(git, &files, &nonce, rescue.as_ref(), grace).await;
        leftovers.push(Leftover { run, left: Left::Ended(ended) });
    }
    sweep_leaves(swarm_dir, &spared, grace).await;
    leftovers
}

/// Control groups of runs that have not even files any more.
async fn sweep_leaves(swarm_dir: &Path, spared: &BTreeSet<RunId>, grace: Duration) {
    // A leaf is made after the files of its run were written, so every spared one is known by these.
    let nonces_of = |run: &RunId| {
        let files = RunFiles::new(swarm_dir, run);
        let spec = DaemonSpec::read(&files.spec()).ok().map(|spec| spec.nonce);
        spec.into_iter().chain(files.read_record().map(|record| record.nonce))
    };
    let known: BTreeSet<String> = spared.iter().flat_map(nonces_of).collect();
    for (_, nonce) in leaves_of_swarm(swarm_dir) {
        if !known.contains(&nonce) {
            end_run(&nonce, grace).await;
        }
    }
}

fn runs_on_disk(swarm_dir: &Path) -> BTreeSet<RunId> {
    let dir = swarm_dir.join("run").join("daemons");
    let names = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| RunId::new(name.split('.').next()?).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_to_be_saved_where_there_were_files_alone() {
        let left = Left::Ended(Ok(Stopped { wip: None, last: None }));
        let said = Leftover { run: RunId::nth(1), left }.sentence();
        assert_eq!(said, "What was left of r1 is cleared away; no work of it was unsaved");
    }
}
