//! Only `swarm-process` starts programs, and only `swarm-git` runs git.
//!
//! Every child must be findable and endable, and our git must never read what an agent has planted.
//! One caller each is how both stay true.

use super::{Findings, Sources, shipped_files};
use crate::source::{Keep, blanked, lines_with_word};

/// The binary starts an editor, a pager and itself, in the person's own terminal.
const MAY_NOT_SPAWN: &[&str] = &[
    "swarm-protocol",
    "swarm-core",
    "swarm-ledger",
    "swarm-git",
    "swarm-agents",
    "swarm-work",
    "swarm-engine",
    "swarm-server",
    "swarm-web",
];

const MAY_NOT_RUN_GIT: &[&str] =
    &["swarm-process", "swarm-agents", "swarm-work", "swarm-engine", "swarm-server", "swarm-cli"];

const SPAWNS: &[&str] = &["Command::new", "posix_spawn", "execve", "fork("];

pub fn check(sources: &Sources) -> Findings {
    let mut findings = Findings::default();
    for crate_name in MAY_NOT_SPAWN {
        for (path, text) in shipped_files(sources, crate_name) {
            for line in spawning_lines(text) {
                findings.fail(format!("{path}:{line}: only swarm-process starts programs"));
            }
        }
    }
    for crate_name in MAY_NOT_RUN_GIT {
        for (path, text) in shipped_files(sources, crate_name) {
            for line in lines_naming_git(text, "new(\"git\"") {
                findings.fail(format!("{path}:{line}: only swarm-git runs git"));
            }
        }
    }
    findings
}

fn spawning_lines(text: &str) -> Vec<usize> {
    let code = blanked(text, Keep::CodeOnly);
    SPAWNS.iter().flat_map(|word| lines_with_word(&code, word)).collect()
}

fn lines_naming_git(text: &str, pattern: &str) -> Vec<usize> {
    lines_with_word(&blanked(text, Keep::Strings), pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures(path: &str, text: &str) -> Vec<String> {
        check(&Sources::from([(path.into(), text.into())])).failures
    }

    #[test]
    fn a_second_place_that_spawns_is_found() {
        let spawn = "fn f() { std::process::Command::new(program); }";
        assert_eq!(failures("crates/swarm-process/src/run.rs", spawn), [""; 0]);
        assert_eq!(failures("crates/swarm-cli/src/commands/plan/edit.rs", spawn), [""; 0]);
        for elsewhere in ["swarm-git/src/call.rs", "swarm-work/src/check.rs", "swarm-server/src/http.rs"] {
            assert!(failures(&format!("crates/{elsewhere}"), spawn)[0].contains("only swarm-process"));
        }
    }

    #[test]
    fn a_second_place_that_runs_git_is_found() {
        let git = "fn f() { Call::new(\"git\").args([\"status\"]); }";
        assert_eq!(failures("crates/swarm-git/src/merge.rs", git), [""; 0]);
        assert!(failures("crates/swarm-work/src/merge.rs", git)[0].contains("only swarm-git"));
        assert_eq!(failures("crates/swarm-work/src/hint.rs", "hint.replace(\"git\", x)"), [""; 0]);
        let spawned = "fn f() { Command::new(\"git\"); }";
        assert!(failures("crates/swarm-cli/src/commands/init.rs", spawned)[0].contains("runs git"));
    }
}
