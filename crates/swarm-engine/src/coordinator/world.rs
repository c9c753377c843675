//! What every executor needs to reach the world: the repository, the places, the user's settings.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use swarm_core::state::Task;
use swarm_protocol::channel::RunKind;
use swarm_protocol::config::Config;
use swarm_protocol::ids::{AgentId, RunId, TaskId};

use super::outfit::{self, NoOutfit, Outfit};
use crate::paths::Paths;
use swarm_agents::learnings::LearningFiles;
use swarm_agents::prompts::Prompts;
use swarm_git::Git;
use swarm_process::Containment;
use swarm_work::checkout_watch::CheckoutWatch;
use swarm_work::daemon::{DaemonSpec, Known, RunFiles};
use swarm_work::shared_tree;
use swarm_work::supervisor::Launch;

/// Shared by all executors of one coordinator; nothing in it changes but trunk, and that only by an operation.
#[derive(Debug)]
pub struct World {
    pub git: Git,
    pub paths: Paths,
    pub config: Config,
    /// The branch that finished work goes to, as the state has it: kept in step by the loop.
    pub trunk: RwLock<String>,
    pub launch: Launch,
    /// The profile of tasks that name none.
    pub agent: String,
    /// A person chose it: the next run begins with it too.
    pub agent_chosen: bool,
    /// So too who reviews.
    pub reviewer_chosen: bool,
    pub prompts: Prompts,
    pub learnings: LearningFiles,
    /// The id of the ledger: caches of another plan are not taken over.
    pub plan: String,
    /// Held by whoever makes used worktrees ready.
    pub tending: tokio::sync::Mutex<()>,
    /// Held by the look of a preview: one at a time is enough.
    pub previewing: tokio::sync::Mutex<()>,
    /// Watches of the files that merges wait for, made before the merge was tried for the last time.
    pub armed: std::sync::Mutex<BTreeMap<TaskId, Vec<CheckoutWatch>>>,
    /// The net that holds processes together here, tried out once.
    pub containment: tokio::sync::OnceCell<Option<Containment>>,
    /// From which the secrets of the daemons are made.
    pub key: [u8; 32],
}

pub type SharedWorld = Arc<World>;

/// One try at a task, as far as its daemon is concerned.
pub struct Attempt<'a> {
    pub run: &'a RunId,
    pub task: &'a TaskId,
    pub agent: &'a AgentId,
    pub number: u32,
    /// How often a program was sent to the task, with this one.
    pub start: u32,
    pub nonce: &'a str,
    pub title: &'a str,
    /// The profile that the task names.
    pub profile: Option<&'a str>,
}

/// What an effect may know of the task that it concerns.
pub struct About {
    /// Under which the task is worked on where the claim does not say.
    pub profile: Option<String>,
    /// The profile of the agent whose work there is.
    pub written_under: String,
    /// Empty where it has none.
    pub title: String,
}

impl World {
    pub fn about(&self, task: Option<&Task>) -> About {
        let profile = task.and_then(|task| task.spec.profile.clone());
        let written_under = task.and_then(|task| task.worked_under.clone()).or_else(|| profile.clone());
        About {
            profile,
            written_under: written_under.unwrap_or_else(|| self.agent.clone()),
            title: task.map(|task| task.spec.title.clone()).unwrap_or_default(),
        }
    }

    /// A sentence for the ledger: no place in it is absolute, since it would be wrong on every other machine.
    pub fn without_root(&self, text: &str) -> String {
        swarm_work::places::without_root(text, &self.paths.root)
    }

