//! How opencode is started.

use std::path::PathBuf;

use serde_json::json;

use super::super::AgentSetup;
use super::super::invocation::{Invocation, Launch, Stdin, Surroundings, command_of, with_args};
use super::super::tools::SERVER;

/// Nothing is fetched, updated or shared while agents work.
fn config(launch: &Launch<'_>) -> String {
    let mut config = json!({ "autoupdate": false, "share": "disabled" });
    if let Some(tools) = launch.tool_server() {
        let command: Vec<String> = [tools.program()].into_iter().chain(tools.args()).collect();
        config["mcp"] = json!({ SERVER: { "type": "local", "command": command, "enabled": true } });
    }
    config.to_string()
}

pub fn invocation(setup: &AgentSetup, launch: &Launch<'_>) -> Invocation {
    let mut argv = with_args(
        command_of(setup, "opencode"),
        &["run", "--format", "json", "--auto", "--print-logs", "--log-level", "INFO"],
        setup.model.as_deref().map(|model| ("-m", model)),
    );
    if let Some(session) = launch.session {
        argv.extend(["--session".to_owned(), session.to_owned()]);
    }
    argv.extend(setup.args.iter().cloned());
    quiet(Invocation::new(argv, Stdin::Prompt), launch)
}

/// Also for its ACP side.
pub fn quiet(invocation: Invocation, launch: &Launch<'_>) -> Invocation {
    invocation
        .switches(&[
            "OPENCODE_DISABLE_AUTOUPDATE",
            "OPENCODE_DISABLE_MODELS_FETCH",
            "OPENCODE_DISABLE_LSP_DOWNLOAD",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        ])
        .env("OPENCODE_CONFIG_CONTENT", config(launch))
}

pub fn pass_env() -> &'static [&'static str] {
    &[
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "OPENCODE_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_GENERATIVE_AI_API_KEY",
        "GROQ_API_KEY",
        "MISTRAL_API_KEY",
        "DEEPSEEK_API_KEY",
        "XAI_API_KEY",
        "OPENCODE_CONFIG",
        "OPENCODE_CONFIG_DIR",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
        "XDG_CACHE_HOME",
    ]
}

pub fn writable(around: &Surroundings) -> Vec<PathBuf> {
    [
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_STATE_HOME", ".local/state"),
        ("XDG_CACHE_HOME", ".cache"),
        ("XDG_CONFIG_HOME", ".config"),
    ]
    .map(|(variable, below)| around.folder(variable, below).join("opencode"))
    .to_vec()
}
