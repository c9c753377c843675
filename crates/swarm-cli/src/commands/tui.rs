//! `swarm tui`: the swarm on the whole terminal.

mod typist;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use swarm_tui::session::{Left, Options, show};
use swarm_tui::source::Source;
use swarm_tui::theme::Theme;

use crate::commands::editor::open_editor;
use crate::context::Context;
use crate::error::CliError;
use crate::output;
use crate::swarm::Swarm;

/// Watch and steer the swarm on the whole terminal
///
/// Shows the plan, the agents with their logs, what waits for you, checkpoints and operations, and does everything that the commands
/// do: `?` lists all keys. It attaches to a running coordinator; leaving it stops nothing unless you say so. Without a coordinator it
/// shows the ledger.
///
/// Example: swarm tui
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Use only ASCII characters
    #[arg(long)]
    pub ascii: bool,
    /// Leave the mouse to the terminal
    #[arg(long)]
    pub no_mouse: bool,
    /// Print sentences instead of drawing a screen, for screen readers and logs; also by ACCESSIBLE=1
    #[arg(long)]
    pub plain: bool,
    /// Also write what the screen shows to FILE, as an asciicast that asciinema plays
    #[arg(long, value_name = "FILE", conflicts_with = "plain")]
    pub record: Option<PathBuf>,
}

pub fn run(args: &Args, cx: &Context) -> Result<(), CliError> {
    match open(args, cx, None)? {
        Left::Going(word) | Left::Stopping(word) if !word.is_empty() => cx.out.prose(&word),
        _ => Ok(()),
    }
}

/// Comes when something has ended.
pub type Ending = Pin<Box<dyn Future<Output = ()>>>;

/// Whether the person wants sentences instead of screens.
pub fn is_accessible() -> bool {
    std::env::var_os("ACCESSIBLE").is_some_and(|value| !value.is_empty() && value != "0")
}

/// `over`: the end of the run that the screen is opened for.
pub fn open(args: &Args, cx: &Context, over: Option<Ending>) -> Result<Left, CliError> {
    let swarm = Arc::new(Swarm::open(cx)?);
    swarm_tui::said::moments_are_written(output::time::moment);
    let typist = Arc::new(typist::OurOwn { repo: cx.repo.clone() });
    let source = Source { client: swarm.client(), ledger: Arc::new(swarm.screen(open_editor)), typist };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::environment("Cannot start").because(error))?;
    let ended = |error| CliError::environment("Cannot show the swarm").because(error);
    if args.plain || is_accessible() {
        runtime.block_on(swarm_tui::plain::tell(source)).map_err(ended)?;
        return Ok(Left::Going(String::new()));
    }
    if cx.out.json || !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Err(CliError::usage("swarm tui needs a terminal")
            .say("Use `swarm tui --plain`, or `swarm status --watch --json` in scripts"));
    }
    let (mouse, keys) = swarm.of_screen()?;
    let options = Options {
        place: swarm.place(),
        keys,
        theme: Theme { colour: cx.out.colour, ascii: args.ascii },
        mouse: mouse && !args.no_mouse,
        record: args.record.clone(),
        over,
    };
    // What would be said on stderr would stand in the middle of the screen.
    output::covered(true);
    let left = runtime.block_on(show(source, options));
    output::covered(false);
    // Readers that still wait for the ledger end with the process.
    runtime.shutdown_background();
    left.map_err(ended)
}
