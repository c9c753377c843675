//! Branches tried against trunk and against each other beside the loop, in the object database: whoever looks is told
//! early what will conflict. Nothing waits for it and nothing is decided by it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use swarm_core::predict::{Branch, Pair, pairs, to_try};
use swarm_protocol::ids::{Oid, TaskId};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::world::{SharedWorld, World};
use crate::conflicts::{Clash, Conflicts, FILES_MAX};
use swarm_git::GitError;
use swarm_process::complain;

/// Between two looks at where the branches are: agents commit without telling anybody.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// Merges tried in one look. Each is a git of some milliseconds; the next look goes on with the rest.
const TRIES_MAX: usize = 12;

/// The look-out, for as long as the coordinator lives.
#[derive(Debug)]
pub struct Predicting {
    branches: watch::Sender<Vec<Branch>>,
    found: Arc<RwLock<Conflicts>>,
    looks: JoinHandle<()>,
}

impl Predicting {
    pub fn start(world: &SharedWorld) -> Self {
        let (branches, told) = watch::channel(Vec::new());
        let found = Arc::new(RwLock::new(Conflicts::default()));
        let looks = tokio::spawn(look_out(world.clone(), told, found.clone()));
        Self { branches, found, looks }
    }

    /// These are on their way to trunk now.
    pub fn tell(&self, branches: Vec<Branch>) {
        self.branches.send_if_modified(|now| {
            let differ = *now != branches;
            *now = branches;
            differ
        });
    }

    pub fn conflicts(&self) -> Conflicts {
        self.found.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Predicting {
    fn drop(&mut self) {
        self.looks.abort();
    }
}

async fn look_out(
    world: SharedWorld,
    mut branches: watch::Receiver<Vec<Branch>>,
    found: Arc<RwLock<Conflicts>>,
) {
    let mut known = BTreeMap::new();
    loop {
        let wanted = branches.borrow_and_update().clone();
        if wanted.is_empty() {
            // Nobody is on the way, and nothing need be looked at before somebody is.
            keep(&world, Conflicts::default(), &found);
            if branches.changed().await.is_err() {
                return;
            }
            continue;
        }
        match look(&world, &wanted, &mut known).await {
            Ok(conflicts) => keep(&world, conflicts, &found),
            Err(error) => complain::<(), _>("try branches against each other", Err(error)),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// What is known of the pairs that there are now, after some more were tried.
async fn look(
    world: &World,
    branches: &[Branch],
    known: &mut BTreeMap<(Oid, Oid), Vec<String>>,
) -> Result<Conflicts, GitError> {
    let git = &world.git;
    let mut tips: Vec<(TaskId, Oid)> = Vec::new();
    for Branch { task, base } in branches {
        let tip = git.ref_value(&format!("refs/heads/{}", task.branch())).await?;
        tips.extend(tip.filter(|tip| tip != base).map(|tip| (task.clone(), tip)));
    }
    let trunk = git.ref_value(&format!("refs/heads/{}", world.trunk())).await?;
    let Some(trunk) = trunk.filter(|_| !tips.is_empty()) else { return Ok(Conflicts::default()) };
    let pairs = pairs(&tips, &trunk);
    known.retain(|tips, _| pairs.iter().any(|pair| pair.tips == *tips));
    let tried: BTreeSet<(Oid, Oid)> = known.keys().cloned().collect();
    for Pair { tips, .. } in to_try(&pairs, &tried, TRIES_MAX) {
        // Two that cannot be merged at all (nothing in common) are not asked about again and again.
        let paths = git.conflicts_between(&tips.0, &tips.1).await.unwrap_or_default();
        let files = paths.iter().take(FILES_MAX).map(|path| path.to_string_lossy().into_owned());
        known.insert(tips.clone(), files.collect());
    }
    let clashes = pairs.into_iter().filter_map(|Pair { task, with, tips }| {
        let files = known.get(&tips).filter(|files| !files.is_empty())?.clone();
        Some(Clash { task, with, tips, files })
    });
    Ok(Conflicts { clashes: clashes.collect() })
}

/// For those who look here, and for those who only have the repository.
fn keep(world: &World, conflicts: Conflicts, found: &RwLock<Conflicts>) {
    let changed = *found.read().unwrap_or_else(PoisonError::into_inner) != conflicts;
    if changed {
        complain("keep what will conflict", conflicts.write(&world.git));
        *found.write().unwrap_or_else(PoisonError::into_inner) = conflicts;
    }
}
