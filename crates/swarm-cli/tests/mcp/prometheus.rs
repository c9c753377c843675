//! Somebody else's reader: a real Prometheus reads a run through the web door, and has what the ledger has.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, task};

/// A process that ends with the test.
struct Ours(Child);

impl Drop for Ours {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The pages of the swarm, and their port.
fn door(arena: &Arena) -> (Ours, u16) {
    let mut command = arena.command(&["web", "--no-open", "--port", "0", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    let link: Value = serde_json::from_str(&line).expect("a link");
    (Ours(child), u16::try_from(link["port"].as_u64().expect("a port")).expect("a port"))
}

/// A Prometheus on this port that reads the door.
fn prometheus(arena: &Arena, port: u16, door: u16) -> Ours {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/observability/alerts.yml");
    let config = json!({
        "global": { "scrape_interval": "1s", "evaluation_interval": "1s" },
        "rule_files": [rules.canonicalize().expect("the rules")],
        "scrape_configs": [{
            "job_name": "swarm",
            "authorization": { "credentials_file": arena.root.join(".swarm/run/metrics.token") },
            "static_configs": [{ "targets": [format!("127.0.0.1:{door}")] }],
        }],
    });
    let file = arena.path("prometheus.yml");
    std::fs::write(&file, config.to_string()).expect("a file");
    let child = Command::new("prometheus")
        .arg(format!("--config.file={}", file.display()))
        .arg(format!("--storage.tsdb.path={}", arena.path("series").display()))
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        .arg("--log.level=error")
        .spawn()
        .expect("prometheus is installed");
    Ours(child)
}

fn ask(port: u16, path: &str) -> Option<Value> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    serde_json::from_str(text.split_once("\r\n\r\n")?.1).ok()
}

/// The value of one series as Prometheus has it now.
fn value(port: u16, series: &str) -> Option<f64> {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '_' { c.to_string() } else { format!("%{:02X}", c as u32) }
    };
    let query: String = series.chars().map(plain).collect();
    let answer = ask(port, &format!("/api/v1/query?query={query}"))?;
    answer["data"]["result"][0]["value"][1].as_str()?.parse().ok()
}

#[test]
#[ignore = "needs prometheus: cargo xtask prometheus"]
fn a_real_prometheus_reads_what_the_ledger_says() {
    let arena = arena_with(json!({ "agent": "script" }));
    let go = arena.path("go");
    let spends = "usage input=100 output=10 cost=0.25\n";
    let one = format!("{spends}write one.txt one\ncommit feat: one\ncomplete");
    let two = format!("{spends}wait-for {}\nwrite two.txt two\ncommit feat: two\ncomplete", go.display());
    arena.plan_in_phases(&[vec![task("1.1", &[], &one), task("1.2", &["1.1"], &two)]]);
    let (_door, door) = door(&arena);
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let _prometheus = prometheus(&arena, port, door);
    wait_for("it reads the ledger without a coordinator", || {
        value(port, "swarm_tasks{status=\"pending\"}") == Some(2.0)
    });

    let run = arena.start(&[]);
    wait_for("it sees the agent at work and the first task done", || {
        value(port, "swarm_agents{state=\"working\"}") == Some(1.0)
            && value(port, "swarm_tasks{status=\"done\"}") == Some(1.0)
            && value(port, "swarm_effects{kind=\"Work\"}") == Some(1.0)
    });
    std::fs::write(go, "").expect("a file");
    assert_eq!(run.end().0, 0);

    let page = arena.ok(&["metrics"]);
    let samples = page.lines().filter(|line| !line.starts_with('#'));
    let wanted: Vec<(&str, f64)> = samples
        .filter(|line| !line.contains("_oldest_") && !line.contains("_disk_free_"))
        .map(|line| line.rsplit_once(' ').expect("a sample"))
        .map(|(series, number)| (series, number.parse().expect("a number")))
        .collect();
    assert!(wanted.len() > 100, "{page}");
    for (series, number) in wanted {
        wait_for(&format!("{series} is {number}"), || value(port, series) == Some(number));
    }
    let rules = ask(port, "/api/v1/rules").expect("rules").to_string();
    assert!(rules.contains("SwarmWaitsForAPerson") && !rules.contains("\"health\":\"err\""), "{rules}");
    arena.is_judged();
}
