//! The agent programs: a missing one is a problem only where it is to be used.

use std::path::PathBuf;

use super::finding::{Finding, Found};
use super::patient::Patient;

/// Programs that have an adapter and are looked for on PATH.
const PROGRAMS: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

pub(super) fn look(patient: &Patient) -> Vec<Found> {
    let used = used(patient);
    let mut found: Vec<Found> = used.iter().map(|(name, program)| one_in_use(name, program)).collect();
    let idle = PROGRAMS.iter().filter(|program| used.iter().all(|(_, used)| used != *program));
    found.extend(idle.map(|program| match on_path(program) {
        Some(_) => Finding::ok("agent", format!("{program} is installed")).about(*program),
        None => Finding::ok("agent", format!("{program} is not installed, and not used")).about(*program),
    }));
    found
}

/// Profile and program of the configured agent and of every profile.
fn used(patient: &Patient) -> Vec<(String, String)> {
    let config = &patient.config;
    let mut names: Vec<&String> = config.profiles.keys().collect();
    if !names.contains(&&config.agent) {
        names.push(&config.agent);
    }
    let program = |name: &str| match config.profiles.get(name) {
        Some(profile) if !profile.command.is_empty() => profile.command[0].clone(),
        Some(profile) if !profile.program.is_empty() => profile.program.clone(),
        _ => name.to_owned(),
    };
    names.into_iter().map(|name| (name.clone(), program(name))).collect()
}

fn one_in_use(name: &str, program: &str) -> Found {
    let as_what = if name == program { String::new() } else { format!(" (profile {name})") };
    if program == "script" {
        return Finding::ok("agent", format!("script is built in{as_what}")).about(name);
    }
    match on_path(program) {
        Some(_) => Finding::ok("agent", format!("{program} is installed{as_what}")).about(name),
        None => Finding::problem("agent", format!("{program} is not on PATH{as_what}"))
            .about(name)
            .by_hand(format!("install {program}, or choose another with `swarm run --agent NAME`")),
    }
}

fn on_path(program: &str) -> Option<PathBuf> {
    use rustix::fs::{Access, access};
    let runs = |path: &PathBuf| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(runs);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(runs)
}
