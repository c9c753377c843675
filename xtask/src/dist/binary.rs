//! The binary: built so that nothing of the machine is in it, and looked at for what it needs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::output;
use crate::workspace::{self, Workspace};

pub struct Binary {
    pub file: PathBuf,
    /// As `uname -m` says it.
    pub machine: String,
    /// The oldest C library that has all that it calls.
    pub glibc: (u32, u32),
}

impl Binary {
    pub fn look_at(file: &Path) -> Result<Binary> {
        let glibc = oldest_glibc(file)?;
        let machine = std::env::consts::ARCH.to_owned();
        Ok(Binary { file: file.to_owned(), machine, glibc })
    }

    /// As Debian calls the machine, and as Node does.
    pub fn machine_elsewhere(&self) -> Result<(&'static str, &'static str)> {
        match self.machine.as_str() {
            "x86_64" => Ok(("amd64", "x64")),
            "aarch64" => Ok(("arm64", "arm64")),
            other => bail!("Packages for {other} are not known here"),
        }
    }
}

/// Builds with the profile `dist`, in a target folder inside the checkout that is built.
pub fn build(from: &Workspace, seconds: u64) -> Result<Binary> {
    let target = from.root().join("target");
    let mut command = from.cargo(["build", "--locked", "--profile", "dist", "--package", "swarm-cli"]);
    command.env("CARGO_TARGET_DIR", &target).env("CARGO_INCREMENTAL", "0");
    command.env("SOURCE_DATE_EPOCH", seconds.to_string());
    command.env("CARGO_ENCODED_RUSTFLAGS", flags(from)?);
    command.env("SWARM_COMMIT", commit(from)?);
    workspace::run(command)?;
    Binary::look_at(&target.join("dist/swarm"))
}

/// What `swarm --version --verbose` says it is made of.
fn commit(from: &Workspace) -> Result<String> {
    let mut command = Command::new("git");
    let told = output(command.args(["rev-parse", "HEAD"]).current_dir(from.root()))?;
    Ok(told.trim().to_owned())
}

/// Neither the checkout nor the caches of cargo and of the compiler may be named in what is handed out.
fn flags(from: &Workspace) -> Result<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = match home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"))) {
        Some(home) => home,
        None => bail!("Neither CARGO_HOME nor HOME says where cargo keeps the sources"),
    };
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let sysroot = output(Command::new(rustc).args(["--print", "sysroot"]))?;
    let map = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let all = [
        map(&cargo_home, "/cargo"),
        map(Path::new(sysroot.trim()), "/rust"),
        // Last, because the last one that fits counts.
        map(from.root(), "/swarm"),
    ];
    Ok(all.join("\u{1f}"))
}

/// A second checkout of the same commit, with what is not committed.
pub fn copy_of(workspace: &Workspace, elsewhere: &Path) -> Result<Workspace> {
    let copy = elsewhere.join("checkout");
    super::fresh(&copy)?;
    for file in workspace.files()? {
        let (from, to) = (workspace.root().join(&file), copy.join(&file));
        let parent = to.parent().context("A file of the repository lies in no folder")?;
        std::fs::create_dir_all(parent).with_context(|| format!("Cannot make {}", parent.display()))?;
        std::fs::copy(&from, &to).with_context(|| format!("Cannot copy {file}"))?;
    }
    Ok(workspace.at(copy))
}

/// The highest version of a symbol that is asked of the C library.
fn oldest_glibc(file: &Path) -> Result<(u32, u32)> {
    let mut command = Command::new("readelf");
    command.args(["--version-info", "--wide"]).arg(file).env("LC_ALL", "C");
    let text = output(&mut command)?;
    let needed = text.split("Version needs section").nth(1).unwrap_or_default();
    let versions = needed.split("Name: GLIBC_").skip(1).filter_map(|rest| {
        let number: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let mut parts = number.split('.').map(|part| part.parse::<u32>().ok());
        Some((parts.next()??, parts.next()??))
    });
    versions.max().context("The binary asks nothing of glibc: it is no program of this system")
}

#[cfg(test)]
mod tests {
    use super::oldest_glibc;

    #[test]
    fn a_program_of_this_system_says_which_glibc_it_needs() {
        let program = std::env::current_exe().expect("this test is a program");
        let (major, minor) = oldest_glibc(&program).expect("readelf comes with the linker");
        assert!(major == 2 && minor > 2, "{major}.{minor}");
    }
}
