//! `cargo xtask torture`: the tests in their heavier form, round after round.
//!
//! The tests that sample (every tenth system call, ten thousand seeds) read these variables and do all of it,
//! or another part of it. Each round takes fresh seeds, so a longer run sees more of the world.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::stream;
use crate::workspace::Workspace;

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
    /// Only tests with this in their name
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
    let mut command = workspace.cargo(["test", "--workspace", "--locked", "--quiet", "--no-fail-fast"]);
    command.args(["--lib", "--bins", "--tests"]);
    command.args(&arguments.only);
    command.env("SWARM_KILL_POINTS", "all");
    command.env("SWARM_SEEDS", arguments.seeds.to_string());
    command.env("SWARM_SEED_FROM", from.to_string());
    command.env("INSTA_UPDATE", "no");
    let mut passed = 0;
    let status = stream::run(command, |line| {
        stream::show_unless_empty(line);
        passed += crate::test::outcome::passed_in(line);
    })?;
    if !status.success() {
        let only = arguments.only.as_ref().map(|name| format!(" --only {name}")).unwrap_or_default();
        let again =
            format!("cargo xtask torture --minutes 0 --seeds {} --from {from}{only}", arguments.seeds);
        bail!("This round failed. Run it again with `{again}`");
    }
    if passed == 0 {
        bail!("No test ran, so nothing was tortured");
    }
    Ok(())
}
