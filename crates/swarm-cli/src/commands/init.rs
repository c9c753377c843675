//! `swarm init`: a place for the swarm in this repository.

use crate::cli::Context;
use crate::error::CliError;
use crate::output::harmless;
use crate::swarm::Swarm;
use crate::swarm::files::{Made, proposed_lines};

/// Prepare this repository for a swarm
///
/// Makes `.swarm/` with a `config.json` and a `.gitignore` that keeps what is not yours out of git. From what lies in
/// the repository (package.json, Cargo.toml, .env …) it proposes how worktrees are set up and what is checked: a new
/// configuration holds that, for an old one it is only shown. What is there already stays as it is.
///
/// Example: swarm init
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
        text.push_str(&proposal(made));
        text.push_str("Next: `swarm plan save FILE`");
        text
    })
}

/// What was put into the configuration, or could be.
fn proposal(made: &Made) -> String {
    let lines = proposed_lines(&made.proposed);
    if lines.is_empty() {
        return String::new();
    }
    let written = made.created.iter().any(|path| path.ends_with("config.json"));
    let head = if written { "The configuration holds" } else { "You could put into the configuration" };
    let found = made.proposed.because.iter().chain(&made.proposed.copy).map(|name| harmless(name));
    let found: Vec<String> = found.collect();
    format!("{head}, because of {}:\n{}\n", found.join(", "), lines.join("\n"))
}
