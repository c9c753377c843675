//! One-shot commands at the coordinator's socket.

mod world;

use std::path::PathBuf;

use swarm_engine::channel::AtDoor;
use swarm_protocol::channel::Response;
use swarm_protocol::command::{Answer, Command, Envelope};
use swarm_protocol::ids::CommandId;
use swarm_protocol::refusal::Refusal;
use swarm_server::client::{ClientError, ping, send_command};
use swarm_server::listener::Listener;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use world::within;

fn envelope(id: &str) -> Envelope {
    Envelope {
        id: CommandId::new(id).expect("an id"),
        by: "person:cli".into(),
        command: Command::ApprovePlan,
    }
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a folder");
    let socket = dir.path().join("coordinator.sock");
    (dir, socket)
}

#[tokio::test]
async fn commands_are_answered_refused_or_failed_as_the_coordinator_says() {
    let (_dir, socket) = place();
    let (sender, mut door) = mpsc::channel(8);
    let _listener = Listener::start(&socket, sender).expect("it listens");
    let answer =
        Answer { id: CommandId::new("c1").expect("an id"), seq: 7, text: "done".into(), repeated: false };
    for response in [
        Response::Answer(answer),
        Response::Refused { refusal: Refusal::NoPlan },
        Response::Failed { text: "disk".into() },
    ] {
        let asked = send_command(&socket, envelope("c1"));
        let told = response.clone();
        let answering = async {
            let Some(AtDoor::Command { envelope: got, reply }) = door.recv().await else {
                panic!("no command")
            };
            assert_eq!(got, envelope("c1"));
            reply.send(told).expect("the client waits");
        };
        let (got, ()) = within("an answer", async { tokio::join!(asked, answering) }).await;
        assert_eq!(got.expect("answered"), response);
    }
    within("a pong", ping(&socket)).await.expect("somebody is there");
}

#[tokio::test]
async fn nobody_there_is_told_apart_from_an_answer_that_was_lost() {
    let (dir, socket) = place();
    assert!(matches!(ping(&socket).await, Err(ClientError::Nobody)), "no file");
    // A coordinator that was killed leaves its file behind.
    drop(std::os::unix::net::UnixListener::bind(dir.path().join("dead.sock")).expect("bound"));
    assert!(matches!(ping(&dir.path().join("dead.sock")).await, Err(ClientError::Nobody)), "nobody listens");
    let (sender, mut door) = mpsc::channel(8);
    let listener = Listener::start(&socket, sender).expect("it listens");
    let asked = send_command(&socket, envelope("c2"));
    let dying = async { drop(door.recv().await) };
    let (got, ()) = within("an end", async { tokio::join!(asked, dying) }).await;
    assert!(matches!(got, Err(ClientError::Lost { .. })), "{got:?}");
    drop(listener);
    assert!(!socket.exists(), "a good end takes the socket away");
}

#[tokio::test]
async fn whoever_speaks_nonsense_is_told_so_and_harms_nobody() {
    let (_dir, socket) = place();
    let (sender, _door) = mpsc::channel(8);
    let _listener = Listener::start(&socket, sender).expect("it listens");
    let mut stranger = tokio::net::UnixStream::connect(&socket).await.expect("connected");
    stranger.write_all(b"GET / HTTP/1.1\n").await.expect("sent");
    let mut heard = String::new();
    within("words", stranger.read_to_string(&mut heard)).await.expect("heard");
    assert!(heard.contains("does not understand"), "{heard}");
    within("a pong", ping(&socket)).await.expect("still there");
}
