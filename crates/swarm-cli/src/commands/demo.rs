//! `swarm demo`: a real run on a throw-away repository, in which everything goes wrong that can.

mod acts;
mod plan;
mod repository;
mod second_thoughts;
mod tour;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::commands::tui;
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
pub struct Args {
    /// Five short scenes instead, each with the commands that a person would type
    #[arg(long, conflicts_with = "tui")]
    pub tour: bool,
    /// Show it on the screen of `swarm tui`, which plays by itself
    #[arg(long)]
    pub tui: bool,
    /// Also write what the screen shows to FILE, as an asciicast that asciinema plays
    #[arg(long, value_name = "FILE", requires = "tui")]
    pub record: Option<PathBuf>,
}

pub fn run(args: Args, cx: &Context) -> Result<ExitCode, CliError> {
    let repository = repository::make()?;
    output::note(&format!("Repository: {}", repository.root.display()));
    if args.tour {
        tour::play(&repository)?;
    } else {
        output::note("One plan, eight tasks, two agents:\n");
        match args.tui {
            true => on_screen(&repository, args.record, cx)?,
            false => play(&repository)?,
        }
    }
    let ending = acts::look_around(&repository)?;
    cx.out.view(&ending, acts::Ending::text)?;
    Ok(if ending.is_good() { Exit::Done.into() } else { Exit::Refused.into() })
}

fn play(repository: &repository::Repository) -> Result<(), CliError> {
    acts::run(repository)?;
    second_thoughts::play(repository)
}

/// The same beside a screen that looks at it and goes when it is over.
fn on_screen(
    repository: &repository::Repository,
    record: Option<PathBuf>,
    cx: &Context,
) -> Result<(), CliError> {
    let (ended, end) = tokio::sync::oneshot::channel::<()>();
    let here = Context { repo: repository.root.clone(), ..cx.clone() };
    let screen = tui::Args { record, ..tui::Args::default() };
    std::thread::scope(|scope| {
        let played = scope.spawn(move || {
            let played = play(repository);
            // Nobody listens where the person left before the end.
            let _ = ended.send(());
            played
        });
        let over: tui::Ending = Box::pin(async move { drop(end.await) });
        let shown = tui::open(&screen, &here, Some(over));
        if shown.is_ok() {
            output::note("The demo plays on to its end");
        }
        let played = played.join().unwrap_or_else(|_| Err(CliError::environment("The demo broke off")));
        shown.and(played)
    })
}
