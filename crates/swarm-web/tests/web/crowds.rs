//! Crowds that say nothing, or say it slowly, keep nobody out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use serde_json::json;
use swarm_server::peer::{Inside, Peer, Role, Standing};
use swarm_web::control::{Control, socket_in};
use swarm_web::limits::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::house::{House, within};

#[tokio::test]
async fn four_hundred_slow_connections_keep_a_good_one_out_no_longer_than_a_moment() {
    let house = House::new().await;
    house.served.plan(1).await;
    let cookie = house.enter(Role::Operator).await;
    let mut live = house.live(&cookie).await;
    live.hello(None, None).await;
    let mut crowd = Vec::new();
    for nth in 0..400 {
        let mut stream = house.connect().await;
        let begun = match nth % 3 {
            0 => String::new(),
            1 => format!("GET / HTTP/1.1\r\nHost: {}\r\nX-Slow: ", house.host()),
            // All that can be said without a session, and then no body.
            _ => {
                let mut head =
                    format!("POST /session HTTP/1.1\r\nHost: {}\r\nContent-Length: 100\r\n", house.host());
                house
                    .of_a_page()
                    .iter()
                    .for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
                head + "\r\n{"
            }
        };
        let _ = stream.write_all(begun.as_bytes()).await;
        crowd.push(stream);
        if nth % 50 == 49 {
            let asking = house.get("/v1/board", &cookie);
            let heard = tokio::time::timeout(Duration::from_secs(5), asking).await.expect("at once");
            assert_eq!(heard.status, 200, "after {nth}: {heard:?}");
        }
    }
    // Somebody new comes in as well, and who was there stayed.
    let newcomer =
        tokio::time::timeout(Duration::from_secs(5), house.enter(Role::Viewer)).await.expect("at once");
    assert_eq!(house.get("/v1/board", &newcomer).await.status, 200);
    house.wish(&cookie, "w1", "t1", "still here").await;
    let record = live.until("record").await;
    assert_ne!(record["seq"], json!(0));
}

#[tokio::test]
async fn a_crowd_of_an_agents_is_told_so_and_leaves() {
    let inside = Standing::Inside(Inside { run: None, nonce: Some("n1".into()) });
    let house = House::with(Limits::default(), Arc::new(move |_| inside.clone())).await;
    let mut stream = house.connect().await;
    // It would like to stay for more.
    let asked = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", house.host());
    stream.write_all(asked.as_bytes()).await.expect("said");
    let mut heard = String::new();
    within("the end", stream.read_to_string(&mut heard)).await.expect("heard");
    assert!(heard.starts_with("HTTP/1.1 403") && heard.contains("not_for_agents"), "{heard}");
}

/// Connections that say nothing come faster than anybody can look whose they are.
#[tokio::test]
async fn whoever_has_asked_stays_while_thousands_come_that_say_nothing() {
    let (looking, looked) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (began, may_end) = (Arc::clone(&looking), Arc::clone(&looked));
    let slow = Arc::new(AtomicBool::new(false));
    let is_slow = Arc::clone(&slow);
    let who = Arc::new(move |_: Peer| {
        if is_slow.swap(false, Ordering::SeqCst) {
            began.wait();
            may_end.wait();
        }
        Standing::Outside
    });
    let limits = Limits { connections: 8, ..Limits::default() };
    let house = Arc::new(House::with(limits, who).await);
    for cookie in [String::new(), house.enter(Role::Viewer).await] {
        slow.store(true, Ordering::SeqCst);
        let asking = Arc::clone(&house);
        let asked = tokio::spawn(async move { asking.get("/", &cookie).await });
        let began = Arc::clone(&looking);
        tokio::task::spawn_blocking(move || began.wait()).await.expect("it looks");
        let mut crowd = Vec::new();
        for _ in 0..32 {
            crowd.push(house.connect().await);
        }
        // All but eight have been asked to leave.
        for stream in &mut crowd[..24] {
            let mut heard = Vec::new();
            let _ = within("an end", stream.read_to_end(&mut heard)).await;
        }
        let ended = Arc::clone(&looked);
        tokio::task::spawn_blocking(move || ended.wait()).await.expect("it has looked");
        assert_eq!(asked.await.expect("no panic").status, 200);
    }
}

#[tokio::test]
async fn a_crowd_at_the_socket_of_the_command_line_keeps_no_person_out() {
    let floods = Arc::new(AtomicBool::new(true));
    let still = Arc::clone(&floods);
    let who = Arc::new(move |_: Peer| match still.load(Ordering::SeqCst) {
        true => Standing::Inside(Inside { run: None, nonce: Some("n1".into()) }),
        false => Standing::Outside,
    });
    // Whoever has a place keeps it.
    let limits = Limits { head_within: Duration::from_secs(3600), ..Limits::default() };
    let house = House::with(limits, who).await;
    let run = &house.served.paths.run;
    let mut crowd = Vec::new();
    for _ in 0..40 {
        crowd.push(swarm_server::socket::connect(&socket_in(run)).await.expect("connected"));
    }
    for stream in &mut crowd[16..] {
        let mut heard = Vec::new();
        let _ = within("an end", stream.read_to_end(&mut heard)).await;
    }
    floods.store(false, Ordering::SeqCst);
    within("an answer", Control::new(run).sessions()).await.expect("served");
}
