//! Whether the work of tasks that are done is on trunk, asked of git alone.
//!
//! A commit is there when it is in trunk's history and nobody has reverted it since; or when somebody has rewritten it
//! (amended, rebased, picked) and what it changed is there all the same. Everything else has gone, and the answer says
//! how. Reachability is one call for all commits; only what is not plainly there costs more.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::event::Proof;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::Landed;

use crate::git::patches::{self, Patches};
use crate::git::revert::{Carried, Carry, pick};
use crate::git::{Git, GitError, Merged};
use crate::hands::remove::keep_commit;

/// Commits of others on trunk that are looked through for reverts; a pull of more is looked at by content only.
const OTHERS_MAX: usize = 2_000;

/// Work that is not on trunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absent {
    pub why: String,
    /// Where it lies; none where git does not have it any more.
    pub work: Option<Landed>,
}

/// What is asked about one task.
type Asked<'a> = BTreeMap<&'a TaskId, Vec<&'a Oid>>;

/// The commits that a proof speaks of.
fn named(proof: &Proof) -> impl Iterator<Item = &Oid> {
    // What trunk had already when the work was to be merged was there at this commit of it.
    let then = (!proof.found.is_empty()).then_some(&proof.commit);
    proof.commits.iter().chain(&proof.found).chain(then)
}

/// The tasks whose work is not on the branch `trunk`, which is at `tip`.
pub async fn absent(
    git: &Git,
    trunk: &str,
    tip: &Oid,
    tasks: &BTreeMap<TaskId, Proof>,
) -> Result<BTreeMap<TaskId, Absent>, GitError> {
    let asked: Asked<'_> =
        tasks.iter().map(|(id, proof)| (id, proof.commits.iter().chain(&proof.found).collect())).collect();
    let all: Vec<Oid> = tasks.values().flat_map(named).cloned().collect();
    let missing: BTreeSet<Oid> = git.missing_commits(&all).await?.into_iter().collect();
    let known: Vec<Oid> = all.into_iter().filter(|oid| !missing.contains(oid)).collect();
    let off: BTreeSet<Oid> = off_history(git, &known, tip).await?;
    let others = others_since(git, &known, &off, tip).await?;
    let patches = Patches::of(git, &known, &others).await?;
    let mut found = BTreeMap::new();
    for (id, commits) in asked {
        for oid in commits {
            let why = if missing.contains(oid) {
                Some(format!("the commit {} is not in the repository any more", oid.short()))
            } else if tasks[id].found.contains(oid) && !off.contains(&tasks[id].commit) {
                let by = patches.reverted_by_after(oid, &tasks[id].commit);
                by.map(|by| format!("the commit {} was reverted on {trunk} by {}", oid.short(), by.short()))
            } else if off.contains(oid) {
                match is_there_otherwise(git, oid, tip, &patches).await? {
                    true => None,
                    false => Some(format!("the commit {} is not on {trunk}", oid.short())),
                }
            } else {
                let by = patches.reverted_by(oid);
                by.map(|by| format!("the commit {} was reverted on {trunk} by {}", oid.short(), by.short()))
            };
            if let Some(why) = why {
                let work = landed(git, id, &tasks[id]).await?;
                found.insert(id.clone(), Absent { why, work });
                break;
            }
        }
    }
    Ok(found)
}

/// Those of the commits that are on trunk under another name: amended, rebased or picked by somebody. Newest first.
pub async fn rewritten(git: &Git, tip: &Oid, commits: &[Oid]) -> Result<Vec<Oid>, GitError> {
    let missing: BTreeSet<Oid> = git.missing_commits(commits).await?.into_iter().collect();
    let known: Vec<Oid> = commits.iter().filter(|oid| !missing.contains(oid)).cloned().collect();
    let off = off_history(git, &known, tip).await?;
    if off.is_empty() {
        return Ok(Vec::new());
    }
    let others = others_since(git, &known, &off, tip).await?;
    let patches = Patches::of(git, &known, &others).await?;
    let mut found = Vec::new();
    for oid in known.iter().rev().filter(|oid| off.contains(*oid)) {
        if is_there_otherwise(git, oid, tip, &patches).await? {
            found.push(oid.clone());
        }
    }
    Ok(found)
}

