//! `swarm run`: the coordinator, in the foreground.

mod lines;
mod session;
mod signals;
mod summary;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::cli::Context;
use crate::error::CliError;
pub use session::{Session, Wishes, runtime};
pub use summary::Summary;

/// Let agents work on the plan until it is done
///
/// Ready tasks are given to agents, each in a worktree of its own; what an agent finishes is checked, merged
/// apart from your checkout, verified there and only then put on trunk. Ends when nothing more can happen
/// without a person: exit code 0 when every task is done or cancelled, 1 when some wait for you.
///
/// Ctrl+C stops in good order: agents go to their next boundary, work that is not committed is saved. A second
/// Ctrl+C leaves at once; the agents stop by themselves all the same. After a crash, run it again: agents that
/// live are taken over, nothing is done twice.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Save this plan first (JSON, or a Markdown checklist; - for stdin)
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Let so many agents work at once, 1 to 64 (recorded in the execution profile; default: as the profile says)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    agents: Option<u32>,
    /// Use this agent program (default: `agent` of the configuration)
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Merge finished work into this branch (default: the branch that is checked out)
    #[arg(long, value_name = "BRANCH")]
    trunk: Option<String>,
}

pub fn run(args: Args, cx: &Context) -> Result<ExitCode, CliError> {
    let plan = args.plan.as_deref().map(super::plan::file::read).transpose()?;
    let wishes = Wishes { plan, agents: args.agents, agent: args.agent, trunk: args.trunk };
    let runtime = runtime()?;
    let out = cx.out;
    let summary = runtime.block_on(async {
        let session = Session::open(&cx.repo, wishes).await?;
        session.run(|told| lines::print(told, out.json)).await
    })?;
    cx.out.view(&summary, Summary::text)?;
    Ok(summary.exit())
}
