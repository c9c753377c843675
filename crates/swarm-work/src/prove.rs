//! Whether the work of tasks that are done is on trunk, asked of git alone.
//!
//! A commit is there when it is in trunk's history and nobody has reverted it since; or when somebody has rewritten it
//! (amended, rebased, picked) and what it changed is there all the same. Everything else has gone, and the answer says
//! how. Reachability is one call for all commits; only what is not plainly there costs more.

mod elsewhere;
mod landed;

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::event::{Proof, Standing};
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::Landed;

use elsewhere::{edited_as, is_there_otherwise};
pub use landed::landed;
use swarm_git::patches::{self, Patches};
use swarm_git::renames::Renames;
use swarm_git::taken::Taken;
use swarm_git::{Git, GitError, Merged};

/// Commits of others on trunk that are looked through for reverts; a pull of more is looked at by content only.
const OTHERS_MAX: usize = 2_000;

/// Commits of others that are tried as the place where a rewritten commit stands: each is a merge in memory.
const PLACES_MAX: usize = 50;

/// Work that is not on trunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absent {
    pub why: String,
    /// Where it lies; none where git does not have it any more.
    pub work: Option<Landed>,
}

/// What a look at trunk finds about the tasks that are done.
#[derive(Debug, Default)]
pub struct Found {
    pub absent: BTreeMap<TaskId, Absent>,
    /// There, but under other names than it was merged with.
    pub standing: BTreeMap<TaskId, Standing>,
}

/// The commits that a proof speaks of.
fn named(proof: &Proof) -> impl Iterator<Item = &Oid> {
    proof.own().iter().chain(&proof.found).chain([&proof.commit])
}

/// Those that the swarm made. What somebody made of them later is not ours, and explains nothing.
fn made_by_us(proof: &Proof) -> impl Iterator<Item = &Oid> {
    proof.own().iter().chain(proof.made.is_empty().then_some(&proof.commit))
}

/// The commits of agents that came to trunk by a merge of ours: they are the task's work, as the merge is.
pub(crate) async fn brought_by_merges(git: &Git, commits: &[Oid]) -> Result<BTreeSet<Oid>, GitError> {
    let mut brought = BTreeSet::new();
    for oid in commits {
        let parents = git.commit_parts(oid).await?.parents;
        if let [first, _, ..] = &parents[..] {
            let all = patches::listed(git, std::slice::from_ref(oid), &["--not", first.as_str()]).await?;
            brought.extend(all.into_iter().filter(|one| one != oid));
        }
    }
    Ok(brought)
}

/// Looks for the work of these tasks on the branch `trunk`, which is at `tip`.
pub async fn look(
    git: &Git,
    trunk: &str,
    tip: &Oid,
    tasks: &BTreeMap<TaskId, Proof>,
) -> Result<Found, GitError> {
    let at = Trunk::read(git, trunk, tip, &tasks.values().collect::<Vec<_>>()).await?;
    let mut found = Found::default();
    for (id, proof) in tasks {
        match at.places(proof).await? {
            Ok(standing) => found.standing.extend(standing.map(|standing| (id.clone(), standing))),
            Err(why) => {
                let mut work = landed(git, id, proof).await?;
                if let Some(work) = &mut work {
                    work.stands = at.standing(proof).await?;
                }
                found.absent.insert(id.clone(), Absent { why, work });
            }
        }
    }
    Ok(found)
}

/// Trunk, with what has been read of it.
struct Trunk<'a> {
    git: &'a Git,
    trunk: &'a str,
    tip: &'a Oid,
    /// Commits that git does not have.
    missing: BTreeSet<Oid>,
    /// Commits that are not in its history.
    off: BTreeSet<Oid>,
    patches: Patches,
    taken: Taken,
}

