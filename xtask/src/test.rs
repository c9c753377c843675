//! `cargo xtask test`: everything that has to pass, in one command and one build profile.
//!
//! A failed check does not keep the tests from running: one run shows all there is to mend.

mod budget;
pub mod outcome;
mod pages;
mod prerequisites;
mod runner;

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::check;
use crate::stream;
use crate::workspace::{Workspace, in_ci};
use outcome::Outcome;

pub fn run(workspace: &Workspace) -> Result<()> {
    let began = Instant::now();
    prerequisites::ensure()?;
    let mut steps = Steps::default();
    // A machine that is thrown away builds once and lints on the way; a person's next `cargo build` shall find its own
    // work done.
    let linted = workspace.linted();
    let (workspace, built) = if in_ci() {
        steps.take("check", || check::without_lints(workspace));
        let mut warnings = 0;
        let built = steps.take("build", || build_linted(&linted, &mut warnings));
        if warnings > 0 {
            steps.failed.push(format!("lints: {warnings} warnings; `cargo xtask check` says them again"));
        }
        (&linted, built)
    } else {
        steps.take("check", || check::run(workspace));
        (workspace, steps.take("build", || build(workspace)))
    };
    let outcome = match built {
        // The tests that print the documents are among them: they compare, and need no run of their own.
        true => runner::run(workspace)?,
        false => Outcome::default(),
    };
    let pages = steps.take("pages", || pages::check(workspace));
    if built && pages {
        steps.take("browser", || pages::browse(workspace));
    }
    prerequisites::tell_room();
    budget::print_table(&steps.took, &outcome, began.elapsed());
    conclude(&steps.failed, &outcome)
}

const BUILD: [&str; 5] = ["test", "--workspace", "--locked", "--no-run", "--quiet"];

fn build(workspace: &Workspace) -> Result<()> {
    workspace.run_cargo(BUILD)
}

/// A warning does not keep the tests from running, and fails all the same.
fn build_linted(workspace: &Workspace, warnings: &mut u32) -> Result<()> {
    let status = stream::run(workspace.cargo(BUILD), |line| {
        stream::show(line);
        *warnings += u32::from(is_a_warning(line));
    })?;
    if !status.success() {
        bail!("The tests cannot be built");
    }
    Ok(())
}

/// The first line of what the compiler or the linter has to say; cargo counts them in another one.
fn is_a_warning(line: &str) -> bool {
    line.starts_with("warning: ") && !line.starts_with("warning: `")
}

/// The steps around the tests: how long each took, and which of them failed.
#[derive(Default)]
struct Steps {
    took: Vec<(&'static str, Duration)>,
    failed: Vec<String>,
}

impl Steps {
    fn take(&mut self, name: &'static str, step: impl FnOnce() -> Result<()>) -> bool {
        eprintln!("\n== {name}");
        let began = Instant::now();
        let outcome = step();
        self.took.push((name, began.elapsed()));
        if let Err(error) = &outcome {
            eprintln!("error: {name}: {error:#}");
            self.failed.push(format!("{name}: {error:#}"));
        }
        outcome.is_ok()
    }
}

/// The last lines: what failed beside the tests, the runner's own closing line, and the two counts.
fn conclude(failed_steps: &[String], outcome: &Outcome) -> Result<()> {
    println!();
    for step in failed_steps {
        println!("FAILED {step}");
    }
    if outcome.skipped > 0 {
        println!("{} tests are marked as ignored and did not run", outcome.skipped);
    }
    if !outcome.is_green() || !outcome.flaky.is_empty() {
        outcome.reasons.iter().for_each(|reason| println!("{reason}\n"));
    }
    for test in &outcome.flaky {
        println!("FLAKY {test}: it failed, and passed when it was asked again");
    }
    println!("{}", outcome.closing_line);
    println!("{} passed, {} failed", outcome.passed, outcome.failed);
    if outcome.passed > 0 && outcome.printed == 0 {
        bail!("No test that prints a document was found, so no document was compared");
    }
    if !failed_steps.is_empty() || !outcome.is_green() {
        bail!("Not everything passed; see the lines above");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_a_warning;

    #[test]
    fn a_warning_is_counted_once() {
        assert!(is_a_warning("warning: unneeded `return` statement"));
        assert!(!is_a_warning("warning: `swarm-web` (lib) generated 1 warning"));
        assert!(!is_a_warning("  = note: `#[warn(clippy::needless_return)]` on by default"));
    }
}
