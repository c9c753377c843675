//! How Claude Code is started.

use std::path::PathBuf;

use serde_json::json;

use super::super::AgentSetup;
use super::super::invocation::{Invocation, Launch, Stdin, Surroundings, command_of, with_args};
use super::super::tools::SERVER;

/// Its own ten retries take three minutes in which nobody sees why nothing happens.
const RETRIES: &str = "2";

pub fn invocation(setup: &AgentSetup, launch: &Launch<'_>, around: &Surroundings) -> Invocation {
    let argv = with_args(
        command_of(setup, "claude"),
        &["-p", "--output-format", "stream-json", "--verbose"],
        setup.model.as_deref().map(|model| ("--model", model)),
    );
    let mut argv = if setup.own_sandbox {
        // Edits and sandboxed commands without a question; what its sandbox does not let through is denied.
        let settings = r#"{"sandbox":{"enabled":true,"autoAllowBashIfSandboxed":true}}"#;
        with_args(argv, &["--permission-mode", "acceptEdits", "--settings", settings], None)
    } else {
        with_args(argv, &["--permission-mode", "bypassPermissions"], None)
    };
    if let Some(tools) = launch.tool_server() {
        let server = json!({ "command": tools.program(), "args": tools.args() });
        let servers = json!({ "mcpServers": { SERVER: server } }).to_string();
        // Without the second it would ask for leave where it keeps its own sandbox, and nobody answers.
        argv.extend([
            "--mcp-config".to_owned(),
            servers,
            "--allowedTools".to_owned(),
            format!("mcp__{SERVER}"),
        ]);
    }
    if let Some(session) = launch.session {
        argv.extend(["--resume".to_owned(), session.to_owned()]);
    }
    argv.extend(setup.args.iter().cloned());
    let mut invocation = Invocation::new(argv, Stdin::Prompt)
        .switches(&[
            "DISABLE_TELEMETRY",
            "DISABLE_ERROR_REPORTING",
            "DISABLE_AUTOUPDATER",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        ])
        .env("CLAUDE_CODE_MAX_RETRIES", RETRIES);
    if around.root {
        // Without it root may not work unattended. It says that a sandbox is there: ours is.
        invocation = invocation.env("IS_SANDBOX", "1");
    }
    invocation
}

pub fn pass_env() -> &'static [&'static str] {
    &[
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_CUSTOM_HEADERS",
        "ANTHROPIC_MODEL",
        "ANTHROPIC_DEFAULT_OPUS_MODEL",
        "ANTHROPIC_DEFAULT_SONNET_MODEL",
        "ANTHROPIC_DEFAULT_HAIKU_MODEL",
        "ANTHROPIC_SMALL_FAST_MODEL",
        "ANTHROPIC_VERTEX_PROJECT_ID",
        "ANTHROPIC_BEDROCK_BASE_URL",
        "ANTHROPIC_VERTEX_BASE_URL",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
        "CLAUDE_CONFIG_DIR",
        "CLOUD_ML_REGION",
        "AWS_REGION",
        "AWS_PROFILE",
        "AWS_BEARER_TOKEN_BEDROCK",
    ]
}

pub fn writable(around: &Surroundings) -> Vec<PathBuf> {
    vec![
        around.folder("CLAUDE_CONFIG_DIR", ".claude"),
        around.home(".claude.json"),
        around.home(".claude.json.backup"),
        around.home(".cache/claude-cli-nodejs"),
    ]
}
