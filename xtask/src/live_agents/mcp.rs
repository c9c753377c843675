//! Clients of `swarm mcp`: the programs themselves, told by the model which tools to call, the inspector's CLI, and the
//! conformance checks of the MCP project.

mod conformance;
mod inspector;

use std::path::Path;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::service::Part;
use super::stage::{Props, Stage};
use super::story::{calls, says, sh_sees, when};

pub const CLIENTS: &[&str] = &["claude", "codex", "gemini", "opencode", "inspector", "conformance"];

const WISH: &str = "Have the swarm greet Ann and Bob, then try what taking it back would do.";

/// As a person starts it for one question.
fn words(client: &str) -> Vec<&'static str> {
    match client {
        "claude" => vec![
            "-p",
            WISH,
            "--output-format",
            "stream-json",
            "--verbose",
            "--allowedTools",
            "mcp__swarm",
            "Bash",
        ],
        "codex" => vec!["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", WISH],
        "gemini" => vec!["--skip-trust", "--approval-mode", "yolo", "-m", "gemini-2.5-pro", "-p", WISH],
        _ => vec!["run", "--auto", WISH],
    }
}

fn task(id: &str, title: &str, file: &str, depends: &[&str]) -> Value {
    let does = format!("```script\nwrite {file} hello\ncommit feat: {file}\ncomplete\n```");
    json!({ "id": id, "title": title, "description": does, "depends": depends, "files": [file] })
}

/// What the model does: plan, watch, preview, roll back, undo.
fn rules(swarm: &Path, repo: &Path) -> Vec<Value> {
    let tasks = [task("1.1", "Greet Ann", "ann.txt", &[]), task("1.2", "Greet Bob", "bob.txt", &["1.1"])];
    let plan = json!({ "goal": "Greetings", "phases": [{ "id": 1, "name": "all", "tasks": tasks }] });
    // By its path: Codex has a log-in shell, which has a PATH of its own.
    let run = sh_sees(format!("{} run --detach && echo beg''un", swarm.display()), "begun");
    let mut idle = calls("swarm_wait", &json!({ "until": "idle", "seconds": 20 }), "true");
    idle["after"] = json!({ "path": repo.join("bob.txt"), "holds": "hello" });
    let one = json!({ "to": "task", "task": "1.2" });
    let with = |mut arguments: Value| {
        arguments["expect"] = "${expect}".into();
        arguments
    };
    vec![when(
        &[WISH],
        &[
            calls("swarm_status", &json!({}), "save_plan"),
            calls("save_plan", &json!({ "plan": plan, "id": "the-plan" }), "seq"),
            calls("save_plan", &json!({ "plan": plan, "id": "the-plan" }), "repeated"),
            calls("swarm_plan", &json!({ "do": "approve" }), "seq"),
            calls("get_approved_plan", &json!({}), "Greet Bob"),
            run,
            idle,
            calls("swarm_tasks", &json!({ "status": "done" }), "1.2"),
            calls("swarm_task", &json!({ "task": "1.2" }), "bob.txt"),
            calls("swarm_diff", &json!({ "task": "1.2" }), "bob.txt"),
            calls("swarm_log", &json!({ "run": "1.2" }), "lines"),
            calls("swarm_preview", &json!({ "tool": "swarm_rollback", "arguments": one }), "expect"),
            calls("swarm_rollback", &one, "expect"),
            calls("swarm_rollback", &with(one.clone()), "done"),
            calls("swarm_undo", &json!({}), "expect"),
            calls("swarm_undo", &with(json!({})), "done"),
            calls("swarm_task", &json!({ "task": "9.9" }), "9.9"),
            calls("swarm_history", &json!({ "from": 1, "limit": 200 }), "person:mcp"),
            says("Ann and Bob are greeted, and it can be taken back."),
        ],
    )]
}

/// The plan was made, run, taken back and restored, all of it by `person:mcp`.
pub fn play(props: &Props<'_>, client: &str) -> Result<String> {
    match client {
        "inspector" => return inspector::play(props),
        "conformance" => return conformance::play(props),
        _ => {}
    }
    let scene = format!("{client}-mcp");
    let part = Part::Story(rules(props.swarm, &props.folder_of(&scene).join("repo")));
    let stage = Stage::set_up(props, &scene, &[], &part)?;
    stage.configure(&json!({ "agent": "script", "mcp": { "confirm": "model" } }))?;
    stage.swarm(&["mcp", "install", client, "--scope", "user", "--yes"])?;
    let (status, said) = stage.run(Path::new(client), &words(client))?;
    if !status.success() || !said.contains("it can be taken back") {
        bail!("{client} ended with {status}{}: {}", stage.unseen(), super::stage::tail(&said));
    }
    for file in ["ann.txt", "bob.txt"] {
        stage.on_trunk(file, "hello\n")?;
    }
    let log = stage.view(&["op", "log"])?;
    let done: Vec<String> = log
        .as_array()
        .into_iter()
        .flatten()
        .filter(|operation| operation["by"] == "person:mcp")
        .filter_map(|operation| operation["kind"].as_str().map(str::to_owned))
        .collect();
    stage.is_at_rest()?;
    Ok(format!("by person:mcp: {}; both on trunk, nothing left running", done.join(", ")))
}
