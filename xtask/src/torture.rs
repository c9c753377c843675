//! `cargo xtask torture`: the tests in their heavier form, round after round.
//!
//! A round is the tests with every kill point instead of a sample of them, and then seeds of the simulator
//! that no earlier round has had, so a longer run sees more of the world.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;
use crate::{sim, stream};

#[derive(clap::Args)]
pub struct Arguments {
    /// Begin no new round after this many minutes; a round that has begun is finished
    #[arg(long, default_value_t = 60)]
    minutes: u64,
    /// Seeds of the simulator in each round
    #[arg(long, default_value_t = 100_000)]
    seeds: u64,
    /// First seed of the first round
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// Only tests with this in their name, and no simulator
    #[arg(long)]
    only: Option<String>,
}

pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let began = Instant::now();
    let limit = Duration::from_secs(arguments.minutes.saturating_mul(60));
    let mut round = 0;
    loop {
        let from = arguments.from.saturating_add(arguments.seeds.saturating_mul(round));
        round += 1;
        let round_began = Instant::now();
        eprintln!("torture: round {round}, seeds from {from}");
        one_round(workspace, arguments, from)?;
        let took_secs = round_began.elapsed().as_secs();
        eprintln!(
            "torture: round {round} survived in {took_secs} s ({} s in all)",
            began.elapsed().as_secs()
        );
        if began.elapsed() >= limit {
            eprintln!("torture: {round} rounds, none failed");
            return Ok(());
        }
    }
}

fn one_round(workspace: &Workspace, arguments: &Arguments, from: u64) -> Result<()> {
    let again = format!("cargo xtask torture --minutes 0 --seeds {} --from {from}", arguments.seeds);
    match &arguments.only {
        Some(name) => {
            tests(workspace, Some(name)).context(format!("Run it again with `{again} --only {name}`"))
        }
        None => {
            tests(workspace, None).context(format!("Run it again with `{again}`"))?;
            let seeds = arguments.seeds.to_string();
            sim::run(
                workspace,
                &["--seeds", &seeds, "--from", &from.to_string(), "--world", "both"].map(str::to_owned),
            )
        }
    }
}

fn tests(workspace: &Workspace, only: Option<&str>) -> Result<()> {
    let mut command = workspace.cargo(["test", "--workspace", "--locked", "--quiet", "--no-fail-fast"]);
    command.args(["--lib", "--bins", "--tests"]).args(only);
    command.env("SWARM_KILL_POINTS", "all").env("INSTA_UPDATE", "no").env_remove("SWARM_GEN");
    let mut passed = 0;
    let status = stream::run(command, |line| {
        stream::show_unless_empty(line);
        passed += crate::test::outcome::passed_in(line);
    })?;
    if !status.success() {
        bail!("This round failed");
    }
    if passed == 0 {
        bail!("No test ran, so nothing was tortured");
    }
    Ok(())
}
