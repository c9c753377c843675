//! Where each client keeps its servers, and how it names one.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Client {
    Claude,
    Codex,
    Gemini,
    Opencode,
    Vscode,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Scope {
    /// In this repository, for everybody who works in it
    #[default]
    Project,
    /// In your home folder, for all your repositories
    User,
}

/// How the entry stands in the file.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A member of an object, by the names on the way to it.
    Json { path: [&'static str; 2], value: Value },
    /// A table of its own.
    Toml { table: &'static str, command: String, args: Vec<String> },
}

impl Client {
    /// The file, from the repository's root or the home folder.
    pub fn file(self, scope: Scope, root: &Path, home: &Path) -> PathBuf {
        match (self, scope) {
            (Self::Claude, Scope::Project) => root.join(".mcp.json"),
            (Self::Claude, Scope::User) => home.join(".claude.json"),
            (Self::Codex, Scope::Project) => root.join(".codex/config.toml"),
            (Self::Codex, Scope::User) => home.join(".codex/config.toml"),
            (Self::Gemini, Scope::Project) => root.join(".gemini/settings.json"),
            (Self::Gemini, Scope::User) => home.join(".gemini/settings.json"),
            (Self::Opencode, Scope::Project) => root.join("opencode.json"),
            (Self::Opencode, Scope::User) => home.join(".config/opencode/opencode.json"),
            (Self::Vscode, Scope::Project) => root.join(".vscode/mcp.json"),
            (Self::Vscode, Scope::User) => home.join(".config/Code/User/mcp.json"),
        }
    }

    pub fn entry(self, program: &str) -> Entry {
        let args = ["mcp"];
        match self {
            Self::Claude => Entry::Json {
                path: ["mcpServers", "swarm"],
                value: json!({ "type": "stdio", "command": program, "args": args }),
            },
            Self::Gemini => Entry::Json {
                path: ["mcpServers", "swarm"],
                value: json!({ "command": program, "args": args }),
            },
            Self::Vscode => Entry::Json {
                path: ["servers", "swarm"],
                value: json!({ "type": "stdio", "command": program, "args": args }),
            },
            Self::Opencode => Entry::Json {
                path: ["mcp", "swarm"],
                value: json!({ "type": "local", "command": [program, "mcp"], "enabled": true }),
            },
            Self::Codex => Entry::Toml {
                table: "mcp_servers.swarm",
                command: program.to_owned(),
                args: args.map(str::to_owned).to_vec(),
            },
        }
    }
}
