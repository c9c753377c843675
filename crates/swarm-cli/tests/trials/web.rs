//! The web UI of a real swarm: the real binary, agents at work, coordinators that are killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::http::Request;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};

use crate::arena::{Arena, Running, send, wait_for};
use crate::ground::{arena_with, task};

/// `swarm web` and somebody who has come in.
struct Web {
    child: Option<Child>,
    port: u16,
    cookie: String,
}

impl Web {
    fn open(arena: &Arena, args: &[&str]) -> Self {
        let mut all = vec!["web", "--no-open", "--port", "0", "--json"];
        all.extend(args);
        let mut child = arena.command(&all).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let link: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no link: {line:?}"));
        Self::enter(Some(child), link["url"].as_str().expect("a link"))
    }

    fn enter(child: Option<Child>, url: &str) -> Self {
        let (place, key) = url.split_once("/#").expect("a key");
        let port = place.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        let mut web = Self { child, port, cookie: String::new() };
        let (status, head, body) = web.ask("POST", "/session", &json!({ "key": key }).to_string());
        assert_eq!(status, 204, "{head}\n{body}");
        let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
        web.cookie = cookie.split(';').next().expect("a pair").to_owned();
        web
    }

    fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connected");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
        let (base, port, cookie, len) = (self.base(), self.port, &self.cookie, body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nOrigin: {base}\r\nSwarm-Web: 1\r\n\
             Content-Type: application/json\r\nCookie: {cookie}\r\nContent-Length: {len}\r\n\r\n{body}"
        );
        stream.write_all(head.as_bytes()).expect("said");
        let mut heard = String::new();
        stream.read_to_string(&mut heard).expect("heard");
        let (head, body) = heard.split_once("\r\n\r\n").unwrap_or((&heard, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, head.to_owned(), body.to_owned())
    }

    fn live(&self) -> Live {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connected");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
        let request = Request::builder()
            .uri(format!("ws://127.0.0.1:{}/live", self.port))
            .header("Host", format!("127.0.0.1:{}", self.port))
            .header("Origin", self.base())
            .header("Cookie", &self.cookie)
            .header("Connection", "Upgrade")
            .header("Upgrade", "websocket")
            .header("Sec-WebSocket-Version", "13")
            .header("Sec-WebSocket-Key", generate_key());
        let (socket, _) = client(request.body(()).expect("a request"), stream).expect("let in");
        Live(socket)
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            send("TERM", child.id());
            let _ = child.wait();
        }
    }
}

struct Live(WebSocket<TcpStream>);

impl Live {
    fn say(&mut self, word: &Value) {
        self.0.send(Message::text(word.to_string())).expect("said");
    }

    fn next(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.0.read().expect("a message") {
                return serde_json::from_str(&text).expect("JSON");
            }
        }
    }
}

#[test]
fn an_agent_with_the_cookie_of_a_person_is_an_agent() {
    let arena = arena_with(json!({ "sandbox": "none" }));
    let (loot, go, seen) = (arena.path("loot"), arena.path("go"), arena.path("seen"));
    let command = r#"{"id":"stolen-1","command":{"do":"cancel_task","task":"1.2"}}"#;
    // What the person's own shell could do with these words is done here from inside, hidden as well as it can hide.
    let script = format!(
        ". {loot}\nask() {{ \"$@\" -s --max-time 20 -w ' %{{http_code}}\\n' -H \"Cookie: $COOKIE\" -H \"Origin: $BASE\" -H 'Swarm-Web: 1' \
         -H 'Content-Type: application/json'; }}\n\
         echo HEARD board; ask curl \"$BASE/v1/board\"\n\
         echo HEARD command; ask curl -d '{command}' \"$BASE/v1/commands\"\n\
         echo HEARD hidden; ask setsid -w env -i PATH=\"$PATH\" curl -d '{command}' \"$BASE/v1/commands\"\n\
         echo HEARD page; ask curl \"$BASE/\"\n",
        loot = loot.display()
    );
    let script = arena.script_beside("thief.sh", &script);
    let thief = format!(
        "write mine.txt mine\ncommit feat: mine\nwait-for {}\nsh sh {script}\nprint THEFT-OVER\nwait-for {}\ncomplete",
        loot.display(),
        seen.display()
    );
    let victim = format!("write theirs.txt theirs\nwait-for {}\ncommit feat: theirs\ncomplete", go.display());
    arena.plan_in_phases(&[vec![task("1.1", &[], &thief), task("1.2", &[], &victim)]]);
    let run = arena.start(&["--agents", "2"]);
    let web = Web::open(&arena, &[]);
    let (status, _, board) = web.ask("GET", "/v1/board", "");
    assert_eq!(status, 200, "{board}");
    std::fs::write(&loot, format!("COOKIE='{}'\nBASE='{}'\n", web.cookie, web.base())).expect("a file");
    wait_for("the theft is over", || arena.printed().contains("THEFT-OVER"));
    std::fs::write(seen, "").expect("a file");
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    let printed = arena.printed();
    assert_eq!(code, 0, "{said}\n{printed}");
    let refused =
        printed.lines().filter(|line| line.contains("not_for_agents") && line.contains(" 403")).count();
    assert_eq!(refused, 4, "{printed}");
    assert_eq!(arena.tasks().iter().filter(|task| task["status"] == json!("done")).count(), 2);
    // The same cookie in the hands of a person still opens the door.
    assert_eq!(web.ask("GET", "/v1/board", "").0, 200);
}

