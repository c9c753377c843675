//! What the tests need beyond the Rust toolchain.
//!
//! A missing program is never a reason to skip a test: on a build server that may install packages it is
//! installed, anywhere else the command to run is named.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::workspace::{self, in_ci};

/// A program, the Debian package it comes in, and what it is for.
type Program = (&'static str, &'static str, &'static str);

const PROGRAMS: &[Program] = &[
    ("git", "git", "every test of worktrees and merges uses the real one"),
    ("strace", "strace", "it kills at chosen system calls, and counts them"),
    ("python3", "python3", "it checks the ledger with a stranger's script"),
    ("tmux", "tmux", "the terminal UI is tried in a real terminal"),
    ("node", "nodejs", "a project of its kind is set up and checked in worktrees"),
    ("npm", "npm", "it sets that project up"),
    ("chromium", "chromium", "the web UI is tried in a real browser"),
];

/// Programs that make file systems. Only root can use them, so their absence is told and stops nothing: the tests say
/// themselves what they could not prove.
const FOR_DISKS: &[Program] = &[
    ("mkfs.ext4", "e2fsprogs", "power cuts and full disks on ext4"),
    ("mkfs.xfs", "xfsprogs", "power cuts on XFS"),
];

/// Older ones have no `merge-tree --write-tree`.
const GIT_AT_LEAST: (u32, u32) = (2, 38);

pub fn ensure() -> Result<()> {
    eprintln!("== prerequisites");
    let wanted = [missing(), without_disks()].concat();
    if !wanted.is_empty() && in_ci() && is_root() && Path::new("/usr/bin/apt-get").exists() {
        install(&packages_of(&wanted))?;
    }
    for (program, package, what) in without_disks() {
        eprintln!(
            "warning: {program} is missing (`sudo apt-get install {package}`): {what} are NOT PROVEN here"
        );
    }
    let missing = missing();
    if !missing.is_empty() {
        for (program, _, reason) in &missing {
            eprintln!("{program} is missing: {reason}");
        }
        let packages = packages_of(&missing).join(" ");
        bail!(
            "The tests need more programs. Run `sudo apt-get install {packages}`, or what your system has for it"
        );
    }
    for component in ["fmt", "clippy"] {
        let name = if component == "fmt" { "rustfmt" } else { component };
        if !starts_with("cargo", &[component, "--version"]) {
            bail!("cargo {component} is missing. Run `rustup component add {name}`");
        }
    }
    check_git_version()?;
    tell_room();
    check_tracing()
}

/// What the build and the tests write to. On a disk that runs full nothing works any more, and little says why.
pub fn tell_room() {
    let places = [std::env::temp_dir(), std::env::current_dir().unwrap_or_default()];
    let output = Command::new("df").arg("-Ph").args(places).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    eprint!("{text}");
}

fn missing() -> Vec<Program> {
    PROGRAMS.iter().filter(|(program, _, _)| !starts(program)).copied().collect()
}

fn without_disks() -> Vec<Program> {
    FOR_DISKS.iter().filter(|(program, _, _)| !starts_with(program, &["-V"])).copied().collect()
}

fn packages_of(programs: &[Program]) -> Vec<&'static str> {
    programs.iter().map(|(_, package, _)| *package).collect()
}

fn starts(program: &str) -> bool {
    // tmux knows only the short one.
    starts_with(program, &["--version"]) || starts_with(program, &["-V"])
}

fn starts_with(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn install(packages: &[&str]) -> Result<()> {
    let mut update = Command::new("apt-get");
    update.args(["update", "-q"]);
    workspace::run(update)?;
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-q", "--no-install-recommends"]).args(packages);
    install.env("DEBIAN_FRONTEND", "noninteractive");
    workspace::run(install)
}

fn check_git_version() -> Result<()> {
    let output = Command::new("git").arg("--version").output().context("Cannot run git")?;
    let line = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let version = version_in(&line).with_context(|| format!("Cannot read the version in {line:?}"))?;
    if version < GIT_AT_LEAST {
        let (major, minor) = GIT_AT_LEAST;
        bail!("{line} is too old: git {major}.{minor} or newer is needed");
    }
    eprintln!("{line}");
    Ok(())
}

fn version_in(line: &str) -> Option<(u32, u32)> {
    let word = line.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut numbers = word.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Some containers have strace and refuse to let it trace. The tests that need it would fail one by one,
/// each with a riddle; here it is said once.
fn check_tracing() -> Result<()> {
    let mut command = Command::new("strace");
    command.args(["-f", "-o", "/dev/null", "true"]);
    let output = command.output().context("Cannot run strace")?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    bail!("strace cannot trace on this machine ({said}). In a container, allow the system call ptrace");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_git_are_read_as_numbers() {
        assert_eq!(version_in("git version 2.47.3"), Some((2, 47)));
        assert_eq!(version_in("git version 2.9.0.windows.1"), Some((2, 9)));
        assert!(version_in("git version 2.9.0").expect("a version") < GIT_AT_LEAST);
        assert_eq!(version_in("git"), None);
    }

    #[test]
    fn a_program_that_is_not_there_does_not_start() {
        assert!(starts("git"));
        assert!(!starts("no-such-program-anywhere"));
    }
}
