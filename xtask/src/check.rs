//! `cargo xtask check`: what a reviewer should never have to say.
//!
//! Every check runs even when an earlier one has failed, so that one run shows all there is to mend.

mod absolute_paths;
mod circles;
mod edges;
mod features;
mod functions;
mod links;
mod names_and_sizes;
mod purity;
mod reached;
mod replay;
mod spawning;
mod tour;

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use crate::source;
use crate::workspace::{self, Workspace};

/// What a check has to say about the repository.
#[derive(Default)]
pub struct Findings {
    pub failures: Vec<String>,
    pub warnings: Vec<String>,
}

impl Findings {
    fn fail(&mut self, message: impl Into<String>) {
        self.failures.push(message.into());
    }

    fn warn(&mut self, message: impl Into<String>) {
        self.warnings.push(message.into());
    }
}

/// The Rust files of the repository by path, read once for all checks.
pub type Sources = BTreeMap<String, String>;

pub fn run(workspace: &Workspace) -> Result<()> {
    let lints = lints(workspace);
    look(workspace, vec![("lints", lints)])
}

/// Without the lints, where the build that follows says them.
pub fn without_lints(workspace: &Workspace) -> Result<()> {
    look(workspace, Vec::new())
}

fn look(workspace: &Workspace, mut outcomes: Vec<(&'static str, Result<()>)>) -> Result<()> {
    let mut failed: Vec<&str> = Vec::new();
    outcomes.push(("formatting", formatting(workspace)));
    for (name, outcome) in outcomes {
        if let Err(error) = outcome {
            eprintln!("error: {error:#}");
            failed.push(name);
        }
    }
    let files = workspace.files()?;
    let sources = rust_sources(workspace, &files)?;
    let scans = [
        ("layers", edges::check(workspace)?),
        ("pure core", purity::check(&sources)),
        ("circles of modules", circles::check(&sources)),
        ("replay", replay::check(&sources)),
        ("spawning", spawning::check(&sources)),
        ("names and sizes", names_and_sizes::check(&sources)),
        ("functions", functions::check(&sources)),
        ("tests that run", reached::check(workspace, &sources)?),
        ("feature table", features::check(workspace, &sources)?),
        ("tour", tour::check(workspace)?),
        ("links", links::check(workspace, &files)),
        ("absolute paths", absolute_paths::check(workspace, &files)),
    ];
    for (name, findings) in scans {
        for warning in &findings.warnings {
            eprintln!("warning: {name}: {warning}");
        }
        for failure in &findings.failures {
            eprintln!("error: {name}: {failure}");
        }
        if !findings.failures.is_empty() {
            failed.push(name);
        }
    }
    for circle in circles::known() {
        eprintln!("a circle that stays: {circle}");
    }
    if !failed.is_empty() {
        bail!("check failed: {}", failed.join(", "));
    }
    eprintln!("check: all clean");
    Ok(())
}

fn formatting(workspace: &Workspace) -> Result<()> {
    workspace.run_cargo(["fmt", "--all", "--check"])
}

fn lints(workspace: &Workspace) -> Result<()> {
    let mut command = workspace.cargo(["clippy", "--workspace", "--all-targets", "--locked", "--quiet"]);
    command.args(["--keep-going", "--", "-D", "warnings"]);
    workspace::run(command)
}

fn rust_sources(workspace: &Workspace, files: &[String]) -> Result<Sources> {
    files
        .iter()
        .filter(|path| path.ends_with(".rs"))
        .map(|path| Ok((path.clone(), workspace.read(path)?)))
        .collect()
}

/// The files of one crate that ship, with their tests cut off: path and text.
fn shipped_files<'a>(sources: &'a Sources, crate_name: &str) -> Vec<(&'a str, &'a str)> {
    let folder = format!("crates/{crate_name}/src/");
    sources
        .iter()
        .filter(|(path, _)| path.starts_with(&folder) && !source::is_test_file(path))
        .map(|(path, text)| (path.as_str(), source::shipped(text)))
        .collect()
}
