//! The command line of the MCP inspector: lists the tools, finds nothing to complain about, and calls each of them.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::super::service::Part;
use super::super::stage::{Props, Stage, tail};

struct Inspector<'a> {
    stage: &'a Stage<'a>,
    bin: &'a Path,
    swarm: &'a str,
    called: BTreeSet<String>,
}

/// Every tool that is listed was called, and answered in its own form.
pub fn play(props: &Props<'_>) -> Result<String> {
    let bin = props.programs.inspector()?;
    let stage = Stage::set_up(props, "inspector-mcp", &[], &Part::Scenario("text"))?;
    stage.configure(&json!({ "agent": "script", "mcp": { "confirm": "model" } }))?;
    let swarm = props.swarm.to_str().context("a path in UTF-8")?;
    let mut inspector = Inspector { stage: &stage, bin: &bin, swarm, called: BTreeSet::new() };
    let listed = inspector.ask(&["--method", "tools/list", "--strict"])?;
    let listed: BTreeSet<String> = listed["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["name"].as_str().map(str::to_owned))
        .collect();
    inspector.story()?;
    let missing: Vec<&String> = listed.difference(&inspector.called).collect();
    if !missing.is_empty() {
        bail!("never called: {missing:?}");
    }
    stage.on_trunk("bob.txt", "hello\n")?;
    stage.is_at_rest()?;
    Ok(format!("{} tools listed without a complaint (--strict), all called", listed.len()))
}

impl Inspector<'_> {
    fn ask(&self, words: &[&str]) -> Result<Value> {
        let mut command = self.stage.command(self.bin.join("node"));
        command.arg(self.bin.join("mcp-inspector")).args(["--cli", self.swarm, "mcp"]).args(words);
        let output = command.output()?;
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        serde_json::from_str(&out)
            .with_context(|| format!("{words:?} ({}): {out} {}", output.status, tail(&err)))
    }

    /// The answer of a tool, where it has one.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        let mut words = vec!["--method".to_owned(), "tools/call".into(), "--tool-name".into(), tool.into()];
        for (name, value) in arguments.as_object().into_iter().flatten() {
            words.extend(["--tool-arg".to_owned(), format!("{name}={value}")]);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let answer = self.ask(&words)?;
        self.called.insert(tool.to_owned());
        Ok(answer)
    }

    fn ok(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let answer = self.call(tool, &arguments)?;
        if answer["isError"] == true || !answer["structuredContent"].is_object() {
            bail!("{tool} {arguments}: {answer}");
        }
        Ok(answer["structuredContent"].clone())
    }

    fn refused(&mut self, tool: &str, arguments: Value) -> Result<()> {
        let answer = self.call(tool, &arguments)?;
        if answer["isError"] != true {
            bail!("{tool} {arguments} is not refused: {answer}");
        }
        Ok(())
    }

    /// What a preview answered, carried out.
    fn confirmed(&mut self, tool: &str, arguments: Value) -> Result<()> {
        let shown = self.ok(tool, arguments)?;
        let done = self.ok(tool, shown["next"]["arguments"].clone())?;
        if done["state"] != "done" {
            bail!("{tool}: {done}");
        }
        Ok(())
    }

    fn story(&mut self) -> Result<()> {
        let tasks = [
            super::task("1.1", "Greet Ann", "ann.txt", &[]),
            super::task("1.2", "Greet Bob", "bob.txt", &["1.1"]),
        ];
        let plan = json!({ "goal": "Greetings", "phases": [{ "id": 1, "name": "all", "tasks": tasks }] });
        self.ok("swarm_init", json!({}))?;
        self.ok("save_plan", json!({ "plan": plan }))?;
        self.ok("swarm_plan", json!({ "do": "approve" }))?;
        self.ok("get_approved_plan", json!({}))?;
        self.ok("swarm_edit", json!({ "do": "add", "title": "Greet Cem" }))?;
        self.ok("update_task_status", json!({ "task": "1.3", "status": "deferred" }))?;
        self.ok("swarm_stop", json!({ "do": "pause", "reason": "lunch" }))?;
        self.ok("swarm_run", json!({ "do": "resume" }))?;
        self.ok("swarm_checkpoint", json!({ "do": "make", "name": "before" }))?;
        // One task was put aside, so the run does not end well.
        let (status, said) = self.stage.run(Path::new(self.swarm), &["run"])?;
        if status.code() != Some(1) {
            bail!("swarm run ended with {status}: {}", tail(&said));
        }
        for (tool, arguments) in [
            ("swarm_status", json!({})),
            ("swarm_attention", json!({})),
            ("swarm_tasks", json!({ "status": "done" })),
            ("swarm_task", json!({ "task": "1.2" })),
            ("swarm_diff", json!({ "task": "1.2" })),
            ("swarm_log", json!({ "run": "1.2" })),
            ("swarm_history", json!({ "limit": 5 })),
            ("swarm_worktree_list", json!({})),
            ("swarm_wait", json!({ "until": "idle" })),
            (
                "swarm_preview",
                json!({ "tool": "swarm_rollback", "arguments": { "to": "task", "task": "1.2" } }),
            ),
        ] {
            self.ok(tool, arguments)?;
        }
        self.confirmed("swarm_rollback", json!({ "to": "task", "task": "1.2" }))?;
        self.confirmed("swarm_undo", json!({}))?;
        self.ok("update_task_status", json!({ "task": "1.3", "status": "pending" }))?;
        self.ok("swarm_worktree_create", json!({ "task": "1.3" }))?;
        self.refused("swarm_complete", json!({ "task": "1.3" }))?;
        self.refused("swarm_worktree_merge", json!({ "task": "1.3" }))?;
        self.refused("swarm_review", json!({ "task": "1.2", "verdict": "approve" }))?;
        self.ok("swarm_worktree_cleanup", json!({ "task": "1.3" }))?;
        self.ok("update_task_status", json!({ "task": "1.3", "status": "cancelled" }))?;
        self.refused("phase_complete", json!({ "phase": 1 }))
    }
}
