//! `swarm plan verify`: is everything there, and is it what was written?

use crate::context::Context;
use crate::error::CliError;
use crate::output::harmless;
use crate::output::paint::{Paint, paint};
use crate::swarm::Swarm;
use crate::swarm::verdict::{Part, Verdict};

/// Verify the ledger and everything derived from it
///
/// Reports integrity (no record was changed) and completeness (no record is missing, as far as the second copy, snapshots and the
/// anchor in git can tell). Exit code 3 if the ledger is damaged or incomplete, 1 if only a derived file is.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, cx: &Context) -> Result<(), CliError> {
    let parts = Swarm::open(cx)?.verify()?;
    let colour = cx.out.colour;
    cx.out
        .view(&parts, |parts| parts.iter().map(|part| line(part, colour)).collect::<Vec<_>>().join("\n"))?;
    let worst = parts.iter().map(|part| part.verdict).max().unwrap_or(Verdict::Good);
    match worst {
        Verdict::Good | Verdict::Behind => Ok(()),
        // The findings were the answer; with --json a second object on stdout would spoil it.
        _ if cx.out.json => Err(CliError::already_said(worst == Verdict::Damaged)),
        Verdict::OutOfStep => Err(CliError::out_of_step("A file made from the ledger is out of date")
            .run_instead("swarm plan rebuild")),
        // What the second copy can repair is repaired before anything is given up.
        Verdict::Damaged => {
            let is_lost = |part: &Part| part.name == "completeness" && part.verdict == Verdict::Damaged;
            let command = if parts.iter().any(is_lost) { "swarm plan salvage" } else { "swarm doctor --fix" };
            Err(CliError::environment("The ledger is damaged or incomplete").run_instead(command))
        }
    }
}

fn line(part: &Part, colour: bool) -> String {
    let (word, shade) = match part.verdict {
        Verdict::Good => ("good", Paint::Green),
        Verdict::Behind => ("behind", Paint::Dim),
        Verdict::OutOfStep => ("wrong", Paint::Yellow),
        Verdict::Damaged => ("DAMAGED", Paint::Red),
    };
    format!("{:<14}{}  {}", part.name, paint(colour, shade, &format!("{word:<8}")), harmless(&part.words))
}
