//! How an ACP agent is started: as its profile says. Known programs get what they need around them.

use std::path::{Path, PathBuf};

use super::super::invocation::{Invocation, Launch, Stdin, Surroundings};
use super::super::{AgentProgram, AgentSetup, claude, codex, gemini, opencode};
use super::Opening;

pub fn invocation(setup: &AgentSetup, launch: &Launch<'_>, around: &Surroundings) -> (Invocation, Opening) {
    let mut argv = setup.command.clone();
    if kin(setup) == Some(AgentProgram::Codex) {
        argv.extend(codex::settings(setup));
    }
    // Its log tells that it asks its service again; nothing else does.
    if kin(setup) == Some(AgentProgram::Opencode) && !says(setup, "--print-logs") {
        argv.extend(["--print-logs", "--log-level", "INFO"].map(str::to_owned));
    }
    argv.extend(setup.args.iter().cloned());
    let mut invocation = Invocation::new(argv, Stdin::Talk);
    // Of the tools it is told when its session begins.
    let untold = Launch { tools: None, ..*launch };
    match kin(setup) {
        Some(AgentProgram::Gemini) => invocation = gemini::quiet(invocation, &untold, around),
        Some(AgentProgram::Opencode) => invocation = opencode::quiet(invocation, &untold),
        Some(AgentProgram::Claude) => {
            let known = claude::invocation(&AgentSetup::of(AgentProgram::Claude), &untold, around);
            invocation.env.extend(known.env);
        }
        _ => {}
    }
    // Gemini says that a session is loaded before it has told its past again, and nothing tells that from what is new: a
    // signal or a verdict of then would count for now. It begins afresh.
    let session = launch.session.filter(|_| kin(setup) != Some(AgentProgram::Gemini));
    let opening = Opening {
        worktree: launch.worktree.to_string_lossy().into_owned(),
        prompt: launch.prompt.to_owned(),
        session: session.map(str::to_owned),
        tools: launch.tool_server().map(|tools| (tools.program(), tools.args().to_vec())),
    };
    (invocation, opening)
}

/// Whether the person has said it already.
fn says(setup: &AgentSetup, word: &str) -> bool {
    setup.command.iter().chain(&setup.args).any(|said| said.starts_with(word))
}

/// The program behind an ACP agent, by the name of what is started.
pub fn kin(setup: &AgentSetup) -> Option<AgentProgram> {
    setup.command.iter().take(3).find_map(|word| {
        let name = Path::new(word).file_name()?.to_str()?;
        [
            ("claude", AgentProgram::Claude),
            ("codex", AgentProgram::Codex),
            ("gemini", AgentProgram::Gemini),
            ("opencode", AgentProgram::Opencode),
        ]
        .into_iter()
        .find(|(start, _)| name.starts_with(start))
        .map(|(_, program)| program)
    })
}

pub fn pass_env(setup: &AgentSetup) -> Vec<&'static str> {
    match kin(setup) {
        Some(AgentProgram::Claude) => claude::pass_env().to_vec(),
        Some(AgentProgram::Codex) => codex::pass_env().to_vec(),
        Some(AgentProgram::Gemini) => gemini::pass_env().to_vec(),
        Some(AgentProgram::Opencode) => opencode::pass_env().to_vec(),
        _ => Vec::new(),
    }
}

pub fn writable(setup: &AgentSetup, around: &Surroundings) -> Vec<PathBuf> {
    match kin(setup) {
        Some(AgentProgram::Claude) => claude::writable(around),
        Some(AgentProgram::Codex) => codex::writable(around),
        Some(AgentProgram::Gemini) => gemini::writable(around),
        Some(AgentProgram::Opencode) => opencode::writable(around),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &[&str], args: &[&str], own_sandbox: bool, expected: &str) {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let setup = AgentSetup {
            command: words(command),
            args: words(args),
            own_sandbox,
            ..AgentSetup::of(AgentProgram::Acp)
        };
        let launch = Launch {
            prompt_file: Path::new("/p"),
            prompt: "do it",
            worktree: Path::new("/w"),
            session: None,
            scratch: Path::new("/s"),
            swarm: Path::new("/swarm"),
            tools: None,
            way: super::super::super::invocation::Way::Preferred,
        };
        let (invocation, _) = invocation(&setup, &launch, &Surroundings::default());
        assert_eq!(invocation.argv.join(" "), expected);
    }

    #[test]
    fn a_conversation_is_gone_on_with_unless_its_past_cannot_be_told_from_what_is_new() {
        let resumed = |command: &[&str]| {
            let command = command.iter().map(|word| (*word).to_owned()).collect();
            let setup = AgentSetup { command, ..AgentSetup::of(AgentProgram::Acp) };
            let launch = Launch {
                prompt_file: Path::new("/p"),
                prompt: "do it",
                worktree: Path::new("/w"),
                session: Some("s"),
                tools: None,
                scratch: Path::new("/s"),
                swarm: Path::new("/swarm"),
                way: super::super::super::invocation::Way::Preferred,
            };
            invocation(&setup, &launch, &Surroundings::default()).1.session
        };
        assert_eq!(resumed(&["claude-agent-acp"]).as_deref(), Some("s"));
        assert_eq!(resumed(&["opencode", "acp"]).as_deref(), Some("s"));
        assert_eq!(resumed(&["gemini", "--acp"]), None);
        assert_eq!(resumed(&["npx", "-y", "gemini-cli", "--acp"]), None);
    }

    #[test]
    fn codex_behind_acp_leaves_the_box_to_us_unless_its_own_is_wanted() {
        let open = "-c analytics.enabled=false -c sandbox_mode=danger-full-access -c approval_policy=never";
        check(&["codex-acp"], &["--more"], false, &format!("codex-acp {open} --more"));
        check(&["npx", "-y", "@zed/codex-acp"], &[], false, &format!("npx -y @zed/codex-acp {open}"));
        let own = open.replace("danger-full-access", "workspace-write");
        check(&["codex-acp"], &[], true, &format!("codex-acp {own}"));
        // What the person says about it counts.
        let theirs = ["codex-acp", "-c", "sandbox_mode=read-only"];
        check(&theirs, &[], false, &theirs.join(" "));
        check(&["some-agent"], &["--acp"], false, "some-agent --acp");
        check(&["opencode", "acp"], &[], false, "opencode acp --print-logs --log-level INFO");
        let theirs = ["opencode", "acp", "--print-logs"];
        check(&theirs, &[], false, &theirs.join(" "));
    }
}
