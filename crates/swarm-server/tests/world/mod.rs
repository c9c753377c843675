//! A real repository with one task's worktree, a coordinator that a test plays by hand, and real daemons.

// Each test file uses its own part of this.
#![allow(dead_code)]

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use swarm_agents::journal::{Line, read_from};
use swarm_agents::{AgentProgram, AgentSetup};
use swarm_engine::channel::{DaemonLink, FromSocket};
use swarm_engine::feed::{Feed, Position};
use swarm_engine::paths::Paths;
use swarm_git::Git;
use swarm_process::{open_verified, processes_with_nonce};
use swarm_protocol::channel::{
    Downward, ExitRecord, FromDaemon, Greeting, Hello, IterationOutcome, Order, RunKind, Upward,
};
use swarm_protocol::ids::{AgentId, Oid, RunId, TaskId};
use swarm_server::listener::{Listener, SOCKET_QUEUE};
use swarm_work::daemon::{DaemonSpec, RunFiles};
use swarm_work::supervisor::{
    DaemonEnd, Found, Launch, ensure_daemon, is_secret, secret_key, secret_of, watch_daemon,
};
use tokio::sync::mpsc;

/// No step of any test takes longer, even on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Waits with a limit and says for what when it is reached.
pub async fn within<F: Future>(what: &str, future: F) -> F::Output {
    tokio::time::timeout(LIMIT, future).await.unwrap_or_else(|_| panic!("{what} did not come"))
}

/// Looks until the condition holds.
pub async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let looking = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within(what, looking).await;
}

pub struct World {
    dir: tempfile::TempDir,
    pub spec: DaemonSpec,
}

impl World {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a path").join("repo");
        std::fs::create_dir(&root).expect("made");
        let worktree = root.join(".swarm/worktrees/t1");
        for args in [
            &["init", "-q", "-b", "main"][..],
            &["config", "user.name", "Test"],
            &["config", "user.email", "test@swarm.invalid"],
            &["commit", "-q", "--allow-empty", "-m", "start"],
            &["worktree", "add", "-q", "-b", "swarm/t1", worktree.to_str().expect("UTF-8")],
        ] {
            git(&root, args);
        }
        let spec = DaemonSpec {
            question: None,
            run: RunId::nth(1),
            kind: RunKind::Work,
            nonce: ulid::Ulid::generate().to_string(),
            root,
            worktree,
            shared: None,
            task: TaskId::new("t1").expect("a task id"),
            agent: Some(AgentId::nth(1)),
            attempt: 1,
            start: None,
            title: String::new(),
            agent_setup: Some(AgentSetup {
                command: vec![host().to_str().expect("UTF-8").into(), "script-agent".into()],
                ..AgentSetup::of(AgentProgram::Script)
            }),
            guard: Default::default(),
            known: Default::default(),
            set_up: None,
            env: Default::default(),
            stop_grace_secs: 1,
            alone_secs: 60,
            reconnect_max_secs: 30,
            journal_max_bytes: 64 << 20,
            file_max_bytes: 100 << 20,
        };
        Self { dir, spec }
    }

    pub fn files(&self) -> RunFiles {
        self.spec.files()
    }

    pub fn secret(&self) -> [u8; 32] {
        let key = secret_key(&self.spec.swarm_dir().join("run")).expect("a key");
        secret_of(&key, &self.spec.run, &self.spec.nonce)
    }

    pub async fn ensure(&self) -> Found {
        let (secret, launch) = (self.secret(), Launch::of(host()));
        within("the daemon", ensure_daemon(&self.spec, &secret, &launch)).await.expect("it can be started")
    }

    pub async fn start(&self) {
        let found = self.ensure().await;
        assert!(matches!(found, Found::Spawned), "{found:?}");
    }

    /// Waits for the daemon's end and takes its last word.
    pub async fn last_word(&self) -> ExitRecord {
        match within("the daemon's end", self.watch()).await {
            DaemonEnd::LastWord(exit) => exit,
            DaemonEnd::Died(death) => panic!("no last word: {death:?}"),
        }
    }

    pub async fn watch(&self) -> DaemonEnd {
        watch_daemon(&self.files(), &self.spec.nonce, Duration::from_secs(1)).await
    }

    pub async fn git(&self) -> Git {
        Git::discover(&self.spec.root).await.expect("a repository")
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.spec.worktree.join(name)).unwrap_or_default()
    }

    /// What a ref holds under a name, or nothing.
    pub fn at(&self, tip: &Oid, name: &str) -> String {
        git(&self.spec.root, &["show", &format!("{tip}:{name}")])
    }

    pub fn journal(&self) -> Vec<Line> {
        read_from(&self.spec.journal(), 0, usize::MAX).expect("a journal").lines
    }

    pub fn living(&self) -> Vec<u32> {
        processes_with_nonce(&self.spec.nonce)
    }

    pub fn daemon_pid(&self) -> u32 {
        self.files().read_record().expect("a record").pid
    }

    pub fn kill_daemon(&self) {
        kill(self.daemon_pid());
    }
}

