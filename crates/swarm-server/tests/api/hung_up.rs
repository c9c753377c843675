//! Clients that hang up in the middle of a deed, and what is asked again by its id.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use swarm_protocol::deed::{DeedDone, Done};
use tokio::io::AsyncWriteExt;

use super::by_hand::{JSON, repository};
use super::served::add;
use crate::world::until;

#[tokio::test]
async fn a_deed_goes_on_without_its_client_and_asked_again_by_its_id_it_is_done_once() {
    let served = repository().await;
    let root = served.dir.path();
    let (began, go) = (root.join("began"), root.join("go"));
    let hooks = root.join(".swarm/hooks");
    std::fs::create_dir_all(&hooks).expect("a folder");
    let script = format!(
        "#!/bin/sh\necho once >> '{}'\nwhile [ ! -e '{}' ]; do sleep 0.01; done\necho it is done\n",
        began.display(),
        go.display()
    );
    let hook = hooks.join("post-complete.sh");
    std::fs::write(&hook, script).expect("written");
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).expect("executable");

    let asked = json!({ "id": "d1", "deed": { "do": "run_hook", "hook": "post-complete" } });
    let body = asked.to_string();
    let said =
        format!("POST /v1/deeds HTTP/1.1\r\nHost: s\r\n{JSON}Content-Length: {}\r\n\r\n{body}", body.len());
    let mut stream = served.connect().await;
    stream.write_all(said.as_bytes()).await.expect("said");
    until("the beginning", || began.exists()).await;
    drop(stream);

    let other = json!({ "id": "d1", "deed": { "do": "restore", "name": "t1" } }).to_string();
    let (status, answer) = served.request("POST", "/v1/deeds", JSON, other.as_bytes()).await;
    assert_eq!((status, answer.contains("id_taken")), (409, true), "{answer}");
    let (again, ()) = tokio::join!(served.client.post::<DeedDone>("/v1/deeds", &asked), async {
        std::fs::write(&go, "").expect("written");
    });
    let again = again.expect("the answer of the first");
    assert!(matches!(&again.done, Done::RunHook(ran) if ran.output.contains("it is done")), "{again:?}");
    let later: DeedDone = served.client.post("/v1/deeds", &asked).await.expect("the same answer");
    assert_eq!(later, again);
    assert_eq!(std::fs::read_to_string(&began).expect("it began"), "once\n");
}

#[tokio::test]
async fn submitted_work_is_known_by_the_id_of_its_deed() {
    let served = repository().await;
    let post = async |body: &serde_json::Value| -> DeedDone {
        served.client.post("/v1/deeds", body).await.expect("it is done")
    };
    post(&json!({ "deed": { "do": "create_worktree", "task": "t1" } })).await;
    let place = served.dir.path().join(".swarm/worktrees/t1");
    std::fs::write(place.join("b.txt"), "b\n").expect("written");
    super::by_hand::git(&place, &["add", "b.txt"]);
    super::by_hand::git(&place, &["commit", "-q", "-m", "second"]);
    let asked = json!({ "id": "m1", "deed": { "do": "merge_worktree", "task": "t1" } });
    let Done::MergeWorktree(first) = post(&asked).await.done else { panic!("another answer") };
    assert_eq!(first.id.as_str(), "m1");
    let Done::MergeWorktree(again) = post(&asked).await.done else { panic!("another answer") };
    assert_eq!(again.seq, first.seq);
}

#[tokio::test]
async fn a_deed_under_the_id_of_a_command_is_refused_and_not_done() {
    let served = repository().await;
    let made = json!({ "deed": { "do": "create_worktree", "task": "t1" } });
    let _: DeedDone = served.client.post("/v1/deeds", &made).await.expect("it is done");
    served.ask("more", add(1)).await;
    // Other wishes were answered under these ids. Their answers are not the deeds', and nothing of these could be recorded.
    for (id, word) in [("plan", "merge_worktree"), ("more", "clean_up_worktree")] {
        let asked = json!({ "id": id, "deed": { "do": word, "task": "t1" } }).to_string();
        let (status, answer) = served.request("POST", "/v1/deeds", JSON, asked.as_bytes()).await;
        assert_eq!((status, answer.contains("id_taken")), (409, true), "{word}: {answer}");
    }
    assert!(served.dir.path().join(".swarm/worktrees/t1").is_dir());
}
