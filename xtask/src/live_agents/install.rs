//! The programs, in the versions whose behaviour was recorded, from npm.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

const PACKAGES: &[(&str, &str, &str)] = &[
    ("claude", "@anthropic-ai/claude-code", "2.1.325"),
    ("codex", "@openai/codex", "0.166.0"),
    ("opencode", "opencode-ai", "1.18.33"),
    ("gemini", "@google/gemini-cli", "0.61.0"),
];

pub struct Programs {
    /// Where the programs and the scenes are.
    pub folder: PathBuf,
}

impl Programs {
    /// Installs what is not there yet.
    pub fn install(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let programs = Self { folder: folder.canonicalize()? };
        let wanted: Vec<String> = PACKAGES
            .iter()
            .filter(|(_, package, version)| programs.installed(package).as_deref() != Some(*version))
            .map(|(_, package, version)| format!("{package}@{version}"))
            .collect();
        if !wanted.is_empty() {
            eprintln!("live-agents: npm install {}", wanted.join(" "));
            let status = Command::new("npm")
                .args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
                .arg(&programs.folder)
                .args(&wanted)
                .status()
                .context("Cannot run npm: is it installed?")?;
            if !status.success() {
                bail!("npm install failed: {status}");
            }
        }
        Ok(programs)
    }

    pub fn bin(&self) -> PathBuf {
        self.folder.join("node_modules/.bin")
    }

    fn installed(&self, package: &str) -> Option<String> {
        let file = self.folder.join("node_modules").join(package).join("package.json");
        let text = std::fs::read_to_string(file).ok()?;
        let package: serde_json::Value = serde_json::from_str(&text).ok()?;
        package.get("version")?.as_str().map(str::to_owned)
    }

    /// The version behind a profile.
    pub fn version_for(&self, profile: &str) -> String {
        let of = PACKAGES.iter().find(|(program, ..)| profile.contains(program));
        of.and_then(|(_, package, _)| self.installed(package)).unwrap_or_default()
    }
}