impl Drop for World {
    /// A test that failed half way leaves no process behind.
    fn drop(&mut self) {
        if let Some(record) = self.files().read_record() {
            let identity = swarm_process::ProcessIdentity {
                boot_id: record.boot_id,
                pid: record.pid,
                start_time: record.start_time,
                nonce: record.nonce,
            };
            if let Some(daemon) = open_verified(&identity) {
                daemon.signal(rustix::process::Signal::KILL);
            }
        }
        self.living().into_iter().for_each(kill);
    }
}

pub fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).expect("a pid")).expect("not 0");
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}

pub fn git(dir: &Path, args: &[&str]) -> String {
    let output = std::process::Command::new("git").args(args).current_dir(dir).output().expect("git runs");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// The small stand-in for the binary `swarm`.
pub fn host() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_daemon_host"))
}

/// A prompt whose script says this.
pub fn script(lines: &str) -> String {
    format!("# Task t1\n\n```script\n{lines}\n```\n")
}

/// The coordinator, played step by step.
pub struct Coordinator {
    _listener: Listener,
    api: mpsc::Receiver<FromSocket>,
    link: Option<DaemonLink>,
    secret: [u8; 32],
    pub epoch: u64,
    pub progress: Vec<u8>,
}

impl Coordinator {
    pub fn start(world: &World, epoch: u64) -> Self {
        let (sender, api) = mpsc::channel(SOCKET_QUEUE);
        let secret = world.secret();
        let paths = Paths::new(&world.spec.root, &world.spec.root.join(".git"));
        std::fs::create_dir_all(&paths.run).expect("a folder");
        let listener = Listener::start(&paths, sender, Feed::still(Position::default())).expect("it listens");
        Self { _listener: listener, api, link: None, secret, epoch, progress: Vec::new() }
    }

    /// Waits for a daemon's hello without answering it.
    pub async fn hello(&mut self) -> Hello {
        loop {
            match within("a hello", self.api.recv()).await.expect("open") {
                FromSocket::Daemon { hello, link } => {
                    assert!(is_secret(&self.secret, &hello.secret), "it proves itself");
                    self.link = Some(link);
                    return hello;
                }
                FromSocket::Lost { .. } => {}
                other => panic!("{other:?} before a hello"),
            }
        }
    }

    pub fn say(&self, frame: Downward) {
        assert!(self.link.as_ref().expect("a daemon").send(frame), "the daemon reads");
    }

    pub fn welcome(&self, received: u64) {
        self.say(Downward::Greeting(Greeting::Welcome { epoch: self.epoch, received }));
    }

    pub fn order(&self, order: Order) {
        self.say(Downward::Order { epoch: self.epoch, order, traceparent: None });
    }

    pub fn go(&self, iteration: u32, lines: &str) {
        self.order(Order::Go { iteration, prompt: script(lines), session: None, known: 0, context: None });
    }

    pub fn ack(&self, received: u64) {
        self.say(Downward::Ack { received, ledger: None });
    }

    /// The next numbered report; none when the connection ends first. Heartbeats do not prolong the wait.
    pub async fn next(&mut self) -> Option<(u64, FromDaemon)> {
        let Self { api, progress, .. } = self;
        let report = async {
            loop {
                match api.recv().await.expect("open") {
                    FromSocket::Frame { frame: Upward::Report { n, report }, .. } => {
                        return Some((n, report));
                    }
                    FromSocket::Frame { frame: Upward::Progress { percent }, .. } => progress.push(percent),
                    FromSocket::Frame { .. } => {}
                    FromSocket::Lost { .. } => return None,
                    other => panic!("{other:?} instead of a report"),
                }
            }
        };
        within("a report", report).await
    }

    /// The next frame of any kind.
    pub async fn frame(&mut self) -> Upward {
        match within("a frame", self.api.recv()).await.expect("open") {
            FromSocket::Frame { frame, .. } => frame,
            other => panic!("{other:?} instead of a frame"),
        }
    }

    /// The next report, acknowledged.
    pub async fn report(&mut self) -> FromDaemon {
        let (n, report) = self.next().await.expect("connected");
        self.ack(n);
        report
    }

    pub async fn boundary(&mut self) -> (u32, IterationOutcome, Option<Oid>) {
        match self.report().await {
            FromDaemon::Boundary { iteration, outcome, tip, .. } => (iteration, outcome, tip),
            other => panic!("{other:?} instead of a boundary"),
        }
    }

    /// Hello, welcome and the boundary before the first iteration.
    pub async fn meet(&mut self) {
        self.hello().await;
        self.welcome(0);
        let (iteration, outcome, tip) = self.boundary().await;
        assert_eq!((iteration, outcome), (0, IterationOutcome::NoSignal));
        assert!(tip.is_some());
    }
}
