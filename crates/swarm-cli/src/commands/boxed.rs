//! `swarm boxed`: hidden, the step between a daemon and the program that it starts.

use std::ffi::OsString;
use std::process::ExitCode;

/// Become a program in its net and behind its walls (started by swarm itself)
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The letter of the daemon, the part to play, the program and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

pub fn run(args: &Args) -> ExitCode {
    swarm_process::launcher::boxed_process(&args.words).into()
}
