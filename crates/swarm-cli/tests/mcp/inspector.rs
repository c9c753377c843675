//! Somebody else's client: the command line of the MCP inspector, where `SWARM_MCP_INSPECTOR` names its program.

use serde_json::{Value, json};

use crate::ground::{arena_with, task};

#[test]
#[ignore = "needs the inspector from npm: SWARM_MCP_INSPECTOR names its program"]
fn the_inspector_lists_and_calls_tools() {
    let inspector = std::env::var_os("SWARM_MCP_INSPECTOR").expect("SWARM_MCP_INSPECTOR names its program");
    let arena = arena_with(json!({ "agent": "script" }));
    arena.plan_in_phases(&[vec![task("1.1", &[], "complete")]]);
    arena.is_judged();
    let ask = |words: &[&str]| -> Value {
        let mut command = std::process::Command::new(&inspector);
        command.env("HOME", arena.path("")).current_dir(&arena.root);
        let out = command
            .args(["--cli", env!("CARGO_BIN_EXE_swarm"), "mcp"])
            .args(words)
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        serde_json::from_str(&text)
            .unwrap_or_else(|_| panic!("{text}\n{}", String::from_utf8_lossy(&out.stderr)))
    };
    let listed = ask(&["--method", "tools/list"]);
    assert_eq!(listed["tools"].as_array().map(Vec::len), Some(27), "{listed}");
    let called = ask(&["--method", "tools/call", "--tool-name", "swarm_task", "--tool-arg", "task=\"1.1\""]);
    assert_eq!(called["structuredContent"]["id"], "1.1", "{called}");
}
