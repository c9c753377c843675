//! `cargo xtask dist`: what is handed out, for the system that this runs on.
//!
//! The same commit gives the same bytes wherever it is built: paths of the machine are not compiled in, times are that of the
//! commit, and what is packed is packed in order. `--twice` builds in two folders and compares.

mod archive;
mod binary;
mod contents;
mod debian;
mod materials;
mod trial;
mod wrappers;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::{self, Workspace};
use binary::Binary;

#[derive(clap::Args)]
pub struct Arguments {
    /// Pack this binary instead of building one (its bytes are then its maker's promise)
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Build twice, in two folders, and fail unless all bytes are equal
    #[arg(long, conflicts_with = "binary")]
    twice: bool,
    /// Install each package and run it: in a bare Debian root (as root, with debootstrap), with npm and with pip
    #[arg(long = "try")]
    tried: bool,
}

/// What all packages are made of.
struct Release {
    version: String,
    /// The commit's time; every file of every package has it.
    seconds: u64,
    binary: Binary,
    /// The files of the archive, as a folder.
    contents: PathBuf,
    out: PathBuf,
}

impl Release {
    /// `swarm-0.1.0-linux-x86_64`
    fn name(&self) -> String {
        format!("swarm-{}-linux-{}", self.version, self.binary.machine)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SOURCE_DATE_EPOCH", self.seconds.to_string()).env("LC_ALL", "C").env("TZ", "UTC");
        command
    }
}

pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let out = workspace.target().join("dist-packages");
    let packages = make(workspace, arguments.binary.as_deref(), workspace, &out)?;
    if arguments.twice {
        let elsewhere = workspace.target().join("dist-again");
        let copy = binary::copy_of(workspace, &elsewhere)?;
        let again = make(&copy, None, workspace, &elsewhere.join("packages"))?;
        compare(&out, &elsewhere.join("packages"), &again.files)?;
    }
    for file in &packages.files {
        let bytes = std::fs::metadata(out.join(file)).map_or(0, |meta| meta.len());
        println!("{:>6.1} MB  {}", bytes as f64 / 1e6, out.join(file).display());
    }
    let (major, minor) = packages.release.binary.glibc;
    println!("It needs Linux on {}, glibc {major}.{minor} and git.", packages.release.binary.machine);
    if arguments.tried {
        trial::all(workspace, &packages.release)?;
    }
    Ok(())
}

struct Packages {
    release: Release,
    files: Vec<String>,
}

/// All packages from the sources in `from`. What is written about them is taken from `about`, which has the lists of
/// what they are built of.
fn make(from: &Workspace, given: Option<&Path>, about: &Workspace, out: &Path) -> Result<Packages> {
    let seconds = commit_time(about)?;
    let binary = match given {
        Some(file) => Binary::look_at(file)?,
        None => binary::build(from, seconds)?,
    };
    fresh(out)?;
    let contents = out.join("contents");
    let mut release = Release { version: version(about)?, seconds, binary, contents, out: out.to_owned() };
    release.contents = out.join("contents").join(release.name());
    contents::write(about, &release)?;
    let mut files = vec![archive::write(&release)?];
    match workspace_has("dpkg-deb") {
        true => files.push(debian::write(&release)?),
        false => eprintln!("No .deb: dpkg-deb is not on this system"),
    }
    files.push(materials::write(about, &release)?);
    files.extend(wrappers::npm(about, &release)?);
    files.push(wrappers::wheel(about, &release)?);
    archive::sums(&release, &files)?;
    files.push("SHA256SUMS".into());
    Ok(Packages { release, files })
}

fn workspace_has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|ended| ended.status.success())
}

fn fresh(dir: &Path) -> Result<()> {
    if dir.exists() {
        std::fs::remove_dir_all(dir).with_context(|| format!("Cannot remove {}", dir.display()))?;
    }
    std::fs::create_dir_all(dir).with_context(|| format!("Cannot make {}", dir.display()))
}

fn commit_time(workspace: &Workspace) -> Result<u64> {
    let asked = Command::new("git")
        .args(["log", "-1", "--format=%ct"])
        .current_dir(workspace.root())
        .output()
        .context("Cannot run git to ask for the time of the commit")?;
    let text = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
    text.parse().with_context(|| format!("git does not say when the commit was made: {text:?}"))
}

fn version(workspace: &Workspace) -> Result<String> {
    let manifest = workspace.read("Cargo.toml")?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    Ok(line.context("Cargo.toml names no version")?.trim_end_matches('"').to_owned())
}

fn compare(one: &Path, other: &Path, files: &[String]) -> Result<()> {
    let read = |dir: &Path, file: &str| {
        let path = dir.join(file);
        std::fs::read(&path).with_context(|| format!("Cannot read {}", path.display()))
    };
    let mut differ = vec![];
    for file in files {
        if read(one, file)? != read(other, file)? {
            differ.push(file.as_str());
        }
    }
    if !differ.is_empty() {
        bail!(
            "Two builds of one commit differ in {}: compare {} and {}",
            differ.join(", "),
            one.display(),
            other.display()
        );
    }
    println!("Two builds in two folders gave the same bytes in {} files.", files.len());
    Ok(())
}

/// Runs a command whose output is wanted.
fn output(command: &mut Command) -> Result<String> {
    let shown = workspace::shown(command);
    let ended = command.output().with_context(|| format!("Cannot start {shown}"))?;
    if !ended.status.success() {
        bail!("{shown} ended with {}: {}", ended.status, String::from_utf8_lossy(&ended.stderr).trim());
    }
    String::from_utf8(ended.stdout).with_context(|| format!("{shown} printed something that is not text"))
}
