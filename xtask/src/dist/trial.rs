//! Each package installed as a person would, and the program of it run.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{Release, fresh, output, workspace_has};
use crate::workspace::{self, Workspace};

/// Packages of the bare root: git is what Swarm needs.
const NEEDED: &str = "git";

pub fn all(workspace: &Workspace, release: &Release) -> Result<()> {
    let place = workspace.target().join("dist-trial");
    fresh(&place)?;
    npm(release, &place.join("npm"))?;
    pip(release, &place.join("pip"))?;
    let us = output(Command::new("id").arg("-u"))?;
    match (us.trim(), workspace_has("debootstrap")) {
        ("0", true) => bare(release, &place.join("root")),
        _ => bail!(
            "The bare root was not tried: it takes root and debootstrap (`apt-get install debootstrap`)"
        ),
    }
}

fn says_its_version(release: &Release, command: &mut Command, from: &str) -> Result<()> {
    let said = output(command)?;
    if !said.contains(&release.version) {
        bail!("From {from}: swarm says {said:?}, and not that it is {}", release.version);
    }
    println!("{from}: {}", said.trim());
    Ok(())
}

fn npm(release: &Release, place: &Path) -> Result<()> {
    fresh(place)?;
    let (_, cpu) = release.binary.machine_elsewhere()?;
    std::fs::write(place.join("package.json"), "{\"name\":\"trial\",\"private\":true}\n")
        .context("Cannot write a package.json")?;
    let mut command = Command::new("npm");
    command.args(["install", "--no-audit", "--no-fund"]).current_dir(place);
    command.arg(release.out.join(format!("swarm-linux-{cpu}-{}.tgz", release.version)));
    command.arg(release.out.join(format!("swarm-{}.tgz", release.version)));
    workspace::run(command)?;
    let mut command = Command::new("npx");
    says_its_version(release, command.args(["--no-install", "swarm", "--version"]).current_dir(place), "npx")
}

fn pip(release: &Release, place: &Path) -> Result<()> {
    let mut command = Command::new("python3");
    command.args(["-m", "venv"]).arg(place);
    workspace::run(command)?;
    let wheel = std::fs::read_dir(&release.out)
        .context("Cannot list the packages")?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|ending| ending == "whl"));
    let mut command = Command::new(place.join("bin/pip"));
    command.args(["install", "--quiet", "--no-index"]).arg(wheel.context("There is no wheel")?);
    workspace::run(command)?;
    says_its_version(release, Command::new(place.join("bin/swarm")).arg("--version"), "pip")
}

/// A Debian with git and nothing else: first the archive's program, then the package put in and taken out again.
fn bare(release: &Release, root: &Path) -> Result<()> {
    let system = std::fs::read_to_string("/etc/os-release").context("Cannot read /etc/os-release")?;
    let codename = system.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let codename = codename.context("/etc/os-release names no release of Debian")?;
    // The mirror that this system takes its own packages from.
    let sites = output(Command::new("apt-get").args(["indextargets", "--format", "$(SITE)"]))?;
    let site = sites.lines().find(|line| !line.contains("security")).context("apt-get knows no mirror")?;
    let mut command = Command::new("debootstrap");
    command.args(["--variant=minbase", &format!("--include={NEEDED}"), codename]).arg(root).arg(site);
    command.stdout(std::process::Stdio::null());
    workspace::run(command)?;
    let file = release.contents.join("bin/swarm");
    std::fs::copy(&file, root.join("usr/local/bin/swarm")).context("Cannot put the program into the root")?;
    let inside = |words: &[&str]| {
        let mut command = Command::new("chroot");
        command.arg(root).args([
            "/usr/bin/env",
            "-i",
            "HOME=/root",
            "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        ]);
        command.args(words);
        command
    };
    says_its_version(release, &mut inside(&["swarm", "--version"]), "archive")?;
    let (mounts, mounted) = (["proc", "dev", "sys"], |name: &str| root.join(name));
    for name in mounts {
        let mut command = Command::new("mount");
        command.args(["--rbind", &format!("/{name}")]).arg(mounted(name));
        workspace::run(command)?;
        // What is taken off here later must not be taken off the system.
        let mut command = Command::new("mount");
        command.arg("--make-rslave").arg(mounted(name));
        workspace::run(command)?;
    }
    let tried = demo_and_package(release, root, &inside);
    for name in mounts {
        let mut command = Command::new("umount");
        command.args(["--recursive", "--lazy"]).arg(mounted(name));
        workspace::run(command)?;
    }
    tried
}

fn demo_and_package(release: &Release, root: &Path, inside: &dyn Fn(&[&str]) -> Command) -> Result<()> {
    let told = output(&mut inside(&["swarm", "demo"]))?;
    let last = told.lines().last().unwrap_or_default();
    if !told.contains("Left behind: no process, no worktree, no lock.") {
        bail!("The demo ended in a bare root with: {last}");
    }
    println!("bare root: the demo ends with nothing left behind");
    std::fs::remove_file(root.join("usr/local/bin/swarm")).context("Cannot take the program away")?;
    let (arch, _) = release.binary.machine_elsewhere()?;
    let deb = format!("swarm_{}_{arch}.deb", release.version);
    std::fs::copy(release.out.join(&deb), root.join(&deb)).context("Cannot copy the package")?;
    output(&mut inside(&["dpkg", "--install", &format!("/{deb}")]))?;
    says_its_version(release, &mut inside(&["swarm", "--version"]), ".deb")?;
    output(&mut inside(&["dpkg", "--purge", "swarm"]))?;
    let left = output(&mut inside(&["find", "/usr", "/etc", "-name", "*swarm*"]))?;
    match left.trim() {
        "" => println!(".deb: taken out again, and nothing of it is left"),
        left => bail!("The package leaves behind: {left}"),
    }
    Ok(())
}
