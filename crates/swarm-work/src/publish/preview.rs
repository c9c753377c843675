//! What of a person's would be in the way if the trunk moved now: a look without a hold, for previews.

use std::path::PathBuf;

use super::follow::Blocks;
use super::look::look;
use super::{Intent, WaitReason, Waits};
use crate::worktree::checkouts_of_people;
use swarm_git::{Checkout, Git, GitError};

/// Files named of one folder that is in the way.
pub(super) const STRANGERS_MAX: usize = 10_000;

/// One checkout that could not follow, and everything that keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InTheWay {
    pub checkout: PathBuf,
    /// Never empty.
    pub reasons: Vec<WaitReason>,
}

impl InTheWay {
    /// Whether the person's files could be put on a ref and come back later: nothing but paths is in the way.
    pub fn can_be_set_aside(&self) -> bool {
        self.reasons.iter().all(WaitReason::can_be_set_aside)
    }

    /// Every path, each once.
    pub fn paths(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = self.reasons.iter().flat_map(|reason| reason.paths()).cloned().collect();
        all.sort();
        all.dedup();
        all
    }
}

/// The checkouts that show the trunk and could not follow it from `old` to `new` as they are now. Reads only.
pub async fn in_the_way(git: &Git, intent: &Intent) -> Result<Vec<InTheWay>, GitError> {
    let branch = format!("refs/heads/{}", intent.trunk);
    let mut found = Vec::new();
    for checkout in checkouts_of_people(git).into_iter().filter(|checkout| checkout.occupies(&branch)) {
        let reasons = reasons_of(git, intent, &checkout).await?;
        if !reasons.is_empty() {
            found.push(InTheWay { checkout: checkout.path, reasons });
        }
    }
    Ok(found)
}

async fn reasons_of(git: &Git, intent: &Intent, checkout: &Checkout) -> Result<Vec<WaitReason>, GitError> {
    if let Some(waits) = Waits::of(checkout) {
        return Ok(vec![waits.reason]);
    }
    let changes = git.changes(&intent.old, &intent.new).await?;
    let looks = look(git, checkout, &checkout.git_dir.join("index"), &changes).await?;
    Ok(Blocks::of(&checkout.path, &looks, &changes, STRANGERS_MAX).reasons())
}
