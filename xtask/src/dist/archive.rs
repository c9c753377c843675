//! Archives whose bytes depend on nothing but what is in them.

use std::path::Path;

use anyhow::{Context, Result};

use super::{Release, output};
use crate::workspace;

/// The archive of the release.
pub fn write(release: &Release) -> Result<String> {
    let file = format!("{}.tar.gz", release.name());
    let parent = release.contents.parent().context("The contents lie in no folder")?;
    pack(release, parent, &release.name(), &file)?;
    Ok(file)
}

/// Packs the folder `what` of `parent` as `file`.
pub fn pack(release: &Release, parent: &Path, what: &str, file: &str) -> Result<()> {
    let tar = release.out.join("packing.tar");
    let mut command = release.command("tar");
    command.args(["--create", "--format=ustar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    command.args(["--mode=u+rwX,go+rX,go-w"]);
    command.arg(format!("--mtime=@{}", release.seconds));
    command.arg("--file").arg(&tar).arg("--directory").arg(parent).arg(what);
    workspace::run(command)?;
    let mut command = release.command("gzip");
    command.args(["--no-name", "--best", "--force"]).arg(&tar);
    workspace::run(command)?;
    std::fs::rename(release.out.join("packing.tar.gz"), release.out.join(file))
        .with_context(|| format!("Cannot name {file}"))
}

/// Checksums of all files, in the form that `sha256sum --check` reads.
pub fn sums(release: &Release, files: &[String]) -> Result<()> {
    let mut command = release.command("sha256sum");
    command.args(files).current_dir(&release.out);
    let text = output(&mut command)?;
    std::fs::write(release.out.join("SHA256SUMS"), text).context("Cannot write SHA256SUMS")
}
