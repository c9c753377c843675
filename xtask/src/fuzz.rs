//! `cargo xtask fuzz`: changed inputs for whatever reads bytes of strangers, guided by what they reach.
//!
//! libFuzzer needs two things of the compiler: counters in the code and its own `main`. Both are to be had from a stable
//! one (`-Cpasses=sancov-module`), so neither nightly nor cargo-fuzz is needed; `cargo fuzz run TARGET` works as well.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::workspace::{self, Workspace};

const TARGETS: [&str; 5] = ["ledger_lines", "daemon_frames", "plan_files", "agent_output", "config"];

/// What cargo-fuzz gives, without the sanitizers, which only nightly has: there is next to no unsafe code to look at.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

#[derive(clap::Args)]
pub struct Arguments {
    /// Only this one (default: all, one after the other)
    #[arg(value_parser = TARGETS)]
    target: Option<String>,
    /// How long each is given
    #[arg(long = "for", value_name = "TIME", default_value = "60s", value_parser = time)]
    time: Duration,
    /// Without libFuzzer: the corpus, then blind changes of it
    #[arg(long)]
    plain: bool,
}

pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let built = build(workspace, arguments.plain)?;
    let mut failed = Vec::new();
    for target in
        TARGETS.into_iter().filter(|name| arguments.target.as_deref().is_none_or(|only| only == *name))
    {
        if let Err(error) = fuzz(workspace, &built, target, arguments) {
            eprintln!("error: {error:#}");
            failed.push(target);
        }
    }
    if !failed.is_empty() {
        bail!("fuzz found something: {}; the inputs are in fuzz/artifacts", failed.join(", "));
    }
    Ok(())
}

/// The folder of the binaries.
fn build(workspace: &Workspace, plain: bool) -> Result<PathBuf> {
    let mut command =
        workspace.cargo(["build", "--release", "--locked", "--quiet", "--manifest-path", "fuzz/Cargo.toml"]);
    // Of its own, and named: where this is the target of a cargo that is asked for another one, nothing is found.
    let folder = workspace.root().join("fuzz/target").join(if plain { "plain" } else { "guided" });
    command.arg("--target-dir").arg(&folder);
    if plain {
        workspace::run(command)?;
        return Ok(folder.join("release"));
    }
    // Named, though it is our own machine: so the flags are for the program and not for what builds it.
    let host = host()?;
    command.args(["--target", &host]).env("RUSTFLAGS", FLAGS);
    workspace::run(command)?;
    Ok(folder.join(host).join("release"))
}

fn fuzz(workspace: &Workspace, built: &std::path::Path, target: &str, arguments: &Arguments) -> Result<()> {
    let root = workspace.root().join("fuzz");
    let (artifacts, found) = (root.join("artifacts").join(target), root.join("found").join(target));
    for folder in [&artifacts, &found] {
        std::fs::create_dir_all(folder).with_context(|| format!("Cannot make {}", folder.display()))?;
    }
    let (corpus, secs) = (root.join("corpus").join(target), arguments.time.as_secs());
    let mut command = Command::new(built.join(target));
    command.current_dir(&artifacts);
    if arguments.plain {
        command.arg(&corpus).arg("--for").arg(secs.to_string());
    } else {
        command.args([format!("-max_total_time={secs}"), "-timeout=10".into(), "-rss_limit_mb=4096".into()]);
        command
            .args(["-print_final_stats=1", "-artifact_prefix=./", "-verbosity=0"])
            .arg(&found)
            .arg(&corpus);
    }
    workspace::run(command)
}

fn host() -> Result<String> {
    let said = Command::new("rustc").arg("-vV").output().context("Cannot run rustc")?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not say what machine this is")?.to_owned())
}

/// `90`, `60s` or `5m`.
fn time(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix('m') {
        Some(minutes) => (minutes, 60),
        None => (text.trim_end_matches('s'), 1),
    };
    let number: u64 = number.parse().map_err(|_| format!("{text:?} is no time: 60s, 5m"))?;
    Ok(Duration::from_secs(number * unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_or_minutes() {
        assert_eq!(time("90"), Ok(Duration::from_secs(90)));
        assert_eq!(time("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(time("5m"), Ok(Duration::from_secs(300)));
        assert!(time("soon").is_err());
    }
}
