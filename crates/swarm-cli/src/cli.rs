//! What can be typed: the options every command has, and the tree of commands.

use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use tracing::{info, info_span};

use crate::commands::{self, Command};
use crate::context::{Context, FrontEnd, Global};
use crate::error::CliError;
use crate::exit::Exit;
use crate::log;
use crate::output::{self, Output};
use crate::purposes;

/// Run coding agents in parallel on one git repository, and never lose work
///
/// Every decision is a line in a durable ledger, every task has its own worktree, and finished work is checked, merged
/// outside your checkout, verified there, and only then counts as done.
#[derive(Debug, Parser)]
#[command(
    name = "swarm",
    version,
    propagate_version = true,
    disable_help_subcommand = false,
    max_term_width = 80,
    after_help = "Guides: `swarm help topics`\nShort: `swarm ls`, `swarm diff TASK`, `swarm log TASK`"
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
    /// The words of the command, without what was given to it: for the log.
    #[arg(skip)]
    pub words: String,
}

/// Reads the command line; help, version and mistakes are printed here.
pub fn parse() -> Result<Cli, ExitCode> {
    let parsed = Cli::command().try_get_matches().and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut Cli::command()))?;
        Ok(Cli { words: words_of(&matches), ..cli })
    });
    parsed.map_err(|error| {
        let error = match error.kind() {
            // It is rendered where it is made; now it is known to be wanted.
            ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                purposes::grouped(joined(Cli::command())).try_get_matches().err().unwrap_or(error)
            }
            _ => error,
        };
        let wants_json = std::env::args_os().any(|arg| arg == "--json");
        if error.use_stderr() && wants_json {
            return output::report(&usage_error(&error), true);
        }
        output::command_line(&error);
        if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() }
    })
}

/// The same tree, in whose texts commands between backticks are not broken when lines are.
fn joined(command: clap::Command) -> clap::Command {
    let text = |text: Option<&StyledStr>| text.map(|text| output::layout::joined(&text.to_string()));
    let (about, long) = (text(command.get_about()), text(command.get_long_about()));
    let command = command.mut_args(|arg| {
        let (help, long) = (text(arg.get_help()), text(arg.get_long_help()));
        let arg = match help {
            Some(help) => arg.help(help),
            None => arg,
        };
        match long {
            Some(long) => arg.long_help(long),
            None => arg,
        }
    });
    let command = match about {
        Some(about) => command.about(about),
        None => command,
    };
    let command = match long {
        Some(long) => command.long_about(long),
        None => command,
    };
    command.mut_subcommands(joined)
}

fn words_of(matches: &ArgMatches) -> String {
    let subcommands = std::iter::successors(matches.subcommand(), |(_, inner)| inner.subcommand());
    subcommands.map(|(word, _)| word).collect::<Vec<_>>().join(" ")
}

/// What clap has to say, without its layout.
fn usage_error(error: &clap::Error) -> CliError {
    let text = error.render().to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return CliError::usage("A subcommand is missing").say(format!("Run `{} --help`", helped(&lines)));
    }
    let hint = lines.iter().find_map(|line| line.strip_prefix("tip: "));
    let hint = hint.map_or_else(|| format!("Run `{} --help`", helped(&lines)), str::to_owned);
    let message = lines.first().copied().unwrap_or("The command line cannot be understood");
    let message = message.trim_start_matches("error: ");
    // Below it stand the names that it is about, or the values that are possible.
    let is_said =
        |line: &&str| !["tip: ", "Usage: ", "For more information"].iter().any(|end| line.starts_with(end));
    let below = lines.iter().skip(1).copied().take_while(is_said).collect::<Vec<_>>().join(", ");
    let error = if below.is_empty() {
        CliError::usage(message)
    } else if message.ends_with(':') {
        CliError::usage(format!("{message} {below}"))
    } else {
        CliError::usage(message).because(below.trim_matches(['[', ']']))
    };
    error.say(hint)
}

/// The command whose help this is.
fn helped(help: &[&str]) -> String {
    let usage = help.iter().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or("swarm");
    usage
        .split_whitespace()
        .take_while(|word| !word.starts_with(['[', '<', '-']))
        .collect::<Vec<_>>()
        .join(" ")
}

impl Cli {
    /// Carries the command out and prints what went wrong.
    pub fn run(self) -> ExitCode {
        let Global { repo, json, verbose, from, seen } = self.global;
        let by = match from {
            None => "person:cli",
            Some(FrontEnd::Tui) => "person:tui",
        };
        let mut command = self.command;
        command.look_at_terminal(json || verbose > 0);
        if let Some((part, verbose)) = command.logs(verbose) {
            log::start(&part, verbose);
        }
        let context = Context { repo, out: Output::new(json), verbose, by, seen };
        let code = {
            let _span = info_span!("command", words = self.words, pid = std::process::id()).entered();
            info!(version = env!("CARGO_PKG_VERSION"), "begins");
            let code = match commands::run(command, &context) {
                Ok(code) => code,
                Err(error) => {
                    let error = crate::swarm::after_a_close(error, &context).helped_by(&self.words);
                    info!(kind = error.kind, exit = error.exit.code(), %error, "failed");
                    output::report(&error, json)
                }
            };
            info!(?code, "ends");
            code
        };
        log::flush();
        code
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Hint;

    #[test]
    fn the_tree_of_commands_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_says_what_it_does_in_an_imperative_without_a_full_stop() {
        fn check(command: &clap::Command) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(!about.is_empty() && !about.ends_with('.'), "{}: {about:?}", command.get_name());
            assert!(about.starts_with(char::is_uppercase), "{}: {about:?}", command.get_name());
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }

    fn mistaken(words: &[&str]) -> CliError {
        usage_error(&Cli::command().try_get_matches_from(words).expect_err("a mistake"))
    }

    #[test]
    fn as_json_a_mistake_names_what_is_missing_and_what_is_possible() {
        let missing = mistaken(&["swarm", "--json", "review", "approve"]);
        assert!(missing.message.ends_with("not provided: <TASK>"), "{missing}");
        assert_eq!(missing.hint, Some(Hint::Say("Run `swarm review approve --help`".into())));
        let value = mistaken(&["swarm", "--json", "mode", "fast"]);
        assert!(value.causes.iter().any(|cause| cause.contains("semi-auto, autopilot")), "{value}");
        assert!(value.causes.iter().all(|cause| !cause.contains("Usage")), "{value}");
        let group = mistaken(&["swarm", "--json", "task"]);
        assert!(!group.message.contains("Manage tasks"), "the help is no error: {group}");
    }
}
