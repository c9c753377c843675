//! `cargo xtask live-agents`: the real agent programs, each against a scripted model on loopback, through a
//! real `swarm run`. Opt-in: it installs them with npm below `target/`.

mod install;
mod remains;
mod scene;
mod service;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::workspace::Workspace;
use install::Programs;
use scene::{Scene, Verdict};

#[derive(clap::Args)]
pub struct Arguments {
    /// Only these: claude, codex, codex-exec, gemini, opencode, acp-opencode, acp-gemini (default: all)
    #[arg(value_name = "NAME")]
    only: Vec<String>,
    /// Only end a daemon while a tool runs, with TERM and with KILL, and look for what is left
    #[arg(long)]
    kill: bool,
    /// A `swarm` to use instead of building one
    #[arg(long, value_name = "FILE")]
    swarm: Option<PathBuf>,
}

/// The profiles of the configuration: name and JSON.
pub const PROFILES: &[(&str, &str)] = &[
    ("claude", r#"{"program":"claude"}"#),
    ("codex", r#"{"program":"codex","env":["FAKE_KEY"]}"#),
    ("codex-exec", r#"{"program":"codex","command":["codex","exec"],"env":["FAKE_KEY"]}"#),
    ("gemini", r#"{"program":"gemini","model":"gemini-2.5-pro"}"#),
    ("opencode", r#"{"program":"opencode"}"#),
    ("acp-opencode", r#"{"program":"acp","command":["opencode","acp"]}"#),
    ("acp-gemini", r#"{"program":"acp","command":["gemini","--acp","--skip-trust"]}"#),
];

pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let unknown = arguments.only.iter().find(|name| PROFILES.iter().all(|(known, _)| known != name));
    if let Some(name) = unknown {
        bail!("There is no profile {name}: see `cargo xtask live-agents --help`");
    }
    let swarm = match &arguments.swarm {
        Some(file) => file.canonicalize()?,
        None => built(workspace)?,
    };
    let programs = Programs::install(&workspace.target().join("live-agents"))?;
    let mut rows = vec![row("profile", "version", "seconds", "result")];
    let mut failed = 0;
    for (name, _) in PROFILES {
        if !arguments.only.is_empty() && !arguments.only.iter().any(|only| only == name) {
            continue;
        }
        let began = Instant::now();
        let scene = Scene { name, swarm: &swarm, programs: &programs, root: workspace.root() };
        let verdict = if arguments.kill { scene.play_killed() } else { scene.play() };
        let (ok, text) = match verdict {
            Ok(Verdict { text }) => (true, text),
            Err(error) => (false, format!("FAILED: {error:#}")),
        };
        failed += usize::from(!ok);
        let took = began.elapsed().as_secs().to_string();
        let line = row(name, &programs.version_for(name), &took, &text);
        eprintln!("{line}");
        rows.push(line);
    }
    println!("\n{}", rows.join("\n"));
    if failed > 0 {
        bail!(
            "{failed} of the programs did not come through; their scenes are kept below target/live-agents"
        );
    }
    Ok(())
}

fn built(workspace: &Workspace) -> Result<PathBuf> {
    workspace.run_cargo(["build", "-p", "swarm-cli"])?;
    Ok(workspace.target().join("debug/swarm").canonicalize()?)
}

fn row(name: &str, version: &str, seconds: &str, result: &str) -> String {
    format!("{name:<14} {version:<10} {seconds:>7}  {result}")
}
