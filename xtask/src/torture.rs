//! `cargo xtask torture`: the storm for as long as asked, then the tests in their heaviest form.
//!
//! The storm is a real swarm in which everything that can be killed, stopped, cut or filled is, by chance of a seed. After it
//! come stories of people and agents, each judged by git at its end, and one round of all tests with every kill point
//! instead of a sample of them, and of the simulator.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;
use crate::{sim, stream};

/// The part that is chosen with `--only storm`.
const STORM: &str = "storm";

/// The same for the stories.
const STORIES: &str = "stories";

#[derive(clap::Args)]
pub struct Arguments {
    /// How long the storm lasts; what comes after it takes its own time
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    /// Seed of the storm, and of the first story (default: another one each time; it is printed)
    #[arg(long)]
    seed: Option<u64>,
    /// Agents that work in the storm at the same time
    #[arg(long, default_value_t = 16)]
    agents: u64,
    /// Stories of people and agents that are played after the storm
    #[arg(long, default_value_t = 500)]
    stories: u64,
    /// Seeds of the simulator in the round after the storm
    #[arg(long, default_value_t = 100_000)]
    seeds: u64,
    /// The first of them
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// `storm` or `stories`, and nothing else; or only tests with this in their name
    #[arg(long)]
    only: Option<String>,
}

pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let began = Instant::now();
    match arguments.only.as_deref() {
        Some(STORM) => storm(workspace, arguments)?,
        Some(STORIES) => stories(workspace, arguments)?,
        Some(name) => tests(workspace, Some(name))
            .context(format!("Run it again with `cargo xtask torture --only {name}`"))?,
        None => {
            storm(workspace, arguments)?;
            stories(workspace, arguments)?;
            tests(workspace, None)
                .context("Run it again with `cargo xtask torture --only NAME-OF-THE-TEST`")?;
            simulator(workspace, arguments)?;
        }
    }
    eprintln!("torture: survived in {} s", began.elapsed().as_secs());
    Ok(())
}

/// The one that was asked for, or another each time.
fn seed(arguments: &Arguments) -> u64 {
    let chance = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs());
    arguments.seed.unwrap_or_else(chance)
}

/// A story that fails says its own seed, and prints itself as a script.
fn stories(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let (seed, many) = (seed(arguments), arguments.stories);
    eprintln!("torture: {many} stories from seed {seed}");
    let mut command =
        workspace.cargo(["test", "--package", "swarm-cli", "--locked", "--quiet", "--test", "stories"]);
    command.args(["--", "--nocapture", "stories_of_people_and_agents"]);
    command.env("SWARM_STORY_SEED", seed.to_string()).env("SWARM_STORIES", many.to_string());
    let again = format!("cargo xtask torture --only {STORIES} --seed {seed} --stories {many}");
    passes(command).context(format!("Run it again with `{again}`"))
}

fn storm(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let seed = seed(arguments);
    let Arguments { minutes, agents, .. } = arguments;
    let again =
        format!("cargo xtask torture --minutes {minutes} --agents {agents} --seed {seed} --only {STORM}");
    eprintln!("torture: a storm of {minutes} minutes, {agents} agents, seed {seed}");
    let mut command =
        workspace.cargo(["test", "--package", "swarm-cli", "--locked", "--quiet", "--test", "torture"]);
    command.args(["--", "--include-ignored", "--nocapture", "storm::"]);
    command.env("SWARM_TORTURE_SECS", minutes.saturating_mul(60).to_string());
    command.env("SWARM_TORTURE_SEED", seed.to_string());
    command.env("SWARM_TORTURE_AGENTS", agents.to_string());
    passes(command).context(format!("Run it again with `{again}`"))
}

fn simulator(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let (seeds, from) = (arguments.seeds.to_string(), arguments.from.to_string());
    sim::run(workspace, &["--seeds", &seeds, "--from", &from, "--world", "both"].map(str::to_owned))
}

fn tests(workspace: &Workspace, only: Option<&str>) -> Result<()> {
    let mut command = workspace.cargo(["test", "--workspace", "--locked", "--quiet", "--no-fail-fast"]);
    command.args(["--lib", "--bins", "--tests"]).args(only).args(["--", "--include-ignored"]);
    command.env("SWARM_KILL_POINTS", "all").env("SWARM_TRIALS", "full");
    passes(command)
}

fn passes(mut command: std::process::Command) -> Result<()> {
    // What fails is kept for whoever wants to look.
    command.env("SWARM_KEEP_FAILED", "1").env("INSTA_UPDATE", "no").env_remove("SWARM_GEN");
    let mut passed = 0;
    let status = stream::run(command, |line| {
        stream::show_unless_empty(line);
        passed += crate::test::outcome::passed_in(line);
    })?;
    if !status.success() {
        bail!("It did not survive");
    }
    if passed == 0 {
        bail!("No test ran, so nothing was tortured");
    }
    Ok(())
}
