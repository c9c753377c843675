//! `swarm reservations add GLOB…`.

use swarm_protocol::command::Command;
use swarm_protocol::config::Span;

use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Reserve files for yourself
///
/// No task that reserves one of these files starts, and no work that changes one is merged, until you release them or the
/// time is over. Either all of them are reserved or none: the command is refused if somebody else has one of them.
///
/// Example: swarm reservations add 'src/ui/**' --for 30m
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files, folders or globs, from the top of the repository
    #[arg(value_name = "GLOB", required = true)]
    pub files: Vec<String>,
    /// Let others share them; nobody can reserve them for themselves
    #[arg(long)]
    pub shared: bool,
    /// How long, like 30m or 2h (default: `reservations.ttl`)
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<String>,
    /// Reason, shown to those who wait
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let secs = args.time.as_deref().map(read_time).transpose()?;
    let swarm = Swarm::open(cx)?;
    let Args { files, shared, reason, dry, .. } = args;
    intervene(cx, &swarm, Command::Reserve { files, shared, secs, reason }, dry)
}

fn read_time(text: &str) -> Result<u64, CliError> {
    let span = Span::parse(text).map(|span| span.secs);
    span.ok_or_else(|| CliError::usage(format!("{text:?} is not a time: write it like 90s, 30m or 2h")))
}
