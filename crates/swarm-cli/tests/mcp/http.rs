//! `/mcp` of the web door, by raw sockets: who gets in, as whom, and in which words.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::arena::{Arena, send, wait_for};
use crate::ground::{arena_with, has, task};
use crate::pipe::meta;

/// An open door.
pub struct Door {
    child: Child,
    port: u16,
}

impl Door {
    pub fn open(arena: &Arena) -> Self {
        let mut command = arena.command(&["web", "--no-open", "--port", "0", "--json"]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let link: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no link: {line:?}"));
        let port = link["port"].as_u64().and_then(|port| u16::try_from(port).ok()).expect("a port");
        Self { child, port }
    }

    /// Status, head and body of whatever is said.
    fn say(&self, method: &str, headers: &[(&str, &str)], body: &[u8]) -> (u16, String, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connected");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
        let mut head =
            format!("{method} /mcp HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: 127.0.0.1:{}\r\n", self.port));
        }
        headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        // Whoever has heard enough may close before all is said.
        let _ = stream.write_all(format!("{head}\r\n").as_bytes()).and_then(|()| stream.write_all(body));
        let mut heard = Vec::new();
        let _ = stream.read_to_end(&mut heard);
        let heard = String::from_utf8_lossy(&heard).into_owned();
        let (head, body) = heard.split_once("\r\n\r\n").unwrap_or((&heard, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, head.to_owned(), body.to_owned())
    }

    pub fn post(&self, token: &str, frame: &Value) -> (u16, Value) {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let (status, _, body) = self.say("POST", &headers, frame.to_string().as_bytes());
        (status, serde_json::from_str(&body).unwrap_or_default())
    }

    fn call(&self, token: &str, tool: &str, arguments: Value) -> Value {
        let frame = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments } });
        let (status, answer) = self.post(token, &frame);
        assert_eq!((status, &answer["id"]), (200, &json!(7)), "{tool}: {answer}");
        answer["result"].clone()
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        send("TERM", self.child.id());
        let _ = self.child.wait();
    }
}

pub fn planned() -> Arena {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "complete"), task("1.2", &["1.1"], "complete")]]);
    arena.is_judged();
    arena
}

pub fn token(arena: &Arena, role: &str) -> (String, String) {
    let made = arena.json(&["mcp", "token", "--role", role, "--name", "tests"]);
    let text = |name: &str| made[name].as_str().expect("a text").to_owned();
    (text("token"), text("id"))
}

pub fn list() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} })
}

#[test]
fn nobody_comes_in_without_the_right_name_origin_and_token() {
    let arena = planned();
    let door = Door::open(&arena);
    let (good, id) = token(&arena, "operator");
    let (bearer, body) = (format!("Bearer {good}"), list().to_string());
    let (port, json_kind) = (door.port, ("Content-Type", "application/json"));
    let (ours, origin) = (format!("127.0.0.1:{port}"), format!("http://127.0.0.1:{port}"));
    let authorized = ("Authorization", bearer.as_str());
    let check = |wanted: (u16, &str), method: &str, headers: &[(&str, &str)]| {
        let (status, head, body) = door.say(method, headers, body.as_bytes());
        let kind = serde_json::from_str::<Value>(&body).unwrap_or_default()["error"]["kind"].clone();
        assert_eq!((status, kind.as_str().unwrap_or_default()), wanted, "{headers:?}: {head}\n{body}");
        head
    };
    check((200, ""), "POST", &[authorized, json_kind]);
    check((200, ""), "POST", &[authorized, json_kind, ("Host", &ours), ("Origin", &origin)]);
    for host in ["evil.test", "127.0.0.1:1", "127.0.0.1"] {
        check((403, "wrong_host"), "POST", &[authorized, json_kind, ("Host", host)]);
    }
    for origin in ["http://evil.test", "null", "https://127.0.0.1"] {
        check((403, "wrong_origin"), "POST", &[authorized, json_kind, ("Origin", origin)]);
    }
    check((403, "cross_site"), "POST", &[authorized, json_kind, ("Sec-Fetch-Site", "cross-site")]);
    let half = format!("Bearer {}", &good[..good.len() - 1]);
    for shown in ["", "Bearer", "Bearer ", "Basic YTpi", &half, &format!("Bearer {id}")] {
        let head = check((401, "no_token"), "POST", &[("Authorization", shown), json_kind]);
        has(&head, &["www-authenticate: Bearer"]);
    }
    check((401, "no_token"), "POST", &[json_kind]);
    check((401, "no_token"), "POST", &[authorized, ("Authorization", "Bearer other"), json_kind]);
    check((415, "wrong_media_type"), "POST", &[authorized, ("Content-Type", "text/plain")]);
    for method in ["GET", "DELETE", "PUT"] {
        check((405, "method_not_allowed"), method, &[authorized]);
    }
    // What is kept cannot be shown instead.
    let file = std::fs::read_to_string(arena.root.join(".swarm/run/tokens.json")).expect("it is kept");
    assert!(!file.contains(good.trim_start_matches("swarm-token-")), "{file}");
    let kept: Value = serde_json::from_str(&file).expect("JSON");
    let hash = format!("Bearer {}", kept[0]["hash"].as_str().expect("a hash"));
    check((401, "no_token"), "POST", &[("Authorization", &hash), json_kind]);
    has(&arena.ok(&["mcp", "tokens"]), &[&id, "operator", "tests"]);
    arena.ok(&["mcp", "revoke", &id]);
    check((401, "no_token"), "POST", &[authorized, json_kind]);
    assert!(!arena.swarm(&["mcp", "revoke", &id]).status.success(), "there is no such token");
}

