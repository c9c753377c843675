//! The commands by what a person wants to do, for `swarm --help`.

use clap::Command;

use crate::output::layout;

/// Each command once, those that are wanted first at the top.
const PURPOSES: &[(&str, &[&str])] = &[
    ("Start", &["demo", "init", "plan", "task", "phase", "run", "trust"]),
    (
        "Watch",
        &[
            "status",
            "tui",
            "web",
            "attention",
            "cost",
            "budget",
            "quota",
            "handoff",
            "metrics",
            "trace",
            "debug",
        ],
    ),
    (
        "Steer",
        &[
            "pause",
            "resume",
            "stop",
            "mode",
            "agent",
            "review",
            "reservations",
            "worktree",
            "hooks",
            "config",
            "close",
        ],
    ),
    ("Take back", &["undo", "redo", "op", "checkpoint", "rollback", "restore", "abort"]),
    ("Repair and set up", &["doctor", "mcp", "completions", "man", "help"]),
];

/// The command with its own commands in groups.
pub fn grouped(command: Command) -> Command {
    let about = |name: &&str| {
        let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
        let about = about.unwrap_or_else(|| "Explain a command; guides with `swarm help topics`".into());
        layout::fit(&format!("  {name:<14}{}", layout::parted(&about)), Some(layout::PAGE)) + "\n"
    };
    let group = |(purpose, names): &(&str, &[&str])| {
        format!(" {purpose}\n{}", names.iter().map(about).collect::<String>())
    };
    let groups: String = PURPOSES.iter().map(group).collect();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\nCommands:\n{groups}\nOptions:\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_command_has_one_purpose() {
        let mut listed: Vec<&str> = PURPOSES.iter().flat_map(|(_, names)| *names).copied().collect();
        listed.sort_unstable();
        let command = crate::cli::Cli::command();
        let shown = command.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name);
        let mut there: Vec<&str> = shown.chain(["help"]).collect();
        there.sort_unstable();
        assert_eq!(listed, there);
    }

    #[test]
    fn help_names_the_purposes_and_fits_a_page() {
        let mut command = grouped(crate::cli::Cli::command());
        let help = command.render_long_help().to_string();
        for (purpose, _) in PURPOSES {
            assert!(help.contains(&format!("\n {purpose}\n")), "{help}");
        }
        assert!(help.contains("--json") && help.contains("Short: "), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= layout::PAGE), "{help}");
    }
}
