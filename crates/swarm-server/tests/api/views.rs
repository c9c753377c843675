//! Views: what the command line prints, with the record they were read at.

use serde_json::Value;
use swarm_protocol::api::{HistoryPage, Seen};
use swarm_protocol::board::{AllowedView, AttentionKind, BoardView, Group, Verb};
use swarm_protocol::command::Command;
use swarm_protocol::ids::TaskId;

use super::served::Served;

const VIEWS: [&str; 11] = [
    "status",
    "board",
    "allowed",
    "tasks",
    "tasks/t1",
    "agents",
    "attention",
    "plan",
    "plan/approved",
    "handoff",
    "reviews",
];

#[tokio::test]
async fn every_view_says_at_which_record_it_was_read() {
    let served = Served::start();
    for view in VIEWS {
        let (status, answer) = served.request("GET", &format!("/v1/{view}"), "", b"").await;
        assert_eq!(status, 409, "without a plan there is nothing to see at {view}: {answer}");
    }
    served.plan(2).await;
    let last = served.source.feed().position().seq;
    for view in VIEWS {
        let heard =
            served.raw(format!("GET /v1/{view} HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n")).await;
        assert!(heard.contains(&format!("swarm-seq: {last}\r\n")), "{view}: {heard}");
        let seen: Seen<Value> = served.client.view(view, None).await.expect("seen");
        assert_eq!(seen.seq, last, "{view}");
    }
}

#[tokio::test]
async fn the_past_is_seen_as_it_was() {
    let served = Served::start();
    served.plan(2).await;
    let before = served.source.feed().position().seq;
    let task = TaskId::new("t2").expect("an id");
    served.ask("c2", Command::BlockTask { task, reason: "wait".into() }).await;
    let status = async |at| -> Value {
        let seen: Seen<Value> = served.client.view("tasks/t2", at).await.expect("seen");
        assert!(at.is_none_or(|at| seen.seq == at));
        seen.view["status"].clone()
    };
    assert_eq!((status(Some(before)).await, status(None).await), ("pending".into(), "blocked".into()));
    let seen: Seen<Value> = served.client.view("attention", None).await.expect("seen");
    assert_eq!(seen.view[0]["what"], "Task t2 is blocked (human)");
}

#[tokio::test]
async fn what_a_screen_offers_is_what_the_coordinator_accepts() {
    let served = Served::start();
    served.plan(2).await;
    let task = TaskId::new("t2").expect("an id");
    let allowed = async || -> Vec<AllowedView> {
        let seen: Seen<Vec<AllowedView>> = served.client.get("/v1/allowed?task=t2").await.expect("seen");
        seen.view
    };
    let refused = |list: &[AllowedView], verb| {
        let found = list.iter().find(|allowed| allowed.verb == verb).expect("every verb is told of");
        found.refused.clone()
    };
    let before = allowed().await;
    assert_eq!(refused(&before, Verb::Block), None);
    assert_eq!(refused(&before, Verb::Stop).expect("nobody works").kind, "no_agent");
    assert!(refused(&before, Verb::Unblock).expect("it is not blocked").message.contains("t2"));
    served.ask("c2", Command::BlockTask { task: task.clone(), reason: "wait".into() }).await;
    assert_eq!(refused(&allowed().await, Verb::Unblock), None);
    let board: Seen<BoardView> = served.client.view("board", None).await.expect("seen");
    let entry = board.view.attention.iter().find(|entry| entry.task.as_ref() == Some(&task));
    let entry = entry.expect("a blocked task waits for a person");
    assert_eq!((entry.kind, entry.entry.why.as_str()), (AttentionKind::Blocked, "wait"));
    // Each way on is a command that can be sent as it is.
    let first = entry.choices.first().expect("a way on").command.clone();
    served.ask("c3", first).await;
    let board: Seen<BoardView> = served.client.view("board", None).await.expect("seen");
    assert!(board.view.attention.iter().all(|entry| entry.task.as_ref() != Some(&task)));
    assert!(board.view.rows.iter().any(|row| row.row.id == task && row.group == Group::Ready));
}

#[tokio::test]
async fn history_comes_in_pages_that_join_to_the_ledger() {
    let served = Served::start();
    served.plan(30).await;
    let ledger = std::fs::read_to_string(&served.paths.ledger).expect("a ledger");
    let lines: Vec<Value> = ledger.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let (mut next, mut seen) = (Some(1), Vec::new());
    while let Some(from) = next {
        let path = format!("/v1/history?from={from}&limit=7");
        let page: HistoryPage = served.client.get(&path).await.expect("a page");
        assert!(page.records.len() <= 7 && page.seq == lines.len() as u64);
        seen.extend(page.records);
        next = page.next;
    }
    assert_eq!(seen, lines);
    let beyond: HistoryPage = served.client.get("/v1/history?from=9999").await.expect("a page");
    assert_eq!((beyond.records.len(), beyond.next), (0, None));
}

#[tokio::test]
async fn readiness_is_about_a_plan_and_a_coordinator_that_stays() {
    let mut served = Served::start();
    let ready = async |served: &Served| -> (u16, Value) {
        let (status, body) = served.request("GET", "/readyz", "", b"").await;
        (status, serde_json::from_str(&body).expect("JSON"))
    };
    let (status, none) = ready(&served).await;
    assert_eq!(
        (status, &none["ready"], &none["reasons"][0]),
        (503, &false.into(), &"there is no plan".into())
    );
    let (alive, _) = served.request("GET", "/livez", "", b"").await;
    assert_eq!(alive, 200, "it lives all the same");
    served.plan(1).await;
    let (status, now) = ready(&served).await;
    assert_eq!(
        (status, &now["ready"], now["reasons"].as_array().map(Vec::len)),
        (200, &true.into(), Some(0))
    );
    served.close().await;
    assert!(
        swarm_server::socket::connect(&served.paths.socket).await.is_err(),
        "nobody says that it is ready"
    );
}

#[tokio::test]
async fn what_was_spent_is_added_up_now_and_at_a_record() {
    use swarm_protocol::over_time::OverTimeView;
    let served = Served::start();
    served.plan(2).await;
    let planned: OverTimeView = served.client.get("/v1/usage").await.expect("a view");
    assert_eq!(planned.moments.last().map(|moment| (moment.open, moment.agents)), Some((2, 0)));
    let outcomes = planned.costs.expect("sums").outcome;
    assert!(outcomes.iter().any(|row| row.name == "merged"), "{outcomes:?}");
    let (_, status) = served.request("GET", "/v1/status", "", b"").await;
    let then = serde_json::from_str::<serde_json::Value>(&status).expect("JSON")["seq"].clone();
    served.ask("more", super::served::add(1)).await;
    let open = async |path: String| {
        let view: OverTimeView = served.client.get(&path).await.expect("a view");
        view.moments.last().map(|moment| moment.open)
    };
    assert_eq!(open("/v1/usage".into()).await, Some(3));
    assert_eq!(open(format!("/v1/usage?at={then}")).await, Some(2));
    assert_eq!(served.request("GET", "/v1/usage?at=99999", "", b"").await.0, 404);
}