    /// The branch that finished work goes to. An operation may change it, while nothing is at it.
    pub fn trunk(&self) -> String {
        self.trunk.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whoever begins from here on works for this trunk.
    pub(super) fn work_for(&self, trunk: &str) {
        if *self.trunk.read().unwrap_or_else(PoisonError::into_inner) != trunk {
            trunk.clone_into(&mut self.trunk.write().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Tells this swarm from a copy of it, which has the same ledger: goes into the names of processes.
    pub fn place(&self) -> Option<String> {
        place_of(&self.paths.swarm)
    }

    pub fn worktree_of(&self, task: &TaskId) -> PathBuf {
        self.paths.worktrees.join(task.as_str())
    }

    /// The one worktree in which merged trees are verified; kept, so that build caches stay warm. Always in
    /// the swarm's own folder, wherever the tasks' worktrees are: it is cleaned without asking.
    pub fn merge_worktree(&self) -> PathBuf {
        self.paths.swarm.join("worktrees").join("merge")
    }

    pub fn files_of(&self, run: &RunId) -> RunFiles {
        RunFiles::new(&self.paths.swarm, run)
    }

    /// The daemon of an attempt, under the profile that the task names or else the swarm's.
    pub fn work_spec(&self, attempt: &Attempt<'_>) -> Result<DaemonSpec, NoOutfit> {
        let Outfit { setup, guard, .. } = Outfit::of(&self.config, attempt.profile.unwrap_or(&self.agent))?;
        Ok(DaemonSpec {
            worktree: self.worktree_of(attempt.task),
            shared: shared_tree::place_of(&self.git, attempt.task, attempt.run),
            agent: Some(attempt.agent.clone()),
            attempt: attempt.number,
            start: Some(attempt.start),
            title: attempt.title.to_owned(),
            agent_setup: Some(setup),
            guard,
            ..self.spec(attempt.run, RunKind::Work, attempt.task, attempt.nonce)
        })
    }

    /// `written_under`: the profile of the agent whose work is run.
    pub fn verify_spec(&self, run: &RunId, task: &TaskId, nonce: &str, written_under: &str) -> DaemonSpec {
        let guard = Outfit::guard_of_commands(&self.config, written_under);
        DaemonSpec { worktree: self.merge_worktree(), guard, ..self.spec(run, RunKind::Verify, task, nonce) }
    }

    pub fn review_spec(&self, run: &RunId, task: &TaskId, nonce: &str, written_under: &str) -> DaemonSpec {
        let guard = Outfit::guard_of_commands(&self.config, written_under);
        DaemonSpec { worktree: self.worktree_of(task), guard, ..self.spec(run, RunKind::Review, task, nonce) }
    }

    /// The daemon of a probe: the profile's program, in a folder of its own with nothing in it.
    pub fn probe_spec(
        &self,
        run: &RunId,
        task: &TaskId,
        nonce: &str,
        profile: &str,
    ) -> Result<DaemonSpec, NoOutfit> {
        let Outfit { setup, guard, .. } = Outfit::of(&self.config, profile)?;
        Ok(DaemonSpec {
            worktree: self.probe_folder(run),
            agent_setup: Some(setup),
            guard,
            set_up: None,
            ..self.spec(run, RunKind::Probe, task, nonce)
        })
    }

    /// Where the probe of this run asks its question.
    pub fn probe_folder(&self, run: &RunId) -> PathBuf {
        self.paths.run.join("probes").join(run.as_str())
    }

    pub(super) fn spec(&self, run: &RunId, kind: RunKind, task: &TaskId, nonce: &str) -> DaemonSpec {
        DaemonSpec {
            run: run.clone(),
            kind,
            nonce: nonce.into(),
            root: self.paths.root.clone(),
            worktree: PathBuf::new(),
            shared: None,
            task: task.clone(),
            agent: None,
            attempt: 1,
            start: None,
            title: String::new(),
            agent_setup: None,
            question: None,
            guard: Outfit::guard_of_commands(&self.config, &self.agent),
            known: Known { repository: Some(self.git.repository()), containment: None },
            set_up: outfit::set_up(&self.config),
            env: Default::default(),
            stop_grace_secs: self.config.stop.grace.secs,
            alone_secs: self.config.daemon.alone.secs,
            reconnect_max_secs: self.config.daemon.reconnect_max.secs,
            journal_max_bytes: 256 << 20,
            file_max_bytes: self.config.worktree.max_file << 20,
        }
    }
}

/// A move keeps it, a copy has another one.
fn place_of(dir: &Path) -> Option<String> {
    let meta = std::fs::metadata(dir).ok()?;
    Some(format!("{:x}-{:x}", meta.dev(), meta.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_folder_is_in_its_place_and_a_copied_one_in_another() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        ["original", "copy"].iter().for_each(|name| std::fs::create_dir(at(name)).expect("made"));
        let place = place_of(&at("original"));
        assert!(place.is_some() && place != place_of(&at("copy")));
        std::fs::rename(at("original"), at("moved")).expect("moved");
        assert_eq!((place_of(&at("moved")), place_of(&at("original"))), (place, None));
    }
}
