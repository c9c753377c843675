//! `cargo xtask bench run`: the running swarm against the limits of this machine.
//!
//! The product is the code that ships, or the release binary itself with the scripted agent; the limit
//! is raw git or a bare loop written here. Both are measured in turns, in rounds, and only ratios are
//! judged: machines differ, and one machine differs from hour to hour.
//!
//! Exit 0: every target holds. Exit 1: one is missed. Exit 3: something could not be measured.

mod setting;
mod arena;
mod running;
mod stamps;
mod ledger_watch;
mod bare;
mod readings;
mod http;
mod goals;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use swarm_sim::bench::report::Report;

use crate::setting::Setting;

/// Measure the running swarm against raw git and bare loops
#[derive(Parser)]
#[command(name = "cargo xtask bench run")]
struct Arguments {
    /// Only these, by name: G6, G7, G8, G9, G10, G11, G12, core, status, crowd, talk, big
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Repositories of 75,000 files too
    #[arg(long)]
    large: bool,
    /// The big run too: 200 tasks, 50 agents, 5,000 files
    #[arg(long)]
    big: bool,
    /// Where to work; must be on a disk
    #[arg(long, value_name = "FOLDER", default_value = "target")]
    dir: PathBuf,
    /// The release binary to measure
    #[arg(long, value_name = "FILE")]
    swarm: Option<PathBuf>,
    /// Play the program that only reads the snapshot and the tail of this repository
    #[arg(long, hide = true, value_name = "ROOT")]
    read_base: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.read_base {
        Some(root) => goals::status::read_base(root).map(|()| Outcome::default()),
        None => measure(&arguments),
    };
    match result {
        Ok(Outcome { failed: 0, all_hold: true }) => ExitCode::SUCCESS,
        Ok(Outcome { failed: 0, .. }) => ExitCode::FAILURE,
        Ok(_) => ExitCode::from(3),
        Err(error) => {
            eprintln!("Error: {error:#}");
            ExitCode::from(3)
        }
    }
}

struct Outcome {
    all_hold: bool,
    /// Benches that came to no figure.
    failed: usize,
}

impl Default for Outcome {
    fn default() -> Self {
        Self { all_hold: true, failed: 0 }
    }
}

fn measure(arguments: &Arguments) -> Result<Outcome> {
    let swarm = arguments.swarm.as_deref().map_or_else(beside_us, |path| Ok(path.to_owned()))?;
    let setting = Setting::new(&arguments.dir, &swarm, arguments.large)?;
    println!("run, on {}; medians of rounds, limit and product interleaved", setting.place.file_system()?);
    println!("{:<4} {:<66} {:>9}  {:<8} verdict", "goal", "what", "ratio", "target");
    let mut report = Report::default();
    let mut failed = 0;
    for goal in goals::ALL.iter().filter(|goal| wanted(arguments, goal)) {
        let started = std::time::Instant::now();
        if let Err(error) = (goal.measure)(&setting, &mut report) {
            println!("{:<4} NOT MEASURED: {error:#}", goal.name);
            failed += 1;
        }
        eprintln!("     ({} took {:.0} s)", goal.name, started.elapsed().as_secs_f64());
    }
    Ok(Outcome { all_hold: report.all_hold(), failed })
}

fn wanted(arguments: &Arguments, goal: &goals::Goal) -> bool {
    if arguments.only.is_empty() {
        // 75,000 files, nine times over.
        let heavy = goal.name == "G8";
        return (goal.name != "big" || arguments.big) && (!heavy || arguments.large);
    }
    arguments.only.iter().any(|name| name.eq_ignore_ascii_case(goal.name))
}

/// The binary that was built with us.
fn beside_us() -> Result<PathBuf> {
    let me = std::env::current_exe()?;
    Ok(me.parent().unwrap_or(Path::new(".")).join("swarm"))
}
