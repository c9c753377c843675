//! What the scripted model says and does in a part: rules for `agents/story.py`.

use serde_json::{Value, json};

/// What is done where all of these texts stand in what the program was told.
pub fn when(has: &[&str], steps: &[Value]) -> Value {
    json!({ "has": has, "steps": steps })
}

/// A command of the program's shell.
pub fn sh(command: impl Into<String>) -> Value {
    json!({ "do": "sh", "command": command.into() })
}

/// One whose answer has to hold this.
pub fn sh_sees(command: impl Into<String>, sees: &str) -> Value {
    json!({ "do": "sh", "command": command.into(), "sees": sees })
}

/// The program's own tool for reading.
pub fn reads(path: &std::path::Path, sees: &str) -> Value {
    json!({ "do": "read", "path": path, "sees": sees })
}

/// The program's own tool for writing.
pub fn writes(path: &std::path::Path, text: &str) -> Value {
    json!({ "do": "write", "path": path, "text": text })
}

/// A tool of an MCP server.
pub fn calls(tool: &str, arguments: &Value, sees: &str) -> Value {
    json!({ "do": "mcp", "tool": tool, "arguments": arguments, "sees": sees })
}

/// The last word.
pub fn says(text: impl Into<String>) -> Value {
    json!({ "do": "say", "text": text.into() })
}

/// Where nothing may be written: the try has to fail.
pub fn cannot_write(file: &str) -> Value {
    // Some programs repeat the command in front of its output.
    sh_sees(format!("touch {file} 2>/dev/null && echo written || echo re''fused"), "refused")
}

pub const COMPLETE: &str = "It is done and committed.\n\n<swarm>COMPLETE</swarm>";
