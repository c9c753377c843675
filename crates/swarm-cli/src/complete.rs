//! What a shell offers when Tab is pressed. The script of `swarm completions` calls this binary with a variable set;
//! candidates are found by the same tree of commands that is parsed, and ids by what an argument is called there.

mod ids;
mod place;

use std::io;
use std::process::ExitCode;

use clap::{Arg, CommandFactory};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{Bash, EnvCompleter, Fish, Zsh};

use crate::cli::Cli;
use ids::Kind;

/// Set by the script, to the name of the shell.
const VARIABLE: &str = "SWARM_COMPLETE";
/// By its name, not its path: the script outlives a binary that is moved by an update.
const BINARY: &str = "swarm";

/// Shells whose scripts can be printed.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// The script that a shell reads at its start.
pub fn script(shell: Shell) -> io::Result<String> {
    let completer: &dyn EnvCompleter = match shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
    };
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, BINARY, BINARY, BINARY, &mut script)?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// Answers the script, if it is the script that asks. Whatever goes wrong, a person who pressed Tab gets no error
/// into the line that they are typing.
pub fn answer() -> Option<ExitCode> {
    std::env::var_os(VARIABLE).filter(|shell| !shell.is_empty())?;
    let here = std::env::current_dir().ok();
    let completed = CompleteEnv::with_factory(tree)
        .var(VARIABLE)
        .bin(BINARY)
        .completer(BINARY)
        .try_complete(std::env::args_os(), here.as_deref());
    Some(if completed.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The tree of commands with the ids that can stand in each place.
fn tree() -> clap::Command {
    with_ids(Cli::command(), "")
}

fn with_ids(command: clap::Command, path: &str) -> clap::Command {
    let path = format!("{path} {}", command.get_name());
    let inner = path.clone();
    command
        .mut_args(|arg| match kinds(&path, &arg) {
            [] => arg,
            kinds => arg.add(ArgValueCompleter::new(move |typed: &std::ffi::OsStr| offered(kinds, typed))),
        })
        .mut_subcommands(|command| with_ids(command, &inner))
}

/// What can stand in an argument, by the name it has in the help.
fn kinds(path: &str, arg: &Arg) -> &'static [Kind] {
    let name = arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    let new = arg.get_long() == Some("id");
    match name {
        "TASK" | "OTHER" if new => &[],
        "TASK" | "OTHER" | "TASK,…" | "TASK|NAME" => &[Kind::Task],
        "AGENT" => &[Kind::Agent],
        "WHO" => &[Kind::Agent, Kind::Task, Kind::Run],
        "N" if arg.get_id() == "phase" => &[Kind::Phase],
        "NAME" | "PROFILE" if arg.get_long() == Some("profile") => &[Kind::Profile],
        "PROFILE" => &[Kind::Profile],
        "GROUP" => &[Kind::Group],
        "CHECKPOINT" => &[Kind::Checkpoint],
        "OPERATION" => &[Kind::Operation],
        "HOOK" => &[Kind::Hook],
        "NAME" if path.ends_with(" checkpoint create") => &[],
        "NAME" if path.contains(" checkpoint ") || path.ends_with(" rollback") => &[Kind::Checkpoint],
        _ => &[],
    }
}

/// Candidates that begin with what is typed; in a list with commas only its last part is looked at.
fn offered(kinds: &[Kind], typed: &std::ffi::OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return vec![] };
    let (before, last) = typed.rsplit_once(',').map_or(("", typed), |(before, last)| (before, last));
    let before = if before.is_empty() { String::new() } else { format!("{before},") };
    let found = ids::of_here(kinds);
    let fitting = found.into_iter().filter(|id| id.text.starts_with(last));
    fitting
        .map(|id| {
            let help = (!id.about.is_empty()).then(|| crate::output::harmless(&id.about).into());
            CompletionCandidate::new(format!("{before}{}", id.text)).help(help)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(command: &clap::Command, path: &str, all: &mut Vec<String>) {
        let path = format!("{path} {}", command.get_name());
        for arg in command.get_arguments().filter(|arg| !kinds(&path, arg).is_empty()) {
            all.push(format!("{} {}: {:?}", path.trim(), arg.get_id(), kinds(&path, arg)));
        }
        command.get_subcommands().for_each(|inner| places(inner, &path, all));
    }

    #[test]
    fn ids_are_offered_wherever_an_id_is_wanted() {
        let mut all = vec![];
        places(&Cli::command(), "", &mut all);
        for wanted in [
            "swarm task show id: [Task]",
            "swarm task start tasks: [Task]",
            "swarm task add depends: [Task]",
            "swarm task add profile: [Profile]",
            "swarm task list phase: [Phase]",
            "swarm phase complete phase: [Phase]",
            "swarm agent logs who: [Agent, Task, Run]",
            "swarm agent revive who: [Agent, Task, Run]",
            "swarm agent stop who: [Agent, Task, Run]",
            "swarm run agent: [Profile]",
            "swarm worktree cleanup tasks: [Task]",
            "swarm checkpoint show name: [Checkpoint]",
            "swarm rollback name: [Checkpoint]",
            "swarm undo operation: [Operation]",
            "swarm hooks run hook: [Hook]",
        ] {
            assert!(all.iter().any(|place| place == wanted), "{wanted} is not among\n{}", all.join("\n"));
        }
        // A new task's id is not one that is there.
        assert!(!all.iter().any(|place| place.starts_with("swarm task add id")));
    }

    #[test]
    fn the_tree_with_ids_is_sound() {
        tree().debug_assert();
    }
}
