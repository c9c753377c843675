//! `swarm init`: a place for the swarm in this repository.

use crate::cli::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Prepare this repository for a swarm
///
/// Makes `.swarm/` with a `config.json` of the defaults and a `.gitignore` that keeps what is not yours out of
/// git. What is there already stays as it is, so it may be run again.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let made = swarm.init()?;
    cx.out.view(&made, |made| {
        let mut text = String::new();
        for path in &made.created {
            text.push_str(&format!("made {path}\n"));
        }
        for path in &made.kept {
            text.push_str(&format!("kept {path}\n"));
        }
        text.push_str("Next: `swarm plan save FILE`");
        text
    })
}
