//! What a request must look like, and whose session it must show.

use std::time::Duration;

use serde_json::json;
use swarm_server::peer::Role;

use crate::house::{House, headers};

const HEADERS: [(&str, &str); 5] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
];

#[tokio::test]
async fn another_name_gets_nothing_not_even_the_page() {
    let house = House::new().await;
    let cookie = house.enter(Role::Operator).await;
    let port = house.door.port();
    let names = [
        "evil.test".into(),
        format!("evil.test:{port}"),
        "127.0.0.1".into(),
        "127.0.0.1:1".into(),
        String::new(),
    ];
    for name in names {
        for path in ["/", "/favicon.svg", "/session", "/v1/board", "/live"] {
            let with = headers(&[("Host", &name), ("Cookie", &cookie)]);
            let heard = house.ask("GET", path, &with, b"").await;
            assert_eq!(heard.kind(), (403, "wrong_host".into()), "{name} {path}: {heard:?}");
        }
    }
    for name in [format!("localhost:{port}"), format!("[::1]:{port}")] {
        let with = headers(&[("Host", &name), ("Cookie", &cookie)]);
        assert_eq!(house.ask("GET", "/", &with, b"").await.status, 200, "{name}");
    }
}

#[tokio::test]
async fn every_answer_carries_the_headers_of_a_page_that_trusts_nobody() {
    let house = House::new().await;
    let cookie = house.enter(Role::Operator).await;
    for path in ["/", "/board", "/nothing.js", "/session", "/v1/board", "/v1/nothing"] {
        for cookie in ["", &cookie] {
            let heard = house.get(path, cookie).await;
            for (name, value) in HEADERS {
                assert_eq!(heard.header(name), Some(value), "{path}: {heard:?}");
            }
            let policy = heard.header("content-security-policy").expect("a policy");
            assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
            assert!(policy.contains("require-trusted-types-for 'script'"), "{policy}");
        }
    }
}

#[tokio::test]
async fn a_page_of_another_site_can_neither_command_nor_listen() {
    let house = House::new().await;
    house.served.plan(2).await;
    let cookie = house.enter(Role::Operator).await;
    let base = house.base();
    let good = [
        ("Origin", base.as_str()),
        ("Swarm-Web", "1"),
        ("Content-Type", "application/json"),
        ("Cookie", &cookie),
    ];
    let body =
        json!({ "id": "w1", "command": { "do": "block_task", "task": "t1", "reason": "no" } }).to_string();
    let changed = |name: &str, value: Option<&'static str>| {
        let mut with = good.iter().filter(|(known, _)| *known != name).copied().collect::<Vec<_>>();
        with.extend(value.map(|value| {
            (
                match name {
                    "Origin" => "Origin",
                    "Swarm-Web" => "Swarm-Web",
                    "Cookie" => "Cookie",
                    "Content-Type" => "Content-Type",
                    _ => "Sec-Fetch-Site",
                },
                value,
            )
        }));
        headers(&with)
    };
    let cases = [
        ("Origin", Some("http://evil.test"), 403, "wrong_origin"),
        ("Origin", Some("http://127.0.0.1:1"), 403, "wrong_origin"),
        ("Origin", Some("null"), 403, "wrong_origin"),
        ("Origin", None, 403, "wrong_origin"),
        ("Swarm-Web", None, 403, "no_web_header"),
        ("Swarm-Web", Some("0"), 403, "no_web_header"),
        ("Content-Type", Some("text/plain"), 415, "wrong_media_type"),
        ("Content-Type", None, 415, "wrong_media_type"),
        ("Sec-Fetch-Site", Some("cross-site"), 403, "cross_site"),
        ("Sec-Fetch-Site", Some("same-site"), 403, "cross_site"),
        ("Sec-Fetch-Site", Some("none"), 403, "cross_site"),
        ("Cookie", None, 401, "no_session"),
        ("Cookie", Some("swarm-other=1"), 401, "no_session"),
    ];
    for (name, value, status, kind) in cases {
        for path in ["/v1/commands", "/v1/preview"] {
            let heard = house.ask("POST", path, &changed(name, value), body.as_bytes()).await;
            assert_eq!(heard.kind(), (status, kind.into()), "{name} {value:?} {path}");
        }
    }
    assert_eq!(house.served.asked_by.lock().expect("whole").len(), 1, "only the plan was ever asked for");
    // The same request, with nothing changed, is carried out: the refusals above had reasons.
    let heard = house.ask("POST", "/v1/commands", &headers(&good), body.as_bytes()).await;
    assert_eq!(heard.status, 200, "{heard:?}");
    let refused = [
        headers(&[("Cookie", &cookie)]),
        headers(&[("Cookie", &cookie), ("Origin", "http://evil.test")]),
        headers(&[("Cookie", &cookie), ("Origin", &base), ("Sec-Fetch-Site", "cross-site")]),
        headers(&[("Cookie", &cookie), ("Origin", "http://evil.test"), ("Host", "evil.test")]),
        headers(&[("Origin", &base)]),
    ];
    for with in refused {
        let heard = house.upgrade(&with).await.err().unwrap_or_else(|| panic!("let in with {with:?}"));
        assert!([401, 403].contains(&heard.status), "{with:?}: {heard:?}");
    }
    house.live(&cookie).await;
}

