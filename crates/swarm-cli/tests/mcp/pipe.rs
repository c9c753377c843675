//! A client on the pipes of `swarm mcp`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::arena::{Arena, LIMIT};

/// What a client of the newer era says of itself in each request.
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "tests", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

pub struct Pipe {
    pub child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    last: u64,
    /// Requests carry `_meta`, and no handshake was made.
    newer: bool,
}

impl Pipe {
    pub fn open(arena: &Arena, args: &[&str]) -> Self {
        let words = [&["mcp"], args].concat();
        let mut command = arena.command(&words);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("swarm mcp starts");
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, last: 0, newer: false }
    }

    /// Without a handshake: each request says all there is to know.
    pub fn newer(arena: &Arena, args: &[&str]) -> Self {
        let mut pipe = Self::open(arena, args);
        pipe.newer = true;
        pipe
    }

    /// With the handshake of the older era.
    pub fn older(arena: &Arena, args: &[&str]) -> Self {
        let mut pipe = Self::open(arena, args);
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "tests", "version": "1" } });
        let answer = pipe.ask("initialize", hello);
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        pipe.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        pipe
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let stdin = self.stdin.as_mut().expect("it is open");
        stdin.write_all(bytes).and_then(|()| stdin.flush())
    }

    pub fn send(&mut self, frame: &Value) {
        self.send_bytes(format!("{frame}\n").as_bytes()).expect("it reads");
    }

    /// The next frame. Everything on stdout must be one.
    pub fn next(&mut self) -> Value {
        let line = self.lines.recv_timeout(LIMIT).expect("an answer");
        let frame: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a frame: {line}"));
        assert_eq!(frame["jsonrpc"], "2.0", "{frame}");
        frame
    }

    pub fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.last += 1;
        if self.newer {
            params["_meta"] = meta();
        }
        let id = self.last;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let frame = self.next();
            if frame["id"] == id {
                return frame;
            }
        }
    }

    /// The result of a tool, refused or not.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = answer["result"].clone();
        assert!(result.is_object(), "{tool}: {answer}");
        // Whichever of the two a client shows, it is the same.
        let text = result["content"][0]["text"].as_str().expect("a text");
        let sentence = result["structuredContent"]["text"].as_str().expect("a sentence");
        assert!(text.starts_with(sentence), "{result}");
        assert!(result.to_string().len() < 60_000, "{tool}: {} bytes", result.to_string().len());
        result
    }

    /// What a tool answers, where it does what was asked.
    pub fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments.clone());
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        result["structuredContent"].clone()
    }

    /// Why it does not.
    pub fn refused(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let error = result["structuredContent"]["error"].clone();
        for member in ["kind", "message", "hint"] {
            assert!(error[member].is_string(), "{result}");
        }
        error
    }

    /// The client leaves, and hears what was still to be said.
    pub fn rest(mut self) -> Vec<String> {
        drop(self.stdin.take());
        self.child.wait().expect("it ends");
        self.lines.iter().collect()
    }

    /// The client leaves; the server does too.
    pub fn close(mut self) -> std::process::ExitStatus {
        drop(self.stdin.take());
        self.child.wait().expect("it ends")
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
