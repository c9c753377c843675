//! `swarm run`: the coordinator, in the foreground or the background.

mod background;
mod board;
mod lines;
mod progress;
mod session;
mod signals;
mod summary;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::cli::Context;
use crate::commands::mode::ModeArg;
use crate::error::CliError;
use progress::Progress;
pub use session::{Session, Wishes, runtime};
pub use summary::Summary;

/// Let agents work on the plan until it is done
///
/// Ready tasks are given to agents, each in a worktree of its own; what an agent finishes is checked, merged
/// apart from your checkout, verified there and only then put on trunk. In the mode semi-auto a ready task waits for
/// `swarm task start`, and the swarm waits with it. Ends when nothing more can happen without a person: exit code 0
/// when every task is done or cancelled, 1 when some wait for you.
///
/// Ctrl+C stops in good order: agents go to their next boundary, work that is not committed is saved. A second
/// Ctrl+C leaves at once; the agents stop by themselves all the same. After a crash, run it again: agents that
/// live are taken over, nothing is done twice.
///
/// Example: swarm run --plan plan.md --agents 4 --mode autopilot
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Save this plan first (JSON, or a Markdown checklist; - for stdin)
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Let so many agents work at once, 1 to 64 (recorded in the execution profile; default: as the profile says)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    agents: Option<u32>,
    /// Use this profile of the configuration, or this agent program (default: `agent` of the configuration)
    #[arg(long, value_name = "PROFILE")]
    agent: Option<String>,
    /// Whether ready tasks start by themselves (recorded; default: as recorded, else `mode` of the configuration)
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<ModeArg>,
    /// Merge finished work into this branch; made where you are if there is none (default: the branch that is
    /// checked out)
    #[arg(long, value_name = "BRANCH")]
    trunk: Option<String>,
    /// Go on in the background; look with `swarm status --watch`, stop with `swarm stop`
    #[arg(long)]
    detach: bool,
    /// This is the one in the background.
    #[arg(long, hide = true, conflicts_with = "detach")]
    detached: bool,
}

pub fn run(args: Args, cx: &Context) -> Result<ExitCode, CliError> {
    if args.detach {
        return background::start(cx);
    }
    if args.detached {
        // A session of its own, so that closing the terminal is nothing to it. Refused only where it has one.
        let _ = rustix::process::setsid();
    }
    let plan = args.plan.as_deref().map(super::plan::file::read).transpose()?;
    let mode = args.mode.map(Into::into);
    let wishes =
        Wishes { plan, agents: args.agents, agent: args.agent, mode, starts_agents: true, trunk: args.trunk };
    let runtime = runtime()?;
    let out = cx.out;
    let summary = runtime.block_on(async {
        let session = Session::open(&cx.repo, wishes).await?;
        session.run(Progress::new(out)).await
    })?;
    cx.out.view(&summary, Summary::text)?;
    Ok(summary.exit())
}
