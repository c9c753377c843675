//! How Codex is started: as an app-server, or once with `exec --json`.

use std::path::PathBuf;

use serde_json::json;

use super::super::AgentSetup;
use super::super::invocation::{Invocation, Launch, Stdin, Surroundings, command_of, with_args};
use super::super::tools::SERVER;
use super::{Opening, native_binary};

/// No statistics, whatever the configuration of the person says.
const QUIET: &[&str] = &["-c", "analytics.enabled=false"];

/// The server of the tools of its run, as settings. What JSON writes of texts and lists TOML reads as well.
fn tools(launch: &Launch<'_>) -> Vec<String> {
    let Some(tools) = launch.tool_server() else { return Vec::new() };
    let (program, args) = (json!(tools.program()), json!(tools.args()));
    let settings = [("command", program), ("args", args)];
    settings
        .into_iter()
        .flat_map(|(name, value)| ["-c".to_owned(), format!("mcp_servers.{SERVER}.{name}={value}")])
        .collect()
}

/// The box around it is ours: inside Landlock its own, bubblewrap, cannot mount.
fn sandbox(setup: &AgentSetup) -> &'static str {
    if setup.own_sandbox { "workspace-write" } else { "danger-full-access" }
}

/// The same for its ACP side, which takes no other arguments. A command that speaks of its sandbox is left alone.
pub fn settings(setup: &AgentSetup) -> Vec<String> {
    if setup.command.iter().any(|word| word.contains("sandbox_mode")) {
        return Vec::new();
    }
    let sandbox = format!("sandbox_mode={}", sandbox(setup));
    with_args(Vec::new(), QUIET, None)
        .into_iter()
        .chain(["-c".to_owned(), sandbox, "-c".to_owned(), "approval_policy=never".to_owned()])
        .collect()
}

/// A profile whose command says `exec` does without the app-server.
pub fn wants_exec(setup: &AgentSetup) -> bool {
    setup.command.get(1).is_some_and(|word| word == "exec")
}

pub fn app_server_invocation(
    setup: &AgentSetup,
    launch: &Launch<'_>,
    around: &Surroundings,
) -> (Invocation, Opening) {
    let mut argv = with_args(program(setup, around), QUIET, None);
    argv.extend(tools(launch));
    argv.push("app-server".to_owned());
    argv.extend(setup.args.iter().cloned());
    let opening = Opening {
        worktree: launch.worktree.to_string_lossy().into_owned(),
        prompt: launch.prompt.to_owned(),
        session: launch.session.map(str::to_owned),
        model: setup.model.clone(),
        sandbox: sandbox(setup),
    };
    (Invocation::new(argv, Stdin::Talk), opening)
}

pub fn exec_invocation(setup: &AgentSetup, launch: &Launch<'_>, around: &Surroundings) -> Invocation {
    let argv = with_args(
        program(setup, around),
        &["exec", "--json", "--skip-git-repo-check", "-s", sandbox(setup)],
        setup.model.as_deref().map(|model| ("-m", model)),
    );
    let mut argv = with_args(argv, QUIET, None);
    argv.extend(tools(launch));
    argv.extend(setup.args.iter().cloned());
    if let Some(session) = launch.session {
        argv.extend(["resume".to_owned(), session.to_owned()]);
    }
    argv.push("-".to_owned());
    Invocation::new(argv, Stdin::Prompt)
}

/// The command without its own `exec`, and the native program in place of the launcher.
fn program(setup: &AgentSetup, around: &Surroundings) -> Vec<String> {
    let mut argv = command_of(setup, "codex");
    if wants_exec(setup) {
        argv.truncate(1);
    }
    if let [program] = argv.as_mut_slice()
        && let Some(found) = around.find(program)
    {
        *program = native_binary(&found).to_string_lossy().into_owned();
    }
    argv
}

pub fn pass_env() -> &'static [&'static str] {
    &[
        "OPENAI_API_KEY",
        "CODEX_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_ORGANIZATION",
        "OPENAI_PROJECT",
        "CODEX_HOME",
    ]
}

pub fn writable(around: &Surroundings) -> Vec<PathBuf> {
    vec![around.folder("CODEX_HOME", ".codex")]
}
