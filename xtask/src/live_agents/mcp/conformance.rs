//! The conformance checks of the MCP project, against `/mcp` of the web door. Those of its scenarios that are about the
//! protocol and not about a server with certain tools in it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::super::service::Part;
use super::super::stage::{Props, Stage, tail};

/// Two more are about sessions, which this server does not have. All others call tools, resources and prompts by names that only the project's own sample server has.
const SCENARIOS: &[&str] = &[
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
    "completion-complete",
];

const PLAN: &str =
    r#"{"goal":"Greetings","phases":[{"id":1,"name":"all","tasks":[{"id":"1.1","title":"Greet Ann"}]}]}"#;

const PROXY: &str = include_str!("door.mjs");

/// Ended with the scene.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts it and reads its first line.
fn started(mut command: Command) -> Result<(Started, String)> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("Cannot start the door")?;
    let mut line = String::new();
    let out = child.stdout.take().context("a pipe")?;
    let child = Started(child);
    BufReader::new(out).read_line(&mut line)?;
    Ok((child, line))
}

pub fn play(props: &Props<'_>) -> Result<String> {
    let bin = props.programs.conformance()?;
    let stage = Stage::set_up(props, "conformance-mcp", &[("plan.json", PLAN)], &Part::Scenario("text"))?;
    stage.swarm(&["plan", "save", "plan.json"])?;
    let token = stage.view(&["mcp", "token", "--role", "operator"])?["token"].clone();
    let mut web = stage.command(props.swarm);
    web.args(["web", "--no-open", "--port", "0", "--json"]);
    let (_door, line) = started(web)?;
    let link: serde_json::Value = serde_json::from_str(&line).with_context(|| format!("no link: {line}"))?;
    let proxy = stage.folder.join("door.mjs");
    fs::write(&proxy, PROXY)?;
    let mut command = stage.command(bin.join("node"));
    command.arg(&proxy).env("DOOR_PORT", link["port"].to_string());
    command.env("DOOR_TOKEN", token.as_str().context("a token")?);
    let (_proxy, port) = started(command)?;
    let url = format!("http://localhost:{}/mcp", port.trim());
    let failed: Vec<String> = SCENARIOS
        .iter()
        .filter_map(|scenario| check(&stage, &bin, &url, scenario).err())
        .map(|error| error.to_string())
        .collect();
    if !failed.is_empty() {
        bail!("{} of {} scenarios failed:\n{}", failed.len(), SCENARIOS.len(), failed.join("\n"));
    }
    Ok(format!("{} scenarios pass: {}", SCENARIOS.len(), SCENARIOS.join(", ")))
}

fn check(stage: &Stage<'_>, bin: &Path, url: &str, scenario: &str) -> Result<()> {
    let program = bin.join("../@modelcontextprotocol/conformance/dist/index.js");
    let program = program.to_str().context("a path in UTF-8")?;
    let (status, said) =
        stage.run(&bin.join("node"), &[program, "server", "--url", url, "--scenario", scenario])?;
    if !status.success() {
        bail!("{scenario} ({status}): {}", tail(&said));
    }
    Ok(())
}