#[tokio::test]
async fn without_a_session_there_is_the_page_and_nothing_else() {
    let house = House::new().await;
    house.served.plan(1).await;
    let cookie = house.enter(Role::Operator).await;
    let (name, secret) = cookie.split_once('=').expect("a pair");
    assert!(name.starts_with("swarm-") && secret.len() == 64, "{cookie}");
    let other = House::new().await;
    let foreign = other.enter(Role::Operator).await;
    let stolen = format!("{name}={}", foreign.split_once('=').expect("a pair").1);
    let renamed = format!("swarm-000000000000={secret}");
    for path in ["/session", "/v1/board", "/v1/status", "/v1/events", "/v1/openapi.json", "/v1", "/live"] {
        for cookie in
            ["", &foreign, &stolen, &renamed, &format!("{name}="), &format!("{name}={}", "0".repeat(64))]
        {
            assert_eq!(house.get(path, cookie).await.kind(), (401, "no_session".into()), "{path} {cookie}");
        }
    }
    for path in ["/", "/board", "/tasks/1", "/index.html"] {
        assert_eq!(house.get(path, "").await.status, 200, "{path}");
    }
    assert_eq!(house.get("/v1/work", &cookie).await.status, 404, "daemons have a door of their own");
    assert_eq!(house.get("/v1/board", &cookie).await.status, 200);
}

#[tokio::test]
async fn a_link_opens_once_and_not_after_five_minutes() {
    let house = House::new().await;
    let enter = async |key: &str| {
        let body = json!({ "key": key }).to_string();
        house.ask("POST", "/session", &house.of_a_page(), body.as_bytes()).await
    };
    let key = house.key(Role::Operator);
    let first = enter(&key).await;
    assert_eq!(first.status, 204, "{first:?}");
    let cookie = first.header("set-cookie").expect("a cookie");
    for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert_eq!(enter(&key).await.kind(), (401, "bad_key".into()), "twice");
    assert_eq!(enter("").await.kind(), (401, "bad_key".into()));
    let late = house.key(Role::Operator);
    *house.ahead.lock().expect("whole") = Duration::from_secs(301);
    assert_eq!(enter(&late).await.kind(), (401, "bad_key".into()), "late");
    let huge = json!({ "key": "x".repeat(5000) }).to_string();
    let heard = house.ask("POST", "/session", &house.of_a_page(), huge.as_bytes()).await;
    assert_eq!(heard.kind(), (413, "too_large".into()));
    let mut without = house.of_a_page();
    without.retain(|(name, _)| name != "Swarm-Web");
    let body = json!({ "key": house.key(Role::Operator) }).to_string();
    assert_eq!(house.ask("POST", "/session", &without, body.as_bytes()).await.status, 403);
}

#[tokio::test]
async fn a_session_says_what_it_is_and_ends_when_it_is_told_to() {
    let house = House::new().await;
    house.served.plan(1).await;
    let cookie = house.enter(Role::Viewer).await;
    let me = house.get("/session", &cookie).await.json();
    assert_eq!(
        (&me["role"], &me["place"], &me["trunk"]),
        (&json!("viewer"), &json!("house"), &json!("main"))
    );
    let mut with = house.of_a_page();
    with.extend(headers(&[("Cookie", &cookie)]));
    assert_eq!(house.ask("DELETE", "/session", &headers(&[("Cookie", &cookie)]), b"").await.status, 403);
    assert_eq!(house.ask("DELETE", "/session", &with, b"").await.status, 204);
    assert_eq!(house.get("/session", &cookie).await.status, 401);
}
