//! Publishing: the trunk becomes the built result, and every checkout that shows the trunk comes along.
//!
//! Moving a branch under a checkout would make the person's next `git commit -a` take the new work out
//! again. So where the trunk is checked out the files come first, then the index, then the ref: git's own
//! fast-forward, with its own checks (`read-tree -m -u OLD NEW` is the engine of `merge --ff-only`),
//! cut into steps that can each be proven ours after a crash:
//!
//! 1. a *hold*: `index.lock` of the checkout is a hard link to a file of ours, so the lock is ours by
//!    its inode, and the file is locked (flock) by us and by every git we start, so it is alive or not;
//! 2. look: any path the person has changed, and nothing moves;
//! 3. the record says `Writing`, git writes the files and an index beside the real one;
//! 4. the new index is put in place, the ref is moved by compare-and-swap, the hold is released.
//!
//! Killed anywhere, the next call *settles* first: paths whose bytes are the old or new content (or a torn
//! beginning of it) go back to what HEAD says; everything else is the person's. Then it starts afresh.
//!
//! The trunk is moved back the same way: nothing here asks which of the two commits is the older one.

mod aside;
mod bring_back;
mod follow;
mod hold;
mod look;
mod preview;
mod settle;
mod waits;

use swarm_protocol::ids::Oid;

use crate::approval::{Approval, Changed, changed_since};
use crate::worktree::checkouts_of_people;
pub use aside::{Aside, Saving, set_aside};
pub use bring_back::{Brought, bring_back, saved_paths};
use follow::Follower;
use hold::Taken;
pub use preview::{InTheWay, in_the_way};
use swarm_git::{Checkout, Git, GitError, RefChange, RefOutcome};
pub use waits::{WaitReason, Waits, has_ended};
pub(crate) use waits::{aside, free_branch};

/// What shall be published. The changed paths with their old and new blobs follow from the two
/// commits, which are durable before this is recorded, so they need not be recorded themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// Short name of the trunk.
    pub trunk: String,
    pub old: Oid,
    pub new: Oid,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Publication {
    /// The trunk contains `new`, proven and durable.
    Published,
    /// Nothing moved; a person's checkout is in the way.
    Waits(Waits),
    /// The trunk is not at `old` any more; nothing was changed. `None`: the branch is gone.
    TrunkMoved { now: Option<Oid> },
}

impl Intent {
    fn branch(&self) -> String {
        format!("refs/heads/{}", self.trunk)
    }
}

/// Publishes, or says why not. Safe to ask again after death at any point.
pub async fn publish(git: &Git, intent: &Intent) -> Result<Publication, GitError> {
    let _one_at_a_time = git.publishing().await;
    match known(git, intent).await? {
        Some(known) => Ok(known),
        None => move_trunk(git, intent).await,
    }
}

/// The same for work that goes to trunk by an approval. A verification may have taken its time: its branch is looked at once
/// more, and where it was changed nothing moves.
pub async fn publish_approved(
    git: &Git,
    intent: &Intent,
    approval: &Approval,
) -> Result<Result<Publication, Changed>, GitError> {
    let _one_at_a_time = git.publishing().await;
    if let Some(known) = known(git, intent).await? {
        return Ok(Ok(known));
    }
    match changed_since(git, approval, &intent.trunk).await? {
        Some(changed) => Ok(Err(changed)),
        None => move_trunk(git, intent).await.map(Ok),
    }
}

/// What an earlier call has left is settled first; none: there is something to publish, and nothing in its way yet.
async fn known(git: &Git, intent: &Intent) -> Result<Option<Publication>, GitError> {
    git.may_act()?;
    if let Some(waits) = settle::settle_all(git).await? {
        return Ok(Some(Publication::Waits(waits)));
    }
    let branch = intent.branch();
    Ok(match git.ref_value(&branch).await? {
        Some(now) if now == intent.old => None,
        Some(now) if is_done(git, intent, &now).await? => Some(finished(git, intent, &branch).await?),
        now => Some(Publication::TrunkMoved { now }),
    })
}

