//! What the exit codes mean. Scripts rely on them; they do not change.

use std::process::ExitCode;

/// How the program ended, as a number for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    Refused,
    Usage,
    Environment,
    NoCoordinator,
    Bug,
}

impl Exit {
    /// All of them, for the printed page.
    #[cfg(test)]
    pub const ALL: [Self; 6] =
        [Self::Done, Self::Refused, Self::Usage, Self::Environment, Self::NoCoordinator, Self::Bug];

    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Refused => 1,
            Self::Usage => 2,
            Self::Environment => 3,
            Self::NoCoordinator => 4,
            Self::Bug => 70,
        }
    }

    /// One word, and what a script may do about it.
    #[cfg(test)]
    pub fn meaning(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Done => ("done", "Done, and on disk.", "Nothing."),
            Self::Refused => (
                "refused",
                "The request is not possible now. Nothing was changed.",
                "The hint is a command that would be accepted.",
            ),
            Self::Usage => (
                "usage",
                "The command line cannot be understood. Nothing was changed.",
                "`swarm help COMMAND` shows what is possible.",
            ),
            Self::Environment => (
                "environment",
                "Something in the environment is wrong: no git repository, an invalid configuration, a full disk, a \
                    damaged ledger.",
                "The hint says what to fix. Trying again is safe.",
            ),
            Self::NoCoordinator => (
                "no coordinator",
                "The command needs a running swarm, and none is running or it does not answer.",
                "Start one with `swarm run`.",
            ),
            Self::Bug => (
                "bug",
                "A bug in Swarm. Everything acknowledged before is safe.",
                "The message says what to send.",
            ),
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::printed::compare_or_write;

    #[test]
    fn printed_exit_codes() {
        let mut page = String::from(
            "# Exit codes\n\n<!-- Printed by a test: run `cargo xtask gen`. -->\n\n\
             Every command of `swarm` ends with one of these. With `--json` an error is also one JSON object on\n\
             stdout, `{\"error\":{\"kind\",\"exit\",\"message\",\"causes\",\"hint\"}}`; the code is the same.\n\
             Where a part was done all the same, the object has that in `done`.\n\n\
             | code | word | what happened | what to do |\n|---|---|---|---|\n",
        );
        for exit in Exit::ALL {
            let (word, what, then) = exit.meaning();
            page.push_str(&format!("| {} | {word} | {what} | {then} |\n", exit.code()));
        }
        page.push_str(
            "\n`swarm plan verify` tells two kinds of trouble apart: 3 when the ledger itself is damaged or incomplete,\n\
             1 when only something derived from it (a projection, the second copy, the anchor) is not as it\n\
             should be, which `swarm plan rebuild` puts right.\n",
        );
        compare_or_write("exit-codes.md", &page);
    }
}
