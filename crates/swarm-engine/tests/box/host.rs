//! A small stand-in for the daemon, so that the tests of this crate can put real programs into real nets
//! from a process of their own: `box_host boxed …`, `box_host run FILE`, `box_host available`,
//! `box_host inside`, `box_host connect SOCKET`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use swarm_agents::journal::Stream;
use swarm_process::containment::{Containment, available};
use swarm_process::launcher::{Launcher, boxed_process};
use swarm_process::sandbox::SandboxSpec;
use swarm_process::{Call, Input, NONCE_VARIABLE, caller, environment};
use swarm_work::daemon::become_reaper;
use swarm_work::daemon::program::{Bounds, Listener, Outgoing, run};
use tokio::sync::watch;
use tokio::time::Instant;

/// What to run, and when to have enough of it.
#[derive(Debug, Deserialize)]
#[serde(default)]
struct Wish {
    argv: Vec<String>,
    cwd: PathBuf,
    nonce: String,
    swarm_dir: PathBuf,
    /// cgroup, pidns, pidns-user, group
    containment: String,
    sandbox: Option<SandboxSpec>,
    grace_ms: u64,
    deadline_ms: Option<u64>,
    patience_ms: Option<u64>,
    /// Stops the program when it prints this line.
    stop_at: Option<String>,
    enough_at: Option<String>,
    /// Said on its stdin; an empty list closes it at once.
    say: Option<Vec<String>>,
    /// Names handed on to it besides the usual ones.
    env: Vec<String>,
}

impl Default for Wish {
    fn default() -> Self {
        Self {
            argv: Vec::new(),
            cwd: "/".into(),
            nonce: String::new(),
            swarm_dir: "/nowhere/.swarm".into(),
            containment: "group".into(),
            sandbox: None,
            grace_ms: 300,
            deadline_ms: None,
            patience_ms: None,
            stop_at: None,
            enough_at: None,
            say: None,
            env: Vec::new(),
        }
    }
}

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    match args.first().and_then(|word| word.to_str()) {
        Some("boxed") => boxed_process(&args[1..]).into(),
        Some("run") => {
            let text = std::fs::read(&args[1]).expect("a wish");
            runtime().block_on(run_wish(serde_json::from_slice(&text).expect("a wish that can be read")));
            ExitCode::SUCCESS
        }
        Some("available") => {
            let all = runtime().block_on(available(&Launcher::myself()));
            let words: Vec<&str> = all.iter().filter(|(_, net)| net.is_ok()).map(|(word, _)| *word).collect();
            println!("{}", words.join(" "));
            ExitCode::SUCCESS
        }
        Some("inside") => {
            println!("{:?}", caller::am_i_inside());
            ExitCode::SUCCESS
        }
        Some("connect") => {
            use std::io::Read;
            let mut socket = std::os::unix::net::UnixStream::connect(&args[1]).expect("connected");
            // Until the other side has seen enough of us.
            socket.read_to_end(&mut Vec::new()).expect("closed");
            ExitCode::SUCCESS
        }
        _ => ExitCode::from(2),
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// As it was chosen, but for the user namespace, which is tried also where it is not needed.
fn net(word: &str, cgroup: impl FnOnce() -> Containment) -> Containment {
    match word {
        "cgroup" => cgroup(),
        "pidns" => Containment::Pidns { user_namespace: false, own_view: true },
        "pidns-user" => Containment::Pidns { user_namespace: true, own_view: true },
        _ => Containment::Group,
    }
}

async fn run_wish(wish: Wish) {
    become_reaper().expect("a reaper");
    let launcher = Launcher::myself();
    let all = available(&launcher).await;
    let cgroup = || match &all[0].1 {
        Ok(found) => found.clone(),
        other => panic!("no control groups: {other:?}"),
    };
    let (stop, mut stop_wish) = watch::channel(None);
    let mut ear =
        Ear { wish: &wish, stop, said: 0, lines: 0, bytes: 0, kept: Vec::new(), last: None, enough: false };
    let bounds = Bounds {
        nonce: wish.nonce.clone(),
        grace: Duration::from_millis(wish.grace_ms),
        deadline: wish.deadline_ms.map(|ms| Instant::now() + Duration::from_millis(ms)),
        containment: Ok(net(&wish.containment, cgroup)),
        sandbox: wish.sandbox.clone(),
        swarm_dir: wish.swarm_dir.clone(),
        launcher,
    };
    let mut call = Call::new(&wish.argv[0]).args(&wish.argv[1..]).cwd(&wish.cwd);
    call.env = environment::allowed(&wish.env);
    call.env.insert(NONCE_VARIABLE.into(), wish.nonce.clone().into());
    if wish.say.is_some() {
        call.stdin = Input::Pipe;
    }
    let ran = run(call, &bounds, &mut ear, &mut stop_wish).await;
    let after_last_line_ms = ear.last.map_or(0, |last| last.elapsed().as_millis() as u64);
    let told = match ran {
        Ok(ran) => json!({
            "how": format!("{:?}", ran.how), "status": ran.status.to_string(), "why": ran.why,
            "left": ran.left, "limit": ran.limit, "walls": ran.walls,
        }),
        Err(error) => json!({ "error": error.to_string(), "kind": format!("{error:?}") }),
    };
    let heard = json!({
        "lines": ear.lines, "bytes": ear.bytes, "kept": ear.kept,
        "after_last_line_ms": after_last_line_ms, "memory_kib": most_memory_kib(),
        "children": std::fs::read_to_string("/proc/thread-self/children").expect("our children"),
    });
    println!("{}", json!({ "ran": told, "heard": heard }));
}

fn most_memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("our status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

struct Ear<'a> {
    wish: &'a Wish,
    stop: watch::Sender<Option<Duration>>,
    said: usize,
    lines: u64,
    bytes: u64,
    kept: Vec<String>,
    last: Option<Instant>,
    enough: bool,
}

impl Listener for Ear<'_> {
    fn line(&mut self, _: Stream, text: &str, _: bool) {
        self.lines += 1;
        self.bytes += text.len() as u64;
        self.last = Some(Instant::now());
        if self.kept.len() < 50 {
            self.kept.push(text.chars().take(400).collect());
        }
        if self.wish.stop_at.as_deref() == Some(text) {
            self.stop.send_replace(Some(Duration::from_millis(self.wish.grace_ms)));
        }
        self.enough |= self.wish.enough_at.as_deref() == Some(text);
    }

    fn outgoing(&mut self) -> Outgoing {
        let Some(words) = &self.wish.say else { return Outgoing::Nothing };
        let next = words.get(self.said).cloned();
        self.said += 1;
        match next {
            // One that never comes to an end: for programs that do not read.
            Some(word) if word == "FLOOD" => Outgoing::Bytes(vec![b'x'; 64 << 20]),
            Some(word) => Outgoing::Bytes(format!("{word}\n").into_bytes()),
            None => Outgoing::Close,
        }
    }

    fn patience(&self) -> Option<Duration> {
        self.wish.patience_ms.map(Duration::from_millis)
    }

    fn enough(&self) -> Option<String> {
        self.enough.then(|| "the test has heard enough".to_owned())
    }
}
