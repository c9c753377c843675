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
mod weather;
mod worker;

use std::path::PathBuf;
use std::sync::Mutex;
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
    /// Of the role weather, only these kinds: server_error, dns, quota, … (default: all)
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    weather: Vec<String>,
    /// So many scenes at a time
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
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
    /// Not a part, and an hour or two: does a task while its service or it itself fails, in each way
    Weather,
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
            Self::Weather | Self::All => bail!("{} is no part", self.name()),
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
    if let Some(kind) = arguments.weather.iter().find(|kind| !weather::KINDS.iter().any(|k| k.name == **kind))
    {
        bail!("There is no weather {kind}: see agents/weather.txt");
    }
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
    let roles = roles.chain([Role::Weather, Role::Guide].into_iter().filter(asked));
    let scenes = roles.flat_map(|role| scenes_of(role, arguments)).rev().collect();
    let rows = played(&props, arguments, scenes);
    println!("\n{}\n{}", row("role", "profile", "version", "seconds", "result"), texts(&rows));
    let failed = rows.iter().filter(|(_, came_through)| !came_through).count();
    if failed > 0 {
        bail!("{failed} did not come through; their scenes are kept below target/live-agents");
    }
    Ok(())
}

/// One row of the table.
struct Scene {
    role: Role,
    name: &'static str,
    weather: Option<&'static weather::Kind>,
}

fn scenes_of(role: Role, arguments: &Arguments) -> Vec<Scene> {
    let wanted = |name: &&str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    let cast = role.cast().into_iter().filter(wanted);
    let asked = |kind: &&weather::Kind| {
        arguments.weather.is_empty() || arguments.weather.iter().any(|asked| asked == kind.name)
    };
    let kinds: Vec<Option<&weather::Kind>> = match role {
        Role::Weather => weather::KINDS.iter().filter(asked).map(Some).collect(),
        _ => vec![None],
    };
    let scenes =
        cast.flat_map(|name| kinds.iter().map(move |weather| Scene { role, name, weather: *weather }));
    // It takes an argument that it does not know for nothing.
    let is_none = |scene: &Scene| {
        scene.name == "acp-claude" && scene.weather.is_some_and(|kind| kind.name == "unknown_flag")
    };
    scenes.filter(|scene| !is_none(scene)).collect()
}

impl Scene {
    fn play(&self, props: &Props<'_>, killed: bool) -> Result<String> {
        match self.weather {
            Some(kind) => weather::play(props, self.name, kind).map_err(|error| error.context(kind.name)),
            None if killed => worker::play_killed(props, self.name),
            None => self.role.play(props, self.name),
        }
    }
}

/// Each row, and whether it came through, in the order in which they ended.
fn played(props: &Props<'_>, arguments: &Arguments, scenes: Vec<Scene>) -> Vec<(String, bool)> {
    let (scenes, rows) = (Mutex::new(scenes), Mutex::new(vec![]));
    let next = || scenes.lock().ok()?.pop();
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs.max(1) {
            scope.spawn(|| {
                while let Some(scene) = next() {
                    let began = Instant::now();
                    let played = scene.play(props, arguments.kill);
                    let came_through = played.is_ok();
                    let text = played.unwrap_or_else(|error| format!("FAILED: {error:#}"));
                    let took = began.elapsed().as_secs().to_string();
                    let version = props.programs.version_for(scene.name);
                    let line = row(&scene.role.name(), scene.name, &version, &took, &text);
                    eprintln!("{line}");
                    rows.lock().map(|mut rows| rows.push((line, came_through))).unwrap_or_default();
                }
            });
        }
    });
    rows.into_inner().unwrap_or_default()
}

fn texts(rows: &[(String, bool)]) -> String {
    rows.iter().map(|(line, _)| line.as_str()).collect::<Vec<_>>().join("\n")
}

fn built(workspace: &Workspace) -> Result<PathBuf> {
    workspace.run_cargo(["build", "-p", "swarm-cli"])?;
    Ok(workspace.target().join("debug/swarm").canonicalize()?)
}

fn row(role: &str, profile: &str, version: &str, seconds: &str, result: &str) -> String {
    format!("{role:<9} {profile:<13} {version:<10} {seconds:>7}  {result}")
}
