//! Packages that `npx` and `uvx` can start: the binary in the layout of npm and of Python.

use std::io::Write as _;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::contents::{executable, put};
use super::{Release, archive, fresh};
use crate::workspace::Workspace;

/// Two packages: one has the program and says for which system it is, the other one finds it.
pub fn npm(workspace: &Workspace, release: &Release) -> Result<Vec<String>> {
    let (_, cpu) = release.binary.machine_elsewhere()?;
    let own = format!("swarm-linux-{cpu}");
    let version = &release.version;
    let common = |name: &str| {
        json!({
            "name": name, "version": version, "license": "MIT OR Apache-2.0",
            "description": "Runs coding agents in parallel on one git repository and loses no work",
        })
    };
    let dir = release.out.join("npm");
    fresh(&dir)?;
    let mut manifest = common(&own);
    manifest["os"] = json!(["linux"]);
    manifest["cpu"] = json!([cpu]);
    manifest["libc"] = json!(["glibc"]);
    manifest["files"] = json!(["swarm"]);
    let program = std::fs::read(&release.binary.file).context("Cannot read the binary")?;
    put(&dir.join("own/package/swarm"), &program)?;
    executable(&dir.join("own/package/swarm"))?;
    put(&dir.join("own/package/package.json"), pretty(&manifest)?.as_bytes())?;
    let mut manifest = common("swarm");
    manifest["bin"] = json!({ "swarm": "start.js" });
    manifest["files"] = json!(["start.js"]);
    manifest["engines"] = json!({ "node": ">=18" });
    manifest["optionalDependencies"] = json!({ own.as_str(): version });
    put(&dir.join("any/package/package.json"), pretty(&manifest)?.as_bytes())?;
    put(&dir.join("any/package/start.js"), include_bytes!("start.js"))?;
    executable(&dir.join("any/package/start.js"))?;
    put(&dir.join("any/package/README.md"), workspace.read("README.md")?.as_bytes())?;
    let files = vec![format!("{own}-{version}.tgz"), format!("swarm-{version}.tgz")];
    archive::pack(release, &dir.join("own"), "package", &files[0])?;
    archive::pack(release, &dir.join("any"), "package", &files[1])?;
    Ok(files)
}

fn pretty(value: &serde_json::Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(value).context("Cannot write a manifest")? + "\n")
}

/// A wheel that puts the program where Python's programs are. Python writes it: it has what a wheel is made of.
pub fn wheel(workspace: &Workspace, release: &Release) -> Result<String> {
    let (major, minor) = release.binary.glibc;
    let tag = format!("py3-none-manylinux_{major}_{minor}_{}", release.binary.machine);
    let file = format!("swarm-{}-{tag}.whl", release.version);
    let about = json!({
        "out": release.out.join(&file), "version": release.version, "tag": tag, "seconds": release.seconds,
        "binary": release.binary.file, "readme": workspace.read("README.md")?,
    });
    let mut command = release.command("python3");
    command.arg("-").arg(about.to_string()).stdin(Stdio::piped());
    let mut child = command.spawn().context("Cannot start python3, which packs the wheel")?;
    let mut input = child.stdin.take().context("python3 has no input")?;
    input.write_all(include_bytes!("wheel.py")).context("python3 does not read its program")?;
    drop(input);
    if !child.wait().context("python3 was lost")?.success() {
        bail!("The wheel could not be packed");
    }
    Ok(file)
}
