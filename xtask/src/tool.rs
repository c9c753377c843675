//! Programs of others that the automation needs: found, or built once below `target/tools`.

use std::path::PathBuf;
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
    /// The program, after it has been built where that was needed.
    pub fn ready(&self, workspace: &Workspace) -> Result<PathBuf> {
        let root = workspace.target().join("tools");
        let program = root.join("bin").join(self.name);
        if !self.is(&program) {
            eprintln!("{} {} is built below target/tools; this takes minutes, once", self.name, self.version);
            let mut command = workspace.cargo(["install", "--locked", "--version", self.version]);
            command.arg("--root").arg(&root).arg(self.name);
            workspace::run(command).with_context(|| format!("Cannot install {}", self.name))?;
        }
        Ok(program)
    }

    /// Whether it is there in this version: another one may judge otherwise.
    fn is(&self, program: &PathBuf) -> bool {
        // As cargo would call it: `cargo-deny deny --version`.
        let word = self.name.strip_prefix("cargo-");
        let asked = Command::new(program).args(word).arg("--version").output();
        asked.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).contains(self.version))
    }

    /// A call of it in the root of the repository, as a subcommand of cargo where it is one.
    pub fn command(&self, workspace: &Workspace) -> Result<Command> {
        let mut command = Command::new(self.ready(workspace)?);
        command.args(self.name.strip_prefix("cargo-")).current_dir(workspace.root());
        Ok(command)
    }
}
