//! Who may what: an agent is an agent whatever it shows, a viewer only looks, and nobody poses as a daemon.

use std::process::{Command as Process, Stdio};
use std::sync::Arc;

use serde_json::Value;
use swarm_protocol::channel::Upward;
use swarm_protocol::ids::RunId;
use swarm_server::limits::Limits;
use swarm_server::peer::{Inside, Peer, Standing, by_ancestors};
use swarm_work::supervisor::to_hex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::served::Served;
use crate::world::{Coordinator, World, until, within};

const JSON: &str = "Content-Type: application/json\r\n";
const BLOCK: &[u8] = br#"{"id":"x1","command":{"do":"block_task","task":"t1","reason":"no"}}"#;

#[tokio::test]
async fn a_viewer_looks_and_does_not_command() {
    let served = Served::start();
    served.plan(1).await;
    for (header, role) in
        [("", "operator"), ("Swarm-Role: viewer\r\n", "viewer"), ("Swarm-Role: king\r\n", "viewer")]
    {
        let (_, pong) = served.request("GET", "/v1/ping", header, b"").await;
        assert_eq!(serde_json::from_str::<Value>(&pong).expect("JSON")["role"], role);
    }
    let headers = format!("{JSON}Swarm-Role: viewer\r\n");
    let (status, answer) = served.request("POST", "/v1/commands", &headers, BLOCK).await;
    assert_eq!(status, 403);
    assert!(answer.contains("\"not_for_viewers\""), "{answer}");
    assert_eq!(served.request("GET", "/v1/status", "Swarm-Role: viewer\r\n", b"").await.0, 200);
}

#[tokio::test]
async fn an_agent_is_refused_and_reported_whatever_it_shows() {
    let inside = Inside { run: Some(RunId::nth(7)), nonce: Some("n7".into()) };
    let standing = Standing::Inside(inside);
    let served = Served::with(Limits::default(), Arc::new(move |_| standing.clone()));
    for header in ["", "Swarm-Role: operator\r\n", "Authorization: Bearer of-the-operator\r\n"] {
        let (status, answer) =
            served.request("POST", "/v1/commands", &format!("{JSON}{header}"), BLOCK).await;
        assert_eq!(status, 403);
        let error = &serde_json::from_str::<Value>(&answer).expect("JSON")["error"];
        assert_eq!(error["kind"], "not_for_agents");
        assert_eq!(
            error["message"],
            "swarm task block t1 was asked from inside run r7: an agent may not do this"
        );
    }
    served.request("POST", "/v1/commands", JSON, b"nonsense").await;
    until("the reports", || served.oversteps.lock().expect("whole").len() == 2).await;
    let oversteps = served.oversteps.lock().expect("whole").clone();
    assert_eq!(oversteps, ["swarm task block t1", "a command that cannot be read"], "each once");
    assert!(served.asked_by.lock().expect("whole").is_empty(), "nothing reached the loop");
    assert_eq!(served.request("GET", "/v1/ping", "", b"").await.0, 200, "it may look");
}

/// Every command that the API describes, also those that no tool reaches.
fn commands() -> Vec<String> {
    let described: Value =
        serde_json::from_str(include_str!("../../../../docs/reference/openapi.json")).expect("JSON");
    let commands = described["components"]["schemas"]["Command"]["oneOf"].as_array().expect("commands");
    let kinds = commands.iter().filter_map(|command| command["properties"]["do"]["const"].as_str());
    kinds.map(str::to_owned).collect()
}

