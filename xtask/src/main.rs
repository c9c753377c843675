//! The only automation of this repository: `cargo xtask COMMAND`.
//!
//! Whatever a person, an editor or a build server needs is one of these commands, so there is one
//! place to look and one way to run it. Each command is one file.

mod workspace;

mod check;
mod source;
mod stream;

mod generate;
mod test;

mod tool;

mod attack;
mod audit;
mod bench;
mod book;
mod dist;
mod fuzz;
mod live_agents;
mod prometheus;
mod sim;
mod torture;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

/// Check, test and measure Swarm
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check formatting, lints, layers, file sizes and the feature table
    Check,
    /// Run everything that has to pass: prerequisites, check, printed documents, all tests
    Test,
    /// Write the parts of docs/ that tests print
    Gen(generate::Arguments),
    /// Build the documents as a book in target/book (installs mdBook below target/ where it is missing)
    Book(book::Arguments),
    /// Run the simulator; all arguments go to it (`--seeds N --from S --world core|ledger|both --planted BUG`)
    #[command(disable_help_flag = true)]
    Sim(Passed),
    /// Measure against the limits of the machine; NAME and all arguments go to the bench binary
    #[command(disable_help_flag = true)]
    Bench(Passed),
    /// A storm of real processes that are killed, stopped and cut, then the heaviest form of all tests
    Torture(torture::Arguments),
    /// Licences, advisories, unused dependencies, the oldest Rust, the documentation and its examples
    Audit(audit::Arguments),
    /// Attack the walls as an agent would that wants to leave, in every containment, as root and as an ordinary user
    Attack(attack::Arguments),
    /// Give readers of foreign bytes changed inputs until one of them fails
    Fuzz(fuzz::Arguments),
    /// Run the real agent programs against a scripted model (installs them with npm below target/)
    LiveAgents(live_agents::Arguments),
    /// Make the packages of a release in target/dist-packages: archive, .deb, npm, wheel, checksums, bill of materials
    Dist(dist::Arguments),
    /// Check the alert rules, and let a real Prometheus read a run
    Prometheus(prometheus::Arguments),
}

/// Arguments this program hands on without reading them.
#[derive(clap::Args)]
struct Passed {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

fn main() -> ExitCode {
    let command = Arguments::parse().command;
    match Workspace::find().and_then(|workspace| run(command, &workspace)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nError: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command, workspace: &Workspace) -> anyhow::Result<()> {
    match command {
        Command::Check => check::run(workspace),
        Command::Test => test::run(workspace),
        Command::Gen(arguments) => generate::run(workspace, &arguments),
        Command::Book(arguments) => book::run(workspace, &arguments),
        Command::Sim(passed) => sim::run(workspace, &passed.arguments),
        Command::Bench(passed) => bench::run(workspace, &passed.arguments),
        Command::Torture(arguments) => torture::run(workspace, &arguments),
        Command::Audit(arguments) => audit::run(workspace, &arguments),
        Command::Attack(arguments) => attack::run(workspace, &arguments),
        Command::Fuzz(arguments) => fuzz::run(workspace, &arguments),
        Command::LiveAgents(arguments) => live_agents::run(workspace, &arguments),
        Command::Dist(arguments) => dist::run(workspace, &arguments),
        Command::Prometheus(arguments) => prometheus::run(workspace, &arguments),
    }
}
