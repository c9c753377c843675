//! Requests on their way to the coordinator, and to the ledger where there is none.

use serde_json::json;
use swarm_engine::store::{OpenOptions, Opened, Store};
use swarm_protocol::channel::Response;
use swarm_server::peer::Role;

use crate::house::{House, headers, within};
use crate::served::add;

#[tokio::test]
async fn a_person_at_the_pages_commands_in_that_name_whatever_they_say() {
    let house = House::new().await;
    house.served.plan(2).await;
    let cookie = house.enter(Role::Operator).await;
    let command = json!({ "do": "block_task", "task": "t1", "reason": "waits" });
    let heard = house
        .post("/v1/commands", &cookie, &json!({ "id": "w1", "by": "swarm:close", "command": command }))
        .await;
    assert_eq!(heard.json()["state"], "landed", "{heard:?}");
    assert!(heard.header("swarm-seq").is_some());
    assert_eq!(*house.served.asked_by.lock().expect("whole"), ["person:cli", "person:web"]);
    let again = house.wish(&cookie, "w1", "t1", "waits").await.json();
    assert_eq!(again["answer"]["repeated"], true, "{again}");
    assert_eq!(house.wish(&cookie, "w2", "t9", "x").await.kind(), (409, "unknown_task".into()));
    assert_eq!(
        house.post("/v1/commands", &cookie, &json!({ "id": "w3" })).await.kind(),
        (400, "bad_command".into())
    );
    let board = house.get("/v1/board", &cookie).await;
    assert_eq!(board.header("swarm-seq"), Some(board.json()["seq"].to_string().as_str()));
    assert_eq!(house.get("/v1/board?at=99999", &cookie).await.kind(), (404, "no_such_record".into()));
}

#[tokio::test]
async fn a_viewer_looks_and_does_not_command_with_a_coordinator_and_without() {
    let mut house = House::new().await;
    house.served.plan(2).await;
    let viewer = house.enter(Role::Viewer).await;
    for _ in 0..2 {
        assert_eq!(house.wish(&viewer, "v1", "t1", "no").await.kind(), (403, "not_for_viewers".into()));
        let mut with = house.of_a_page();
        with.extend(headers(&[("Cookie", &viewer), ("Swarm-Role", "operator")]));
        let body = br#"{"id":"v2","command":{"do":"block_task","task":"t1","reason":"no"}}"#;
        assert_eq!(
            house.ask("POST", "/v1/commands", &with, body).await.status,
            403,
            "a header raises nobody"
        );
        assert_eq!(house.get("/v1/board", &viewer).await.status, 200);
        house.served.close().await;
    }
}

#[tokio::test]
async fn without_a_coordinator_the_board_is_there_and_a_command_lands() {
    let mut house = House::new().await;
    house.served.plan(3).await;
    let cookie = house.enter(Role::Operator).await;
    let before = house.get("/v1/board", &cookie).await.json();
    house.served.close().await;
    let after = house.get("/v1/board", &cookie).await;
    assert_eq!(after.status, 200, "{after:?}");
    let tasks = |board: &serde_json::Value| board["view"]["tasks"].as_array().map(Vec::len);
    assert_eq!(tasks(&after.json()), tasks(&before));
    let landed = house.wish(&cookie, "w1", "t2", "later").await;
    assert_eq!(landed.json()["state"], "landed", "{landed:?}");
    assert_eq!(house.get("/v1/commands/w1", &cookie).await.json()["state"], "landed");
    assert_eq!(house.get("/v1/tasks/t2", &cookie).await.json()["view"]["status"], "blocked");
    let history = house.get("/v1/history?from=1", &cookie).await;
    assert!(history.body.contains(r#""by":"person:web""#), "{history:?}");
    assert_eq!(house.get("/v1/tasks/t9", &cookie).await.kind(), (409, "unknown_task".into()));
}

/// Takes what is asked and ends without an answer, as one that is killed in the middle does.
fn ends_in_the_middle(socket: &std::path::Path) -> tokio::task::JoinHandle<()> {
    use tokio::io::AsyncReadExt;
    let listener = swarm_server::socket::bind(socket).expect("it listens");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).await;
        }
    })
}

