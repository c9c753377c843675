//! The branch that finished work goes to: recorded when the plan first runs, and the plan's own from then on.

use swarm_core::State;
use swarm_git::Git;
use swarm_git::trunk::{TrunkError, check_name, ensure, way_back};
use swarm_protocol::command::Command;

use super::Wishes;
use crate::cli::Context;
use crate::commands::operate::{Confirm, confirmed};
use crate::error::CliError;
use crate::output;
use crate::swarm::Swarm;

/// The plan's own trunk; before its first run the one that was wished for, or the branch that the person stands on.
pub async fn of(git: &Git, state: &State, wishes: &Wishes) -> Result<String, CliError> {
    let here = wishes.here.clone().or_else(|| git.current_branch());
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
        return Err(CliError::environment(
            "No branch is checked out here, so there is no trunk to merge into",
        )
        .run_instead("swarm run --trunk BRANCH"));
    };
    check_name(git, &name).await.map_err(unfit)?;
    must_exist(git, state, &name).await?;
    Ok(name)
}

/// What `--trunk` means before anything runs. Another trunk than the plan's is an operation, looked at and confirmed first.
/// False: nothing is to be run.
pub fn choose(name: &str, sure: Confirm, cx: &Context) -> Result<bool, CliError> {
    let swarm = Swarm::open(cx)?;
    let start = swarm.branch_or_start(name)?;
    let pinned = swarm.pinned_trunk()?;
    if pinned.as_deref().is_none_or(|now| now == name) {
        if sure.dry_run {
            let now = if pinned.is_some() { "is" } else { "would be, once it is run," };
            cx.out.text(&format!("{name} {now} the trunk of this plan: nothing else would change"))?;
        }
        return Ok(!sure.dry_run);
    }
    if swarm.has_coordinator() {
        return Err(CliError::owned("A coordinator is already running").run_instead("swarm stop"));
    }
    let command = Command::SetTrunk { branch: name.to_owned(), start, expect: None };
    let Some(command) = confirmed(cx, &swarm, command, sure)? else { return Ok(false) };
    output::note(&output::harmless(&swarm.operate(command)?.text));
    Ok(true)
}

async fn made(git: &Git, name: &str) -> Result<String, CliError> {
    let trunk = ensure(git, name).await.map_err(unfit)?;
    if trunk.created {
        output::note(&format!("Made the branch {} at {}", trunk.name, trunk.tip.short()));
    }
    Ok(trunk.name)
}

pub fn unfit(error: TrunkError) -> CliError {
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
    let way = way_back(trunk, state.last_seen_on_trunk().as_ref());
    Err(gone.say(capital(&way)))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
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
