//! What is looked at: one repository with its swarm, read once and without a lock.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use swarm_core::State;
use swarm_ledger::Head;
use swarm_protocol::config::Config;

use super::finding::Found;
use crate::anchor;
use crate::paths::Paths;
use crate::settings;
use crate::store::{OpenOptions, Store, StoreError};
use crate::trust::Trust;
use swarm_git::Git;
use swarm_process::{ProcessIdentity, has_open, open_verified};

pub(super) struct Patient {
    pub git: Git,
    pub paths: Paths,
    /// The defaults where the file cannot be used.
    pub config: Config,
    pub options: OpenOptions,
    /// Empty where there is no ledger, or none that can be read.
    pub state: State,
    /// The last record that was read.
    pub head: Option<Head>,
    /// Whether `state` can be relied on to know every task.
    pub knows_tasks: bool,
    pub ledger_error: Option<StoreError>,
    /// Who coordinates now.
    pub coordinator: Option<Coordinator>,
}

/// The process that holds the ledger for life.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Coordinator {
    pub pid: u32,
    start_time: u64,
    boot_id: String,
    role: String,
}

impl Patient {
    pub async fn of(git: Git, environment: &BTreeMap<String, String>) -> (Self, Vec<Found>) {
        let paths = Paths::new(&git.main_checkout, &git.common_dir);
        let mut found = Vec::new();
        let mut unknown = Trust::of(&paths).look(&git, &paths).await.unwrap_or_default();
        unknown.retain(|file| file.tracked && !file.agreed);
        let config = match settings::load(&paths.config, environment, &[]) {
            // Nothing is executed that nobody has agreed to, not even to see whether it works.
            Ok(_) if !unknown.is_empty() => {
                let names: Vec<String> = unknown.iter().map(|file| file.path.display().to_string()).collect();
                let what = format!("{} came with the repository and is not used", names.join(", "));
                found.push(Found::problem("config", what).by_hand("swarm trust"));
                Config::default()
            }
            Ok(settings) => {
                let shown = paths.shown(&paths.config);
                let there =
                    if paths.config.exists() { format!("{shown} is valid") } else { "the defaults".into() };
                found.push(Found::ok("config", there));
                settings.config
            }
            Err(error) => {
                let what = format!("{} at {}", error.why, error.place);
                let hint = if error.hint.is_empty() { "put the value right".into() } else { error.hint };
                found.push(Found::problem("config", what).by_hand(hint));
                Config::default()
            }
        };
        let paths = paths.with_worktrees(&config.worktree.dir);
        let anchors = anchor::witnesses(&git).await.unwrap_or_default();
        let options = OpenOptions::new("doctor").on_damage(config.recovery.on_damage).anchors(anchors);
        let read = Store::open_reader(&paths, &options, None);
        let (state, head, ledger_error) = match read {
            Ok(reading) => (reading.state, reading.head, None),
            Err(error) => (State::default(), None, Some(error)),
        };
        // A ledger that lost records may have lost the very task that a worktree belongs to.
        let knows_tasks = head.is_some() && state.loss.is_none();
        let coordinator = coordinator_of(&paths.owner);
        let patient =
            Self { git, paths, config, options, state, head, knows_tasks, ledger_error, coordinator };
        (patient, found)
    }

    /// A path as people see it.
    pub fn shown(&self, path: &Path) -> String {
        self.paths.shown(path).to_string()
    }

    /// Whether there is anything of a swarm here.
    pub fn has_swarm(&self) -> bool {
        self.paths.swarm.exists() || self.git.swarm_dir().exists()
    }
}

/// Read off the lock file and checked against the process list: the lock itself is not touched, since even
/// trying it for a moment could turn a coordinator away that is just starting. In a copied folder the file names the
/// coordinator of the original, which holds another file.
fn coordinator_of(owner: &Path) -> Option<Coordinator> {
    let found: Coordinator = serde_json::from_slice(&std::fs::read(owner).ok()?).ok()?;
    let Coordinator { pid, start_time, boot_id, role } = found.clone();
    let identity = ProcessIdentity { boot_id, pid, start_time, nonce: String::new() };
    let runs = role == "coordinator" && open_verified(&identity).is_some();
    (runs && has_open(pid, owner) != Some(false)).then_some(found)
}
