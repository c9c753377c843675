//! `swarm demo`: a real run on a throw-away repository, with a real kill -9 in the middle.

mod acts;
mod plan;
mod repository;

use std::process::ExitCode;

use crate::cli::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

/// Show the whole story on a throw-away repository, in under a minute
///
/// Makes a small git repository in a temporary folder and runs a plan on it with two scripted agents: real
/// processes, real worktrees, real merges. One agent crashes and is tried again, one hands in work that fails
/// its check, and the coordinator itself is killed with SIGKILL in the middle and started again. Nothing of it
/// is played; the folder stays, so that you can look at what happened.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, cx: &Context) -> Result<ExitCode, CliError> {
    let repository = repository::make()?;
    output::note(&format!("A repository of its own: {}", repository.root.display()));
    output::note("Five tasks, two agents, one plan. Here it goes:\n");
    let killed = acts::run_and_kill(&repository)?;
    if killed {
        output::note(
            "\n  ✗ The coordinator was just killed with SIGKILL. Its agents live on; starting it again:\n",
        );
    }
    acts::run_to_the_end(&repository)?;
    let ending = acts::look_around(&repository)?;
    cx.out.view(&ending, acts::Ending::text)?;
    Ok(if ending.is_good() { Exit::Done.into() } else { Exit::Refused.into() })
}
