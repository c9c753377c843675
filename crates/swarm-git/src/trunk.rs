//! The branch that finished work goes to, when a person names one.

use swarm_protocol::ids::Oid;

use super::call::{Git, GitError};
use super::refs::{RefChange, RefOutcome};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trunk {
    /// Short name.
    pub name: String,
    pub tip: Oid,
    /// True when it was made just now, where the person stands.
    pub created: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum TrunkError {
    #[error("{name:?} is not a branch name: {why}")]
    BadName { name: String, why: &'static str },
    #[error(
        "the branch {name} cannot be made because {other} exists: choose another name, or rename it with `git branch -m {other} NEW`"
    )]
    InTheWay { name: String, other: String },
    #[error("there is no commit to start the branch {name} from: your checkout has none")]
    NoStart { name: String },
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Makes sure that the branch exists: one that is there is taken as it is, a missing one starts at the commit
/// that the person stands on. Asked twice it does the same.
pub async fn ensure(git: &Git, name: &str) -> Result<Trunk, TrunkError> {
    let start = match look(git, name).await? {
        Ok(tip) => return Ok(Trunk { name: name.into(), tip, created: false }),
        Err(start) => start,
    };
    let full = format!("refs/heads/{name}");
    match git.update_refs(&[RefChange::create(&full, &start)], "swarm: trunk").await? {
        RefOutcome::Changed => {
            git.make_durable().await?;
            Ok(Trunk { name: name.into(), tip: start, created: true })
        }
        // Somebody else made it meanwhile: theirs counts.
        RefOutcome::Lost { now: Some(tip), .. } => Ok(Trunk { name: name.into(), tip, created: false }),
        RefOutcome::Lost { now: None, .. } => Err(TrunkError::NoStart { name: name.into() }),
    }
}

/// Where the branch is, or else where it would be made.
pub async fn look(git: &Git, name: &str) -> Result<Result<Oid, Oid>, TrunkError> {
    check_name(git, name).await?;
    if let Some(tip) = git.ref_value(&format!("refs/heads/{name}")).await? {
        return Ok(Ok(tip));
    }
    if let Some(other) = in_the_way(git, name).await? {
        return Err(TrunkError::InTheWay { name: name.into(), other });
    }
    let start = git.current_commit().await?;
    start.map(Err).ok_or_else(|| TrunkError::NoStart { name: name.into() })
}

/// What brings a trunk back that was deleted or renamed. `seen`: where the swarm saw it last.
pub fn way_back(name: &str, seen: Option<&Oid>) -> String {
    let commit = seen.map_or("COMMIT", Oid::short);
    format!(
        "make it again with `git branch {name} {commit}`, or give the plan another trunk with `swarm run --trunk BRANCH`"
    )
}

pub async fn check_name(git: &Git, name: &str) -> Result<(), TrunkError> {
    let bad = |why| Err(TrunkError::BadName { name: name.chars().take(80).collect(), why });
    if name.is_empty() || name.len() > 200 {
        return bad("it must have between 1 and 200 characters");
    }
    if name.starts_with('-') {
        return bad("it begins with a dash");
    }
    if name.starts_with("refs/") {
        return bad("leave out refs/heads/");
    }
    if name == "HEAD" {
        return bad("HEAD is not a branch");
    }
    if name == "swarm" || name.starts_with("swarm/") {
        return bad("swarm/… are the branches of the tasks");
    }
    let whole = format!("refs/heads/{name}");
    match git.call(["check-ref-format", &whole]).if_yes().await? {
        Some(_) => Ok(()),
        None => bad("git does not allow it (see `git help check-ref-format`)"),
    }
}

/// A branch `a` forbids `a/b`, and the other way round.
async fn in_the_way(git: &Git, name: &str) -> Result<Option<String>, GitError> {
    let below = git.refs_under(&format!("refs/heads/{name}/")).await?;
    if let Some((other, _)) = below.first() {
        return Ok(Some(other.trim_start_matches("refs/heads/").to_owned()));
    }
    for (at, _) in name.match_indices('/') {
        if git.ref_value(&format!("refs/heads/{}", &name[..at])).await?.is_some() {
            return Ok(Some(name[..at].to_owned()));
        }
    }
    Ok(None)
}
