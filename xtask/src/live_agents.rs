//! `cargo xtask live-agents`: the real agent programs in every part that a swarm has for them, each against a scripted
//! model on loopback. Opt-in: it installs them with npm below `target/`.

mod guide;
mod install;
mod mcp;
mod planner;
mod remains;
mod resolver;
mod reviewer;
mod service;
mod stage;
mod story;
mod tools;
mod worker;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::workspace::Workspace;
use install::Programs;
use stage::Props;

#[derive(clap::Args)]
pub struct Arguments {
    /// Only these: claude, codex, codex-exec, gemini, opencode, acp-claude, acp-codex, acp-gemini, acp-opencode (default: all)
    #[arg(value_name = "NAME")]
    only: Vec<String>,
    /// In which part
    #[arg(long, value_enum, value_delimiter = ',', default_value = "worker")]
    role: Vec<Role>,
    /// Only end a daemon while a tool runs, with TERM and with KILL, and look for what is left
    #[arg(long, conflicts_with = "role")]
    kill: bool,
    /// A `swarm` to use instead of building one
    #[arg(long, value_name = "FILE")]
    swarm: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Role {
    /// Does a task
    Worker,
    /// Does a task and speaks by the tools of its attempt: asks, is answered, learns, completes
    Tools,
    /// Makes a plan from a goal, changes it, splits a task
    Planner,
    /// Reviews the work of a task
    Reviewer,
    /// Three of it review, and have to agree
    Council,
    /// Merges trunk into work that conflicts with it
    Resolver,
    /// Makes, watches and takes back a plan with the tools of `swarm mcp`
    Mcp,
    /// All of these, one after the other
    All,
    /// Not a part: writes the output in docs/guides/goal-to-trunk.md anew
    Guide,
}

impl Role {
    const EACH: [Self; 7] =
        [Self::Worker, Self::Tools, Self::Planner, Self::Reviewer, Self::Council, Self::Resolver, Self::Mcp];

    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Who can play it.
    fn cast(self) -> Vec<&'static str> {
        match self {
            Self::Mcp => mcp::CLIENTS.to_vec(),
            Self::Guide => guide::CAST.to_vec(),
            _ => PROFILES.iter().map(|(name, _)| *name).collect(),
        }
    }

    fn play(self, props: &Props<'_>, name: &str) -> Result<String> {
        match self {
            Self::Worker => worker::play(props, name),
            Self::Tools => tools::play(props, name),
            Self::Planner => planner::play(props, name),
            Self::Reviewer => reviewer::play(props, name),
            Self::Council => reviewer::play_council(props, name),
            Self::Resolver => resolver::play(props, name),
            Self::Mcp => mcp::play(props, name),
            Self::Guide => guide::write(props, name),
            Self::All => bail!("all is no part"),
        }
    }
}

/// The profiles of the configuration: name and JSON.
pub const PROFILES: &[(&str, &str)] = &[
    ("claude", r#"{"program":"claude","env":["ENABLE_TOOL_SEARCH"]}"#),
    ("codex", r#"{"program":"codex","env":["FAKE_KEY"]}"#),
    ("codex-exec", r#"{"program":"codex","command":["codex","exec"],"env":["FAKE_KEY"]}"#),
    ("gemini", r#"{"program":"gemini","model":"gemini-2.5-pro"}"#),
    ("opencode", r#"{"program":"opencode"}"#),
    ("acp-claude", r#"{"program":"acp","command":["claude-agent-acp"],"env":["ENABLE_TOOL_SEARCH"]}"#),
    ("acp-codex", r#"{"program":"acp","command":["codex-acp"],"env":["FAKE_KEY"]}"#),
    ("acp-gemini", r#"{"program":"acp","command":["gemini","--acp","--skip-trust"]}"#),
    ("acp-opencode", r#"{"program":"acp","command":["opencode","acp"]}"#),
];

pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let known = |name: &String| Role::EACH.iter().any(|role| role.cast().contains(&name.as_str()));
    if let Some(name) = arguments.only.iter().find(|name| !known(name)) {
        bail!("There is no profile {name}: see `cargo xtask live-agents --help`");
    }
    let swarm = match &arguments.swarm {
        Some(file) => file.canonicalize()?,
        None => built(workspace)?,
    };
    let programs = Programs::install(&workspace.target().join("live-agents"))?;
    let props = Props { swarm: &swarm, programs: &programs, root: workspace.root() };
    let all = arguments.role.contains(&Role::All);
    let asked = |role: &Role| arguments.role.contains(role);
    let roles = Role::EACH.into_iter().filter(|role| all || asked(role));
    let roles = roles.chain([Role::Guide].into_iter().filter(asked));
    let mut rows = vec![row("role", "profile", "version", "seconds", "result")];
    let mut failed = 0;
    for role in roles {
        for name in role.cast() {
            if !arguments.only.is_empty() && !arguments.only.iter().any(|only| only == name) {
                continue;
            }
            let began = Instant::now();
            let played =
                if arguments.kill { worker::play_killed(&props, name) } else { role.play(&props, name) };
            failed += usize::from(played.is_err());
            let text = played.unwrap_or_else(|error| format!("FAILED: {error:#}"));
            let took = began.elapsed().as_secs().to_string();
            let line = row(&role.name(), name, &programs.version_for(name), &took, &text);
            eprintln!("{line}");
            rows.push(line);
        }
    }
    println!("\n{}", rows.join("\n"));
    if failed > 0 {
        bail!("{failed} did not come through; their scenes are kept below target/live-agents");
    }
    Ok(())
}

fn built(workspace: &Workspace) -> Result<PathBuf> {
    workspace.run_cargo(["build", "-p", "swarm-cli"])?;
    Ok(workspace.target().join("debug/swarm").canonicalize()?)
}

fn row(role: &str, profile: &str, version: &str, seconds: &str, result: &str) -> String {
    format!("{role:<9} {profile:<13} {version:<10} {seconds:>7}  {result}")
}
