//! An agent takes away the right to read from its own files: an ordinary user's swarm reads them all the same, and nothing
//! is left out.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::json;

use super::hurried;
use crate::arena::{Arena, Running};

/// The user who owns nothing.
const NOBODY: &str = "65534";

/// The command as an ordinary user gives it: rights mean nothing to root.
fn as_ordinary_user(arena: &Arena, args: &[&str]) -> Command {
    let given = arena.command(args);
    if !rustix::process::geteuid().is_root() {
        return given;
    }
    // Where the binary was built may be closed to others.
    let binary = arena.path("swarm");
    std::fs::copy(given.get_program(), &binary).expect("a copy");
    std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).expect("ours");
    give_all_to(arena, NOBODY);
    let mut command = Command::new("setpriv");
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"]).arg(binary);
    command.args(given.get_args()).current_dir(&arena.root);
    for (name, value) in given.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        command.env(name, value);
    }
    command
}

fn give_all_to(arena: &Arena, user: &str) {
    let given = Command::new("chown").args(["-R", &format!("{user}:{user}")]).arg(arena.path("")).status();
    assert!(given.is_ok_and(|status| status.success()), "root may give files away");
}

#[test]
fn what_an_agent_locked_is_committed_like_everything_else() {
    let arena = hurried(json!({}));
    let script = "write d/deep/in.txt in\nwrite s.txt s\nwrite README.md changed\n\
                  sh chmod 0 d/deep/in.txt d/deep d s.txt README.md\ncomplete";
    arena.plan(&[("1.1", &[], script.to_owned())]);
    let run = as_ordinary_user(&arena, &["run", "--agent", "script", "--mode", "autopilot"]);
    let (code, said) = Running::of(run).end();
    assert_eq!(code, 0, "{said}");
    if rustix::process::geteuid().is_root() {
        // Git reads no repository of somebody else's.
        give_all_to(&arena, "0");
    }
    for (file, text) in [("d/deep/in.txt", "in"), ("s.txt", "s"), ("README.md", "changed")] {
        assert_eq!(arena.git(&["show", &format!("main:{file}")]).trim(), text, "{said}");
    }
    arena.assert_all_done();
}
