//! `cargo xtask bench NAME`: ratios against the limits of the machine. No part of the tests.

use anyhow::Result;

use crate::workspace::Workspace;

/// Release, because a ratio against the bare system calls says nothing about a debug build.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let cargo_arguments =
        ["run", "--quiet", "--release", "--locked", "--package", "swarm-sim", "--bin", "swarm-bench", "--"];
    let mut command = workspace.cargo(cargo_arguments);
    command.args(arguments);
    crate::workspace::run(command)
}
