//! What people do beside the ledger, with the hands that the coordinator has: worktrees, saved work, hooks; and what lies
//! in files to be looked at. No lock is needed: what has to be recorded comes back as a command for whoever has the ledger.

mod error;
mod hooks;
mod saved;
mod told;
mod worktrees;

use swarm_core::{State, show};
use swarm_git::{FilterRule, Git};
use swarm_protocol::config::{Config, SandboxKind};
use swarm_protocol::view::TaskRow;

use crate::paths::Paths;
use crate::settings::{environment, load};
use crate::store::{OpenOptions, Store, ensure_ignored};

pub use error::{ByHandError, Said, SaidHint, SaidKind};
pub use saved::{listed, saved_view};
pub use worktrees::{GiveUp, worked_on};

/// How git's filters are run on what agents write: behind walls, unless a person wants none around any agent.
pub(crate) fn filter_rule(config: &Config) -> FilterRule {
    let own = config.profiles.values().filter_map(|profile| profile.sandbox);
    match own.chain([config.sandbox]).all(|kind| kind == SandboxKind::None) {
        true => FilterRule::Free,
        false => swarm_work::filter_rule(config.network_of_commands(), &config.hide),
    }
}

/// One repository with its configuration.
pub struct Hands {
    pub git: Git,
    pub paths: Paths,
    pub config: Config,
}

impl Hands {
    /// Reads the configuration as it is now.
    pub async fn open(paths: &Paths) -> Result<Self, ByHandError> {
        let git = Git::discover(&paths.root).await?;
        let config = load(&paths.config, &environment(), &[])?.config;
        git.run_filters(filter_rule(&config));
        Ok(Self { git, paths: paths.clone(), config })
    }

    fn state(&self) -> Result<State, ByHandError> {
        let mut state = Store::open_reader(&self.paths, &OpenOptions::new("read"), None)?.state;
        // While nobody coordinates, the mode that the next one would have is the one that counts.
        if !state.running {
            state.policy.mode = self.config.mode;
        }
        Ok(state)
    }

    /// The tasks of the plan; none where there is no plan.
    pub fn rows(&self) -> Result<Vec<TaskRow>, ByHandError> {
        Ok(show::rows(&self.state()?))
    }

    /// The branch that finished work goes to.
    async fn trunk_name(&self) -> Result<String, ByHandError> {
        let state = self.state()?;
        let pinned = state.pinned_trunk().map(str::to_owned);
        pinned.or_else(|| self.git.current_branch()).or(state.trunk).ok_or_else(|| {
            ByHandError::usage("No branch is checked out")
                .say("Pass --from REF to name where to start")
                .into()
        })
    }

    fn shown(&self, path: &std::path::Path) -> String {
        self.paths.shown(path).to_string()
    }

    /// Folders of worktrees must not show up as new files of the person's; where that cannot be written, git shows it.
    fn ensure_ignored_quietly(&self) {
        let _ = ensure_ignored(&self.paths);
    }
}
