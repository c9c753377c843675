//! The agent programs: a missing one is a problem only where it is to be used.

use super::finding::Found;
use super::patient::Patient;
use crate::coordinator::Outfit;
use swarm_agents::{AgentProgram, AgentSetup, KNOWN, LoggedIn, ProgramReport, Surroundings, probe};

pub(super) async fn inspect(patient: &Patient) -> Vec<Found> {
    let around = Surroundings::of_this_process();
    let mut found = Vec::new();
    let mut used = Vec::new();
    for name in profiles(patient) {
        match Outfit::of(&patient.config, &name) {
            Ok(outfit) => {
                used.push(outfit.setup.program);
                found.push(in_use(&name, &outfit.setup, &probe(&outfit.setup, &around).await));
            }
            Err(error) => {
                let problem = Found::problem("agent", error.to_string()).about(name);
                found.push(problem.by_hand("fix `agent` or `profiles` in the configuration"));
            }
        }
    }
    for program in KNOWN.into_iter().filter(|program| !used.contains(program)) {
        found.push(idle(&probe(&AgentSetup::of(program), &around).await));
    }
    found
}

/// The one that the next run takes, every profile, and those that tasks name.
fn profiles(patient: &Patient) -> Vec<String> {
    let (config, policy) = (&patient.config, &patient.state.policy);
    let chosen = policy.profile_chosen && Outfit::of(config, &policy.profile).is_ok();
    let taken = if chosen { policy.profile.clone() } else { config.agent.clone() };
    let mut names: Vec<String> = std::iter::once(taken).chain(config.profiles.keys().cloned()).collect();
    names.sort();
    names.dedup();
    names
}

fn in_use(name: &str, setup: &AgentSetup, report: &ProgramReport) -> Found {
    let words = describe(report);
    let hint = report.hint.clone().unwrap_or_else(|| "swarm run --agent NAME".into());
    if setup.program == AgentProgram::Script {
        return Found::ok("agent", "script is built in").about(name);
    }
    if report.found.is_none() {
        return Found::problem("agent", words).about(name).by_hand(hint);
    }
    match report.logged_in {
        // Not every way of logging in leaves something to be seen, so this is no more than a hint.
        LoggedIn::No => Found::note("agent", words).about(name).by_hand(hint),
        _ => Found::ok("agent", words).about(name),
    }
}

fn idle(report: &ProgramReport) -> Found {
    Found::ok("agent", format!("{}; not used here", describe(report))).about(report.program.name())
}

fn describe(report: &ProgramReport) -> String {
    let name = report.program.name();
    if report.found.is_none() {
        return format!("{name} is not installed or not in PATH");
    }
    let version = report.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
    let login = match &report.logged_in {
        LoggedIn::Yes { by } => format!("logged in ({by})"),
        LoggedIn::No => "no log-in is seen".into(),
        LoggedIn::Unknown { why } => format!("cannot tell whether it is logged in: {why}"),
    };
    format!("{name}{version}, {login}")
}
