//! `cargo xtask audit`: what changes when the world around us does, and takes too long for every commit.
//!
//! Every step runs even when an earlier one has failed, so that one run shows all there is to mend.

use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::tool::Tool;
use crate::workspace::{self, Workspace};

const CARGO_DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };
const CARGO_MACHETE: Tool = Tool { name: "cargo-machete", version: "0.9.2" };

#[derive(clap::Args)]
pub struct Arguments {
    /// Only these (default: all)
    steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Licences, bans, advisories and sources of all dependencies (deny.toml)
    Deny,
    /// Dependencies that nobody uses
    Unused,
    /// The oldest Rust that Cargo.toml names
    Msrv,
    /// The documentation of all crates, without a warning
    Docs,
    /// The examples in it
    DocTests,
    /// Each crate of the program, built from its own package alone
    Package,
}

impl Step {
    fn run(self, workspace: &Workspace) -> Result<()> {
        match self {
            Self::Deny => {
                let mut command = CARGO_DENY.command(workspace)?;
                command.args(["--workspace", "--locked", "check"]);
                workspace::run(command)
            }
            Self::Unused => {
                let mut command = CARGO_MACHETE.command(workspace)?;
                command.arg("--skip-target-dir");
                workspace::run(command)
            }
            Self::Msrv => msrv(workspace),
            Self::Docs => {
                let mut command = workspace.cargo(["doc", "--workspace", "--no-deps", "--locked", "--quiet"]);
                command.env("RUSTDOCFLAGS", "-D warnings");
                workspace::run(command)
            }
            Self::DocTests => workspace.run_cargo(["test", "--workspace", "--doc", "--locked", "--quiet"]),
            Self::Package => {
                // These are for whoever has the repository.
                let here = ["xtask", "swarm-sim", "swarm-bench"].iter().flat_map(|name| ["--exclude", name]);
                let words = ["package", "--workspace", "--locked", "--allow-dirty", "--quiet"];
                workspace.run_cargo(words.into_iter().chain(here))
            }
        }
    }
}

pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let steps = match arguments.steps.as_slice() {
        [] => Step::value_variants(),
        some => some,
    };
    let mut failed = Vec::new();
    for step in steps {
        if let Err(error) = step.run(workspace) {
            eprintln!("error: {step:?}: {error:#}");
            failed.push(format!("{step:?}"));
        }
    }
    if !failed.is_empty() {
        bail!("audit failed: {}", failed.join(", "));
    }
    eprintln!("audit: all clean");
    Ok(())
}

/// Builds with the oldest Rust that we promise, where it is installed. Elsewhere the present one has to do, and that is
/// said: it proves nothing about the promise.
fn msrv(workspace: &Workspace) -> Result<()> {
    let promised = promised(&workspace.read("Cargo.toml")?).context("Cargo.toml names no rust-version")?;
    let check = ["check", "--workspace", "--all-targets", "--locked", "--quiet"];
    match toolchain(&promised) {
        Some(name) => {
            let mut command = Command::new("rustup");
            command.args(["run", &name, "cargo"]).args(check).current_dir(workspace.root());
            // A folder of its own: two compilers in one would build everything again at each change between them.
            command.env("CARGO_TARGET_DIR", workspace.root().join("target/msrv"));
            workspace::run(command)
        }
        None => {
            eprintln!(
                "warning: Rust {promised} is not installed: only the present Rust is tried. \
                 `rustup toolchain install {promised}` makes this step mean something"
            );
            workspace.run_cargo(check)
        }
    }
}

/// `rust-version` of the workspace.
fn promised(manifest: &str) -> Option<String> {
    let line = manifest.lines().find_map(|line| line.strip_prefix("rust-version"))?;
    Some(line.trim_start_matches([' ', '=']).trim().trim_matches('"').to_owned())
}

/// The installed toolchain of this version: `1.95` is `1.95.0-x86_64-unknown-linux-gnu`.
fn toolchain(version: &str) -> Option<String> {
    let listed = Command::new("rustup").args(["toolchain", "list"]).output().ok()?;
    let listed = String::from_utf8(listed.stdout).ok()?;
    let is_it = |name: &&str| {
        let rest = name.strip_prefix(version);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
    };
    listed.lines().filter_map(|line| line.split_whitespace().next()).find(is_it).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_promised_rust_is_read_from_the_workspace() {
        assert_eq!(promised("[a]\nrust-version = \"1.95\"\n").as_deref(), Some("1.95"));
        assert_eq!(promised("[a]\n"), None);
    }
}
