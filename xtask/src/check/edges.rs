//! The direction of the arrows: which crate may know which.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Findings;
use crate::workspace::{self, Workspace};

/// Each member with all the members it may name in its dependencies. A crate not listed is an error,
/// so a new one has to be placed in this picture before it can be built on.
const LAYERS: &[(&str, &[&str])] = &[
    ("swarm-protocol", &[]),
    ("swarm-core", &["swarm-protocol"]),
    ("swarm-ledger", &["swarm-protocol"]),
    // What carries out has no opinion: none of these four may name the core or the ledger.
    ("swarm-process", &["swarm-protocol"]),
    ("swarm-git", &["swarm-protocol", "swarm-process"]),
    ("swarm-agents", &["swarm-protocol", "swarm-process"]),
    ("swarm-work", &["swarm-protocol", "swarm-process", "swarm-git", "swarm-agents"]),
    (
        "swarm-engine",
        &[
            "swarm-protocol",
            "swarm-core",
            "swarm-ledger",
            "swarm-process",
            "swarm-git",
            "swarm-agents",
            "swarm-work",
        ],
    ),
    // Who is calling is asked of the kernel (process), what an agent printed is read from its journal (agents), and the
    // daemon's end of the channel is served here (work).
    ("swarm-server", &["swarm-protocol", "swarm-process", "swarm-agents", "swarm-work", "swarm-engine"]),
    // A screen is a client of the API: views in, commands out. Whoever starts it hands in what is to be seen where nobody
    // coordinates.
    ("swarm-tui", &["swarm-protocol", "swarm-agents", "swarm-server"]),
    // So are the pages; the door between them and the socket follows the ledger (engine) for all of them at once.
    ("swarm-web", &["swarm-protocol", "swarm-engine", "swarm-server"]),
    ("swarm-mcp", &["swarm-protocol", "swarm-server"]),
    (
        "swarm-cli",
        &[
            "swarm-protocol",
            "swarm-core",
            "swarm-ledger",
            "swarm-process",
            "swarm-git",
            "swarm-agents",
            "swarm-work",
            "swarm-engine",
            "swarm-server",
            "swarm-tui",
            "swarm-web",
            "swarm-mcp",
        ],
    ),
    ("swarm-sim", &["swarm-protocol", "swarm-core", "swarm-ledger"]),
    (
        "swarm-bench",
        &[
            "swarm-protocol",
            "swarm-core",
            "swarm-ledger",
            "swarm-git",
            "swarm-work",
            "swarm-engine",
            "swarm-server",
            "swarm-sim",
        ],
    ),
    ("xtask", &[]),
];

/// All that the core may use from outside. Whatever brings a clock, randomness, I/O, threads or logging
/// must not come in by way of a dependency either.
const CORE_MAY_USE: &[&str] =
    &["jiff", "schemars", "serde", "serde_json", "sha2", "swarm-protocol", "thiserror"];

pub fn check(workspace: &Workspace) -> Result<Findings> {
    let mut command = workspace.cargo(["metadata", "--no-deps", "--format-version", "1", "--locked"]);
    let output = command.output().context("Cannot run cargo metadata")?;
    if !output.status.success() {
        bail!("{}: {}", workspace::shown(&command), String::from_utf8_lossy(&output.stderr).trim());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata gave no JSON")?;
    Ok(judge(&metadata))
}

fn judge(metadata: &Value) -> Findings {
    let mut findings = Findings::default();
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    if packages.is_empty() {
        findings.fail("cargo metadata names no package");
    }
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = LAYERS.iter().find(|(member, _)| *member == name) else {
            findings.fail(format!("{name} has no place in the layers; see xtask/src/check/edges.rs"));
            continue;
        };
        for dependency in shipped_dependencies(package) {
            let is_member = LAYERS.iter().any(|(member, _)| *member == dependency);
            if is_member && !allowed.contains(&dependency) {
                findings
                    .fail(format!("{name} must not depend on {dependency}: this arrow points the wrong way"));
            }
            if name == "swarm-core" && !CORE_MAY_USE.contains(&dependency) {
                findings.fail(format!("swarm-core must not depend on {dependency}: the core is pure"));
            }
        }
    }
    findings
}

/// Dependencies of what ships. Those of tests may point anywhere: they hold no product together.
fn shipped_dependencies(package: &Value) -> impl Iterator<Item = &str> {
    package["dependencies"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
        .filter_map(|dependency| dependency["name"].as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn failures(name: &str, dependency: &str, kind: Option<&str>) -> Vec<String> {
        let dependencies = json!([{"name": dependency, "kind": kind}]);
        judge(&json!({"packages": [{"name": name, "dependencies": dependencies}]})).failures
    }

    #[test]
    fn an_arrow_against_the_circle_is_found() {
        assert_eq!(failures("swarm-engine", "swarm-core", None), [""; 0]);
        assert_eq!(failures("swarm-core", "swarm-engine", Some("dev")), [""; 0]);
        assert!(failures("swarm-ledger", "swarm-core", None)[0].contains("wrong way"));
        assert!(failures("swarm-server", "swarm-ledger", None)[0].contains("wrong way"));
    }

    #[test]
    fn the_core_stays_pure_and_a_new_crate_is_placed() {
        assert!(failures("swarm-core", "tokio", None)[0].contains("pure"));
        assert!(failures("swarm-gadgets", "serde", None)[0].contains("no place"));
        assert!(!judge(&json!({"packages": []})).failures.is_empty());
    }
}
