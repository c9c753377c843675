//! The web UI: its own tests, whether what is committed is what its sources make, how large it is, and stories in a
//! real browser.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::{self, Workspace};

/// Without a browser: unit tests, types, the build and its budget.
pub fn check(workspace: &Workspace) -> Result<()> {
    npm(workspace, &["ci", "--no-audit", "--no-fund"])?;
    npm(workspace, &["test"])?;
    let built = workspace.target().join("web-dist");
    let out = built.to_string_lossy().into_owned();
    npm(workspace, &["run", "build", "--", "--outDir", &out, "--emptyOutDir"])?;
    let committed = workspace.root().join("web/dist");
    if contents(&built)? != contents(&committed)? {
        bail!("web/dist is not what its sources make. Run `npm run build` in web/ and commit web/dist");
    }
    npm(workspace, &["run", "budget"])
}

/// In a real browser, against a real swarm.
pub fn browse(workspace: &Workspace) -> Result<()> {
    let mut command = Command::new("node");
    command.arg("e2e/run.mjs").current_dir(workspace.root().join("web"));
    command.env("SWARM_BIN", workspace.target().join("debug/swarm"));
    workspace::run(command)
}

fn npm(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("npm");
    command.args(arguments).current_dir(workspace.root().join("web"));
    workspace::run(command)
}

/// Every file below, by its path.
fn contents(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        let folder = folder.join(&below);
        let entries =
            std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let path = below.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else {
                let bytes = std::fs::read(entry.path())?;
                found.insert(path, bytes);
            }
        }
    }
    Ok(found)
}
