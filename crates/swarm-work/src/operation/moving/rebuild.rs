//! Trunk without some commits and with others again, in the object database: what an operation publishes, and what its
//! preview tries.
//!
//! What does not fit when it is taken back commit by commit climbs the ladder of merges: all commits that follow one another
//! as a whole, which decides nothing about lines, then the rules. Files that commands would make again are left to a person.

use std::path::PathBuf;

use swarm_git::revert::{Carried, Carry, Stretch, pick, revert};
use swarm_git::{Git, GitError, Merged};
use swarm_protocol::conflict::{Resolved, Way};
use swarm_protocol::ids::Oid;

use crate::resolve::resolve;

/// What became of it. No ref has moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebuilt {
    /// `brought`: commits that were picked, with their new names. `resolved`: what conflicted and was decided.
    Built { tip: Oid, made: Vec<Oid>, brought: Vec<(Oid, Oid)>, resolved: Vec<Resolved> },
    /// This commit does not fit what is there.
    Conflict { commit: Oid, paths: Vec<String> },
}

/// Takes back the first ones, newest first, then brings the others, oldest first.
pub async fn rebuild(
    git: &Git,
    onto: &Oid,
    (undone, picked): (&[Oid], &[Oid]),
    at_secs: i64,
    because: Option<String>,
) -> Result<Rebuilt, GitError> {
    let (mut tip, mut made, mut brought, mut resolved) = (onto.clone(), Vec::new(), Vec::new(), Vec::new());
    for is_pick in [false, true] {
        let commits = if is_pick { picked } else { undone }.to_vec();
        let asked = Carry { onto: tip.clone(), commits, at_secs, because: because.clone() };
        let carried = if is_pick { pick(git, &asked).await? } else { revert(git, &asked).await? };
        match carried {
            Carried::Built { result, commits, of } => {
                if is_pick {
                    brought.extend(of.into_iter().zip(commits.iter().cloned()));
                }
                made.extend(commits);
                tip = result;
            }
            Carried::Nothing => {}
            Carried::Conflict { commit, paths } => {
                let climbed = if is_pick { None } else { climb(git, &asked).await? };
                let Some(climbed) = climbed else {
                    let paths = paths.iter().map(|path| path.display().to_string()).collect();
                    return Ok(Rebuilt::Conflict { commit, paths });
                };
                made.extend(climbed.made);
                resolved.extend(climbed.resolved);
                tip = climbed.tip;
            }
        }
    }
    Ok(Rebuilt::Built { tip, made, brought, resolved })
}

struct Climbed {
    tip: Oid,
    made: Vec<Oid>,
    resolved: Vec<Resolved>,
}

/// Each stretch of commits in the first way that fits; none where there is a stretch without one.
async fn climb(git: &Git, asked: &Carry) -> Result<Option<Climbed>, GitError> {
    let mut climbed = Climbed { tip: asked.onto.clone(), made: Vec::new(), resolved: Vec::new() };
    for stretch in git.stretches(&asked.commits).await? {
        let one = Carry { onto: climbed.tip.clone(), commits: stretch.commits.clone(), ..asked.clone() };
        match revert(git, &one).await? {
            Carried::Built { result, commits, .. } => {
                climbed.tip = result;
                climbed.made.extend(commits);
            }
            Carried::Nothing => {}
            Carried::Conflict { paths, .. } => {
                let Some((tree, resolved)) = decide(git, &stretch, &one.onto, &paths).await? else {
                    return Ok(None);
                };
                climbed.tip = git.take_back(&stretch, &tree, &one).await?;
                climbed.made.push(climbed.tip.clone());
                climbed.resolved.extend(resolved);
            }
        }
    }
    Ok(Some(climbed))
}

/// The tree without the stretch. Where it is as with it, nothing would be taken back, and that is not for a rule to say.
async fn decide(
    git: &Git,
    stretch: &Stretch,
    onto: &Oid,
    paths: &[PathBuf],
) -> Result<Option<(Oid, Vec<Resolved>)>, GitError> {
    let Stretch { newest, before, .. } = stretch;
    let as_a_whole = |path: &PathBuf| Resolved { path: path.display().to_string(), way: Way::AsAWhole };
    let (tree, resolved) = match git.merge_commits(newest, onto, before).await? {
        Merged::Clean { tree } => (tree, paths.iter().map(as_a_whole).collect()),
        Merged::Conflict { .. } => match resolve(git, newest, onto, before, &[]).await? {
            Some(resolution) => (resolution.tree, resolution.files),
            None => return Ok(None),
        },
    };
    Ok((tree != git.tree_of(onto).await?).then_some((tree, resolved)))
}
