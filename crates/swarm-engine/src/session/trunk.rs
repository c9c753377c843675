//! The branch that finished work goes to: recorded when the plan first runs, and the plan's own from then on.

use swarm_core::State;
use swarm_git::Git;
use swarm_git::trunk::{check_name, ensure, way_back};

use super::{SessionError, Wishes};

/// The plan's own trunk; before its first run the one that was wished for, or the branch that the person stands on.
pub(super) async fn of(
    git: &Git,
    state: &State,
    wishes: &Wishes,
    note: &dyn Fn(&str),
) -> Result<String, SessionError> {
    let here = wishes.here.clone().or_else(|| git.current_branch());
    if let Some(trunk) = state.pinned_trunk() {
        if wishes.starts_agents {
            must_exist(git, state, trunk).await?;
            tell(trunk, here.as_deref(), note);
        }
        return Ok(trunk.to_owned());
    }
    if let Some(name) = &wishes.trunk {
        let trunk = ensure(git, name).await?;
        if trunk.created {
            note(&format!("Made the branch {} at {}", trunk.name, trunk.tip.short()));
        }
        return Ok(trunk.name);
    }
    // What only brings things to rest records no trunk, and has none to merge into.
    let Some(name) = here.or_else(|| state.trunk.clone().filter(|_| !wishes.starts_agents)) else {
        return Err(SessionError::NoBranch);
    };
    check_name(git, &name).await?;
    must_exist(git, state, &name).await?;
    Ok(name)
}

/// Nothing is merged into a branch that is not there, and none is made up in its place.
async fn must_exist(git: &Git, state: &State, trunk: &str) -> Result<(), SessionError> {
    if git.ref_value(&format!("refs/heads/{trunk}")).await?.is_some() {
        return Ok(());
    }
    let trunk = trunk.to_owned();
    if state.pinned_trunk().is_none() {
        return Err(SessionError::NoCommit { trunk });
    }
    let way_back = way_back(&trunk, state.last_seen_on_trunk().as_ref());
    Err(SessionError::TrunkGone { trunk, way_back })
}

/// Where the person stands does not change where work goes; whoever expects it to is told.
fn tell(trunk: &str, here: Option<&str>, note: &dyn Fn(&str)) {
    let said = match here {
        Some(here) if here == trunk => return,
        Some(here) => format!("you are on {here}"),
        None => "you are on no branch".to_owned(),
    };
    note(&format!("Trunk of this plan is {trunk}; {said}"));
}
