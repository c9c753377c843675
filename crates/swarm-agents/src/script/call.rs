//! A call of a tool of the run, as a real program makes it: it starts the server and speaks the protocol with it.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use swarm_process::{Call, Input};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::tools::{TOOLS_VARIABLE, ToolServer};

/// Real programs wait a minute.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// What the tool answered, on one line that is no signal.
pub async fn called(tool: &str, arguments: &str, dir: &Path) -> io::Result<String> {
    let Some(socket) = std::env::var_os(TOOLS_VARIABLE) else {
        return Ok(format!("refused {tool}: this run has no tools"));
    };
    let arguments: Value = serde_json::from_str(arguments)?;
    let swarm = std::env::current_exe()?;
    let server = ToolServer { swarm: &swarm, socket: Path::new(&socket) };
    let mut call = Call::new(server.program()).args(server.args()).cwd(dir);
    call.env.extend(std::env::vars_os());
    call.stdin = Input::Pipe;
    let mut running = call.spawn(Stdio::piped(), Stdio::inherit()).map_err(io::Error::other)?;
    let (Some(mut stdin), Some(stdout)) = (running.child.stdin.take(), running.child.stdout.take()) else {
        return Err(io::Error::other("the server has no pipes"));
    };
    let client = json!({ "name": "script", "version": env!("CARGO_PKG_VERSION") });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    for frame in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments } }),
    ] {
        stdin.write_all(format!("{frame}\n").as_bytes()).await?;
    }
    stdin.flush().await?;
    let mut lines = BufReader::new(stdout).lines();
    let answer = async {
        while let Some(line) = lines.next_line().await? {
            let frame: Value = serde_json::from_str(&line)?;
            if frame["id"] == 2 {
                return Ok(frame);
            }
        }
        Err(io::Error::other("the server left without an answer"))
    };
    let answer = tokio::time::timeout(ANSWER_WITHIN, answer).await??;
    drop(stdin);
    running.wait().await?;
    let result = &answer["result"];
    let refused = result["isError"] != false;
    let text =
        result["content"][0]["text"].as_str().map_or_else(|| answer["error"].to_string(), str::to_owned);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(format!("{} {tool}: {text}", if refused { "refused" } else { "called" }))
}