#[test]
fn both_eras_are_answered_and_nothing_is_kept_between_two_requests() {
    let arena = planned();
    let door = Door::open(&arena);
    let (token, _) = token(&arena, "operator");
    let hello = json!({ "jsonrpc": "2.0", "id": "h", "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } } });
    let (status, answer) = door.post(&token, &hello);
    assert_eq!((status, &answer["result"]["protocolVersion"]), (200, &json!("2025-06-18")), "{answer}");
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(door.post(&token, &told), (202, Value::Null));
    // Without the handshake it is the same.
    let (_, listed) = door.post(&token, &list());
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(27), "{listed}");
    let discover =
        json!({ "jsonrpc": "2.0", "id": 2, "method": "server/discover", "params": { "_meta": meta() } });
    let (_, found) = door.post(&token, &discover);
    assert!(found["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{found}");
    let newer = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call",
        "params": { "name": "swarm_status", "arguments": {}, "_meta": meta() } });
    let (_, status) = door.post(&token, &newer);
    assert_eq!(status["result"]["resultType"], "complete", "{status}");
    assert_eq!(status["result"]["structuredContent"]["counts"]["total"], 2);
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    for (body, code) in [("garbage", -32700), ("[]", -32600), ("{\"id\":1}", -32600), ("", -32600)] {
        let (status, _, said) = door.say("POST", &headers, body.as_bytes());
        let said: Value = serde_json::from_str(&said).expect("JSON");
        assert_eq!((status, &said["error"]["code"]), (400, &json!(code)), "{body}: {said}");
    }
    let strange = [headers[0], headers[1], ("MCP-Protocol-Version", "2031-01-01")];
    assert_eq!(door.say("POST", &strange, list().to_string().as_bytes()).0, 400);
    let known = [headers[0], headers[1], ("MCP-Protocol-Version", "2025-11-25")];
    let (status, head, _) = door.say("POST", &known, list().to_string().as_bytes());
    assert_eq!(status, 200);
    assert!(!head.to_ascii_lowercase().contains("mcp-session-id"), "{head}");
    let large = vec![b' '; 9 << 20];
    assert_eq!(door.say("POST", &headers, &large).0, 413);
}

#[test]
fn who_asks_for_words_on_the_way_gets_events_and_the_answer_last() {
    let arena = planned();
    let door = Door::open(&arena);
    let bearer = format!("Bearer {}", token(&arena, "viewer").0);
    let wait = |meta: Value| {
        json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call",
            "params": { "name": "swarm_wait", "arguments": { "seconds": 3 }, "_meta": meta } })
    };
    let headers = |accept: &'static str| {
        [("Authorization", bearer.as_str()), ("Content-Type", "application/json"), ("Accept", accept)]
    };
    let both = "application/json, text/event-stream";
    let (status, head, body) =
        door.say("POST", &headers(both), wait(json!({ "progressToken": "p" })).to_string().as_bytes());
    assert_eq!(status, 200, "{head}");
    has(&head.to_ascii_lowercase(), &["content-type: text/event-stream"]);
    let events: Vec<Value> = body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).expect("JSON"))
        .collect();
    let (answer, words) = events.split_last().expect("an answer");
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(5), &json!(false)), "{body}");
    assert!(!words.is_empty(), "{body}");
    for (n, word) in words.iter().enumerate() {
        assert_eq!(word["method"], "notifications/progress", "{body}");
        assert_eq!(word["params"]["progressToken"], "p", "{body}");
        assert_eq!(word["params"]["progress"].as_f64(), Some(n as f64 + 1.0), "{body}");
    }
    // Who does not ask, or reads no events, gets one piece of JSON.
    for (accept, meta) in [(both, json!({})), ("application/json", json!({ "progressToken": "p" }))] {
        let (_, head, body) = door.say("POST", &headers(accept), wait(meta).to_string().as_bytes());
        has(&head.to_ascii_lowercase(), &["content-type: application/json"]);
        let answer: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(answer["id"], 5, "{body}");
    }
}

