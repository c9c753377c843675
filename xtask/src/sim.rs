//! `cargo xtask sim`: the hostile world, as long as you like.

use anyhow::Result;

use crate::workspace::Workspace;

/// The binary reads its own arguments; here is only the one way to start it.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let mut command =
        workspace.cargo(["run", "--quiet", "--locked", "--package", "swarm-sim", "--bin", "swarm-sim", "--"]);
    command.args(arguments);
    crate::workspace::run(command)
}
