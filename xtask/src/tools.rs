//! Programs that this repository uses and does not build: taken from PATH where the version fits, else
//! installed below `target/tools`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::workspace::Workspace;

/// The program of a crate in a given version. `probe` prints that version.
pub fn installed(workspace: &Workspace, name: &str, version: &str, probe: &[&str]) -> Result<PathBuf> {
    let root = workspace.target().join("tools");
    let ours = root.join("bin").join(name);
    for program in [Path::new(name), &ours] {
        if has_version(program, version, probe) {
            return Ok(program.to_owned());
        }
    }
    let mut command = workspace.cargo(["install", name, "--locked", "--version", version, "--root"]);
    command.arg(&root);
    crate::workspace::run(command)?;
    if !has_version(&ours, version, probe) {
        bail!("{} was installed but does not report version {version}", ours.display());
    }
    Ok(ours)
}

fn has_version(program: &Path, version: &str, probe: &[&str]) -> bool {
    let Ok(output) = Command::new(program).args(probe).output() else { return false };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success() && text.split_whitespace().any(|word| word.trim_start_matches('v') == version)
}