impl<'a> Trunk<'a> {
    /// Reads what has to be known to find the work of these proofs.
    async fn read(
        git: &'a Git,
        trunk: &'a str,
        tip: &'a Oid,
        proofs: &[&Proof],
    ) -> Result<Trunk<'a>, GitError> {
        let all: Vec<Oid> = proofs.iter().copied().flat_map(named).cloned().collect();
        let missing: BTreeSet<Oid> = git.missing_commits(&all).await?.into_iter().collect();
        let known: Vec<Oid> = all.into_iter().filter(|oid| !missing.contains(oid)).collect();
        let off = off_history(git, &known, tip).await?;
        let mut line = line_since(git, &known, tip).await?;
        let brought = brought_by_merges(git, &known).await?;
        line.retain(|oid| !brought.contains(oid));
        let made: BTreeSet<Oid> = proofs.iter().copied().flat_map(made_by_us).cloned().collect();
        // Where somebody has put rewritten work is one of the places to look at, not one of the commits to look for.
        let sought =
            |oid: &&Oid| made.contains(*oid) || proofs.iter().any(|proof| proof.found.contains(*oid));
        let sought: Vec<Oid> = known.iter().filter(sought).cloned().collect();
        let renames = match line.iter().all(|oid| made.contains(oid)) {
            true => Renames::default(), // nobody else has changed anything
            false => Renames::along(git, &line).await?,
        };
        let patches = Patches::of(git, &sought, &line, &renames).await?;
        let back = Taken::out_of(git, tip, (&known, &made), &line, &renames).await?;
        Ok(Trunk { git, trunk, tip, missing, off, patches, taken: back })
    }

    /// Where the work of a proof stands, if under other names; or why it is not there.
    async fn places(&self, proof: &Proof) -> Result<Result<Option<Standing>, String>, GitError> {
        let (mut places, mut rewritten) = (Vec::new(), false);
        for oid in proof.own().iter().chain(&proof.found) {
            let place = match self.place(proof, oid).await? {
                Ok(place) => place,
                Err(why) => return Ok(Err(why)),
            };
            rewritten |= place.is_some();
            if proof.made.contains(oid) || proof.commits.contains(oid) {
                places.push(place.unwrap_or_else(|| oid.clone()));
            } else if let Some(place) = place {
                // What trunk had already stands elsewhere now; the proof names where.
                return Ok(Ok(Some(Standing { commit: place, commits: proof.commits.clone() })));
            }
        }
        if !rewritten && !self.off.contains(&proof.commit) {
            return Ok(Ok(None));
        }
        let newest = places.last().cloned().unwrap_or_else(|| self.tip.clone());
        places.dedup();
        Ok(Ok(Some(Standing { commit: newest, commits: places })))
    }

    /// The commits of work that has gone which are there all the same, under the names they were merged with.
    async fn standing(&self, proof: &Proof) -> Result<Vec<Oid>, GitError> {
        let mut stands = Vec::new();
        for oid in proof.own() {
            if self.place(proof, oid).await? == Ok(None) {
                stands.push(oid.clone());
            }
        }
        Ok(stands)
    }

    /// Where one commit stands: under its own name (none), under another, or nowhere and why.
    async fn place(&self, proof: &Proof, oid: &Oid) -> Result<Result<Option<Oid>, String>, GitError> {
        let reverted =
            |by: Oid| format!("the commit {} was reverted on {} by {}", oid.short(), self.trunk, by.short());
        if self.missing.contains(oid) {
            return Ok(Err(format!("the commit {} is not in the repository any more", oid.short())));
        }
        if proof.found.contains(oid) && !self.off.contains(&proof.commit) {
            let by = self.patches.reverted_by_after(oid, &proof.commit);
            return Ok(by.map_or(Ok(None), |by| Err(reverted(by))));
        }
        let taken_by = |by: Option<&Oid>| {
            let by = by.map_or_else(String::new, |by| format!(" by {}", by.short()));
            format!("what the commit {} changed was taken out of {} again{by}", oid.short(), self.trunk)
        };
        let taken = self.taken.by(oid).map(taken_by);
        if !self.off.contains(oid) {
            return Ok(match (self.patches.reverted_by(oid), taken) {
                (Some(by), _) => Err(reverted(by)),
                (None, Some(taken)) => Err(taken),
                (None, None) if self.taken.is_given_up(oid) => Ok(None),
                (None, None) => match self.taken_among_others(oid).await? {
                    // No revert in git's sense: it has changes of its own.
                    Some(by) => Err(taken_by(Some(&by))),
                    None => Ok(None),
                },
            });
        }
        let place = is_there_otherwise(self.git, oid, self.tip, &self.patches, &self.off).await?;
        Ok(match (place.or_else(|| edited_as(oid, &self.patches)), taken) {
            (Some(place), None) => Ok(Some(place)),
            (Some(_), Some(taken)) => Err(taken),
            (None, _) => Err(format!("the commit {} is not on {}", oid.short(), self.trunk)),
        })
    }

    /// The commit of somebody else that took all of this one's change out, among changes of its own: before it the commit
    /// could be reverted, since then there is nothing left to revert.
    async fn taken_among_others(&self, oid: &Oid) -> Result<Option<Oid>, GitError> {
        let later = self.patches.later_in_its_files(oid);
        if later.is_empty() || !leaves_nothing(self.git, oid, self.tip).await? {
            return Ok(None);
        }
        for other in later.into_iter().take(PLACES_MAX) {
            let Some(before) = self.git.commit_parts(&other).await?.parents.into_iter().next() else {
                continue;
            };
            if leaves_nothing(self.git, oid, &other).await? && !leaves_nothing(self.git, oid, &before).await?
            {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }
}

/// Whether reverting the commit there would change nothing.
async fn leaves_nothing(git: &Git, oid: &Oid, at: &Oid) -> Result<bool, GitError> {
    let Some(parent) = git.commit_parts(oid).await?.parents.into_iter().next() else { return Ok(false) };
    Ok(match git.merge_commits(oid, at, &parent).await? {
        Merged::Clean { tree } => tree == git.tree_of(at).await?,
        Merged::Conflict { .. } => false,
    })
}

/// Those of the commits that are on trunk under another name: amended, rebased or picked by somebody. And all commits of
/// trunk since with these in their places, newest first.
pub async fn rewritten(git: &Git, tip: &Oid, commits: &[Oid]) -> Result<(BTreeSet<Oid>, Vec<Oid>), GitError> {
    let missing: BTreeSet<Oid> = git.missing_commits(commits).await?.into_iter().collect();
    let known: Vec<Oid> = commits.iter().filter(|oid| !missing.contains(oid)).cloned().collect();
    let off = off_history(git, &known, tip).await?;
    if off.is_empty() {
        return Ok(Default::default());
    }
    let line = line_since(git, &known, tip).await?;
    let patches = Patches::of(git, &known, &line, &Renames::along(git, &line).await?).await?;
    let (mut found, mut at): (BTreeSet<Oid>, BTreeMap<Oid, Vec<Oid>>) = Default::default();
    let off_list: Vec<Oid> = off.iter().cloned().collect();
    for oid in patches::listed_newest_first(git, &off_list, &["--not", tip.as_str()]).await? {
        if off.contains(&oid)
            && let Some(place) = is_there_otherwise(git, &oid, tip, &patches, &off).await?
        {
            at.entry(place).or_default().push(oid.clone());
            found.insert(oid);
        }
    }
    let order =
        line.iter().rev().flat_map(|oid| at.remove(oid).unwrap_or_default().into_iter().chain([oid.clone()]));
    let order = order.collect();
    Ok((found, order))
}

/// Those of the commits whose changes are on trunk now, each with the commit of trunk that is the same change; none where
/// only the content tells that it is there.
pub async fn there(
    git: &Git,
    trunk: &str,
    tip: &Oid,
    commits: &[Oid],
) -> Result<BTreeMap<Oid, Option<Oid>>, GitError> {
    let proofs: Vec<Proof> =
        commits.iter().map(|oid| Proof::new(trunk, oid.clone(), vec![oid.clone()])).collect();
    let at = Trunk::read(git, trunk, tip, &proofs.iter().collect::<Vec<_>>()).await?;
    let mut found = BTreeMap::new();
    for (oid, proof) in commits.iter().zip(&proofs) {
        if let Ok(place) = at.place(proof, oid).await? {
            let same = if place.is_none() { Some(oid.clone()) } else { at.patches.twin_of(oid) };
            found.insert(oid.clone(), same);
        }
    }
    Ok(found)
}

/// Those of the commits that are not in the history of `tip`.
async fn off_history(git: &Git, commits: &[Oid], tip: &Oid) -> Result<BTreeSet<Oid>, GitError> {
    let unreachable = patches::listed(git, commits, &["--not", tip.as_str()]).await?;
    Ok(commits.iter().filter(|oid| unreachable.contains(*oid)).cloned().collect())
}

/// The commits of trunk that came after the oldest of these, oldest first.
async fn line_since(git: &Git, commits: &[Oid], tip: &Oid) -> Result<Vec<Oid>, GitError> {
    let mut before = BTreeSet::new();
    for oid in commits {
        before.extend(git.commit_parts(oid).await?.parents.into_iter().next());
    }
    // What was pruned, or never fetched, is no place to begin at.
    let known: Vec<Oid> = before.into_iter().collect();
    let missing: BTreeSet<Oid> = git.missing_commits(&known).await?.into_iter().collect();
    let before: BTreeSet<Oid> = known.into_iter().filter(|oid| !missing.contains(oid)).collect();
    // With one of them off the history, what stands in its place may be older than the rest; with nothing in common
    // (everything was rewritten from the first commit on) it may be anywhere.
    let base = git.common_base(before.iter().chain([tip])).await?;
    let without = base.map_or_else(|| tip.to_string(), |base| format!("^{base}"));
    patches::listed_in_order(git, tip, &without, OTHERS_MAX).await
}
