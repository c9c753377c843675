//! `swarm demo`: a real run on a throw-away repository, in which everything goes wrong that can.

mod acts;
mod plan;
mod repository;
mod second_thoughts;

use std::process::ExitCode;

use crate::cli::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

/// Show the whole story on a throw-away repository, in under a minute
///
/// Makes a small git repository in a temporary folder and runs a plan on it with two scripted agents: real
/// processes, real worktrees, real merges. One agent crashes and comes back, one hands in work that fails its check,
/// one calls the same tool again and again, a quota runs out and comes back, and the coordinator itself is killed
/// with SIGKILL in the middle. Then a person steps in: pauses, gives an agent another task, takes a task's work and the
/// whole book back, and undoes both. Nothing of it is played; the folder stays, so that you can look at what happened.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, cx: &Context) -> Result<ExitCode, CliError> {
    let repository = repository::make()?;
    output::note(&format!("A repository of its own: {}", repository.root.display()));
    output::note("Six tasks, two agents, one plan. Here it goes:\n");
    acts::run(&repository)?;
    second_thoughts::play(&repository)?;
    let ending = acts::look_around(&repository)?;
    cx.out.view(&ending, acts::Ending::text)?;
    Ok(if ending.is_good() { Exit::Done.into() } else { Exit::Refused.into() })
}
