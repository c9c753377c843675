//! `swarm completions SHELL`.

use clap::ValueEnum;

use crate::cli::Context;
use crate::complete;
use crate::error::CliError;

/// Print the script that lets a shell complete commands, options, and the ids of your plan
///
/// Ids of tasks, agents, phases and profiles come from the ledger of the repository you are in, at the moment you
/// press Tab. Nothing is started or written for it.
///
/// bash: put `source <(swarm completions bash)` into ~/.bashrc
///
/// zsh: put `source <(swarm completions zsh)` into ~/.zshrc, below compinit
///
/// fish: run `swarm completions fish > ~/.config/fish/completions/swarm.fish`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let script = complete::script(args.shell)
        .map_err(|error| CliError::environment("Cannot make the script").because(error))?;
    // Here the script is the data: as JSON it would help nobody.
    cx.out.text(&script)
}
