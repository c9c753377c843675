//! `cargo xtask bench NAME`: ratios against the limits of the machine. No part of the tests.
//!
//! `ledger`: the ledger against bare system calls. `run`: the running swarm against raw git and bare loops.
//! `tui`: what a frame, a change and an idle minute of the terminal UI cost.
//! `rollback`: the part of `run` that is about checkpoints and the way back, with 75,000 files.

use anyhow::Result;

use crate::workspace::Workspace;

/// As it is handed out, because a ratio against the bare system calls says nothing about a build that is quick to make.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    match arguments.split_first() {
        Some((name, rest)) if name == "run" => run_of_the_swarm(workspace, rest),
        Some((name, rest)) if name == "rollback" => {
            let only = ["--only".to_owned(), "G8".to_owned()];
            run_of_the_swarm(workspace, &[&only[..], rest].concat())
        }
        Some((name, rest)) if name == "tui" => screen(workspace, rest),
        _ => measure(workspace, ["swarm-sim", "swarm-bench"], arguments),
    }
}

/// What is measured is the binary that ships, so it is built first; the bench finds it beside itself.
fn run_of_the_swarm(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    workspace.run_cargo(["build", "--quiet", "--profile", "dist", "--locked", "--package", "swarm-cli"])?;
    measure(workspace, ["swarm-bench", "swarm-run-bench"], arguments)
}

/// Frames in memory, and the binary that ships in a real terminal.
fn screen(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    workspace.run_cargo(["build", "--quiet", "--profile", "dist", "--locked", "--package", "swarm-cli"])?;
    let mut command = workspace.cargo([
        "bench",
        "--quiet",
        "--profile",
        "dist",
        "--locked",
        "--package",
        "swarm-tui",
        "--bench",
        "screen",
        "--",
    ]);
    command.args(arguments);
    crate::workspace::run(command)
}

fn measure(workspace: &Workspace, [package, binary]: [&str; 2], arguments: &[String]) -> Result<()> {
    let cargo_arguments =
        ["run", "--quiet", "--profile", "dist", "--locked", "--package", package, "--bin", binary, "--"];
    let mut command = workspace.cargo(cargo_arguments);
    command.args(arguments);
    crate::workspace::run(command)
}