#[tokio::test]
async fn every_command_is_refused_to_every_role_but_the_operators() {
    let kinds = commands();
    assert!(kinds.len() > 40, "{kinds:?}");
    let inside = Inside { run: Some(RunId::nth(7)), nonce: Some("n7".into()) };
    let roles: [(Standing, &str, Option<&str>, bool); 4] = [
        (Standing::Outside, "", None, true),
        (Standing::Outside, "Swarm-Role: viewer\r\n", Some("not_for_viewers"), true),
        (Standing::Unseen, "", Some("not_for_viewers"), true),
        (Standing::Inside(inside), "", Some("not_for_agents"), false),
    ];
    for (standing, header, refusal, may_preview) in roles {
        let who = format!("{standing:?} {header}");
        let served = Served::with(Limits::default(), Arc::new(move |_| standing.clone()));
        for kind in &kinds {
            let body = format!(r#"{{"id":"x-{kind}","command":{{"do":"{kind}"}}}}"#);
            let headers = format!("{JSON}{header}");
            let (status, answer) = served.request("POST", "/v1/commands", &headers, body.as_bytes()).await;
            match refusal {
                Some(refusal) => {
                    assert_eq!(status, 403, "{who}: {kind}: {answer}");
                    assert!(answer.contains(&format!("\"{refusal}\"")), "{who}: {kind}: {answer}");
                }
                None => assert_ne!(status, 403, "{who}: {kind}: {answer}"),
            }
        }
        let wish = br#"{"do":"pause","reason":"user","why":"lunch"}"#;
        let (status, answer) = served.request("POST", "/v1/preview", &format!("{JSON}{header}"), wish).await;
        assert_eq!(status != 403, may_preview, "{who}: {answer}");
        let asked = served.asked_by.lock().expect("whole").len();
        assert_eq!(asked > 0, refusal.is_none(), "{who}: {asked} commands reached the loop");
    }
}

#[tokio::test]
async fn somebody_who_has_gone_already_commands_nothing() {
    let served = Served::with(Limits::default(), Arc::new(|_| Standing::Unseen));
    let (status, answer) = served.request("POST", "/v1/commands", JSON, BLOCK).await;
    assert_eq!((status, answer.contains("not_for_viewers")), (403, true), "{answer}");
}

#[tokio::test]
async fn one_attempt_cannot_take_all_places() {
    let inside = Standing::Inside(Inside { run: None, nonce: Some("n".into()) });
    let limits = Limits { per_attempt: 2, ..Limits::default() };
    let served = Served::with(limits, Arc::new(move |_| inside.clone()));
    let held = [served.connect().await, served.connect().await];
    let (status, answer) = served.request("GET", "/v1/ping", "", b"").await;
    assert_eq!((status, answer.contains("\"busy\"")), (503, true), "{answer}");
    drop(held);
    let again = async {
        while served.request("GET", "/v1/ping", "", b"").await.0 != 200 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    within("a place", again).await;
}

/// Connections of its own that say nothing, as many as there is room for; then those that nobody could look at.
#[tokio::test]
async fn a_flood_out_of_one_attempt_is_gone_at_once_and_a_person_is_served_meanwhile() {
    for flood in [Standing::Inside(Inside { run: None, nonce: Some("n".into()) }), Standing::Unseen] {
        let floods = Arc::new(std::sync::atomic::AtomicBool::new(true));
        let (seen, standing) = (Arc::clone(&floods), flood.clone());
        let who = Arc::new(move |_: Peer| match seen.load(std::sync::atomic::Ordering::SeqCst) {
            true => standing.clone(),
            false => Standing::Outside,
        });
        let limits = Limits { callers: 4, daemons: 2, per_attempt: 2, ..Limits::default() };
        let served = Served::with(limits, who);
        let mut streams = Vec::new();
        for _ in 0..32 {
            streams.push(served.connect().await);
        }
        // All but its share: whoever was let in has heard nothing yet.
        for stream in &mut streams[2..] {
            let mut heard = Vec::new();
            within("the end", stream.read_to_end(&mut heard)).await.expect("heard");
            assert!(heard.starts_with(b"HTTP/1.1 503"), "{flood:?}: {}", String::from_utf8_lossy(&heard));
        }
        floods.store(false, std::sync::atomic::Ordering::SeqCst);
        assert_eq!(served.request("GET", "/v1/ping", "", b"").await.0, 200, "{flood:?}");
        drop(streams);
    }
}

#[tokio::test]
async fn one_attempt_may_ask_only_so_often_and_a_person_as_often_as_they_like() {
    let hour = std::time::Duration::from_secs(3600);
    let limits = Limits { asks_at_once: 2, ask_every: hour, ..Limits::default() };
    let inside = Standing::Inside(Inside { run: None, nonce: Some("n".into()) });
    let served = Served::with(limits, Arc::new(move |_| inside.clone()));
    for expected in [200, 200, 429, 429] {
        let (status, answer) = served.request("GET", "/v1/ping", "", b"").await;
        assert_eq!((status, answer.contains("too_often")), (expected, expected == 429), "{answer}");
    }
    let served = Served::with(limits, super::served::everybody());
    for _ in 0..4 {
        assert_eq!(served.request("GET", "/v1/ping", "", b"").await.0, 200);
    }
}

/// Runs a shell line that asks the socket with curl, in this environment.
fn curl(served: &Served, line: &str, environment: &[(&str, &str)]) -> String {
    let mut shell = Process::new("sh");
    shell.arg("-c").arg(line).env("SOCKET", &served.paths.socket).envs(environment.iter().copied());
    let output = shell.stdin(Stdio::null()).output().expect("sh runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test]
async fn a_process_of_a_run_is_known_by_its_environment_or_its_parents() {
    if Process::new("curl").arg("--version").output().is_err() {
        return;
    }
    let mut served = Served::start();
    served.close().await;
    served.open(Limits::default(), by_ancestors(&served.paths.swarm));
    let ask = "curl -s --unix-socket \"$SOCKET\" http://swarm/v1/ping";
    let served = &Arc::new(served);
    let asking = async |line: String, nonce: Option<&'static str>| -> Value {
        let served = Arc::clone(served);
        let environment = nonce.map(|nonce| ("SWARM_NONCE", nonce));
        let asked = tokio::task::spawn_blocking(move || curl(&served, &line, environment.as_slice()));
        serde_json::from_str(&asked.await.expect("no panic")).expect("a pong")
    };
    assert_eq!(asking(ask.into(), None).await["role"], "operator");
    assert_eq!(asking(ask.into(), Some("n1")).await["role"], "agent");
    let hidden = "env -u SWARM_NONCE curl -s --unix-socket \"$SOCKET\" http://swarm/v1/ping; true";
    assert_eq!(asking(hidden.into(), Some("n1")).await["role"], "agent", "its parent tells");
    // Below a daemon, which is what takes over whatever has lost its parents.
    let spec = served.paths.daemons.join("r3.spec.json");
    let below =
        format!("exec -a swarm sh -c '{}; true' daemon --spec {}", ask.replace('\'', ""), spec.display());
    let line = format!("bash -c {below:?}");
    assert_eq!(asking(line, None).await["role"], "agent", "its daemon tells");
}

#[tokio::test]
async fn whoever_knows_the_secret_is_not_yet_the_daemon() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    let hello = coordinator.hello().await;
    coordinator.welcome(0);
    // This process has read the key and knows everything a daemon knows, but it is another process.
    let paths = swarm_engine::paths::Paths::new(&world.spec.root, &world.spec.root.join(".git"));
    let mut thief = swarm_server::socket::connect(&paths.socket).await.expect("connected");
    let upgrade = "GET /v1/work HTTP/1.1\r\nHost: s\r\nConnection: Upgrade\r\nUpgrade: swarm-work/1\r\n\r\n";
    let stolen = swarm_protocol::channel::Hello { secret: to_hex(&world.secret()), ..hello };
    let said = format!("{upgrade}{}\n", serde_json::to_string(&Upward::Hello(stolen)).expect("JSON"));
    thief.write_all(said.as_bytes()).await.expect("said");
    let mut heard = String::new();
    within("the end", thief.read_to_string(&mut heard)).await.expect("heard");
    assert!(heard.starts_with("HTTP/1.1 101") && !heard.contains("welcome"), "{heard}");
    // The daemon itself did not notice anything.
    let (iteration, ..) = coordinator.boundary().await;
    assert_eq!(iteration, 0);
}
