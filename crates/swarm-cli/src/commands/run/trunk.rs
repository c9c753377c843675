//! `swarm run --trunk`: another branch for a plan that has run is an operation of its own.

use swarm_protocol::command::Command;

use crate::commands::operate::{Confirm, confirmed};
use crate::context::Context;
use crate::error::CliError;
use crate::output;
use crate::swarm::Swarm;

/// What `--trunk` means before anything runs. Another trunk than the plan's is an operation, looked at and confirmed first.
/// False: nothing is to be run.
pub fn choose(name: &str, sure: Confirm, cx: &Context) -> Result<bool, CliError> {
    let swarm = Swarm::open(cx)?;
    let start = swarm.branch_or_start(name)?;
    let pinned = swarm.pinned_trunk()?;
    if pinned.as_deref().is_none_or(|now| now == name) {
        if sure.dry_run {
            let now = if pinned.is_some() { "is" } else { "would be, once it is run," };
            cx.out.prose(&format!("{name} {now} the trunk of this plan: nothing else would change"))?;
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