async fn move_trunk(git: &Git, intent: &Intent) -> Result<Publication, GitError> {
    let branch = intent.branch();
    // A person's `git gc --prune=now` takes objects that no ref holds yet; trunk would be broken for good.
    git.is_complete(&intent.new, &intent.old).await?;
    let shown_in: Vec<Checkout> =
        checkouts_of_people(git).into_iter().filter(|checkout| checkout.occupies(&branch)).collect();
    let moved = if shown_in.is_empty() {
        let change = RefChange::modify(&branch, &intent.old, &intent.new);
        match git.update_refs(&[change], "swarm: published").await? {
            RefOutcome::Changed => None,
            RefOutcome::Lost { now, .. } => Some(Publication::TrunkMoved { now }),
        }
    } else {
        publish_into(git, intent, &branch, shown_in).await?
    };
    match moved {
        None => finished(git, intent, &branch).await,
        Some(other) => Ok(other),
    }
}

/// Ends what an earlier call that died has left half done in checkouts, without publishing anything. `Some` when
/// that is not possible now.
pub async fn settle_left(git: &Git) -> Result<Option<Waits>, GitError> {
    let _one_at_a_time = git.publishing().await;
    settle::settle_all(git).await
}

/// Whether a trunk at `now` has what was to be published, also with later commits on top. One that was to move
/// back must have let go of the old commit too.
async fn is_done(git: &Git, intent: &Intent, now: &Oid) -> Result<bool, GitError> {
    if *now == intent.new {
        return Ok(true);
    }
    if !git.is_ancestor(&intent.new, now).await? {
        return Ok(false);
    }
    Ok(git.is_ancestor(&intent.old, &intent.new).await? || !git.is_ancestor(&intent.old, now).await?)
}

/// The last step of every way: proof that the trunk contains the result, then the disk.
async fn finished(git: &Git, intent: &Intent, branch: &str) -> Result<Publication, GitError> {
    let now = git.ref_value(branch).await?;
    let proven = match &now {
        Some(now) => is_done(git, intent, now).await?,
        None => false,
    };
    if !proven {
        return Ok(Publication::TrunkMoved { now });
    }
    git.make_durable().await?;
    Ok(Publication::Published)
}

/// All checkouts can follow, or none does.
async fn publish_into(
    git: &Git,
    intent: &Intent,
    branch: &str,
    checkouts: Vec<Checkout>,
) -> Result<Option<Publication>, GitError> {
    let mut followers = Vec::new();
    let outcome = attempt(git, intent, branch, checkouts, &mut followers).await;
    let all_done = matches!(outcome, Ok(None));
    for follower in followers {
        if !all_done {
            // What cannot be put back now stays on record and is settled by the next call.
            follower.put_back(git).await?;
        }
        follower.release()?;
    }
    outcome
}

async fn attempt(
    git: &Git,
    intent: &Intent,
    branch: &str,
    checkouts: Vec<Checkout>,
    followers: &mut Vec<Follower>,
) -> Result<Option<Publication>, GitError> {
    let changes = git.changes(&intent.old, &intent.new).await?;
    for checkout in checkouts {
        if let Some(waits) = Waits::of(&checkout) {
            return Ok(Some(Publication::Waits(waits)));
        }
        match hold::take(git, checkout.clone(), intent).await? {
            Taken::Held(hold) => followers.push(Follower::new(hold)),
            Taken::Busy(reason) => {
                return Ok(Some(Publication::Waits(Waits { checkout: checkout.path, reason })));
            }
        }
    }
    // From here on no git command of a person can change these checkouts: look again, and closely.
    for follower in followers.iter_mut() {
        if let Some(waits) = follower.blocked(git, branch, &changes).await? {
            return Ok(Some(Publication::Waits(waits)));
        }
    }
    for follower in followers.iter_mut() {
        if let Some(waits) = follower.write_files(git, intent).await? {
            return Ok(Some(Publication::Waits(waits)));
        }
    }
    for follower in followers.iter() {
        follower.install_index()?;
    }
    let first = &followers[0].hold;
    let change = [RefChange::modify(branch, &intent.old, &intent.new)];
    let alive = first.sign_of_life()?;
    match git.update_refs_from(&first.checkout.git_dir, &change, "swarm: fast-forward", alive).await? {
        RefOutcome::Changed => Ok(None),
        RefOutcome::Lost { now, .. } => Ok(Some(Publication::TrunkMoved { now })),
    }
}
