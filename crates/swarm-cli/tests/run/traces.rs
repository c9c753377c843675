//! What happened as spans: from the ledger afterwards, and sent to a collector while it happens.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use swarm_protocol::time::Timestamp;

use crate::arena::{Arena, wait_for};

/// A collector on a port of its own: it reads requests of OTLP and keeps every span it was given.
struct Collector {
    port: u16,
    spans: Arc<Mutex<Vec<Value>>>,
    answers: Arc<AtomicBool>,
    /// Connections that were never answered stay open.
    asked: Arc<Mutex<Vec<TcpStream>>>,
}

impl Collector {
    fn start(answers: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let answers = Arc::new(AtomicBool::new(answers));
        let (spans, asked) = (Arc::<Mutex<Vec<Value>>>::default(), Arc::<Mutex<Vec<TcpStream>>>::default());
        let (kept, said, silent) = (Arc::clone(&spans), Arc::clone(&answers), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let Some(given) = request_of(&stream) else { continue };
                if said.load(Ordering::SeqCst) {
                    kept.lock().expect("not poisoned").extend(given);
                    // Whoever was killed meanwhile does not read it.
                    let _ = (&stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
                } else {
                    silent.lock().expect("not poisoned").push(stream);
                }
            }
        });
        Self { port, spans, answers, asked }
    }

    fn config(&self) -> Value {
        json!({
            "agent": "script", "sandbox": "none", "check": { "commands": ["true"] },
            "stop": { "grace": "1s", "drain": "1s" }, "disk": { "low": 64, "enough": 96 },
            "telemetry": { "otlp": format!("http://127.0.0.1:{}", self.port) },
        })
    }

    /// What was given, each span once. One that came twice was the same.
    fn taken(&self) -> BTreeMap<String, Value> {
        let mut all = BTreeMap::new();
        for span in self.spans.lock().expect("not poisoned").iter() {
            let id = span["spanId"].as_str().expect("an id").to_owned();
            if let Some(before) = all.insert(id, span.clone()) {
                assert_eq!(before, *span, "sent twice, and not the same");
            }
        }
        all
    }
}

/// The spans of one request; none when whoever sent it was killed on the way.
fn request_of(stream: &TcpStream) -> Option<Vec<Value>> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end().to_ascii_lowercase() {
            line if line.is_empty() => break,
            line => {
                if let Some(bytes) = line.strip_prefix("content-length: ") {
                    length = bytes.parse().ok()?;
                }
            }
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    assert_eq!(first, "POST /v1/traces HTTP/1.1\r\n");
    Some(spans_of(std::str::from_utf8(&body).expect("text")))
}

/// The spans of lines of requests.
pub fn spans_of(lines: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for line in lines.lines() {
        let request: Value = serde_json::from_str(line).expect("JSON");
        for of in request["resourceSpans"].as_array().expect("a list") {
            for scope in of["scopeSpans"].as_array().expect("a list") {
                all.extend(scope["spans"].as_array().expect("a list").iter().cloned());
            }
        }
    }
    all
}

fn nanos(span: &Value, name: &str) -> u128 {
    span[name].as_str().and_then(|text| text.parse().ok()).expect("nanoseconds as text")
}

pub fn said<'a>(span: &'a Value, name: &str) -> Option<&'a str> {
    let all = span["attributes"].as_array().expect("attributes");
    let value = &all.iter().find(|one| one["key"] == name)?["value"];
    value["stringValue"].as_str().or_else(|| value["intValue"].as_str())
}

/// Each span once, each parent there, each child inside it.
pub fn is_a_forest(spans: &[Value]) {
    let by_id: BTreeMap<&str, &Value> =
        spans.iter().map(|span| (span["spanId"].as_str().expect("an id"), span)).collect();
    assert_eq!(by_id.len(), spans.len(), "a span came twice");
    for span in spans {
        if let Some(parent) = span["parentSpanId"].as_str() {
            let parent = by_id.get(parent).unwrap_or_else(|| panic!("no parent: {span}"));
            assert_eq!(parent["traceId"], span["traceId"]);
            let (start, end) = ("startTimeUnixNano", "endTimeUnixNano");
            assert!(nanos(parent, start) <= nanos(span, start), "{span} in {parent}");
            assert!(nanos(span, end) <= nanos(parent, end), "{span} in {parent}");
        }
    }
}

/// Claim and end of each merged task, as the ledger has them.
fn merged(arena: &Arena) -> BTreeSet<(String, u128, u128)> {
    let ledger = std::fs::read_to_string(arena.root.join(".swarm/plan-ledger.jsonl")).expect("the ledger");
    let mut claimed = BTreeMap::new();
    let mut found = BTreeSet::new();
    for line in ledger.lines() {
        let record: Value = serde_json::from_str(line).expect("a record");
        let at = Timestamp::parse(record["ts"].as_str().expect("a time")).expect("a time");
        let at = u128::from(at.0) * 1_000_000;
        let task = || record["taskId"].as_str().expect("a task").to_owned();
        match record["type"].as_str() {
            Some("task_claimed") => drop(claimed.insert(task(), at)),
            Some("task_status_changed") if record["status"] == "done" => {
                found.insert((task(), claimed[&task()], at));
            }
            _ => {}
        }
    }
    found
}

