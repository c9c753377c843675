//! Tasks that are worked on in one tree.

use std::path::PathBuf;

use swarm_core::input::Report;
use swarm_protocol::config::SandboxKind;
use swarm_protocol::ids::{RunId, TaskId};

use super::executors::trunk::trunk_tip;
use super::outfit::Outfit;
use super::workplace::with_causes;
use super::world::World;
use swarm_process::complain;
use swarm_work::no_room;
use swarm_work::shared_tree::{self, NAME, Visitor};
use swarm_work::worktree::copy::copy_in;

/// A task that is to be worked on in the shared tree.
pub(super) struct Shared {
    pub run: RunId,
    pub task: TaskId,
    /// The files that it changes there.
    pub holds: Vec<String>,
    pub profile: Option<String>,
}

impl World {
    /// The one tree of tasks that share it. Always in the swarm's own folder, as the merge worktree.
    pub fn shared_tree(&self) -> PathBuf {
        self.paths.swarm.join("worktrees").join(NAME)
    }

    /// Lets a task into the shared tree whose own worktree is ready, as `made` says.
    pub(super) async fn let_in(
        &self,
        made: Report,
        shared: Option<Shared>,
        news: &mut Vec<Report>,
    ) -> Report {
        let Some(shared) = shared.filter(|_| matches!(made, Report::Prepared { .. })) else { return made };
        match self.enter(&shared).await {
            Ok(()) => made,
            Err((failed, told)) => {
                news.extend(told);
                failed
            }
        }
    }

    async fn enter(&self, shared: &Shared) -> Result<(), (Report, Option<Report>)> {
        let Shared { run, task, holds, profile } = shared;
        let failed = |why: String, setup: bool| Report::PrepareFailed { run: run.clone(), why, setup };
        let walls = Outfit::of(&self.config, profile.as_deref().unwrap_or(&self.agent))
            .map(|outfit| outfit.guard.sandbox);
        // Another mistake of the profile is told when its program is started.
        if matches!(walls, Ok(SandboxKind::None | SandboxKind::Program)) {
            return Err((failed(WITHOUT_WALLS.into(), true), None));
        }
        let visitor = Visitor {
            task,
            run,
            worktree: &self.worktree_of(task),
            max_file_bytes: self.config.worktree.max_file << 20,
        };
        let place = self.shared_tree();
        let trunk = trunk_tip(self).await.map_err(|why| (failed(why, false), None))?;
        if let Err(error) = shared_tree::enter(&self.git, &place, &visitor, holds, &trunk).await {
            let full = no_room::met_by(&error);
            let why = self.without_root(&format!("the shared tree: {}", with_causes(&error)));
            return Err((failed(why.clone(), false), full.then_some(Report::Disk { low: true, why })));
        }
        let copied = copy_in(&self.git, NAME, &place, &self.copy_rule()).await;
        copied.map(drop).map_err(|error| {
            let full = no_room::met_by(&error);
            let why = self.without_root(&with_causes(&error));
            (failed(why.clone(), !full), full.then_some(Report::Disk { low: true, why }))
        })
    }

    /// Nothing is left to do: nobody needs the shared tree.
    pub(super) async fn drop_shared_tree(&self) {
        complain("give up the shared tree", shared_tree::discard(&self.git).await);
    }
}

const WITHOUT_WALLS: &str = "the isolation `reservation` needs a sandbox, which keeps an agent from committing the \
    changes of others: set `sandbox` to landlock, or the task's isolation to worktree";
