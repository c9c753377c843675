//! A door in front of a coordinator, and a browser that can be told to misbehave.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::SinkExt;
use serde_json::Value;
use swarm_engine::look::{look, look_back};
use swarm_engine::paths::Paths;
use swarm_engine::store::{OpenOptions, Opened, Store};
use swarm_protocol::any_view::AnyView;
use swarm_protocol::api::{ApiError, Seen};
use swarm_protocol::command::{Answer, Command, Envelope};
use swarm_protocol::diff::{DiffAsk, DiffView};
use swarm_protocol::ids::CommandId;
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::over_time::OverTimeView;
use swarm_protocol::trunk::{TrunkAsk, TrunkView};
use swarm_server::ledger::{Ledger, Look, Position};
use swarm_server::peer::{Role, Who};
use swarm_web::door::{Door, Opening};
use swarm_web::limits::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_stream::StreamExt;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;

use crate::served::{Served, everybody};

/// No step of any test takes longer, even on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(30);

pub async fn within<F: Future>(what: &str, future: F) -> F::Output {
    tokio::time::timeout(LIMIT, future).await.unwrap_or_else(|_| panic!("{what} did not come"))
}

pub struct House {
    pub served: Served,
    pub door: Door,
    /// How far the door's clock is ahead.
    pub ahead: Arc<Mutex<Duration>>,
}

impl House {
    pub async fn new() -> Self {
        Self::with(Limits::default(), everybody()).await
    }

    pub async fn with(limits: Limits, who: Who) -> Self {
        let served = Served::start();
        let ahead: Arc<Mutex<Duration>> = Arc::default();
        let (clock, began) = (Arc::clone(&ahead), Instant::now());
        let opening = Opening {
            port: Some(0),
            who,
            limits,
            clock: Arc::new(move || began + *clock.lock().expect("whole")),
            trunk: Arc::new(|| Some("main".into())),
            ..Opening::new(&served.paths, Arc::new(Plain(served.paths.clone())), "house".into())
        };
        let door = opening.open().await.expect("it opens");
        Self { served, door, ahead }
    }

    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.door.port())
    }

    pub fn key(&self, role: Role) -> String {
        let url = self.door.link(role).expect("a link").url;
        url.split_once('#').expect("a key").1.to_owned()
    }

    /// Comes in by a fresh link; the cookie is what the browser would send.
    pub async fn enter(&self, role: Role) -> String {
        let body = serde_json::json!({ "key": self.key(role) }).to_string();
        let answer = self.ask("POST", "/session", &self.of_a_page(), body.as_bytes()).await;
        assert_eq!(answer.status, 204, "{answer:?}");
        answer.header("set-cookie").expect("a cookie").split(';').next().expect("a pair").to_owned()
    }

    /// What a page of ours sends along.
    pub fn of_a_page(&self) -> Vec<(String, String)> {
        headers(&[("Origin", &self.base()), ("Swarm-Web", "1"), ("Content-Type", "application/json")])
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.door.port())
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.door.port())).await.expect("connected")
    }

    pub async fn ask(&self, method: &str, path: &str, with: &[(String, String)], body: &[u8]) -> Heard {
        let named = with.iter().any(|(name, _)| name == "Host");
        let host = if named { String::new() } else { format!("Host: {}\r\n", self.host()) };
        let mut said = format!("{method} {path} HTTP/1.1\r\n{host}Connection: close\r\n");
        said.push_str(&format!("Content-Length: {}\r\n", body.len()));
        with.iter().for_each(|(name, value)| said.push_str(&format!("{name}: {value}\r\n")));
        said.push_str("\r\n");
        let mut stream = self.connect().await;
        // A peer that has heard enough may close before everything is said.
        let _ = stream.write_all(said.as_bytes()).await;
        let _ = stream.write_all(body).await;
        let mut heard = Vec::new();
        let _ = within("an end", stream.read_to_end(&mut heard)).await;
        Heard::read(&String::from_utf8_lossy(&heard))
    }

    pub async fn get(&self, path: &str, cookie: &str) -> Heard {
        self.ask("GET", path, &headers(&[("Cookie", cookie)]), b"").await
    }

    pub async fn post(&self, path: &str, cookie: &str, body: &Value) -> Heard {
        let mut with = self.of_a_page();
        with.extend(headers(&[("Cookie", cookie)]));
        self.ask("POST", path, &with, body.to_string().as_bytes()).await
    }

    /// Blocks or unblocks a task: one wish, some records.
    pub async fn wish(&self, cookie: &str, id: &str, task: &str, reason: &str) -> Heard {
        let command = serde_json::json!({ "do": "block_task", "task": task, "reason": reason });
        self.post("/v1/commands", cookie, &serde_json::json!({ "id": id, "command": command })).await
    }

    /// Asks for a live connection; the status when it is refused.
    pub async fn upgrade(&self, with: &[(String, String)]) -> Result<Live, Heard> {
        // As little as possible waits in the kernel, so that it shows who reads and who does not.
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(16 * 1024).expect("smaller");
        let stream = socket.connect(([127, 0, 0, 1], self.door.port()).into()).await.expect("connected");
        let mut request = tokio_tungstenite::tungstenite::http::Request::builder()
            .uri(format!("ws://{}/live", self.host()))
            .header("Connection", "Upgrade")
            .header("Upgrade", "websocket")
            .header("Sec-WebSocket-Version", "13")
            .header("Sec-WebSocket-Key", generate_key());
        if !with.iter().any(|(name, _)| name == "Host") {
            request = request.header("Host", self.host());
        }
        for (name, value) in with {
            request = request.header(name, value);
        }
        let asking = tokio_tungstenite::client_async(request.body(()).expect("a request"), stream);
        match within("an answer", asking).await {
            Ok((socket, _)) => Ok(Live { socket }),
            Err(tokio_tungstenite::tungstenite::Error::Http(refused)) => {
                let body =
                    String::from_utf8_lossy(refused.body().as_deref().unwrap_or_default()).into_owned();
                Err(Heard { status: refused.status().as_u16(), head: String::new(), body })
            }
            Err(error) => panic!("{error}"),
        }
    }

    pub async fn live(&self, cookie: &str) -> Live {
        let with = headers(&[("Origin", &self.base()), ("Cookie", cookie)]);
        self.upgrade(&with).await.unwrap_or_else(|refused| panic!("{refused:?}"))
    }
}

