//! Whatever is said to the socket: a clear answer, within bounds, and the socket goes on.

use std::time::Duration;

use serde_json::Value;
use swarm_protocol::channel::Response;
use swarm_server::limits::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::served::{Served, everybody, save};
use crate::world::within;

const JSON: &str = "Content-Type: application/json\r\n";

#[tokio::test]
async fn every_bad_request_gets_one_shape_of_error() {
    let served = Served::start();
    served.plan(1).await;
    let long = format!("{{\"id\":\"{}\"}}", "x".repeat(2 << 20));
    let deep = "[".repeat(100_000);
    let post = |headers, body| ("POST", "/v1/commands", headers, body);
    type Asked<'a> = (&'a str, &'a str, &'a str, &'a [u8]);
    let cases: &[(Asked<'_>, u16, &str)] = &[
        (post(JSON, b"".as_slice()), 400, "bad_command"),
        (post(JSON, b"{"), 400, "bad_command"),
        (post(JSON, b"{\"id\":\"a b\",\"command\":{\"do\":\"approve_plan\"}}"), 400, "bad_command"),
        (post(JSON, b"{\"id\":\"a\",\"command\":{\"do\":\"fly\"}}"), 400, "bad_command"),
        (post(JSON, b"{\"id\":\"a\",\"command\":{\"do\":\"approve_plan\"},\"x\":1}"), 400, "bad_command"),
        (post(JSON, deep.as_bytes()), 400, "bad_command"),
        (post(JSON, b"\xff\xfe"), 400, "bad_command"),
        (post("", b"{}"), 415, "wrong_media_type"),
        (post("Content-Type: application/x-www-form-urlencoded\r\n", b"{}"), 415, "wrong_media_type"),
        (post(JSON, long.as_bytes()), 400, "bad_command"),
        (("GET", "/v1/commands/a%20b", "", b""), 400, "bad_request"),
        (("GET", "/v1/tasks/..", "", b""), 400, "bad_request"),
        (("GET", "/v1/tasks/t9", "", b""), 409, "unknown_task"),
        (("GET", "/v1/status?at=x", "", b""), 400, "bad_request"),
        (("GET", "/v1/status?when=1", "", b""), 400, "bad_request"),
        (("GET", "/v1/status?at=99999", "", b""), 404, "no_such_record"),
        (("GET", "/v1/events?from=-1", "", b""), 400, "bad_request"),
        (("GET", "/v1/events?from=99999", "", b""), 404, "no_such_record"),
        (("GET", "/v1/events", "Last-Event-ID: x\r\n", b""), 400, "bad_request"),
        (("GET", "/v1/agents/..%2F..%2Fetc/log", "", b""), 400, "bad_request"),
        (("GET", "/v1/agents/ed-001/log", "", b""), 404, "no_log"),
        (("GET", "/v1/runs/r1/log", "", b""), 404, "no_log"),
        (("GET", "/v1/trunk?path=../../", "", b""), 400, "bad_request"),
        (("GET", "/v1/trunk?path=src/%2e%2e/%2e%2e/etc/passwd", "", b""), 400, "bad_request"),
        (("GET", "/v1/trunk?path=%2Fetc%2Fpasswd", "", b""), 400, "bad_request"),
        (("GET", "/v1/trunk?path=a%00b", "", b""), 400, "bad_request"),
        (("GET", "/v1/work", "", b""), 426, "upgrade_required"),
        (("GET", "/", "", b""), 404, "not_found"),
        (("GET", "/v2/status", "", b""), 404, "not_found"),
        (("DELETE", "/v1/status", "", b""), 405, "method_not_allowed"),
    ];
    for ((method, path, headers, body), status, kind) in cases {
        let (got, answer) = served.request(method, path, headers, body).await;
        let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        let error = &answer["error"];
        assert_eq!((got, error["kind"].as_str()), (*status, Some(*kind)), "{method} {path}: {answer}");
        assert!(["message", "hint"].iter().all(|part| !error[part].as_str().unwrap_or_default().is_empty()));
    }
    served.client.ping().await.expect("still there");
}

#[tokio::test]
async fn a_path_that_leads_out_of_the_repository_is_refused_in_words() {
    let served = Served::start();
    served.plan(1).await;
    let (status, answer) = served.request("GET", "/v1/trunk?path=../../", "", b"").await;
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert_eq!(status, 400, "{answer}");
    assert!(message.contains("is not a path of the repository: it is written from the top"), "{answer}");
}

#[tokio::test]
async fn what_a_large_plan_would_do_may_be_asked_and_nothing_else_may_be_large() {
    let served = Served::start();
    let asked = async |body: serde_json::Result<Vec<u8>>| {
        served.request("POST", "/v1/preview", JSON, &body.expect("JSON")).await
    };
    // There is no repository here to look at: whoever asks comes as far as that.
    let (status, answer) = asked(serde_json::to_vec(&save(900, &"x".repeat(3000)))).await;
    assert_eq!((status, answer.contains("\"lost\"")), (503, true), "{answer}");
    let block = serde_json::json!({"do": "block_task", "task": "t1", "reason": "x".repeat(2 << 20)});
    let (status, answer) = asked(serde_json::to_vec(&block)).await;
    assert_eq!((status, answer.contains("more than 1048576 bytes")), (413, true), "{answer}");
}

#[tokio::test]
async fn only_a_plan_may_be_large() {
    let served = Served::start();
    let large = "x".repeat(3000);
    let saved = served.ask("c1", save(900, &large)).await;
    assert!(matches!(saved, Response::Answer(_)), "{saved:?}");
    let reason = "x".repeat(2 << 20);
    let body =
        serde_json::json!({"id": "c2", "command": {"do": "block_task", "task": "t1", "reason": reason}});
    let (status, answer) = served.request("POST", "/v1/commands", JSON, body.to_string().as_bytes()).await;
    assert_eq!(status, 413, "{answer}");
    assert!(answer.contains("more than 1048576 bytes"), "{answer}");
    let said = "POST /v1/commands HTTP/1.1\r\nHost: s\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n";
    let heard = served.raw(said).await;
    assert!(heard.starts_with("HTTP/1.1 413"), "{heard}");
    served.client.ping().await.expect("still there");
}

#[tokio::test]
async fn what_is_no_http_ends_at_once_and_harms_nobody() {
    let served = Served::start();
    let mut heads = vec![b"\0\0\0\0\r\n\r\n".to_vec(), b"{\"request\":\"ping\"}\r\n\r\n".to_vec()];
    heads.push(format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(20_000)).into_bytes());
    heads.push(format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(20_000)).into_bytes());
    heads.push(format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(1000)).into_bytes());
    for head in heads {
        let heard = within("an end", served.raw(head)).await;
        let status = heard.split(' ').nth(1);
        assert!(matches!(status, Some("400" | "414" | "431")), "{heard}");
    }
    served.client.ping().await.expect("still there");
}

