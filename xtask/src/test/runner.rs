//! The one run of all tests: cargo-nextest where it is installed, `cargo test` everywhere else.
//!
//! Nextest gives each test a process of its own, uses all cores across crates, and ends a test that hangs;
//! a fresh machine does not have it, and must pass all the same.

use anyhow::{Result, bail};

use super::outcome::{Outcome, Reading};
use crate::stream;
use crate::workspace::{self, Workspace};

/// `cargo` or `nextest`, for a person who wants to see the other one.
const RUNNER_VARIABLE: &str = "SWARM_TEST_RUNNER";

pub fn run(workspace: &Workspace) -> Result<Outcome> {
    eprintln!("\n== tests");
    match std::env::var(RUNNER_VARIABLE).as_deref() {
        Ok("nextest") => with_nextest(workspace),
        Ok("cargo") => with_cargo_test(workspace),
        Ok(other) => bail!("{RUNNER_VARIABLE} is {other:?}; write `nextest` or `cargo`"),
        Err(_) if has_nextest(workspace) => with_nextest(workspace),
        Err(_) => with_cargo_test(workspace),
    }
}

fn has_nextest(workspace: &Workspace) -> bool {
    workspace.cargo(["nextest", "--version"]).output().is_ok_and(|output| output.status.success())
}

fn with_nextest(workspace: &Workspace) -> Result<Outcome> {
    // Nextest does not know examples in documentation; they go first, so that its own summary comes last.
    let documentation =
        read(workspace, &["test", "--workspace", "--locked", "--doc", "--quiet"], stream::show_unless_empty)?;
    let threads = test_threads().to_string();
    let run = ["nextest", "run", "--workspace", "--locked", "--no-fail-fast", "--test-threads", &threads];
    let mut outcome = read(workspace, &run, stream::show)?;
    outcome.passed += documentation.passed;
    outcome.failed += documentation.failed;
    Ok(outcome)
}

/// Tests that wait for processes are most of them: three for each core keep it busy. `.config/nextest.toml` says which
/// ones take more than one place.
fn test_threads() -> usize {
    3 * std::thread::available_parallelism().map_or(2, usize::from)
}

fn with_cargo_test(workspace: &Workspace) -> Result<Outcome> {
    read(workspace, &["test", "--workspace", "--locked", "--no-fail-fast"], stream::show)
}

fn read(workspace: &Workspace, arguments: &[&str], show: fn(&str)) -> Result<Outcome> {
    let mut command = workspace.cargo(arguments);
    // The message and its place say what is wrong; what led there drowns them in the log of a build server.
    if workspace::in_ci() {
        command.env("RUST_BACKTRACE", "0");
    }
    // A document that differs fails; it is never written by the command that judges it.
    command.env_remove("SWARM_GEN");
    let mut reading = Reading::new(workspace.files()?);
    let status = stream::run(command, |line| {
        show(line);
        reading.line(line);
    })?;
    Ok(reading.finish(status.success()))
}
