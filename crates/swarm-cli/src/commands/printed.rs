//! Pages under `docs/reference/` that tests print: compared, or written anew with `SWARM_GEN=1`.

use std::fmt::Write;
use std::path::Path;

use clap::CommandFactory;

use crate::cli::Cli;

/// Compares a page with the file, or writes it.
pub fn compare_or_write(name: &str, page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("SWARM_GEN").is_some() {
        std::fs::write(&path, page).expect("docs/ can be written");
        return;
    }
    let file = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(file == page, "docs/reference/{name} is not what the code prints: run `cargo xtask gen`");
}

#[test]
fn printed_cli() {
    let mut page = String::from(
        "# Commands\n\n<!-- Printed by a test: run `cargo xtask gen`. -->\n\n\
         Every command has `--json` (data, answers and errors as JSON on stdout) and `-C DIR` (the repository to work on).\n\
         Exit codes are on [a page of their own](exit-codes.md).\n",
    );
    let mut root = Cli::command().term_width(100);
    root.build();
    describe(&root, &mut page);
    compare_or_write("cli.md", &page);
}

fn describe(command: &clap::Command, page: &mut String) {
    if command.is_hide_set() || command.get_name() == "help" {
        return;
    }
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let mut command = command.clone().disable_version_flag(true);
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n## `{name}`\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
    let inner: Vec<clap::Command> = command.get_subcommands().cloned().collect();
    for subcommand in &inner {
        describe(subcommand, page);
    }
}
