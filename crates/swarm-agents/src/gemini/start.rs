//! How Gemini CLI is started.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::super::AgentSetup;
use super::super::invocation::{Invocation, Launch, Stdin, Surroundings, command_of, with_args};
use super::super::tools::SERVER;

/// Where an administrator's settings are; ours take their place only where there are none.
const SYSTEM_SETTINGS: &str = "/etc/gemini-cli/settings.json";

pub fn invocation(setup: &AgentSetup, launch: &Launch<'_>, around: &Surroundings) -> Invocation {
    let mut argv = with_args(
        command_of(setup, "gemini"),
        &["--skip-trust", "--approval-mode", "yolo", "--output-format", "stream-json"],
        setup.model.as_deref().map(|model| ("-m", model)),
    );
    if setup.own_sandbox {
        argv.push("--sandbox".to_owned());
    }
    if let Some(session) = launch.session {
        argv.extend(["--resume".to_owned(), session.to_owned()]);
    }
    argv.extend(setup.args.iter().cloned());
    quiet(Invocation::new(argv, Stdin::Prompt), launch, around)
}

/// One process that can be ended, few retries of its own, no statistics; also for its ACP side.
pub fn quiet(invocation: Invocation, launch: &Launch<'_>, around: &Surroundings) -> Invocation {
    let mut invocation =
        invocation.env("GEMINI_CLI_NO_RELAUNCH", "true").env("GEMINI_CLI_TRUST_WORKSPACE", "true");
    let path = "GEMINI_CLI_SYSTEM_SETTINGS_PATH";
    if around.variable(path).is_none() && !Path::new(SYSTEM_SETTINGS).exists() {
        let file = launch.scratch.join("gemini-settings.json");
        let mut settings = json!({
            "general": { "maxAttempts": 2, "disableAutoUpdate": true, "disableUpdateNag": true },
            "privacy": { "usageStatisticsEnabled": false },
            "telemetry": { "enabled": false },
        });
        if let Some(tools) = launch.tool_server() {
            let server = json!({ "command": tools.program(), "args": tools.args(), "trust": true });
            settings["mcpServers"] = json!({ SERVER: server });
        }
        invocation = invocation.env(path, file.to_string_lossy());
        invocation.files.push((file, settings.to_string()));
    }
    invocation
}

pub fn pass_env() -> &'static [&'static str] {
    &[
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_VERTEX_BASE_URL",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_LOCATION",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_GENAI_USE_GCA",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GEMINI_MODEL",
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
    ]
}

pub fn writable(around: &Surroundings) -> Vec<PathBuf> {
    vec![around.home(".gemini")]
}
