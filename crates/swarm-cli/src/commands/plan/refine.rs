//! `swarm plan refine WISH`: the agent that plans changes the draft, or the plan.

use super::make::{DRAFT, approve, would_ask};
use crate::commands::operate::Confirm;
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Ask the planning agent to change the plan
///
/// Changes the proposal of `swarm plan make` if it is not saved yet, else the plan. The agent continues the same conversation
/// if it can. You see the changed plan and approve it before it is saved.
///
/// Example: swarm plan refine "Split the parser into two tasks"
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to change
    #[arg(value_name = "WISH")]
    pub wish: String,
    /// Profile or agent program that plans (default: `plan.profile`, else `agent` in the configuration)
    #[arg(long, value_name = "PROFILE")]
    pub agent: Option<String>,
    #[command(flatten)]
    pub sure: Confirm,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    if args.sure.dry_run {
        return would_ask(cx, "plan refine", &swarm.planner(args.agent.as_deref())?, DRAFT);
    }
    let draft = swarm.refine_draft(&args.wish, args.agent.as_deref())?;
    approve(cx, &swarm, &draft, args.sure.yes).map(drop)
}
