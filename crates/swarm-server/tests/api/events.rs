//! The feed: all records, in order, once each; and whoever cannot keep up is told where to go on.

use std::time::{Duration, Instant};

use swarm_protocol::api::AgentNews;
use swarm_protocol::channel::Response;
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::time::Timestamp;
use swarm_server::limits::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::served::{Served, add, everybody};
use crate::world::within;

#[tokio::test]
async fn a_reader_gets_every_record_once_from_the_past_into_the_present() {
    let limits = Limits { ring_records: 16, ..Limits::default() };
    let served = Served::with(limits, everybody());
    served.plan(100).await;
    let mut events = served.client.events(Some(1));
    let writing = async {
        for n in 0..200 {
            assert!(matches!(served.ask(&format!("c{n}"), add(n)).await, Response::Answer(_)));
        }
        served.source.feed().position().seq
    };
    let reading = async {
        let mut seen = Vec::new();
        // 100 tasks and the plan are there; 200 more, each with its operation, will be.
        while seen.iter().filter(|(_, kind)| kind == "task_added").count() < 300 {
            let event = events.next().await.expect("an event").expect("not over");
            let data: serde_json::Value = serde_json::from_str(&event.data).expect("a record");
            assert_eq!(data["type"].as_str(), Some(event.kind.as_str()));
            assert_eq!(data["seq"].as_u64(), event.id);
            seen.push((event.id.expect("a number"), event.kind));
        }
        seen
    };
    let (seen, last) = within("all records", async { tokio::join!(reading, writing) }).await;
    assert!(seen.iter().map(|(id, _)| *id).eq(1..=seen.len() as u64), "dense from the first");
    assert!(last - (seen.len() as u64) < 3);
}

