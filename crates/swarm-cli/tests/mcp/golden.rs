//! Golden frames: what is asked and what is answered, byte for byte but for times, ids and hashes, in both eras. `SWARM_GEN=1`
//! writes them anew; what changed is then in the diff for whoever reviews it.

use std::path::Path;

use serde_json::{Value, json};

use crate::ground::{arena_with, task};
use crate::pipe::{Pipe, meta};

/// What differs between two runs, by its form.
fn masked_word(word: &str) -> &str {
    let all = |is: fn(char) -> bool| word.chars().all(is);
    let is_ulid = word.len() == 26 && all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    let is_hash = word.len() >= 12 && all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase());
    let is_time = word.len() >= 20 && word.ends_with('Z') && word.contains('T') && word.contains(':');
    match () {
        () if is_time => "TIME",
        () if is_ulid => "ID",
        () if is_hash => "HASH",
        () => word,
    }
}

fn masked_text(text: &str, root: &str) -> String {
    let text = text.replace(root, "ROOT").replace(env!("CARGO_PKG_VERSION"), "VERSION");
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '.' | '-');
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(from) = rest.find(is_part) {
        let (between, at) = rest.split_at(from);
        let (word, behind) = at.split_at(at.find(|c| !is_part(c)).unwrap_or(at.len()));
        out.push_str(between);
        out.push_str(masked_word(word));
        rest = behind;
    }
    out + rest
}

/// Schemas are in the reference; here the names of their members are enough.
fn masked(value: Value, root: &str) -> Value {
    match value {
        Value::String(text) => Value::String(masked_text(&text, root)),
        Value::Array(all) => all.into_iter().map(|one| masked(one, root)).collect(),
        Value::Object(all) => all
            .into_iter()
            .map(|(name, value)| match (name.as_str(), value["properties"].as_object()) {
                ("inputSchema" | "outputSchema", Some(members)) => (name, members.keys().cloned().collect()),
                _ => (name, masked(value, root)),
            })
            .collect(),
        other => other,
    }
}

/// What is asked in both eras, in this order.
fn asked() -> Vec<(&'static str, Value)> {
    let call = |name: &str, arguments: Value| ("tools/call", json!({ "name": name, "arguments": arguments }));
    let block = json!({ "task": "1.2", "status": "blocked", "reason": "wait", "id": "w-1" });
    vec![
        ("ping", json!({})),
        ("tools/list", json!({})),
        call("swarm_tasks", json!({})),
        call("swarm_task", json!({ "task": "9.9" })),
        call("update_task_status", block.clone()),
        call("update_task_status", block),
        call("update_task_status", json!({ "task": "1.1", "status": "done" })),
        call("no_such_tool", json!({})),
        call("swarm_stop", json!({ "do": "fly" })),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "swarm://nothing" })),
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "review-task", "arguments": { "task": "1.2" } })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "review-task" },
                "argument": { "name": "task", "value": "1." } }),
        ),
        ("no/such/method", json!({})),
    ]
}

/// The conversation as it is kept: a line for each frame, with who said it.
fn held(first: &[(&'static str, Value)], newer: bool) -> String {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "complete"), task("1.2", &["1.1"], "complete")]]);
    arena.is_judged();
    let root = arena.root.display().to_string();
    let mut pipe = Pipe::open(&arena, &[]);
    let mut text = String::new();
    for (id, (method, mut params)) in first.iter().cloned().chain(asked()).enumerate() {
        if newer {
            params["_meta"] = meta();
        }
        let mut frame = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let is_word = method.starts_with("notifications/");
        if is_word {
            frame.as_object_mut().expect("an object").remove("id");
        }
        pipe.send(&frame);
        text.push_str(&format!("> {frame}\n"));
        if !is_word {
            let answer = pipe.next();
            assert_eq!(answer["id"], id, "{frame}: {answer}");
            text.push_str(&format!("< {}\n", masked(answer, &root)));
        }
    }
    assert!(pipe.close().success());
    text
}

fn is_kept(name: &str, held: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/frames").join(name);
    if std::env::var_os("SWARM_GEN").is_some() {
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        std::fs::write(&file, held).expect("written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    for (line, (was, is)) in kept.lines().zip(held.lines()).enumerate() {
        assert_eq!(was, is, "{name}, line {}: `cargo xtask gen` writes it anew", line + 1);
    }
    assert_eq!(kept.lines().count(), held.lines().count(), "{name}: `cargo xtask gen` writes it anew");
}

#[test]
fn printed_frames_of_the_older_era_are_as_they_were() {
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "tests", "version": "1" } });
    is_kept("older.txt", &held(&[("initialize", hello), ("notifications/initialized", json!({}))], false));
}

#[test]
fn printed_frames_of_the_newer_era_are_as_they_were() {
    is_kept("newer.txt", &held(&[("server/discover", json!({}))], true));
}
