//! `cargo xtask gen`: writes the parts of `docs/` that come out of the code.
//!
//! A test named `printed_…` makes such a text and compares it with the file; with `SWARM_GEN=1` it writes
//! the file instead. So the documents cannot fall behind: the test that would update them is the test
//! that fails.

use anyhow::{Result, bail};

use crate::stream;
use crate::workspace::Workspace;

/// What these tests have in their names.
pub const PRINTED: &str = "printed_";

/// With this variable they write instead of comparing.
const WRITE_VARIABLE: &str = "SWARM_GEN";

#[derive(clap::Args)]
pub struct Arguments {
    /// Only compare; fail when a document is not what the code prints
    #[arg(long)]
    pub check: bool,
}

pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let kinds = ["--lib", "--bins", "--tests"];
    let mut command = workspace.cargo(["test", "--workspace", "--locked", "--quiet", "--no-fail-fast"]);
    command.args(kinds).args([PRINTED, "--", "--format=pretty"]);
    command.env("INSTA_UPDATE", "no");
    match arguments.check {
        true => command.env_remove(WRITE_VARIABLE),
        false => command.env(WRITE_VARIABLE, "1"),
    };
    let mut printed = 0;
    let status = stream::run(command, |line| {
        stream::show_unless_empty(line);
        printed += usize::from(is_a_printed_test(line));
    })?;
    if !status.success() && arguments.check {
        bail!("A document is not what the code prints. Run `cargo xtask gen` and look at `git diff docs`");
    }
    if !status.success() {
        bail!("A test that prints a document failed");
    }
    if printed == 0 {
        bail!("No test named {PRINTED}… was found, so no document was compared");
    }
    eprintln!(
        "gen: {printed} documents {}",
        if arguments.check { "are as the code prints them" } else { "written" }
    );
    Ok(())
}

pub fn is_a_printed_test(line: &str) -> bool {
    line.strip_prefix("test ").is_some_and(|rest| rest.contains(PRINTED) && rest.contains(" ... "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_print_are_counted_and_nothing_else() {
        assert!(is_a_printed_test("test docs::printed_cli_reference ... ok"));
        assert!(is_a_printed_test("test printed_lifecycle ... FAILED"));
        assert!(!is_a_printed_test("test result: ok. 1 passed; 0 failed; 0 ignored"));
        assert!(!is_a_printed_test("running 0 tests"));
    }
}