#[tokio::test]
async fn a_follower_goes_on_where_it_was_when_the_coordinator_is_replaced() {
    let mut served = Served::start();
    served.plan(3).await;
    let mut events = served.client.events(None);
    let first = async {
        let next = events.next();
        let asking = async {
            // The reader is there when its connection was answered; asked again until it hears.
            for n in 0.. {
                served.ask(&format!("a{n}"), add(n)).await;
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! { next = next => next, () = asking => unreachable!() }
    };
    let first = within("an event", first).await.expect("an event").expect("not over");
    within("the end", served.close()).await;
    served.open(Limits::default(), everybody());
    served.ask("after", add(1000)).await;
    let last = served.source.feed().position().seq;
    let mut ids = vec![first.id.expect("a number")];
    while ids.last() != Some(&last) {
        let event = within("an event", events.next()).await.expect("an event").expect("not over");
        ids.extend(event.id);
    }
    assert!(ids.iter().copied().eq(ids[0]..=last), "no gap and nothing twice: {ids:?}");
}

#[tokio::test]
async fn a_follower_is_told_when_the_plan_was_closed_and_another_one_began() {
    let mut served = Served::start();
    served.plan(9).await;
    let mut events = served.client.events(Some(1));
    within("an event", events.next()).await.expect("an event").expect("not over");
    let close = swarm_protocol::command::Command::ClosePlan { archive: "old.jsonl".into() };
    assert!(matches!(served.ask("close", close).await, Response::Answer(_)));
    within("the end", served.close()).await;
    served.open(Limits::default(), everybody());
    // As long as the old one or longer: the numbers alone tell nothing.
    served.plan(30).await;
    let told = within("an end", async {
        loop {
            match events.next().await {
                Ok(Some(event)) => assert!(!event.data.contains("\"t30\""), "{event:?}"),
                other => return other,
            }
        }
    });
    let told = told.await.expect_err("another ledger").to_string();
    assert!(told.contains("another one"), "{told}");
}

#[tokio::test]
async fn streams_end_with_the_coordinator_and_say_where_to_resume() {
    let mut served = Served::start();
    served.plan(2).await;
    let last = served.source.feed().position().seq;
    let mut stream = served.connect().await;
    stream.write_all(b"GET /v1/events?from=1 HTTP/1.1\r\nHost: s\r\n\r\n").await.expect("said");
    let mut heard = vec![0; 15];
    stream.read_exact(&mut heard).await.expect("an answer");
    let started = Instant::now();
    let (rest, ()) = tokio::join!(
        async {
            let mut rest = String::new();
            stream.read_to_string(&mut rest).await.expect("heard");
            rest
        },
        async {
            // Everything there is has been said when the end comes.
            served.close().await;
        }
    );
    assert!(started.elapsed() < Duration::from_secs(10));
    assert!(rest.contains("event: end\n"), "{rest}");
    assert!(rest.ends_with("0\r\n\r\n"), "a whole answer: {rest}");
    let resume = rest.split("\"resume\":").nth(1).and_then(|rest| rest.split([',', '}']).next());
    let resume: u64 = resume.and_then(|number| number.parse().ok()).expect("a number");
    assert!((1..=last + 1).contains(&resume), "{rest}");
}

#[tokio::test]
async fn a_reader_that_does_not_read_is_cut_off_and_told_where_to_resume() {
    let (slow_after, stall) = (Duration::from_millis(50), Duration::from_secs(600));
    let limits = Limits { ring_records: 32, slow_after, stall, ..Limits::default() };
    let served = Served::with(limits, everybody());
    served.plan(1).await;
    let mut slow = served.connect().await;
    slow.write_all(b"GET /v1/events HTTP/1.1\r\nHost: s\r\n\r\n").await.expect("said");
    let mut first = [0; 12];
    slow.read_exact(&mut first).await.expect("an answer");
    let mut quick = served.client.events(None);
    let _ = tokio::time::timeout(Duration::from_millis(50), quick.next()).await;
    // Far more than the buffers on the way can hold.
    for n in 0..120 {
        served.ask(&format!("c{n}"), large(n)).await;
    }
    let last = served.source.feed().position().seq;
    let mut rest = String::new();
    within("the end", slow.read_to_string(&mut rest)).await.expect("heard");
    assert!(rest.contains("event: cut\n"), "cut: {}", rest.len());
    let resume = rest.split("\"resume\":").nth(1).and_then(|rest| rest.split([',', '}']).next());
    let resume: u64 = resume.and_then(|number| number.parse().ok()).expect("a number");
    let given: Vec<u64> = rest.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect();
    assert_eq!(given.last().map(|last| last + 1), Some(resume), "nothing is left out");
    assert!(resume < last);
    let missed = served.client.get::<serde_json::Value>(&format!("/v1/history?from={resume}&limit=1")).await;
    assert!(missed.is_ok());
}

fn large(n: usize) -> swarm_protocol::command::Command {
    let task = serde_json::json!({"id": format!("n{n}"), "title": "New", "description": "x".repeat(15_000)});
    let task = serde_json::from_value(task).expect("a task");
    swarm_protocol::command::Command::AddTask { phase: None, after: None, task }
}

#[tokio::test]
async fn news_of_agents_come_without_a_number_and_not_too_often() {
    let served = Served::start();
    served.plan(1).await;
    let mut events = served.client.events(Some(1));
    while within("the plan", events.next()).await.expect("an event").is_some_and(|event| event.id.is_none()) {
    }
    let (run, task) = (RunId::nth(1), TaskId::new("t1").expect("an id"));
    let first = || AgentNews {
        run: RunId::nth(1),
        task: task.clone(),
        agent: None,
        iteration: 1,
        percent: None,
        doing: None,
        journal_bytes: 0,
        heard: Timestamp(0),
    };
    let started = Instant::now();
    let mut seen = Vec::new();
    let saying = async {
        for percent in 0..=100 {
            served.source.heard(&run, first, |news| news.percent = Some(percent));
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        std::future::pending::<()>().await;
    };
    let hearing = async {
        loop {
            let event = events.next().await.expect("an event").expect("not over");
            if event.kind == "agent" {
                assert_eq!(event.id, None);
                let news: AgentNews = serde_json::from_str(&event.data).expect("news");
                seen.push(news.percent);
                if news.percent == Some(100) {
                    return;
                }
            }
        }
    };
    within("the last", async {
        tokio::select! { () = hearing => {}, () = saying => {} }
    })
    .await;
    let allowed = started.elapsed().as_millis() / 200 + 2;
    assert!(seen.len() as u128 <= allowed, "{} in {:?}", seen.len(), started.elapsed());
}

#[tokio::test]
async fn one_record_reaches_a_hundred_readers() {
    let served = Served::start();
    served.plan(1).await;
    let without = resident_kib();
    let (ready, mut all_ready) = tokio::sync::mpsc::channel(100);
    let readers: Vec<_> = (0..100)
        .map(|_| {
            let (mut events, ready) = (served.client.events(Some(1)), ready.clone());
            tokio::spawn(async move {
                events.next().await.expect("the first").expect("not over");
                ready.send(()).await.expect("waited for");
                while events.next().await.expect("an event").expect("not over").kind != "task_added" {}
                let mut heard = 0;
                while heard < 10 {
                    let event = events.next().await.expect("an event").expect("not over");
                    heard += usize::from(event.kind == "task_added");
                }
                Instant::now()
            })
        })
        .collect();
    for _ in 0..100 {
        within("a reader", all_ready.recv()).await.expect("ready");
    }
    let with = resident_kib();
    let mut asked = Instant::now();
    for n in 0..10 {
        asked = Instant::now();
        served.ask(&format!("c{n}"), add(n)).await;
    }
    let mut last = asked;
    for reader in readers {
        last = last.max(within("a reader", reader).await.expect("no panic"));
    }
    println!(
        "last of 100 readers after {:?}; {without} KiB before, {with} KiB with them (both ends)",
        last - asked
    );
    assert!(last - asked < Duration::from_secs(20));
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().split(' ').next().and_then(|kib| kib.parse().ok()).unwrap_or(0)
}

#[tokio::test]
async fn a_feed_that_breaks_off_before_it_has_said_anything_is_not_asked_for_without_a_pause() {
    let dir = tempfile::tempdir().expect("a folder");
    let socket = dir.path().join("s.sock");
    let listener = tokio::net::UnixListener::bind(&socket).expect("bound");
    let mut events = swarm_server::client::Client::new(&socket).events(Some(1));
    let mut asked = 0;
    // As a coordinator that cannot read its ledger any further.
    let serving = async {
        while let Ok((mut stream, _)) = listener.accept().await {
            asked += 1;
            let _ = stream.read(&mut [0; 1024]).await;
            let cut = "event: cut\ndata: {}\n\n";
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{cut}", cut.len());
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    };
    let following = tokio::time::timeout(Duration::from_millis(250), events.next());
    tokio::select! {
        said = following => assert!(said.is_err(), "{said:?}"),
        () = serving => unreachable!("it serves on"),
    }
    assert!((2..=10).contains(&asked), "asked {asked} times");
}
