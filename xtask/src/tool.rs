//! Programs of others that the automation needs: found, or built once below `target/tools`.

use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace::{self, Workspace};

/// A program from the registry, in the version that this repository was tried with.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    pub name: &'static str,
    pub version: &'static str,
}

impl Tool {
    /// A call of it in the root of the repository, after it has been built where that was needed.
    pub fn command(&self, workspace: &Workspace) -> Result<Command> {
        let root = workspace.target().join("tools");
        if !self.is_there(workspace)? {
            eprintln!("{} {} is built below target/tools; this takes minutes, once", self.name, self.version);
            let mut command = workspace.cargo(["install", "--locked", "--version", self.version]);
            command.arg("--root").arg(&root).arg(self.name);
            workspace::run(command).with_context(|| format!("Cannot install {}", self.name))?;
        }
        self.called(workspace)
    }

    /// A subcommand of cargo is called by cargo: not every one takes its own name for an argument when it is called
    /// by hand.
    fn called(&self, workspace: &Workspace) -> Result<Command> {
        let ours = workspace.target().join("tools/bin");
        let Some(word) = self.name.strip_prefix("cargo-") else {
            let mut command = Command::new(ours.join(self.name));
            command.current_dir(workspace.root());
            return Ok(command);
        };
        let mut command = workspace.cargo([word]);
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(ours).chain(std::env::split_paths(&others)));
        command.env("PATH", path.context("The folder of the repository cannot stand in PATH")?);
        Ok(command)
    }

    /// Whether it is there in this version: another one may judge otherwise.
    fn is_there(&self, workspace: &Workspace) -> Result<bool> {
        let asked = self.called(workspace)?.arg("--version").output();
        Ok(asked.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).contains(self.version)))
    }
}
