//! `swarm demo`: a real run on a throw-away repository, in which everything goes wrong that can.

mod acts;
mod plan;
mod repository;
mod second_thoughts;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

/// Run a demo on a temporary repository, in under a minute
///
/// Creates a small git repository in a temporary folder and runs a plan on it with two scripted agents: real processes, real
/// worktrees, real merges. One agent crashes and restarts, one submits work that fails its check, one repeats the same tool call, a
/// quota runs out and returns, two change the same lines and both land, an agent reviews and sends work back, and the coordinator is
/// killed with SIGKILL. Then a person pauses the swarm, redirects an agent, rolls
/// back a task and then everything, and undoes both. The folder stays, so that you can look at the result.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, cx: &Context) -> Result<ExitCode, CliError> {
    let repository = repository::make()?;
    output::note(&format!("Repository: {}", repository.root.display()));
    output::note("One plan, eight tasks, two agents:\n");
    acts::run(&repository)?;
    second_thoughts::play(&repository)?;
    let ending = acts::look_around(&repository)?;
    cx.out.view(&ending, acts::Ending::text)?;
    Ok(if ending.is_good() { Exit::Done.into() } else { Exit::Refused.into() })
}
