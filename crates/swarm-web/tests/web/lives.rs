//! Live connections: in order, without a gap, whoever coordinates; bounded, and over when they should be.

use std::time::Duration;

use futures_util::SinkExt;
use serde_json::{Value, json};
use swarm_agents::journal::{Journal, Stream};
use swarm_protocol::channel::Response;
use swarm_protocol::ids::RunId;
use swarm_server::limits::Limits as SocketLimits;
use swarm_server::peer::Role;
use swarm_web::control::Control;
use swarm_web::limits::{FOLLOWED_MAX, Limits, MESSAGE_MAX};
use swarm_work::daemon::RunFiles;
use tokio_tungstenite::tungstenite::Message;

use crate::house::{House, Live, within};
use crate::served::{add, everybody};

/// Records up to this one, which must come one after the other.
async fn records(live: &mut Live, next: &mut u64, last: u64) {
    while *next <= last {
        let record = live.until("record").await;
        assert_eq!(record["seq"], json!(*next), "in order, each once");
        assert_eq!(record["record"]["seq"], record["seq"]);
        assert_eq!(record["record"]["type"], record["event"]);
        *next += 1;
    }
}

fn landed(heard: &crate::house::Heard) -> u64 {
    heard.json()["answer"]["seq"].as_u64().unwrap_or_else(|| panic!("{heard:?}"))
}

#[tokio::test]
async fn records_come_without_a_gap_while_coordinators_come_and_go() {
    let mut house = House::new().await;
    house.served.plan(9).await;
    let cookie = house.enter(Role::Operator).await;
    let mut live = house.live(&cookie).await;
    let hello = live.hello(Some(1), None).await;
    assert_eq!((&hello["type"], &hello["role"]), (&json!("hello"), &json!("operator")), "{hello}");
    let mut next = 1;
    records(&mut live, &mut next, hello["seq"].as_u64().expect("a number")).await;
    let online = landed(&house.wish(&cookie, "w1", "t1", "a").await);
    records(&mut live, &mut next, online).await;
    for round in 0..3 {
        house.served.close().await;
        while live.until("coordinator").await["up"] != json!(false) {}
        let offline =
            landed(&house.wish(&cookie, &format!("off{round}"), &format!("t{}", round + 2), "b").await);
        records(&mut live, &mut next, offline).await;
        house.served.open(SocketLimits::default(), everybody());
        while live.until("coordinator").await["up"] != json!(true) {}
        let online =
            landed(&house.wish(&cookie, &format!("on{round}"), &format!("t{}", round + 6), "c").await);
        records(&mut live, &mut next, online).await;
    }
    // Whoever was away meanwhile goes on where they were.
    let ledger = hello["ledger"].as_str().expect("an id");
    let mut back = house.live(&cookie).await;
    let hello = back.hello(Some(4), Some(ledger)).await;
    assert_eq!(hello["coordinator"], json!(true), "{hello}");
    let mut again = 4;
    records(&mut back, &mut again, next - 1).await;
}

#[tokio::test]
async fn many_records_at_once_reach_many_tabs() {
    let house = House::new().await;
    house.served.plan(1).await;
    let cookie = house.enter(Role::Operator).await;
    let mut tabs = Vec::new();
    for _ in 0..9 {
        let mut live = house.live(&cookie).await;
        let hello = live.hello(None, None).await;
        tabs.push((live, hello["seq"].as_u64().expect("a number") + 1));
    }
    for n in 0..200 {
        house.served.ask(&format!("n{n}"), add(n)).await;
    }
    let last = house.served.source.feed().position().seq;
    for (live, next) in &mut tabs {
        records(live, next, last).await;
    }
}

#[tokio::test]
async fn another_ledger_is_said_and_ends_it() {
    let house = House::new().await;
    house.served.plan(1).await;
    let cookie = house.enter(Role::Operator).await;
    for (from, ledger) in [(Some(1), Some("not-this-one")), (Some(9999), None)] {
        let mut live = house.live(&cookie).await;
        let said = live.hello(from, ledger).await;
        assert_eq!(said["type"], "another_ledger", "{said}");
        assert!(said["ledger"].is_string(), "{said}");
        assert_eq!(live.next().await, None);
    }
}

#[tokio::test]
async fn a_first_plan_is_another_ledger_than_none() {
    let house = House::new().await;
    let cookie = house.enter(Role::Operator).await;
    let mut live = house.live(&cookie).await;
    let hello = live.hello(None, None).await;
    assert_eq!((&hello["ledger"], &hello["seq"]), (&Value::Null, &json!(0)), "{hello}");
    house.served.plan(1).await;
    assert!(live.until("another_ledger").await["ledger"].is_string());
    assert_eq!(live.next().await, None);
}

#[tokio::test]
async fn a_journal_is_followed_as_it_grows_until_its_run_is_over() {
    let house = House::new().await;
    house.served.plan(1).await;
    let cookie = house.enter(Role::Viewer).await;
    let (paths, run) = (&house.served.paths, RunId::nth(1));
    let files = RunFiles::new(&paths.swarm, &run);
    files.make_dir().expect("a folder");
    std::fs::write(files.record(), "{}").expect("a record");
    let mut live = house.live(&cookie).await;
    live.hello(None, None).await;
    // Asked for before the run has printed anything.
    live.say(json!({ "type": "follow", "run": "r1", "from": null })).await;
    let mut printing = Journal::open(&paths.agents.join("ed-001/logs/r1.jsonl"), 1 << 30).expect("a journal");
    let (mut heard, mut cursor) = (Vec::new(), 0);
    for n in 0..20 {
        printing.print(Stream::Out, &format!("line {n}"), false).expect("printed");
        while heard.len() <= n {
            let log = live.until("log").await;
            assert_eq!(log["run"], "r1");
            assert!(log["cursor"].as_u64().is_some_and(|now| now > cursor), "{log}");
            cursor = log["cursor"].as_u64().expect("a number");
            heard.extend(log["lines"].as_array().expect("lines").iter().map(|line| line["text"].clone()));
        }
    }
    let expected: Vec<Value> = (0..20).map(|n| json!(format!("line {n}"))).collect();
    assert_eq!(heard, expected);
    std::fs::write(files.exit(), "{}").expect("an end");
    house.served.ask("tick", add(1)).await;
    assert_eq!(live.until("log_end").await["run"], "r1");
}

