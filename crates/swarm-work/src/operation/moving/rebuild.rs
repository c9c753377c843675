//! Trunk without some commits and with others again, in the object database: what an operation publishes, and what its
//! preview tries.

use swarm_git::revert::{Carried, Carry, pick, revert};
use swarm_git::{Git, GitError};
use swarm_protocol::ids::Oid;

/// What became of it. No ref has moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebuilt {
    /// `brought`: commits that were picked, with their new names.
    Built { tip: Oid, made: Vec<Oid>, brought: Vec<(Oid, Oid)> },
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
    let (mut tip, mut made, mut brought) = (onto.clone(), Vec::new(), Vec::new());
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
                let paths = paths.iter().map(|path| path.display().to_string()).collect();
                return Ok(Rebuilt::Conflict { commit, paths });
            }
        }
    }
    Ok(Rebuilt::Built { tip, made, brought })
}
