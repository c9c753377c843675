//! Commits that a worktree made after somebody else had moved its branch, built again upon its own last one.
//!
//! Whoever moved the branch has changed neither the files nor the index of the worktree. So what was committed
//! next has the right tree and the wrong parent: only the parent is replaced.

use swarm_protocol::ids::Oid;

use super::way::CutIn;
use crate::call::{Git, GitError};
use crate::commits::NewCommit;
use crate::refs::parse_oid;

/// More commits than this are not built again; they are kept where they are.
const COMMITS_MAX: usize = 200;

/// The tip that the worktree would have if nobody had cut in. None where that cannot be told: it has taken over
/// the foreign files, or gone somewhere else altogether.
pub(super) async fn rebuilt(
    git: &Git,
    own: &Oid,
    been_at: &[Oid],
    cut_ins: &[CutIn],
) -> Result<Option<Oid>, GitError> {
    let mut tip = own.clone();
    for cut in cut_ins {
        let Some(end) = cut.then.last() else { continue };
        if been_at.contains(end) {
            tip = end.clone(); // its agent has noticed and gone back
            continue;
        }
        // Reset to where it was put: from here on the files are those of somebody else.
        if cut.then.first() == cut.foreign.as_ref() {
            return Ok(None);
        }
        let Some(next) = upon(git, &tip, been_at, cut, end).await? else { return Ok(None) };
        tip = next;
    }
    Ok(Some(tip))
}

async fn upon(
    git: &Git,
    tip: &Oid,
    been_at: &[Oid],
    cut: &CutIn,
    end: &Oid,
) -> Result<Option<Oid>, GitError> {
    let mut again = Vec::new();
    let replaced = match &cut.foreign {
        Some(foreign) => Some(git.commit_parts(foreign).await?.parents),
        None => None,
    };
    for (commit, parents) in first_parents(git, end).await? {
        if been_at.contains(&commit) {
            return Ok(Some(end.clone())); // it stands upon its own work, whatever it did meanwhile
        }
        let first = parents.first();
        let meets = first == cut.foreign.as_ref();
        // An amended commit stands beside the one it replaces.
        let amends = !meets && replaced.as_ref() == Some(&parents) && cut.then.first() == Some(&commit);
        let onto = match (meets, amends) {
            (true, _) => Some(vec![tip.clone()]),
            (_, true) => Some(git.commit_parts(tip).await?.parents),
            _ => None,
        };
        again.push(commit);
        if let Some(mut parents) = onto {
            for commit in again.into_iter().rev() {
                parents = vec![with_parents(git, &commit, parents).await?];
            }
            return Ok(parents.pop());
        }
    }
    Ok(None)
}

/// The commit and its first parents, newest first, each with all its parents.
async fn first_parents(git: &Git, tip: &Oid) -> Result<Vec<(Oid, Vec<Oid>)>, GitError> {
    let most = format!("--max-count={COMMITS_MAX}");
    let list = git.call(["rev-list", "--first-parent", "--parents", &most, tip.as_str(), "--"]).ok().await?;
    let mut found = Vec::new();
    for line in list.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        let mut words = line.split(|b| *b == b' ').map(|word| parse_oid("rev-list", word));
        if let Some(commit) = words.next() {
            found.push((commit?, words.collect::<Result<_, _>>()?));
        }
    }
    Ok(found)
}

/// The same commit with its first parent replaced. No clock in it: asked twice it is the same one.
async fn with_parents(git: &Git, commit: &Oid, mut parents: Vec<Oid>) -> Result<Oid, GitError> {
    let parts = git.commit_parts(commit).await?;
    parents.extend(parts.parents.into_iter().skip(1));
    let at_secs = parts.author.date.split(' ').next().and_then(|secs| secs.parse().ok()).unwrap_or(0);
    git.make_commit(NewCommit {
        tree: &parts.tree,
        parents: &parents,
        author: Some(&parts.author),
        encoding: parts.encoding.as_deref(),
        message: &parts.message,
        at_secs,
    })
    .await
}
