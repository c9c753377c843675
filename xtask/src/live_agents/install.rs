//! The programs, in the versions whose behaviour was recorded, from npm.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

const PACKAGES: &[(&str, &str, &str)] = &[
    ("acp-claude", "@agentclientprotocol/claude-agent-acp", "0.99.0"),
    ("acp-codex", "@zed-industries/codex-acp", "0.16.0"),
    ("claude", "@anthropic-ai/claude-code", "2.1.325"),
    ("codex", "@openai/codex", "0.166.0"),
    ("opencode", "opencode-ai", "1.18.33"),
    ("gemini", "@google/gemini-cli", "0.61.0"),
];

/// Beside them, with a node of its own: it wants a newer one than the agent programs were recorded with.
const INSPECTOR: &[(&str, &str, &str)] =
    &[("inspector", "@modelcontextprotocol/inspector", "2.12.0"), ("node", "node", "22.23.3")];

const CONFORMANCE: &[(&str, &str, &str)] =
    &[("conformance", "@modelcontextprotocol/conformance", "0.1.16"), ("node", "node", "22.23.3")];

pub struct Programs {
    /// Where the programs and the scenes are.
    pub folder: PathBuf,
}

impl Programs {
    /// Installs what is not there yet.
    pub fn install(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let programs = Self { folder: folder.canonicalize()? };
        install(&programs.folder, PACKAGES)?;
        Ok(programs)
    }

    pub fn bin(&self) -> PathBuf {
        self.folder.join("node_modules/.bin")
    }

    /// Where the inspector and its node are; installed when they are first wanted.
    pub fn inspector(&self) -> Result<PathBuf> {
        let folder = self.folder.join("inspector");
        std::fs::create_dir_all(&folder)?;
        install(&folder, INSPECTOR)?;
        Ok(folder.join("node_modules/.bin"))
    }

    /// Where the conformance checks of the MCP project and their node are.
    pub fn conformance(&self) -> Result<PathBuf> {
        let folder = self.folder.join("conformance");
        std::fs::create_dir_all(&folder)?;
        install(&folder, CONFORMANCE)?;
        Ok(folder.join("node_modules/.bin"))
    }

    /// The version behind a profile.
    pub fn version_for(&self, profile: &str) -> String {
        if let Some((_, package, _)) = INSPECTOR.iter().find(|(program, ..)| profile == *program) {
            return installed(&self.folder.join("inspector"), package).unwrap_or_default();
        }
        if let Some((_, package, _)) = CONFORMANCE.iter().find(|(program, ..)| profile == *program) {
            return installed(&self.folder.join("conformance"), package).unwrap_or_default();
        }
        let of = PACKAGES.iter().find(|(program, ..)| profile.contains(program));
        of.and_then(|(_, package, _)| installed(&self.folder, package)).unwrap_or_default()
    }
}

fn install(folder: &Path, packages: &[(&str, &str, &str)]) -> Result<()> {
    let missing = packages
        .iter()
        .filter(|(_, package, version)| installed(folder, package).as_deref() != Some(*version));
    let wanted: Vec<String> = missing.map(|(_, package, version)| format!("{package}@{version}")).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    eprintln!("live-agents: npm install {}", wanted.join(" "));
    let status = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
        .arg(folder)
        .args(&wanted)
        .status()
        .context("Cannot run npm: is it installed?")?;
    if !status.success() {
        bail!("npm install failed: {status}");
    }
    Ok(())
}

fn installed(folder: &Path, package: &str) -> Option<String> {
    let file = folder.join("node_modules").join(package).join("package.json");
    let text = std::fs::read_to_string(file).ok()?;
    let package: serde_json::Value = serde_json::from_str(&text).ok()?;
    package.get("version")?.as_str().map(str::to_owned)
}