#[tokio::test]
async fn what_a_page_says_is_bounded() {
    let house = House::new().await;
    house.served.plan(1).await;
    let cookie = house.enter(Role::Operator).await;
    let first: [Message; 5] = [
        Message::text("{"),
        Message::text(r#"{"type":"follow","run":"r1","from":null}"#),
        Message::text(r#"{"type":"fly"}"#),
        Message::binary(vec![0; 10]),
        Message::text(format!(r#"{{"type":"hello","from":1,"ledger":"{}"}}"#, "x".repeat(MESSAGE_MAX))),
    ];
    for message in first {
        let mut live = house.live(&cookie).await;
        let _ = live.socket.send(message.clone()).await;
        assert_eq!(
            live.next().await,
            None,
            "{:?}",
            message.to_text().map(|text| text.chars().take(40).collect::<String>())
        );
    }
    let mut live = house.live(&cookie).await;
    live.hello(None, None).await;
    for n in 0..=FOLLOWED_MAX {
        live.say(json!({ "type": "follow", "run": format!("r{}", n + 1), "from": null })).await;
    }
    assert_eq!(live.next().await, None, "one journal too many");
    let mut live = house.live(&cookie).await;
    live.hello(None, None).await;
    for n in 0..100 {
        live.say(json!({ "type": "follow", "run": format!("r{}", n + 1), "from": null })).await;
        live.say(json!({ "type": "unfollow", "run": format!("r{}", n + 1) })).await;
    }
    house.served.ask("tick", add(1)).await;
    live.until("record").await;
}

#[tokio::test]
async fn connections_are_counted_by_session_and_given_back() {
    let limits = Limits { live_per_session: 2, live: 3, ..Limits::default() };
    let house = House::with(limits, everybody()).await;
    house.served.plan(1).await;
    let (one, other) = (house.enter(Role::Operator).await, house.enter(Role::Viewer).await);
    let first = house.live(&one).await;
    let _second = house.live(&one).await;
    let with = |cookie: &str| crate::house::headers(&[("Origin", &house.base()), ("Cookie", cookie)]);
    assert_eq!(house.upgrade(&with(&one)).await.err().expect("too many").status, 503);
    let _third = house.live(&other).await;
    assert_eq!(house.upgrade(&with(&other)).await.err().expect("too many in all").status, 503);
    drop(first);
    let free = async { while house.upgrade(&with(&one)).await.is_err() {} };
    within("a place", free).await;
}

#[tokio::test]
async fn a_slow_reader_is_cut_off_with_the_record_to_resume_at() {
    let limits = Limits { slow_after: Duration::from_millis(500), ..Limits::default() };
    let house = House::with(limits, everybody()).await;
    house.served.plan(1).await;
    let cookie = house.enter(Role::Operator).await;
    let mut live = house.live(&cookie).await;
    let mut next = live.hello(None, None).await["seq"].as_u64().expect("a number") + 1;
    // More than any buffer between us holds, and nothing is read meanwhile.
    for n in 0..40 {
        let task = json!({ "id": format!("n{n}"), "title": "big", "description": "x".repeat(60_000) });
        let command = serde_json::from_value(json!({ "do": "add_task", "task": task })).expect("a command");
        let answer = house.served.ask(&format!("n{n}"), command).await;
        assert!(matches!(answer, Response::Answer(_)), "{answer:?}");
    }
    // The time that it is slow for is what this is about.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let resume = loop {
        let word = live.next().await.expect("it is told why it ends");
        if word["type"] == "cut" {
            break word["resume"].as_u64().expect("a number");
        }
        if word["type"] == "record" {
            assert_eq!(word["seq"], json!(next));
            next += 1;
        }
    };
    assert_eq!(resume, next, "nothing is lost in between");
    assert_eq!(live.next().await, None);
    let mut back = house.live(&cookie).await;
    back.hello(Some(resume), None).await;
    records(&mut back, &mut next, house.served.source.feed().position().seq).await;
}

#[tokio::test]
async fn who_is_revoked_or_says_nothing_is_let_go() {
    let limits = Limits { hello_within: Duration::from_millis(200), ..Limits::default() };
    let house = House::with(limits, everybody()).await;
    house.served.plan(1).await;
    let cookie = house.enter(Role::Operator).await;
    let mut silent = house.live(&cookie).await;
    assert_eq!(silent.next().await, None);
    let mut live = house.live(&cookie).await;
    live.hello(None, None).await;
    let control = Control::new(&house.served.paths.run);
    let sessions = control.sessions().await.expect("an answer");
    assert_eq!(sessions.len(), 1);
    assert_eq!(control.revoke(Some("nobody".into())).await.expect("an answer").ended, 0);
    assert_eq!(control.revoke(Some(sessions[0].id.clone())).await.expect("an answer").ended, 1);
    assert_eq!(live.next().await, None);
    assert_eq!(house.get("/v1/board", &cookie).await.status, 401);
    let link = control.link(true).await.expect("a link");
    assert!(link.role == "viewer" && link.port == house.door.port(), "{link:?}");
}
