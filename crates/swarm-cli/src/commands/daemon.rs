//! `swarm daemon --spec FILE`: hidden, started by the supervisor.

use std::path::PathBuf;
use std::process::ExitCode;

/// Serve one run of a program (started by swarm itself)
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file that says what to serve
    #[arg(long, value_name = "FILE")]
    spec: PathBuf,
}

pub fn run(args: Args) -> ExitCode {
    crate::parts::serve_daemon(&args.spec)
}
