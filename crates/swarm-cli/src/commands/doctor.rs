//! `swarm doctor`: is everything in order?

use std::process::ExitCode;

use swarm_engine::doctor::{NOBODY, examine};
use swarm_protocol::doctor::{DoctorView, Finding, Health};

use crate::commands::operate::DryRun;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::harmless;
use crate::output::paint::{Paint, paint};
use crate::swarm::ANSWER_WITHIN;
use crate::swarm::Swarm;
use crate::swarm::inside::refuse_agents;
use crate::swarm::session::runtime;

/// Check machine, repository and swarm, and repair problems
///
/// Without `--fix` nothing is changed. With `--fix` problems are repaired where nothing can be lost: work is saved to refs first,
/// folders go to the trash, and anything not proven disposable stays. With `-v` it also lists checks that
/// passed. Exit code 0 when all is well, 1 when a problem remains.
///
/// Example: swarm doctor --fix
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Repair what can be repaired safely
    #[arg(long)]
    pub fix: bool,
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
    let mut report = runtime()?.block_on(examine(&cx.repo, &environment, fix));
    let swarm = Swarm::open(cx).ok();
    let (answers, is_watched) =
        (|| swarm.as_ref().is_none_or(Swarm::is_answered), || swarm.as_ref().is_some_and(Swarm::is_watched));
    hear(&mut report, answers, is_watched);
    let (verbose, colour) = (cx.verbose > 0, cx.out.colour);
    cx.out.view(&report, |report| text(report, verbose, fix, colour))?;
    Ok(if report.problems == 0 { Exit::Done.into() } else { Exit::Refused.into() })
}

/// A coordinator that is there and lives may hang all the same: then nothing moves.
fn hear(report: &mut DoctorView, answers: impl FnOnce() -> bool, is_watched: impl FnOnce() -> bool) {
    let there = |one: &&mut Finding| one.id == "coordinator" && one.state == Health::Ok && one.what != NOBODY;
    let Some(coordinator) = report.findings.iter_mut().find(there) else { return };
    if answers() {
        return;
    }
    let pid = coordinator.what.rsplit(' ').next().unwrap_or_default().to_owned();
    coordinator.state = Health::Problem;
    coordinator.what =
        format!("process {pid} is running but has not answered for {} s", ANSWER_WITHIN.as_secs());
    // A run that somebody starts beside the next one is refused.
    let next = match is_watched() {
        true => "the `swarm run` that watches it starts the next one, which takes them over",
        false => "then `swarm run` takes them over",
    };
    coordinator.fix = Some(format!("kill -9 {pid} ends it without loss, and agents continue; {next}"));
    report.problems += 1;
}

fn text(report: &DoctorView, verbose: bool, fixing: bool, colour: bool) -> String {
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

fn verdict(report: &DoctorView, fixing: bool) -> String {
    let curable =
        |one: &&Finding| one.fix.as_deref() == Some("swarm doctor --fix") && one.state == Health::Problem;
    let curable = report.findings.iter().filter(curable).count();
    let looked = report.findings.len();
    let fixed = match report.fixed {
        0 => String::new(),
        1 => "1 problem was fixed. ".into(),
        n => format!("{n} problems were fixed. "),
    };
    let rest = match report.problems {
        0 => format!("No problems found ({looked} checks)."),
        1 if fixing => "1 problem is left.".into(),
        n if fixing => format!("{n} problems are left."),
        n => {
            let problems = if n == 1 { "1 problem".to_owned() } else { format!("{n} problems") };
            match curable {
                0 => format!("{problems}."),
                m if m == n => format!("{problems}; `swarm doctor --fix` fixes it."),
                m => format!("{problems}; `swarm doctor --fix` fixes {m} of them."),
            }
        }
    };
    fixed + &rest
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use swarm_engine::doctor::CHECKS;

    use crate::commands::printed::compare_or_write;

    #[test]
    fn printed_doctor() {
        let mut page = String::from(
            "# Checks of swarm doctor\n\n<!-- Printed by a test: run `cargo xtask gen`. -->\n\n\
             `swarm doctor` runs the checks below and changes nothing; `swarm doctor --fix` repairs what can be repaired\n\
             without losing anything. Exit code 0 if all is well, 1 if a problem remains. While a coordinator runs, only what\n\
             cannot disturb it is repaired (permissions, overdue trash, locks of a dead git).\n\n\
             Nothing that may be work is ever deleted: uncommitted files go to a ref, folders and half-written files to\n\
             `.swarm/trash`, cut records to a quarantine file, edited projections beside the new ones.\n\n\
             | id | checks | `--fix` |\n|---|---|---|\n",
        );
        for check in CHECKS {
            let _ = writeln!(
                page,
                "| `{}` | {} | {} |",
                check.id,
                check.title,
                check.cure.unwrap_or("reports what to do")
            );
        }
        compare_or_write("doctor.md", &page);
    }

    #[test]
    fn a_coordinator_that_lives_and_does_not_answer_is_a_problem_with_a_way_out() {
        let one = |what: &str| DoctorView {
            findings: vec![Finding {
                id: "coordinator".into(),
                title: "coordinator".into(),
                state: Health::Ok,
                what: what.into(),
                subject: String::new(),
                fix: None,
                fixed: false,
            }],
            problems: 0,
            fixed: 0,
        };
        let mut report = one("running as process 4711");
        hear(&mut report, || true, || panic!("nothing is to be done"));
        assert_eq!(report.problems, 0);
        hear(&mut report, || false, || false);
        assert_eq!(report.problems, 1);
        assert!(
            report.findings[0].what.starts_with("process 4711 is running but has not answered"),
            "{:?}",
            report.findings
        );
        let way_out = |report: &DoctorView| report.findings[0].fix.clone().unwrap_or_default();
        let fix = way_out(&report);
        assert!(fix.starts_with("kill -9 4711"), "{fix}");
        assert!(fix.ends_with("; then `swarm run` takes them over"), "{fix}");
        // Where somebody watches it a person has nothing to start.
        let mut report = one("running as process 4711");
        hear(&mut report, || false, || true);
        assert!(way_out(&report).contains("that watches it starts the next one"));
        // Nobody is there to be asked.
        hear(&mut one(NOBODY), || panic!("nobody is asked"), || panic!("nobody is asked"));
    }
}
