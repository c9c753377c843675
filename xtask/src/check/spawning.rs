//! Only `process.rs` of the engine starts programs, and only `git.rs` runs git.
//!
//! Every child must be findable and endable, and our git must never read what an agent has planted.
//! One caller each is how both stay true.

use super::{Findings, Sources, shipped_files};
use crate::source::{Keep, blanked, lines_with_word};

const SPAWNS: &[&str] = &["Command::new", "posix_spawn", "execve", "fork("];

pub fn check(sources: &Sources) -> Findings {
    let mut findings = Findings::default();
    for crate_name in ["swarm-protocol", "swarm-core", "swarm-ledger", "swarm-server"] {
        for (path, text) in shipped_files(sources, crate_name) {
            for line in spawning_lines(text) {
                findings.fail(format!("{path}:{line}: only swarm-engine starts programs"));
            }
        }
    }
    for (path, text) in shipped_files(sources, "swarm-engine") {
        if !belongs_to(path, "process") {
            for line in spawning_lines(text) {
                findings.fail(format!("{path}:{line}: only process.rs starts programs"));
            }
        }
        if !belongs_to(path, "git") {
            for line in lines_naming_git(text, "new(\"git\"") {
                findings.fail(format!("{path}:{line}: only git.rs runs git"));
            }
        }
    }
    for (path, text) in shipped_files(sources, "swarm-cli") {
        for line in lines_naming_git(text, "Command::new(\"git\")") {
            findings.fail(format!("{path}:{line}: only git.rs of swarm-engine runs git"));
        }
    }
    findings
}

/// `git.rs`, or any file in a folder `git`.
fn belongs_to(path: &str, module: &str) -> bool {
    let inside = path.split_once("/src/").map_or(path, |(_, inside)| inside);
    inside.split('/').any(|part| part.strip_suffix(".rs").unwrap_or(part) == module)
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
        assert_eq!(failures("crates/swarm-engine/src/process.rs", spawn), [""; 0]);
        assert_eq!(failures("crates/swarm-engine/src/process/spawn.rs", spawn), [""; 0]);
        assert_eq!(failures("crates/swarm-cli/src/commands/plan/edit.rs", spawn), [""; 0]);
        assert!(failures("crates/swarm-engine/src/hands/check.rs", spawn)[0].contains("process.rs"));
        assert!(failures("crates/swarm-server/src/http.rs", spawn)[0].contains("swarm-engine"));
    }

    #[test]
    fn a_second_place_that_runs_git_is_found() {
        let git = "fn f() { Call::new(\"git\").args([\"status\"]); }";
        assert_eq!(failures("crates/swarm-engine/src/git.rs", git), [""; 0]);
        assert_eq!(failures("crates/swarm-engine/src/git/merge.rs", git), [""; 0]);
        assert!(failures("crates/swarm-engine/src/hands/merge.rs", git)[0].contains("git.rs"));
        assert_eq!(failures("crates/swarm-engine/src/hands/hint.rs", "hint.replace(\"git\", x)"), [""; 0]);
        let spawned = "fn f() { Command::new(\"git\"); }";
        assert!(failures("crates/swarm-cli/src/commands/init.rs", spawned)[0].contains("runs git"));
    }
}
