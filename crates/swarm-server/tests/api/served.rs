//! A socket with a real ledger behind it: everything of a coordinator that front ends can see, and no agents.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use swarm_engine::channel::FromSocket;
use swarm_engine::feed::{FeedSource, Position};
use swarm_engine::look::look;
use swarm_engine::paths::Paths;
use swarm_engine::store::{OpenOptions, Opened, Store, StoreError};
use swarm_protocol::api::Delivery;
use swarm_protocol::channel::Response;
use swarm_protocol::command::{Command, Envelope, SaveKind};
use swarm_protocol::ids::CommandId;
use swarm_protocol::plan::PlanFile;
use swarm_server::client::Client;
use swarm_server::limits::Limits;
use swarm_server::listener::{Listener, Opening};
use swarm_server::peer::{Standing, Who};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::mpsc;

pub struct Served {
    pub dir: tempfile::TempDir,
    pub paths: Paths,
    pub client: Client,
    pub source: Arc<FeedSource>,
    /// What agents were reported for.
    pub oversteps: Arc<Mutex<Vec<String>>>,
    /// Who asked for each command.
    pub asked_by: Arc<Mutex<Vec<String>>>,
    listener: Option<Listener>,
    loop_ended: Option<std::thread::JoinHandle<()>>,
}

/// Everybody is an operator.
pub fn everybody() -> Who {
    Arc::new(|_| Standing::Outside)
}

impl Served {
    pub fn start() -> Self {
        Self::with(Limits::default(), everybody())
    }

    pub fn with(limits: Limits, who: Who) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let paths = Paths::new(dir.path(), &dir.path().join(".git"));
        std::fs::create_dir_all(&paths.run).expect("a folder");
        let mut served = Self {
            client: Client::new(&paths.socket),
            dir,
            paths,
            source: Arc::default(),
            oversteps: Arc::default(),
            asked_by: Arc::default(),
            listener: None,
            loop_ended: None,
        };
        served.open(limits, who);
        served
    }

    pub fn open(&mut self, limits: Limits, who: Who) {
        let (queue, api) = mpsc::channel(64);
        let desk = Desk {
            store: open_store(&self.paths),
            source: Arc::clone(&self.source),
            oversteps: Arc::clone(&self.oversteps),
            asked_by: Arc::clone(&self.asked_by),
        };
        desk.tell();
        let opening =
            Opening { paths: self.paths.clone(), api: queue, feed: self.source.feed(), who, limits };
        self.listener = Some(opening.listen().expect("it listens"));
        self.loop_ended = Some(std::thread::spawn(move || desk.serve(api)));
    }

    /// The coordinator ends in good order.
    pub async fn close(&mut self) {
        if let Some(listener) = self.listener.take() {
            listener.close().await;
        }
        if let Some(ended) = self.loop_ended.take() {
            tokio::task::spawn_blocking(|| ended.join()).await.expect("joined").expect("no panic");
        }
    }

    pub async fn ask(&self, id: &str, command: Command) -> Response {
        self.client.command(envelope(id, command)).await.expect("an answer")
    }

    /// A plan with so many tasks, `t1`, `t2`, …
    pub async fn plan(&self, tasks: usize) {
        let answer = self.ask("plan", save(tasks, "")).await;
        assert!(matches!(answer, Response::Answer(_)), "{answer:?}");
    }

    pub async fn connect(&self) -> UnixStream {
        swarm_server::socket::connect(&self.paths.socket).await.expect("connected")
    }

    /// Says these bytes and hears everything until the other side closes.
    pub async fn raw(&self, said: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        // A peer that has heard enough may close before everything is said.
        let _ = stream.write_all(said.as_ref()).await;
        let mut heard = Vec::new();
        let hearing = tokio::time::timeout(Duration::from_secs(30), stream.read_to_end(&mut heard));
        let _ = hearing.await.expect("an end");
        String::from_utf8_lossy(&heard).into_owned()
    }

    /// One request by hand: status and body.
    pub async fn request(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> (u16, String) {
        let mut said = format!(
            "{method} {path} HTTP/1.1\r\nHost: swarm\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
            body.len()
        )
        .into_bytes();
        said.extend_from_slice(body);
        let heard = self.raw(said).await;
        let status = heard.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, heard.split_once("\r\n\r\n").map_or_else(String::new, |(_, body)| body.to_owned()))
    }
}

