//! What every command gets: its global options, the position it reads at, where it prints.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use crate::output::Output;

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Work on the repository that this folder lies in (default: the current folder)
    #[arg(
        short = 'C',
        long = "repo",
        value_name = "DIR",
        global = true,
        default_value = ".",
        hide_default_value = true
    )]
    pub repo: PathBuf,
    /// Print data, answers and errors as JSON on stdout
    #[arg(long, global = true)]
    pub json: bool,
    /// Report effects and git calls on stderr (-vv: everything)
    #[arg(short = 'v', long, action = ArgAction::Count, global = true)]
    pub verbose: u8,
    /// The front end that the words were typed on
    #[arg(id = "front-end", long = "typed-on", global = true, hide = true)]
    pub from: Option<FrontEnd>,
    /// Do it only if it still does what was seen: the hash of that preview
    #[arg(id = "seen-preview", long = "seen-preview", global = true, hide = true)]
    pub seen: Option<String>,
}

/// Screens on which a command can be typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum FrontEnd {
    Tui,
}

/// The position to read at, on every command that only reads.
#[derive(Debug, Clone, Copy, Args)]
pub struct At {
    /// Show things as they were after record SEQ of the ledger (default: now)
    #[arg(long, value_name = "SEQ")]
    pub at: Option<u64>,
}

/// What a command gets besides its own arguments.
#[derive(Debug, Clone)]
pub struct Context {
    pub repo: PathBuf,
    pub out: Output,
    /// How often `-v` was said.
    pub verbose: u8,
    /// Whoever typed the command, as the ledger names them.
    pub by: &'static str,
    /// The hash of the preview that they have seen elsewhere.
    pub seen: Option<String>,
}
