//! The branch that finished work goes to: recorded when the plan first runs, and the plan's own from then on.

use swarm_core::State;
use swarm_engine::git::Git;
use swarm_engine::git::trunk::{TrunkError, check_name, ensure};

use super::Wishes;
use crate::error::CliError;
use crate::output;

/// The plan's own trunk; before its first run the one that was wished for, or the branch that the person stands on.
pub async fn of(git: &Git, state: &State, wishes: &Wishes) -> Result<String, CliError> {
    let here = git.current_branch();
    if let Some(trunk) = state.pinned_trunk() {
        if wishes.starts_agents {
            must_exist(git, state, trunk).await?;
            tell(trunk, here.as_deref());
        }
        return Ok(trunk.to_owned());
    }
    if let Some(name) = &wishes.trunk {
        return made(git, name).await;
    }
    // What only brings things to rest records no trunk, and has none to merge into.
    let Some(name) = here.or_else(|| state.trunk.clone().filter(|_| !wishes.starts_agents)) else {
        return Err(CliError::environment("No branch is checked out here, so there is no trunk to merge into")
            .run_instead("swarm run --trunk BRANCH"));
    };
    check_name(git, &name).await.map_err(unfit)?;
    must_exist(git, state, &name).await?;
    Ok(name)
}

async fn made(git: &Git, name: &str) -> Result<String, CliError> {
    let trunk = ensure(git, name).await.map_err(unfit)?;
    if trunk.created {
        output::note(&format!("Made the branch {} at {}", trunk.name, trunk.tip.short()));
    }
    Ok(trunk.name)
}

fn unfit(error: TrunkError) -> CliError {
    match error {
        TrunkError::Git(error) => error.into(),
        error => CliError::usage(error.to_string()).run_instead("swarm run --trunk BRANCH"),
    }
}

/// Nothing is merged into a branch that is not there, and none is made up in its place.
async fn must_exist(git: &Git, state: &State, trunk: &str) -> Result<(), CliError> {
    if git.ref_value(&format!("refs/heads/{trunk}")).await?.is_some() {
        return Ok(());
    }
    if state.pinned_trunk().is_none() {
        return Err(CliError::environment(format!("The branch {trunk} has no commit yet"))
            .run_instead("git commit --allow-empty --message start"));
    }
    let gone = CliError::environment(format!("The branch {trunk}, which this plan is merged into, is gone"));
    Err(gone.say(way_out(state, trunk)))
}

/// What brings a trunk back that was deleted or renamed.
pub fn way_out(state: &State, trunk: &str) -> String {
    let commit = state.last_seen_on_trunk().map_or_else(|| "COMMIT".into(), |oid| oid.short().to_owned());
    format!(
        "Make it again with `git branch {trunk} {commit}`, or give the plan another trunk with `swarm run --trunk BRANCH`"
    )
}

/// Where the person stands does not change where work goes; whoever expects it to is told.
fn tell(trunk: &str, here: Option<&str>) {
    let said = match here {
        Some(here) if here == trunk => return,
        Some(here) => format!("you are on {here}"),
        None => "you are on no branch".to_owned(),
    };
    output::note(&output::harmless(&format!("Trunk is {trunk}, as when this plan first ran; {said}")));
}