/// Those of the commits that are not in the history of `tip`.
async fn off_history(git: &Git, commits: &[Oid], tip: &Oid) -> Result<BTreeSet<Oid>, GitError> {
    let unreachable = patches::listed(git, commits, &["--not", tip.as_str()]).await?;
    Ok(commits.iter().filter(|oid| unreachable.contains(*oid)).cloned().collect())
}

/// Commits on trunk that are none of these and came after the oldest of them, oldest first.
async fn others_since(
    git: &Git,
    commits: &[Oid],
    off: &BTreeSet<Oid>,
    tip: &Oid,
) -> Result<Vec<Oid>, GitError> {
    let mut before = BTreeSet::new();
    for oid in commits {
        before.extend(git.commit_parts(oid).await?.parents.into_iter().next());
    }
    // With one of them off the history, what stands in its place may be older than the rest.
    let Some(base) = git.common_base(before.iter().chain([tip])).await? else { return Ok(Vec::new()) };
    let ours: BTreeSet<&Oid> = commits.iter().filter(|oid| !off.contains(*oid)).collect();
    let range = format!("^{base}");
    let mut others: Vec<Oid> = patches::listed_in_order(git, tip, &range, OTHERS_MAX).await?;
    others.retain(|oid| !ours.contains(oid));
    Ok(others)
}

/// Whether what the commit changed is on trunk although the commit is not.
async fn is_there_otherwise(git: &Git, oid: &Oid, tip: &Oid, patches: &Patches) -> Result<bool, GitError> {
    if let Some(twin) = patches.twin_of(oid) {
        return Ok(patches.reverted_by_after(oid, &twin).is_none());
    }
    let mut places = patches.rewritten_as(oid);
    places.push(tip.clone());
    for place in places {
        if brings_nothing(git, oid, &place).await? && patches.reverted_by_after(oid, &place).is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether picking the commit there would change nothing.
async fn brings_nothing(git: &Git, oid: &Oid, onto: &Oid) -> Result<bool, GitError> {
    let parts = git.commit_parts(oid).await?;
    let Some(parent) = parts.parents.first() else { return Ok(false) };
    // A commit without a change is everywhere, and says nothing about where the work is.
    if git.tree_of(parent).await? == parts.tree {
        return Ok(true);
    }
    Ok(match git.merge_commits(parent, onto, oid).await? {
        Merged::Clean { tree } => tree == git.tree_of(onto).await?,
        Merged::Conflict { .. } => false,
    })
}

/// The commits of a task in one line, so that they can be merged again: as they stood on trunk where they stood one after
/// the other, else picked one onto the other.
pub async fn landed(git: &Git, task: &TaskId, proof: &Proof) -> Result<Option<Landed>, GitError> {
    let commits = if proof.commits.is_empty() { &proof.found } else { &proof.commits };
    let Some(first) = commits.first() else { return Ok(None) };
    if !git.missing_commits(commits).await?.is_empty() {
        return Ok(None);
    }
    let Some(base) = git.commit_parts(first).await?.parents.first().cloned() else { return Ok(None) };
    let mut line = true;
    for two in commits.windows(2) {
        line &= git.commit_parts(&two[1]).await?.parents.first() == Some(&two[0]);
    }
    let tip = if line {
        commits.last().cloned()
    } else {
        let carry = Carry { onto: base.clone(), commits: commits.clone(), at_secs: 0, because: None };
        match pick(git, &carry).await? {
            Carried::Built { result, .. } => {
                keep_commit(git, "kept", task, &result).await?;
                Some(result)
            }
            Carried::Nothing | Carried::Conflict { .. } => None,
        }
    };
    let Some(tip) = tip else { return Ok(None) };
    Ok(Some(Landed { tree: git.tree_of(&tip).await?, base, tip }))
}
