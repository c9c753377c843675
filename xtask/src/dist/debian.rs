//! The package for Debian and what descends from it.

use std::path::Path;

use anyhow::{Context, Result};

use super::contents::{COMPLETIONS, executable, put};
use super::{Release, fresh};
use crate::workspace;

/// Where Debian has the completions of zsh; of the others it agrees with everybody else.
const ZSH: &str = "share/zsh/vendor-completions/_swarm";

pub fn write(release: &Release) -> Result<String> {
    let (arch, _) = release.binary.machine_elsewhere()?;
    let top = release.out.join("debian");
    fresh(&top)?;
    let usr = top.join("usr");
    let copy = |from: &str, to: &str| {
        let bytes = std::fs::read(release.contents.join(from)).with_context(|| format!("Cannot read {from}"));
        put(&usr.join(to), &bytes?)
    };
    copy("bin/swarm", "bin/swarm")?;
    executable(&usr.join("bin/swarm"))?;
    for (shell, path) in COMPLETIONS {
        copy(path, if shell == "zsh" { ZSH } else { path })?;
    }
    copy("share/doc/swarm/CHANGELOG.md", "share/doc/swarm/changelog")?;
    copy("share/doc/swarm/THIRD-PARTY.txt", "share/doc/swarm/THIRD-PARTY.txt")?;
    put(&usr.join("share/doc/swarm/copyright"), copyright(release)?.as_bytes())?;
    pages(release, &usr.join("share/man/man1"))?;
    zip(release, &[usr.join("share/doc/swarm/changelog")])?;
    put(&top.join("DEBIAN/control"), control(release, arch, size_of(&usr)?).as_bytes())?;
    let file = format!("swarm_{}_{arch}.deb", release.version);
    let mut command = release.command("dpkg-deb");
    // More threads would cut the file into other blocks.
    command
        .args(["--root-owner-group", "-Zxz", "--threads-max=1", "--build"])
        .arg(&top)
        .arg(release.out.join(&file));
    workspace::run(command)?;
    Ok(file)
}

fn control(release: &Release, arch: &str, kilobytes: u64) -> String {
    let ((major, minor), version) = (release.binary.glibc, &release.version);
    format!(
        "Package: swarm\n\
         Version: {version}\n\
         Architecture: {arch}\n\
         Maintainer: The makers of Swarm <swarm@localhost>\n\
         Installed-Size: {kilobytes}\n\
         Depends: git (>= 1:2.38), libc6 (>= {major}.{minor})\n\
         Section: devel\n\
         Priority: optional\n\
         Description: runs coding agents in parallel on one git repository\n \
         Each task gets a worktree and a branch; finished work is checked, reviewed,\n \
         merged, verified and only then published. A ledger on disk loses nothing when\n \
         an agent, the coordinator or the machine dies.\n"
    )
}

fn copyright(release: &Release) -> Result<String> {
    let text = |name: &str| {
        std::fs::read_to_string(release.contents.join("share/doc/swarm").join(name))
            .with_context(|| format!("Cannot read {name}"))
    };
    let (mit, apache) = (text("LICENSE-MIT")?, text("LICENSE-APACHE")?);
    Ok(format!(
        "Swarm may be used under the terms of the MIT licence or of the Apache licence, version 2.0, at\n\
         your option. The terms of what it is built of are in THIRD-PARTY.txt.\n\n{mit}\n\n{apache}"
    ))
}

fn pages(release: &Release, man: &Path) -> Result<()> {
    let mut pages = vec![];
    let from = release.contents.join("share/man/man1");
    for entry in std::fs::read_dir(&from).context("There are no man pages")? {
        let entry = entry.context("Cannot list the man pages")?;
        let page = man.join(entry.file_name());
        put(&page, &std::fs::read(entry.path()).context("Cannot read a man page")?)?;
        pages.push(page);
    }
    zip(release, &pages)
}

fn zip(release: &Release, files: &[std::path::PathBuf]) -> Result<()> {
    let mut command = release.command("gzip");
    workspace::run({
        command.args(["--no-name", "--best", "--quiet"]).args(files);
        command
    })
}

fn size_of(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).with_context(|| format!("Cannot list {}", folder.display()))? {
        let entry = entry.context("Cannot list a folder of the package")?;
        let meta = entry.metadata().context("Cannot look at a file of the package")?;
        bytes += if meta.is_dir() { size_of(&entry.path())? } else { meta.len().div_ceil(1024) };
    }
    Ok(bytes)
}
