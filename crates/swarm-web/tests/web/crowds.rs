//! Crowds that say nothing, or say it slowly, keep nobody out.

use std::time::Duration;

use serde_json::json;
use swarm_server::peer::Role;
use tokio::io::AsyncWriteExt;

use crate::house::House;

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