#[test]
fn a_page_loses_no_record_when_the_coordinator_is_killed_and_follows_its_agents_journal() {
    let arena = arena_with(json!({}));
    let (go, after) = (arena.path("go"), arena.path("after"));
    let script = format!(
        "print before the fall\nwrite a.txt a\nwait-for {}\nprint after the fall\nwait-for {}\ncommit feat: a\ncomplete",
        go.display(),
        after.display()
    );
    arena.plan_in_phases(&[vec![task("1.1", &[], &script)]]);
    let web = Web::open(&arena, &[]);
    let mut live = web.live();
    live.say(&json!({ "type": "hello", "from": 1, "ledger": null }));
    let hello = live.next();
    assert_eq!((&hello["type"], &hello["coordinator"]), (&json!("hello"), &json!(false)), "{hello}");
    let mut run = arena.start(&["--agents", "1"]);
    let (mut next, mut lines, mut ups, mut killed) = (1, String::new(), Vec::new(), false);
    live.say(&json!({ "type": "follow", "run": "r1", "from": null }));
    loop {
        let word = live.next();
        match word["type"].as_str().expect("a type") {
            "record" => {
                assert_eq!(word["seq"], json!(next), "without a gap: {word}");
                next += 1;
            }
            "coordinator" => ups.push(word["up"].as_bool().expect("a word")),
            "log" => lines.push_str(&word["lines"].to_string()),
            _ => {}
        }
        if !killed && lines.contains("before the fall") {
            killed = true;
            send("KILL", run.coordinator());
            run.until("restarting in");
            std::fs::write(&go, "").expect("a file");
        }
        // Its agent did not notice, and its journal came on while nobody coordinated or after.
        if killed && lines.contains("after the fall") && ups.ends_with(&[false, true]) {
            std::fs::write(&after, "").expect("a file");
        }
        if arena.json(&["status"])["counts"]["done"] == json!(1) {
            break;
        }
    }
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert!(killed && ups.starts_with(&[true, false, true]), "{ups:?}");
    // Everything up to the end, and nothing twice.
    let last = arena.json(&["status"])["seq"].as_u64().expect("a number");
    while next <= last {
        let word = live.next();
        if word["type"] == json!("record") {
            assert_eq!(word["seq"], json!(next));
            next += 1;
        }
    }
}

#[test]
fn a_run_serves_the_pages_where_the_configuration_says_so_and_takes_them_along() {
    let arena = arena_with(json!({ "web": { "enabled": true } }));
    let go = arena.path("go");
    let script = format!("write a.txt a\nwait-for {}\ncommit feat: a\ncomplete", go.display());
    arena.plan_in_phases(&[vec![task("1.1", &[], &script)]]);
    let mut run: Running = arena.start(&["--agents", "1"]);
    let line = run.until("Web UI: ");
    let url = line.split_whitespace().find(|word| word.starts_with("http://")).expect("a link").to_owned();
    let web = Web::enter(None, &url);
    assert_eq!(web.ask("GET", "/v1/board", "").0, 200);
    // A door that is open is asked for a link; it stays the only one.
    let link = arena.json(&["web", "--no-open", "--viewer"]);
    let viewer = Web::enter(None, link["url"].as_str().expect("a link"));
    assert_eq!(viewer.port, web.port);
    // A port that it does not have is not taken silently.
    let elsewhere = arena.swarm(&["web", "--no-open", "--port", "1"]);
    let noted = String::from_utf8_lossy(&elsewhere.stderr).into_owned();
    assert!(noted.contains(&format!("already open on port {}", web.port)), "{noted}");
    let wish = json!({ "id": "v1", "command": { "do": "cancel_task", "task": "1.1" } }).to_string();
    assert_eq!(viewer.ask("POST", "/v1/commands", &wish).0, 403);
    let sessions = arena.json(&["web", "sessions"]);
    let roles: Vec<&str> =
        sessions.as_array().expect("a list").iter().filter_map(|one| one["role"].as_str()).collect();
    assert_eq!(roles, ["operator", "viewer"]);
    let id = sessions[1]["id"].as_str().expect("an id");
    arena.ok(&["web", "revoke", id]);
    assert_eq!((viewer.ask("GET", "/v1/board", "").0, web.ask("GET", "/v1/board", "").0), (401, 200));
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert!(TcpStream::connect(("127.0.0.1", web.port)).is_err(), "it ended with the run");
    arena.assert_nothing_runs();
}