#[test]
fn a_viewer_looks_and_an_operator_does_what_a_person_may() {
    let arena = planned();
    let door = Door::open(&arena);
    let ((viewer, _), (operator, _)) = (token(&arena, "viewer"), token(&arena, "operator"));
    let (_, listed) = door.post(&viewer, &list());
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(11), "{listed}");
    assert_eq!(door.call(&viewer, "swarm_status", json!({}))["isError"], false);
    let block = json!({ "task": "1.2", "status": "blocked", "reason": "wait", "id": "b1" });
    let refused = door.call(&viewer, "update_task_status", block.clone());
    assert_eq!(refused["isError"], true, "{refused}");
    assert_eq!(arena.status_of("1.2"), "pending");
    for again in [false, true] {
        let done = door.call(&operator, "update_task_status", block.clone());
        assert_eq!(done["isError"], false, "{done}");
        assert_eq!(done["structuredContent"]["repeated"] == true, again, "{done}");
    }
    assert_eq!(arena.status_of("1.2"), "blocked");
    assert_eq!(arena.json(&["op", "log"]).to_string().matches("person:mcp").count(), 1);
}

#[test]
fn an_agent_with_the_token_of_a_person_is_an_agent_and_makes_none() {
    let arena = arena_with(json!({ "sandbox": "none" }));
    let (loot, seen) = (arena.path("loot"), arena.path("seen"));
    let frame = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"update_task_status","arguments":{"task":"1.2","status":"cancelled"}}}"#;
    let root = arena.root.display();
    let script = format!(
        ". {}\nask() {{ \"$@\" -s --max-time 20 -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' -d '{frame}' \"$BASE/mcp\"; echo; }}\n\
         echo HEARD; ask curl; ask setsid -w env -i PATH=\"$PATH\" curl\n\
         {} -C {root} mcp token --role operator && echo MADE-ONE\n{} -C {root} mcp tokens && echo LISTED\necho ATTACKED\n",
        loot.display(),
        env!("CARGO_BIN_EXE_swarm"),
        env!("CARGO_BIN_EXE_swarm"),
    );
    let script = arena.script_beside("attack.sh", &script);
    let attacker = format!(
        "write a.txt a\nwait-for {}\nsh sh {script}\nwait-for {}\ncomplete",
        loot.display(),
        seen.display()
    );
    let bystander = format!("write b.txt b\nwait-for {}\ncomplete", seen.display());
    arena.plan_in_phases(&[vec![task("1.1", &[], &attacker), task("1.2", &[], &bystander)]]);
    let run = arena.start(&["--agents", "2"]);
    let door = Door::open(&arena);
    let (good, _) = token(&arena, "operator");
    let stolen = format!("TOKEN={good}\nBASE=http://127.0.0.1:{}\n", door.port);
    std::fs::write(arena.path("loot.tmp"), stolen).expect("a file");
    std::fs::rename(arena.path("loot.tmp"), &loot).expect("a file");
    wait_for("the attack is over", || arena.printed().contains("ATTACKED"));
    let status = arena.status_of("1.2");
    std::fs::write(seen, "").expect("a file");
    let (code, said) = run.end();
    let printed = arena.printed();
    assert_eq!((code, status.as_str()), (0, "active"), "{said}\n{printed}");
    assert_eq!(printed.matches("not_for_agents").count(), 2, "{printed}");
    assert!(!printed.contains("MADE-ONE") && !printed.contains("LISTED"), "{printed}");
    drop(door);
    arena.assert_tidy();
}
