//! Commands: answered, refused, repeated, lost.

use swarm_protocol::api::Delivery;
use swarm_protocol::channel::Response;
use swarm_protocol::command::Command;
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::refusal::Refusal;
use swarm_server::client::{Client, ClientError};
use swarm_server::limits::Limits;

use super::served::{Served, envelope, everybody, save};
use crate::world::within;

#[tokio::test]
async fn a_command_is_carried_out_once_however_often_it_is_asked() {
    let served = Served::start();
    let first = served.ask("c1", save(2, "")).await;
    let Response::Answer(first) = first else { panic!("{first:?}") };
    assert!(!first.repeated && first.seq > 0);
    let Response::Answer(again) = served.ask("c1", save(2, "")).await else { panic!("answered") };
    assert!(again.repeated);
    assert_eq!((again.seq, &again.text), (first.seq, &first.text));
    let id = CommandId::new("c1").expect("an id");
    let Delivery::Landed { answer } = served.client.delivery(&id).await.expect("known") else {
        panic!("landed")
    };
    assert_eq!(answer.seq, first.seq);
    let never = CommandId::new("never").expect("an id");
    assert_eq!(served.client.delivery(&never).await.expect("answered"), Delivery::Unknown);
}

#[tokio::test]
async fn a_refusal_comes_with_its_kind_its_words_and_a_hint() {
    let served = Served::start();
    let refused = served.ask("c1", Command::ApprovePlan).await;
    assert_eq!(refused, Response::Refused { refusal: Refusal::NoPlan });
    served.plan(1).await;
    let body = serde_json::json!({"id": "c2", "command": {"do": "unblock_task", "task": "t2"}}).to_string();
    let json = "Content-Type: application/json\r\n";
    let (status, answer) = served.request("POST", "/v1/commands", json, body.as_bytes()).await;
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!((status, &answer["error"]["kind"]), (409, &"unknown_task".into()));
    assert_eq!(answer["error"]["message"], "There is no task t2");
    assert_eq!(answer["error"]["hint"], "swarm task show t1");
    let task = TaskId::new("t1").ok();
    let refusal: Refusal = serde_json::from_value(answer["error"]["refusal"].clone()).expect("whole");
    assert_eq!(refusal, Refusal::UnknownTask { task: "t2".into(), near: task });
}

#[tokio::test]
async fn who_asks_is_decided_by_the_coordinator() {
    let served = Served::start();
    served.plan(1).await;
    let json = "Content-Type: application/json\r\n";
    for by in ["\"person:tui\"", "\"swarm:coordinator\"", "\"agent:ed-001\"", "null"] {
        let body = format!("{{\"id\":\"x\",\"by\":{by},\"command\":{{\"do\":\"approve_plan\"}}}}");
        served.request("POST", "/v1/commands", json, body.as_bytes()).await;
    }
    let asked = served.asked_by.lock().expect("whole").clone();
    assert_eq!(asked, ["person:cli", "person:tui", "person:api", "person:api", "person:api"]);
}

#[tokio::test]
async fn nobody_there_is_told_apart_from_an_answer_that_was_lost() {
    let mut served = Served::start();
    let dead = served.dir.path().join("dead.sock");
    drop(std::os::unix::net::UnixListener::bind(&dead).expect("bound"));
    for path in [served.dir.path().join("none.sock"), dead] {
        assert!(matches!(Client::new(path).ping().await, Err(ClientError::Nobody)));
    }
    served.client.ping().await.expect("somebody is there");
    served.close().await;
    assert!(!served.paths.socket.exists(), "a good end takes the socket away");
    assert!(matches!(served.client.ping().await, Err(ClientError::Nobody)));
    // A coordinator that ends with a question unanswered.
    let (queue, mut api) = tokio::sync::mpsc::channel(8);
    let feed = served.source.feed();
    let opening = swarm_server::listener::Opening {
        paths: served.paths.clone(),
        api: queue,
        feed,
        who: everybody(),
        limits: Limits::default(),
    };
    let listener = opening.listen().expect("it listens");
    let asked = served.client.command(envelope("c1", Command::ApprovePlan));
    let dying = async { drop(api.recv().await) };
    let (got, ()) = within("an end", async { tokio::join!(asked, dying) }).await;
    assert!(matches!(got, Err(ClientError::Lost { .. })), "{got:?}");
    let asked = served.client.command(envelope("c2", Command::ApprovePlan));
    let ending = async {
        let unanswered = api.recv().await;
        listener.close().await;
        drop(unanswered);
    };
    let (got, ()) = within("an end", async { tokio::join!(asked, ending) }).await;
    assert!(matches!(got, Err(ClientError::Lost { .. })), "{got:?}");
}

#[tokio::test]
async fn a_deep_repository_has_a_socket_too() {
    let served = Served::start();
    let deep = (0..4).fold(served.dir.path().to_owned(), |path, _| path.join("f".repeat(60)));
    let paths = swarm_engine::paths::Paths::new(&deep, &deep.join(".git"));
    std::fs::create_dir_all(&paths.run).expect("a folder");
    assert!(paths.socket.as_os_str().len() > 200);
    let (queue, _door) = tokio::sync::mpsc::channel(8);
    // A coordinator that was killed left its socket behind.
    let _ = std::fs::write(&paths.socket, "");
    let listener = swarm_server::listener::Listener::start(&paths, queue, served.source.feed());
    let _listener = listener.expect("it listens");
    Client::new(&paths.socket).ping().await.expect("somebody is there");
}
