//! `swarm completions SHELL`.

use crate::complete::{self, Shell};
use crate::context::Context;
use crate::error::CliError;

/// Print a shell completion script
///
/// Ids of tasks, agents, phases and profiles are read from the ledger of the current repository when you press Tab. Nothing is
/// started or written.
///
/// bash: add `source <(swarm completions bash)` to ~/.bashrc
///
/// zsh: add `source <(swarm completions zsh)` to ~/.zshrc, below compinit
///
/// fish: run `swarm completions fish > ~/.config/fish/completions/swarm.fish`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let script = complete::script(args.shell)
        .map_err(|error| CliError::environment("Cannot make the script").because(error))?;
    // Here the script is the data: as JSON it would help nobody.
    cx.out.text(&script)
}