pub fn headers(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[derive(Debug)]
pub struct Heard {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Heard {
    fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let pairs = self.head.lines().filter_map(|line| line.split_once(": "));
        pairs.into_iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// Status and kind of an error.
    pub fn kind(&self) -> (u16, String) {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
        (self.status, body["error"]["kind"].as_str().unwrap_or_default().to_owned())
    }
}

pub struct Live {
    pub socket: WebSocketStream<TcpStream>,
}

impl Live {
    pub async fn say(&mut self, word: Value) {
        // Who is cut off may notice while it speaks.
        let _ = self.socket.send(Message::text(word.to_string())).await;
    }

    /// The next message; none at the end.
    pub async fn next(&mut self) -> Option<Value> {
        let hearing = async {
            loop {
                match self.socket.next().await {
                    Some(Ok(Message::Text(text))) => return Some(serde_json::from_str(&text).expect("JSON")),
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                    Some(Ok(_)) => {}
                }
            }
        };
        within("a message", hearing).await
    }

    /// The next of this type; others are passed over.
    pub async fn until(&mut self, kind: &str) -> Value {
        loop {
            let word = self.next().await.unwrap_or_else(|| panic!("it ended before {kind}"));
            if word["type"] == kind {
                return word;
            }
        }
    }

    pub async fn hello(&mut self, from: Option<u64>, ledger: Option<&str>) -> Value {
        self.say(serde_json::json!({ "type": "hello", "from": from, "ledger": ledger })).await;
        self.next().await.expect("an answer")
    }
}

/// A ledger without a repository, as far as these tests look at it.
struct Plain(Paths);

fn failed(error: impl std::fmt::Display) -> ApiError {
    ApiError::new("environment", error.to_string(), "swarm doctor")
}

impl Ledger for Plain {
    fn look(&self, what: &Look, at: Option<u64>) -> Result<Seen<AnyView>, ApiError> {
        let looked = match at {
            Some(at) => look_back(&self.0, what, at).map_err(failed)?,
            None => {
                let state =
                    Store::open_reader(&self.0, &OpenOptions::new("read"), None).map_err(failed)?.state;
                look(&state, what, state.at, |_| None)
            }
        };
        Ok(Seen { seq: looked.seq, view: looked.view.map_err(ApiError::from)? })
    }

    fn preview(&self, _: &Command) -> Result<PreviewView, ApiError> {
        Err(failed("no repository"))
    }

    fn ask(&self, envelope: Envelope) -> Result<Answer, ApiError> {
        match Store::open_writer(&self.0, OpenOptions::new("test")).map_err(failed)? {
            Opened::Busy(_) => Err(failed("somebody coordinates")),
            Opened::Writer(mut store) => {
                let now = store.clock().now();
                let answer = store.submit_blocking(envelope, now).map_err(failed)?;
                store.finish().map_err(failed)?;
                Ok(answer)
            }
        }
    }

    fn past_answer(&self, id: &CommandId) -> Option<Answer> {
        let state = Store::open_reader(&self.0, &OpenOptions::new("read"), None).ok()?.state;
        let past = state.answer_of(id)?;
        Some(Answer { id: id.clone(), seq: past.seq, text: past.text.clone(), repeated: true })
    }

    fn diff(&self, _: &DiffAsk) -> Result<DiffView, ApiError> {
        Err(failed("no repository"))
    }

    fn over_time(&self) -> Result<OverTimeView, ApiError> {
        Err(failed("nobody counts"))
    }

    fn trunk(&self, _: &TrunkAsk) -> Result<TrunkView, ApiError> {
        Err(failed("no repository"))
    }

    fn records(&self, _: u64) -> Vec<String> {
        Vec::new()
    }

    fn position(&self) -> Option<(String, Position)> {
        let reading = Store::open_reader(&self.0, &OpenOptions::new("read"), None).ok()?;
        let head = reading.head?;
        Some((reading.ledger_id?, Position { seq: head.seq, end: head.end }))
    }

    fn changed(&self) -> bool {
        std::thread::park_timeout(Duration::from_millis(20));
        true
    }
}
