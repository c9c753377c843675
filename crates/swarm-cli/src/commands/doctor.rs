//! `swarm doctor`: is everything in order?

use std::process::ExitCode;

use swarm_engine::doctor::{Finding, Health, Report, examine};

use crate::cli::Context;
use crate::commands::operate::DryRun;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::harmless;
use crate::output::paint::{Paint, paint};
use crate::swarm::inside::refuse_agents;
use crate::swarm::session::runtime;

/// Find what is out of order, and put it right
///
/// Looks at the machine, the agent programs, the repository and the swarm, and changes nothing. With `--fix` it puts
/// right what can be put right without losing anything: work is saved to refs first, folders go to the trash, and
/// what cannot be proven disposable stays. Exit code 0 when nothing is wrong, 1 when something is.
///
/// Example: swarm doctor --fix
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Put right what can be put right
    #[arg(long)]
    pub fix: bool,
    /// Also say what is in order
    #[arg(short = 'v', long)]
    pub verbose: bool,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<ExitCode, CliError> {
    // What could be put right is what a plain look names.
    let fix = args.fix && !args.dry.dry_run;
    if fix {
        refuse_agents("doctor --fix")?;
    }
    let environment = crate::swarm::environment();
    let report = runtime()?.block_on(examine(&cx.repo, &environment, fix));
    let (verbose, colour) = (args.verbose, cx.out.colour);
    cx.out.view(&report, |report| text(report, verbose, fix, colour))?;
    Ok(if report.problems == 0 { Exit::Done.into() } else { Exit::Refused.into() })
}

fn text(report: &Report, verbose: bool, fixing: bool, colour: bool) -> String {
    let mut lines: Vec<String> = Vec::new();
    let shown = report.findings.iter().filter(|one| verbose || one.state != Health::Ok || one.fixed);
    for finding in shown {
        lines.push(format!("{}  {}: {}", sign(finding, colour), finding.title, harmless(&finding.what)));
        if let Some(fix) = &finding.fix {
            lines.push(format!("         {}", harmless(fix)));
        }
    }
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines.push(verdict(report, fixing));
    lines.join("\n")
}

fn sign(finding: &Finding, colour: bool) -> String {
    let (word, ink) = match (finding.fixed, finding.state) {
        (true, _) => ("fixed", Paint::Green),
        (_, Health::Ok) => ("ok", Paint::Dim),
        (_, Health::Note) => ("note", Paint::Yellow),
        (_, Health::Problem) => ("problem", Paint::Red),
    };
    paint(colour, ink, &format!("{word:<7}"))
}

fn verdict(report: &Report, fixing: bool) -> String {
    let curable =
        |one: &&Finding| one.fix.as_deref() == Some("swarm doctor --fix") && one.state == Health::Problem;
    let curable = report.findings.iter().filter(curable).count();
    let looked = report.findings.len();
    let fixed = match report.fixed {
        0 => String::new(),
        1 => "1 thing was put right. ".into(),
        n => format!("{n} things were put right. "),
    };
    let rest = match report.problems {
        0 => format!("Everything is in order ({looked} things looked at)."),
        1 if fixing => "1 problem is left.".into(),
        n if fixing => format!("{n} problems are left."),
        n => {
            let problems = if n == 1 { "1 problem".to_owned() } else { format!("{n} problems") };
            match curable {
                0 => format!("{problems}."),
                m if m == n => format!("{problems}; `swarm doctor --fix` puts it right."),
                m => format!("{problems}; `swarm doctor --fix` puts {m} of them right."),
            }
        }
    };
    fixed + &rest
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use swarm_engine::doctor::CHECKS;

    use crate::commands::printed::compare_or_write;

    #[test]
    fn printed_doctor() {
        let mut page = String::from(
            "# What the doctor looks at\n\n<!-- Printed by a test: run `cargo xtask gen`. -->\n\n\
             `swarm doctor` looks at everything below and changes nothing; `swarm doctor --fix` puts right what can be put\n\
             right without losing anything. Exit code 0 when nothing is wrong, 1 when something is. While a coordinator\n\
             runs, only what cannot get in its way is put right (permissions, overdue trash, locks of a dead git).\n\n\
             Nothing that may be work is ever deleted: uncommitted files go to a ref, folders and half-written files to\n\
             `.swarm/trash`, cut records to a quarantine file, edited projections beside the new ones.\n\n\
             | id | looks at | `--fix` |\n|---|---|---|\n",
        );
        for check in CHECKS {
            let _ = writeln!(
                page,
                "| `{}` | {} | {} |",
                check.id,
                check.title,
                check.cure.unwrap_or("says what to do")
            );
        }
        compare_or_write("doctor.md", &page);
    }
}
