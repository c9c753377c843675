//! The little of HTTP that a measurement needs: nothing of the product's client is on this side.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

pub fn socket_of(root: &Path) -> PathBuf {
    root.join(".swarm/run/coordinator.sock")
}

/// Whether the coordinator shows where things stand: its loop is at work and not only its socket.
pub fn answers(root: &Path) -> bool {
    get(root, "/v1/status").is_ok_and(|body| !body.is_empty())
}

/// The body of an answer, whatever its status.
pub fn get(root: &Path, path: &str) -> Result<Vec<u8>> {
    let mut stream = connect(root)?;
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nHost: swarm\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all)?;
    let head = all.windows(4).position(|four| four == b"\r\n\r\n").map_or(0, |at| at + 4);
    Ok(all.split_off(head))
}

pub fn connect(root: &Path) -> Result<UnixStream> {
    let stream = UnixStream::connect(socket_of(root))?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    Ok(stream)
}

/// A stream of events that has begun.
pub struct Events {
    lines: BufReader<UnixStream>,
}

impl Events {
    pub fn follow(root: &Path) -> Result<Self> {
        let mut stream = connect(root)?;
        stream.write_all(b"GET /v1/events HTTP/1.1\r\nHost: swarm\r\nAccept: text/event-stream\r\n\r\n")?;
        let mut lines = BufReader::new(stream);
        let mut first = String::new();
        lines.read_line(&mut first).context("No answer to GET /v1/events")?;
        ensure!(first.contains(" 200 "), "GET /v1/events: {}", first.trim());
        Ok(Self { lines })
    }

    /// Reads on until a line contains this.
    pub fn until(&mut self, text: &str) -> Result<String> {
        let mut line = String::new();
        loop {
            line.clear();
            ensure!(self.lines.read_line(&mut line)? > 0, "the events came to an end before {text:?}");
            if line.contains(text) {
                return Ok(line);
            }
        }
    }
}

/// A request with a body of JSON, after which the connection is closed.
pub fn post(path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: swarm\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}
