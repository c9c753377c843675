//! `swarm mcp install`: the file of the client, and nothing else of it.

use serde_json::{Value, json};

use crate::arena::Arena;
use crate::ground::arena_with;

fn fresh() -> Arena {
    let arena = arena_with(json!({}));
    arena.is_judged();
    arena
}

#[test]
fn each_client_gets_its_entry_and_keeps_what_it_had() {
    for (client, file, path) in [
        ("claude", ".mcp.json", "/mcpServers/swarm/command"),
        ("gemini", ".gemini/settings.json", "/mcpServers/swarm/command"),
        ("opencode", "opencode.json", "/mcp/swarm/command/0"),
        ("vscode", ".vscode/mcp.json", "/servers/swarm/command"),
    ] {
        let arena = fresh();
        arena.write(file, "{\n    \"zebra\": 1,\n    \"mcpServers\": { \"other\": { \"command\": \"x\" } },\n    \"apple\": [ 1,2 ]\n}\n");
        let before = std::fs::read_to_string(arena.root.join(file)).expect("it");
        let dry = arena.ok(&["mcp", "install", client, "--dry-run"]);
        assert!(dry.contains("+ ") && dry.contains(file), "{dry}");
        assert_eq!(
            std::fs::read_to_string(arena.root.join(file)).expect("it"),
            before,
            "a look changes nothing"
        );
        // Without a terminal nobody can be asked.
        assert_eq!(arena.swarm(&["mcp", "install", client]).status.code(), Some(2));
        arena.ok(&["mcp", "install", client, "--yes"]);
        let text = std::fs::read_to_string(arena.root.join(file)).expect("it");
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(value.pointer(path), Some(&json!("swarm")), "{text}");
        assert_eq!(
            (&value["zebra"], &value["mcpServers"]["other"]),
            (&json!(1), &json!({ "command": "x" })),
            "{text}"
        );
        assert!(text.contains("    \"apple\": [ 1,2 ]\n}\n"), "{text}");
        let again = arena.ok(&["mcp", "install", client, "--yes"]);
        assert!(again.contains("already"), "{again}");
        assert_eq!(std::fs::read_to_string(arena.root.join(file)).expect("it"), text);
    }
}

#[test]
fn codex_is_a_table_and_a_users_file_names_this_program_and_stays_private() {
    use std::os::unix::fs::PermissionsExt;
    let arena = fresh();
    let home = arena.path(".codex/config.toml");
    std::fs::create_dir_all(home.parent().expect("a folder")).expect("a folder");
    std::fs::write(&home, "# mine\nmodel = \"m\"\n").expect("a file");
    std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    arena.ok(&["mcp", "install", "codex", "--scope", "user", "--yes"]);
    let text = std::fs::read_to_string(&home).expect("it");
    assert!(text.starts_with("# mine\nmodel = \"m\"\n\n[mcp_servers.swarm]\n"), "{text}");
    assert!(text.contains(env!("CARGO_BIN_EXE_swarm")), "{text}");
    assert_eq!(std::fs::metadata(&home).expect("it").permissions().mode() & 0o777, 0o600);
    arena.ok(&["mcp", "install", "codex", "--yes"]);
    let project = std::fs::read_to_string(arena.root.join(".codex/config.toml")).expect("it");
    assert_eq!(project, "[mcp_servers.swarm]\ncommand = \"swarm\"\nargs = [\"mcp\"]\n");
}

#[test]
fn a_file_that_is_not_understood_is_left_alone() {
    let arena = fresh();
    arena.write(".mcp.json", "{ \"mcpServers\": [");
    let out = arena.swarm(&["mcp", "install", "claude", "--yes"]);
    assert_eq!(out.status.code(), Some(3), "{}", String::from_utf8_lossy(&out.stderr));
    assert_eq!(std::fs::read_to_string(arena.root.join(".mcp.json")).expect("it"), "{ \"mcpServers\": [");
}
