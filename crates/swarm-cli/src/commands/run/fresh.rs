//! `swarm run --fresh`: the plan that is there is closed, and another one begins from trunk as it is now.

use super::{Args, read_plan};
use crate::commands::operate::{Confirm, agreed};
use crate::context::Context;
use crate::error::CliError;
use crate::output;
use crate::swarm::Swarm;

/// What begins once the plan before is in the archive.
pub struct Afresh {
    /// What a plan is made for; none: the plan comes from a file.
    pub goal: Option<String>,
}

/// Closes the plan. None: it is to stay, or was only looked at.
pub fn begin(args: &Args, cx: &Context) -> Result<Option<Afresh>, CliError> {
    let swarm = Swarm::open(cx)?;
    let before = match swarm.plan_file(None) {
        Ok(plan) => Some(plan.goal),
        Err(error) if error.kind == "no_plan" && (args.goal.is_some() || args.plan.is_some()) => None,
        Err(error) => return Err(error),
    };
    let goal = match &args.plan {
        Some(_) => None,
        None => args.goal.clone().or_else(|| before.clone()),
    };
    if goal.as_ref().is_some_and(|goal| goal.trim().is_empty()) {
        return Err(CliError::usage("The plan has no goal, so no other plan can be made for it")
            .run_instead("swarm run --fresh --plan FILE"));
    }
    // What cannot be read, or nobody may be asked for, shall not cost the plan that is there.
    match goal {
        Some(_) => drop(swarm.planner(args.agent.as_deref())?),
        None if args.reads_stdin() => {}
        None => drop(read_plan(args, &swarm)?),
    }
    if before.is_none() {
        return Ok(Some(Afresh { goal }));
    }
    if !args.dry_run {
        swarm.finish_interrupted()?;
    }
    let sure = Confirm { dry_run: args.dry_run, yes: args.yes };
    if !agreed(cx, &swarm.preview_close(true)?, sure)? {
        return Ok(None);
    }
    let answer = swarm.close(true)?;
    output::note(&answer.text);
    swarm.wait_until_left();
    Ok(Some(Afresh { goal }))
}