pub fn envelope(id: &str, command: Command) -> Envelope {
    Envelope { id: CommandId::new(id).expect("an id"), by: "person:cli".into(), command }
}

/// A plan whose tasks have this description.
pub fn save(tasks: usize, description: &str) -> Command {
    let tasks: Vec<_> = (1..=tasks)
        .map(|n| serde_json::json!({"id": format!("t{n}"), "title": format!("Task {n}"), "description": description}))
        .collect();
    let plan = serde_json::json!({"goal": "a goal", "phases": [{"id": 1, "name": "one", "tasks": tasks}]});
    let plan: PlanFile = serde_json::from_value(plan).expect("a plan");
    Command::SavePlan {
        plan,
        kind: SaveKind::Save,
        source: "test".into(),
        reset_statuses: false,
        planning: None,
    }
}

fn open_store(paths: &Paths) -> Store {
    // The one before may be giving the lock back just now.
    let limit = std::time::Instant::now() + Duration::from_secs(10);
    loop {
        match Store::become_coordinator(paths, OpenOptions::new("coordinator")).expect("opened") {
            Opened::Writer(store) => return store,
            Opened::Busy(_) => assert!(std::time::Instant::now() < limit, "the lock stays taken"),
        }
    }
}

/// The loop: one thing after the other, each made durable before it is answered.
struct Desk {
    store: Store,
    source: Arc<FeedSource>,
    oversteps: Arc<Mutex<Vec<String>>>,
    asked_by: Arc<Mutex<Vec<String>>>,
}

impl Desk {
    fn tell(&self) {
        let head = self.store.head();
        self.source.durable(head.map_or_else(Position::default, |h| Position { seq: h.seq, end: h.end }));
    }

    fn serve(mut self, mut api: mpsc::Receiver<FromSocket>) {
        while let Some(knock) = api.blocking_recv() {
            match knock {
                FromSocket::Command { envelope, reply } => {
                    self.asked_by.lock().expect("whole").push(envelope.by.clone());
                    let now = self.store.clock().now();
                    let response = match self.store.submit_blocking(envelope, now) {
                        Ok(answer) => Response::Answer(answer),
                        Err(StoreError::Refused(refusal)) => Response::Refused { refusal },
                        Err(error) => Response::Failed { text: error.to_string() },
                    };
                    self.tell();
                    let _ = reply.send(response);
                }
                FromSocket::Look { what, reply } => {
                    let now = self.store.clock().now();
                    let _ = reply.send(look(self.store.state(), &what, now, |run| self.source.latest(run)));
                }
                FromSocket::Delivery { id, reply } => {
                    let answer = self.store.past_answer(&id);
                    let _ =
                        reply.send(answer.map_or(Delivery::Unknown, |answer| Delivery::Landed { answer }));
                }
                FromSocket::Overstep { what, .. } => self.oversteps.lock().expect("whole").push(what),
                // There is no repository here to look at: whoever asks learns it by the dropped answer.
                FromSocket::Preview { .. }
                | FromSocket::Diff { .. }
                | FromSocket::Trunk { .. }
                | FromSocket::Daemon { .. }
                | FromSocket::Frame { .. }
                | FromSocket::Lost { .. } => {}
            }
        }
    }
}

/// A line with one task more.
pub fn add(n: usize) -> Command {
    let task = serde_json::json!({"id": format!("n{n}"), "title": format!("New {n}"), "description": "x".repeat(200)});
    let task = serde_json::from_value(task).expect("a task");
    Command::AddTask { phase: None, after: None, task }
}
