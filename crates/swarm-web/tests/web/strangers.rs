//! Whose process is at the other end: no cookie makes an agent or another user a person.

use std::process::{Command, Stdio};
use std::sync::Arc;

use swarm_server::peer::{Inside, Peer, Role, Standing, by_ancestors};
use swarm_web::limits::Limits;

use crate::house::{House, headers};

const PATHS: [&str; 5] = ["/", "/session", "/v1/board", "/v1/events", "/live"];

#[tokio::test]
async fn an_agent_with_a_stolen_cookie_gets_nothing() {
    let inside = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = Arc::clone(&inside);
    let who = Arc::new(move |_: Peer| match seen.load(std::sync::atomic::Ordering::SeqCst) {
        true => Standing::Inside(Inside { run: None, nonce: Some("n1".into()) }),
        false => Standing::Outside,
    });
    let house = House::with(Limits::default(), who).await;
    house.served.plan(1).await;
    let cookie = house.enter(Role::Operator).await;
    let key = house.key(Role::Operator);
    inside.store(true, std::sync::atomic::Ordering::SeqCst);
    for path in PATHS {
        assert_eq!(house.get(path, &cookie).await.kind(), (403, "not_for_agents".into()), "{path}");
    }
    assert_eq!(house.wish(&cookie, "w1", "t1", "spite").await.kind(), (403, "not_for_agents".into()));
    let with = headers(&[("Origin", &house.base()), ("Cookie", &cookie)]);
    assert_eq!(house.upgrade(&with).await.err().expect("refused").status, 403);
    let body = serde_json::json!({ "key": key }).to_string();
    let heard = house.ask("POST", "/session", &house.of_a_page(), body.as_bytes()).await;
    assert_eq!(heard.kind(), (403, "not_for_agents".into()));
    inside.store(false, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(
        house.ask("POST", "/session", &house.of_a_page(), body.as_bytes()).await.status,
        204,
        "nor is it used up"
    );
}

/// Asks with curl, as this program and in this environment.
async fn curl(program: &[&str], environment: &[(&str, &str)], house: &House, cookie: &str) -> String {
    let (first, rest) = program.split_first().expect("a program");
    let mut command = Command::new(first);
    command.args(rest).args(["-s", "--max-time", "20", "-H", &format!("Cookie: {cookie}")]);
    command.arg(format!("{}/v1/ping", house.base())).envs(environment.iter().copied()).stdin(Stdio::null());
    let output =
        tokio::task::spawn_blocking(move || command.output()).await.expect("no panic").expect("it runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test]
async fn processes_are_known_by_the_sockets_they_hold() {
    if Command::new("curl").arg("--version").output().is_err() {
        return;
    }
    let swarm = std::path::Path::new("/nowhere/.swarm");
    let house = House::with(Limits::default(), by_ancestors(swarm)).await;
    let cookie = house.enter(Role::Operator).await;
    let said = curl(&["curl"], &[], &house, &cookie).await;
    assert!(said.contains(r#""role":"operator""#), "{said}");
    let said = curl(&["curl"], &[("SWARM_NONCE", "n1")], &house, &cookie).await;
    assert!(said.contains("not_for_agents"), "{said}");
    let hides = ["sh", "-c", "env -u SWARM_NONCE curl \"$@\"; true", "sh"];
    let said = curl(&hides, &[("SWARM_NONCE", "n1")], &house, &cookie).await;
    assert!(said.contains("not_for_agents"), "its parent tells: {said}");
    if rustix::process::geteuid().is_root() && Command::new("setpriv").arg("--version").output().is_ok() {
        let other = ["setpriv", "--reuid", "65534", "--clear-groups", "curl"];
        let said = curl(&other, &[], &house, &cookie).await;
        assert!(said.contains("other_user"), "{said}");
    }
}