fn scripts(arena: &Arena) -> Vec<(&'static str, &'static [&'static str], String)> {
    let spends = "usage input=100 output=10 cost=0.25";
    let gate = arena.path("go");
    vec![
        ("1.1", &[], format!("{spends}\nwrite one.txt one\ncommit feat: one\ncomplete")),
        (
            "1.2",
            &[],
            format!("on-attempt 1: crash 3\n{spends}\nwrite two.txt two\ncommit feat: two\ncomplete"),
        ),
        (
            "1.3",
            &[],
            format!("{spends}\nwait-for {}\nwrite three.txt 3\ncommit feat: three\ncomplete", gate.display()),
        ),
    ]
}

#[test]
fn a_run_killed_three_times_is_one_trace_and_every_span_has_been_sent() {
    let collector = Collector::start(true);
    let arena = Arena::new(&collector.config().to_string());
    arena.plan(&scripts(&arena));
    for kill in 0..3 {
        let mut run = arena.start(&["--agents", "2"]);
        run.until("started (epoch");
        assert!(!run.for_a_while(Duration::from_millis(200 + 900 * kill)), "{}", run.said());
        run.kill_9();
    }
    std::fs::write(arena.path("go"), "").expect("the gate opens");
    let (code, text) = arena.start(&["--agents", "2"]).end();
    assert_eq!(code, 0, "{text}");
    arena.assert_all_done();

    let lines = arena.ok(&["trace", "export"]);
    assert_eq!(lines, arena.ok(&["trace", "export"]), "made twice, it is the same");
    let spans = spans_of(&lines);
    is_a_forest(&spans);
    let named = |name: &'static str| {
        spans.iter().filter(move |span| span["name"].as_str().is_some_and(|n| n.starts_with(name)))
    };
    let workflows: Vec<&Value> = named("invoke_workflow").collect();
    assert_eq!(workflows.len(), 1, "{workflows:?}");
    assert_eq!(said(workflows[0], "swarm.coordinators"), Some("4"), "{}", workflows[0]);
    let of_ledger = merged(&arena);
    let of_trace = named("swarm.task").filter(|span| said(span, "swarm.outcome") == Some("merged"));
    let of_trace: BTreeSet<(String, u128, u128)> = of_trace
        .map(|span| {
            let task = said(span, "swarm.task.id").expect("a task").to_owned();
            (task, nanos(span, "startTimeUnixNano"), nanos(span, "endTimeUnixNano"))
        })
        .collect();
    assert_eq!((of_trace.len(), of_trace), (3, of_ledger));
    let crashed = named("swarm.task").filter(|span| said(span, "error.type") == Some("crashed")).count();
    assert_eq!(crashed, 1, "the first attempt at 1.2");
    let tokens: u64 = named("swarm.task")
        .filter_map(|span| said(span, "gen_ai.usage.input_tokens")?.parse::<u64>().ok())
        .sum();
    let costs = arena.json(&["cost"]);
    assert_eq!(costs["total"]["inputTokens"], tokens, "{costs}");

    let taken = collector.taken();
    let made: BTreeMap<String, Value> =
        spans.iter().map(|span| (span["spanId"].as_str().expect("an id").to_owned(), span.clone())).collect();
    // What a person did before the first coordinator came is in both, too.
    assert_eq!(taken, made, "every span arrived, as it is in the ledger");

    looked_at_in_parts(&arena, &lines, &spans);
}

/// The parts that can be asked for.
fn looked_at_in_parts(arena: &Arena, lines: &str, spans: &[Value]) {
    let file = arena.path("trace.jsonl");
    assert_eq!(arena.ok(&["trace", "export", "--output", file.to_str().expect("text")]), "");
    assert_eq!(std::fs::read_to_string(file).expect("the file"), lines);
    let of_task = spans_of(&arena.ok(&["trace", "export", "--task", "1.1"]));
    is_a_forest(&of_task);
    let tasks: Vec<&str> = of_task.iter().filter_map(|span| said(span, "swarm.task.id")).collect();
    assert!(!tasks.is_empty() && tasks.iter().all(|task| *task == "1.1"), "{tasks:?}");
    let half = arena.json(&["status"])["seq"].as_u64().expect("a number") / 2;
    let early = ["trace", "export", "--at", &half.to_string()];
    let ended = spans_of(&arena.ok(&early));
    assert!(!ended.is_empty() && ended.len() < spans.len() && ended == spans[..ended.len()]);
    let all = spans_of(&arena.ok(&[&early[..], &["--unfinished"]].concat()));
    is_a_forest(&all);
    assert!(all.len() > ended.len() && all[..ended.len()] == ended);
}

#[test]
fn a_collector_that_never_answers_holds_nothing_up_and_gets_everything_later() {
    let collector = Collector::start(false);
    let arena = Arena::new(&collector.config().to_string());
    std::fs::write(arena.path("go"), "").expect("the gate is open");
    arena.plan(&scripts(&arena));
    let (code, text) = arena.start(&["--agents", "2"]).end();
    assert_eq!(code, 0, "{text}");
    arena.assert_all_done();
    assert!(!collector.asked.lock().expect("not poisoned").is_empty(), "it was asked");
    assert!(collector.taken().is_empty());

    collector.answers.store(true, Ordering::SeqCst);
    // Nothing is left to do, and what is left to send is sent.
    let (code, text) = arena.start(&[]).end();
    assert_eq!(code, 0, "{text}");
    let spans = spans_of(&arena.ok(&["trace", "export"]));
    wait_for("everything has arrived", || collector.taken().len() == spans.len());
    is_a_forest(&spans);
}
