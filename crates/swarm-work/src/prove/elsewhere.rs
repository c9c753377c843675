//! Work that is on trunk under another name: somebody amended, rebased, picked or squashed it.

use std::collections::BTreeSet;

use swarm_protocol::ids::Oid;

use super::PLACES_MAX;
use swarm_git::patches::{self, Patches};
use swarm_git::{Git, GitError, Merged};

/// Ends of several commits that are tried as one change.
const STACKS_MAX: usize = 5;

/// Where on trunk stands what the commit changed although the commit is not there. `off`: all commits of ours that are not.
pub(super) async fn is_there_otherwise(
    git: &Git,
    oid: &Oid,
    tip: &Oid,
    patches: &Patches,
    off: &BTreeSet<Oid>,
) -> Result<Option<Oid>, GitError> {
    if let Some(twin) = patches.twin_of(oid) {
        return Ok(patches.reverted_by_after(oid, &twin).is_none().then_some(twin));
    }
    let mut places = patches.rewritten_as(oid);
    places.push(tip.clone());
    // Later work may have changed the same lines since: it stands where they were still as the commit left them.
    places.extend(patches.others().rev().take(PLACES_MAX).cloned());
    places.retain(|place| patches.reverted_by_after(oid, place).is_none());
    for place in &places {
        if brings_nothing(git, oid, oid, place).await? {
            return Ok(Some(since_when(git, (oid, oid), place, tip, patches).await?));
        }
    }
    // Several commits may have become one, in which each of them is only as the later ones left it.
    places.retain(|place| place == tip || patches.edits(oid, place));
    let off: Vec<Oid> = off.iter().cloned().collect();
    for last in patches::descendants(git, oid, &off).await?.iter().take(STACKS_MAX) {
        for place in &places {
            if brings_nothing(git, oid, last, place).await? {
                return Ok(Some(since_when(git, (oid, last), place, tip, patches).await?));
            }
        }
    }
    Ok(None)
}

/// What is there at the tip came with an earlier commit, which is where it stands: the tip itself may be anybody's.
async fn since_when(
    git: &Git,
    (first, last): (&Oid, &Oid),
    place: &Oid,
    tip: &Oid,
    patches: &Patches,
) -> Result<Oid, GitError> {
    if place == tip {
        for other in patches.others().take(PLACES_MAX) {
            let stands = patches.reverted_by_after(first, other).is_none();
            if stands && brings_nothing(git, first, last, other).await? {
                return Ok(other.clone());
            }
        }
    }
    Ok(place.clone())
}

/// The commit that somebody made of this one with other lines in the same files: their word about it, as a later commit
/// of theirs would be. It is the work, and nobody's but theirs to take back.
pub(super) fn edited_as(oid: &Oid, patches: &Patches) -> Option<Oid> {
    let stands = |place: &Oid| patches.edits(oid, place) && patches.reverted_by_after(oid, place).is_none();
    patches.rewritten_as(oid).into_iter().find(stands)
}

/// Whether picking the commits from `first` to `last` there would change nothing.
async fn brings_nothing(git: &Git, first: &Oid, last: &Oid, onto: &Oid) -> Result<bool, GitError> {
    let Some(parent) = git.commit_parts(first).await?.parents.into_iter().next() else { return Ok(false) };
    // A commit without a change is everywhere, and says nothing about where the work is.
    if git.tree_of(&parent).await? == git.tree_of(last).await? {
        return Ok(first == last);
    }
    Ok(match git.merge_commits(&parent, onto, last).await? {
        Merged::Clean { tree } => tree == git.tree_of(onto).await?,
        Merged::Conflict { .. } => false,
    })
}