#[tokio::test]
async fn whoever_dawdles_is_let_go() {
    let short = Duration::from_millis(100);
    let limits = Limits { head_within: short, hello_within: short, body_within: short, ..Limits::default() };
    let served = Served::with(limits, everybody());
    let upgrade = "GET /v1/work HTTP/1.1\r\nHost: s\r\nConnection: Upgrade\r\nUpgrade: swarm-work/1\r\n\r\n";
    let cases = [
        ("", ""),
        ("GET /v1/ping HTTP/1.1\r\n", ""),
        (
            "POST /v1/commands HTTP/1.1\r\nHost: s\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
            "408",
        ),
        (upgrade, "101"),
    ];
    for (said, status) in cases {
        let heard = within("an end", served.raw(said)).await;
        assert!(
            heard.starts_with(&format!("HTTP/1.1 {status}")) || (status.is_empty() && heard.is_empty()),
            "{heard}"
        );
    }
    served.client.ping().await.expect("still there");
}

#[tokio::test]
async fn callers_never_keep_a_daemon_out() {
    let limits = Limits { callers: 3, daemons: 2, ..Limits::default() };
    let served = Served::with(limits, everybody());
    let mut streams = Vec::new();
    for _ in 0..3 {
        let mut stream = served.connect().await;
        stream.write_all(b"GET /v1/events HTTP/1.1\r\nHost: s\r\n\r\n").await.expect("said");
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.expect("heard");
        assert_eq!(&first, b"HTTP/1.1 200");
        streams.push(stream);
    }
    let (status, answer) = served.request("GET", "/v1/ping", "", b"").await;
    assert_eq!(status, 503, "{answer}");
    assert!(answer.contains("\"busy\""), "{answer}");
    let mut daemon = served.connect().await;
    let upgrade = b"GET /v1/work HTTP/1.1\r\nHost: s\r\nConnection: Upgrade\r\nUpgrade: swarm-work/1\r\n\r\n";
    daemon.write_all(upgrade).await.expect("said");
    let mut first = [0; 12];
    within("the upgrade", daemon.read_exact(&mut first)).await.expect("heard");
    assert_eq!(&first, b"HTTP/1.1 101");
    drop(streams);
    let again = async {
        while served.client.ping().await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within("a place", again).await;
}
