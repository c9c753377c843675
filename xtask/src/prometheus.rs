//! `cargo xtask prometheus`: alert rules by promtool, and a real Prometheus that reads a run. Not part of the ordinary tests:
//! on many systems its package starts a service, which nobody wants for a test.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::stream;
use crate::workspace::{self, Workspace, in_ci};

#[derive(clap::Args)]
pub struct Arguments {}

pub fn run(workspace: &Workspace, _arguments: &Arguments) -> Result<()> {
    if !starts() && in_ci() {
        let mut install = Command::new("apt-get");
        install.args(["install", "-y", "-q", "--no-install-recommends", "prometheus"]);
        install.env("DEBIAN_FRONTEND", "noninteractive");
        workspace::run(install)?;
    }
    if !starts() {
        bail!("promtool is missing. Run `sudo apt-get install prometheus`, or what your system has for it");
    }
    let mut rules = Command::new("promtool");
    rules.args(["check", "rules"]).arg(workspace.root().join("docs/observability/alerts.yml"));
    workspace::run(rules)?;
    let mut command = workspace.cargo(["test", "--package", "swarm-cli", "--locked", "--test", "mcp"]);
    command.args(["--", "--ignored", "--exact", "prometheus::a_real_prometheus_reads_what_the_ledger_says"]);
    let status = stream::run(command, stream::show).context("Cannot run the test")?;
    if !status.success() {
        bail!("What Prometheus read is not what the ledger says");
    }
    Ok(())
}

fn starts() -> bool {
    ["promtool", "prometheus"].iter().all(|program| {
        let mut command = Command::new(program);
        command.arg("--version").stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}