#[tokio::test]
async fn a_coordinator_lost_in_the_middle_leaves_it_open_whether_it_was_done() {
    let mut house = House::new().await;
    house.served.plan(2).await;
    let cookie = house.enter(Role::Operator).await;
    house.served.close().await;
    let ending = ends_in_the_middle(&house.served.paths.socket);
    let deed = json!({ "deed": { "do": "restore", "name": "t1" } });
    let heard = house.post("/v1/deeds", &cookie, &deed).await;
    assert_eq!(heard.kind(), (503, "lost".into()), "{heard:?}");
    let error = &heard.json()["error"];
    let said = |part: &str| error[part].as_str().unwrap_or_default().to_owned();
    assert!(said("message").contains("not known whether it was done"), "{error}");
    assert!(said("hint").starts_with("`swarm restore` shows"), "{error}");
    // A command is carried out by whoever has the ledger by then, once.
    assert_eq!(house.wish(&cookie, "w1", "t1", "waits").await.json()["state"], "landed");
    // Where that cannot be, its first try may still have been carried out.
    let opened = Store::become_coordinator(&house.served.paths, OpenOptions::new("elsewhere"));
    let Opened::Writer(_held) = opened.expect("opened") else { panic!("the lock is taken") };
    let heard = house.wish(&cookie, "w2", "t2", "waits").await;
    assert_eq!(heard.kind(), (503, "lost".into()), "{heard:?}");
    assert!(heard.body.contains("the same id"), "{heard:?}");
    ending.abort();
}

#[tokio::test]
async fn bodies_are_bounded() {
    let house = House::new().await;
    house.served.plan(1).await;
    let cookie = house.enter(Role::Operator).await;
    let large =
        json!({ "id": "w1", "command": { "do": "block_task", "task": "t1", "reason": "x".repeat(2 << 20) } });
    assert_eq!(house.post("/v1/commands", &cookie, &large).await.kind(), (413, "too_large".into()));
    let mut with = house.of_a_page();
    with.extend(headers(&[("Cookie", &cookie)]));
    let mut head =
        format!("POST /v1/commands HTTP/1.1\r\nHost: {}\r\nContent-Length: 99999999999\r\n", house.host());
    with.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
    let mut stream = house.connect().await;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    stream.write_all(format!("{head}\r\n").as_bytes()).await.expect("said");
    let mut heard = vec![0; 12];
    within("an answer", stream.read_exact(&mut heard)).await.expect("an answer");
    assert_eq!(heard, b"HTTP/1.1 413");
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(20_000));
    let mut stream = house.connect().await;
    let _ = stream.write_all(long.as_bytes()).await;
    let mut heard = Vec::new();
    let _ = within("an end", stream.read_to_end(&mut heard)).await;
    assert!(String::from_utf8_lossy(&heard).starts_with("HTTP/1.1 4"), "{}", String::from_utf8_lossy(&heard));
    assert_eq!(house.get("/v1/board", &cookie).await.status, 200, "still there");
}

#[tokio::test]
async fn events_stream_through() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let house = House::new().await;
    house.served.plan(1).await;
    let cookie = house.enter(Role::Operator).await;
    let mut stream = house.connect().await;
    let head =
        format!("GET /v1/events?from=1 HTTP/1.1\r\nHost: {}\r\nCookie: {cookie}\r\n\r\n", house.host());
    stream.write_all(head.as_bytes()).await.expect("said");
    let added = house.served.ask("n1", add(1)).await;
    assert!(matches!(added, Response::Answer(_)));
    let mut heard = String::new();
    let reading = async {
        while !heard.contains("event: task_added") || !heard.contains("New 1") {
            let mut bytes = [0; 4096];
            let read = stream.read(&mut bytes).await.expect("open");
            assert!(read > 0, "it ended: {heard}");
            heard.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    };
    within("the record", reading).await;
    assert!(heard.contains("content-type: text/event-stream") && heard.contains("swarm-ledger: "), "{heard}");
}

#[tokio::test]
async fn a_monitoring_program_reads_the_numbers_and_nothing_else() {
    let mut house = House::new().await;
    house.served.plan(2).await;
    let token = std::fs::read_to_string(house.served.paths.run.join("metrics.token")).expect("a token");
    let bearer = headers(&[("Authorization", &format!("Bearer {token}"))]);
    for _ in 0..2 {
        let page = house.ask("GET", "/metrics", &bearer, b"").await;
        assert_eq!(page.status, 200, "{page:?}");
        assert!(page.body.contains("swarm_tasks{status=\"pending\"} 2\n"), "{page:?}");
        for path in ["/v1/board", "/v1/events", "/session", "/v1/openapi.json"] {
            assert_eq!(
                house.ask("GET", path, &bearer, b"").await.kind(),
                (401, "no_session".into()),
                "{path}"
            );
        }
        assert_eq!(house.ask("POST", "/metrics", &bearer, b"").await.status, 405);
        let wrong = headers(&[("Authorization", "Bearer 00")]);
        assert_eq!(house.ask("GET", "/metrics", &wrong, b"").await.kind(), (401, "no_session".into()));
        let elsewhere = [bearer.clone(), headers(&[("Host", "evil.test:7717")])].concat();
        assert_eq!(house.ask("GET", "/metrics", &elsewhere, b"").await.kind(), (403, "wrong_host".into()));
        let viewer = house.enter(Role::Viewer).await;
        assert_eq!(house.get("/metrics", &viewer).await.status, 200);
        house.served.close().await;
    }
}
