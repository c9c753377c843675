//! `swarm-bench ledger [--dir FOLDER]`: the ledger against the limits of this machine.
//!
//! Exit 0: every target holds. Exit 1: one is missed. The figures of peers are not made up: where a
//! peer is not installed, its line says so.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use swarm_sim::bench::{append, crash, place::Place, replay, report::Report, start};

const USAGE: &str = "usage: swarm-bench ledger [--dir FOLDER]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["ledger"] => ledger(&PathBuf::from("target")),
        ["ledger", "--dir", dir] => ledger(Path::new(dir)),
        // Its own child, to be killed.
        ["append-for-ever", dir] => crash::append_for_ever(Path::new(dir)).map(|()| true),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("Error: {error:#}");
            ExitCode::from(3)
        }
    }
}

fn ledger(base: &Path) -> Result<bool> {
    let place = Place::new(base)?;
    println!("ledger, on {}; medians of rounds, limit and product interleaved", place.file_system()?);
    println!("{:<4} {:<66} {:>9}  {:<8} verdict", "goal", "what", "ratio", "target");
    let mut report = Report::default();
    append::one_client(&place, &mut report)?;
    append::many_clients(&place, &mut report)?;
    replay::full(&place, &mut report)?;
    start::from_snapshot(&place, &mut report)?;
    crash::killed_and_torn(&place, &mut report)?;
    Ok(report.all_hold())
}
