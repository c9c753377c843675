//! What is done beside the ledger, over the socket, in a real repository.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command as Process;
use std::sync::Arc;

use serde_json::{Value, json};
use swarm_protocol::deed::{DeedDone, Done, HookProgram, LearningsView, PromptView, SavedView, WorktreeView};
use swarm_protocol::doctor::{DoctorView, Health};
use swarm_protocol::ids::RunId;
use swarm_protocol::operation::HookOutcome;
use swarm_server::limits::Limits;
use swarm_server::peer::{Inside, Standing};

use super::served::Served;

pub(super) const JSON: &str = "Content-Type: application/json\r\n";

pub(super) fn git(dir: &Path, args: &[&str]) -> String {
    let mut call = Process::new("git");
    call.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]);
    let out = call.args(args).current_dir(dir).output().expect("git runs");
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

/// A swarm with one task in a repository with one commit.
pub(super) async fn repository() -> Served {
    let served = Served::start();
    let root = served.dir.path();
    git(root, &["init", "-q"]);
    std::fs::write(root.join("a.txt"), "a\n").expect("written");
    git(root, &["add", "a.txt"]);
    git(root, &["commit", "-q", "-m", "first"]);
    git(root, &["config", "user.name", "a"]);
    git(root, &["config", "user.email", "a@b"]);
    served.plan(1).await;
    served
}

async fn done(served: &Served, deed: Value) -> DeedDone {
    served.client.post("/v1/deeds", &json!({ "deed": deed })).await.expect("it is done")
}

#[tokio::test]
async fn a_worktree_is_made_listed_removed_and_its_work_comes_back() {
    let served = repository().await;
    let made = done(&served, json!({ "do": "create_worktree", "task": "x1" })).await;
    let Done::CreateWorktree(view) = &made.done else { panic!("{made:?}") };
    assert_eq!((view.path.as_str(), view.created), (".swarm/worktrees/x1", true), "{made:?}");
    let again = done(&served, json!({ "do": "create_worktree", "task": "x1" })).await;
    assert!(matches!(&again.done, Done::CreateWorktree(view) if !view.created), "asked twice: {again:?}");

    let place = served.dir.path().join(&view.path);
    std::fs::write(place.join("b.txt"), "b\n").expect("written");
    let listed: Vec<WorktreeView> = served.client.get("/v1/worktrees").await.expect("a list");
    let ours = listed.iter().find(|one| one.task.as_ref().is_some_and(|task| task.as_str() == "x1"));
    assert_eq!(ours.expect("it is listed").uncommitted, Some(1));

    let asked = json!({ "deed": { "do": "clean_up_worktree", "task": "x1" } });
    let preview: Value = served.client.post("/v1/deeds/preview", &asked).await.expect("a preview");
    assert!(place.is_dir(), "only looked at: {preview}");
    let gone = done(&served, json!({ "do": "clean_up_worktree", "task": "x1" })).await;
    let Done::CleanUpWorktree(view) = &gone.done else { panic!("{gone:?}") };
    assert!(view.removed && !place.exists(), "{gone:?}");

    let saved: Vec<SavedView> = served.client.get("/v1/saved").await.expect("a list");
    assert!(saved.iter().any(|one| one.task == "x1" && one.files == Some(1)), "{saved:?}");
    let back = done(&served, json!({ "do": "restore", "name": "x1" })).await;
    let Done::Restore(view) = &back.done else { panic!("{back:?}") };
    let text = std::fs::read_to_string(served.dir.path().join(&view.path).join("b.txt"));
    assert_eq!(text.expect("it is back"), "b\n");
    assert!(view.branch.as_deref().is_some_and(|branch| branch.starts_with("restored/")), "{view:?}");
}

#[tokio::test]
async fn work_of_a_person_is_submitted_by_hand_and_recorded_in_their_name() {
    let served = repository().await;
    done(&served, json!({ "do": "create_worktree", "task": "t1" })).await;
    let place = served.dir.path().join(".swarm/worktrees/t1");
    std::fs::write(place.join("b.txt"), "b\n").expect("written");
    let asked = json!({ "by": "person:web", "deed": { "do": "merge_worktree", "task": "t1" } });
    let body = asked.to_string();
    let (status, answer) = served.request("POST", "/v1/deeds", JSON, body.as_bytes()).await;
    assert_eq!(status, 409, "not all of it is committed: {answer}");
    assert!(answer.contains("changed_meanwhile"), "{answer}");
    git(&place, &["add", "b.txt"]);
    git(&place, &["commit", "-q", "-m", "second"]);
    let merged: DeedDone = served.client.post("/v1/deeds", &asked).await.expect("submitted");
    assert!(matches!(&merged.done, Done::MergeWorktree(answer) if answer.seq > 0), "{merged:?}");
    assert_eq!(served.asked_by.lock().expect("whole").last().map(String::as_str), Some("person:web"));
}

#[tokio::test]
async fn hooks_learnings_prompts_and_the_doctor_are_there_to_be_asked() {
    let served = repository().await;
    let swarm = served.dir.path().join(".swarm");
    std::fs::create_dir_all(swarm.join("hooks")).expect("a folder");
    let hook = swarm.join("hooks/post-complete.sh");
    std::fs::write(&hook, "#!/bin/sh\necho \"it is $SWARM_TASK_ID\"\nexit 3\n").expect("written");
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let programs: Vec<HookProgram> = served.client.get("/v1/hooks/programs").await.expect("a list");
    assert_eq!(programs.iter().map(|one| one.hook.as_str()).collect::<Vec<_>>(), ["post-complete"]);
    let deed = json!({ "do": "run_hook", "hook": "post-complete", "variables": { "TASK_ID": "t1" } });
    let ran = done(&served, deed).await;
    let Done::RunHook(view) = &ran.done else { panic!("{ran:?}") };
    assert!(view.output.contains("it is t1") && view.outcome != HookOutcome::Ok, "{ran:?}");
    for bad in [json!({ "do": "run_hook", "hook": "none" }), json!({ "do": "dance" })] {
        let body = json!({ "deed": bad }).to_string();
        let (status, answer) = served.request("POST", "/v1/deeds", JSON, body.as_bytes()).await;
        assert!([400, 409].contains(&status), "{status} {answer}");
    }

    std::fs::write(swarm.join("learnings.md"), "- tests need a database\n").expect("written");
    let learnings: LearningsView = served.client.get("/v1/learnings").await.expect("learnings");
    assert_eq!(learnings.all, ["tests need a database"]);
    std::fs::create_dir_all(swarm.join("prompts")).expect("a folder");
    std::fs::write(swarm.join("prompts/work.md"), "Work on {{ task.id }}\n").expect("written");
    let prompts: Vec<PromptView> = served.client.get("/v1/prompts").await.expect("prompts");
    let own: Vec<_> = prompts.iter().filter(|one| one.own).map(|one| one.text.as_str()).collect();
    assert_eq!((own, prompts.len()), (vec!["Work on {{ task.id }}\n"], 8));

    let doctor: DoctorView = served.client.get("/v1/doctor").await.expect("findings");
    let of = |id: &str| doctor.findings.iter().find(|one| one.id == id).map(|one| one.state);
    assert_eq!((of("repository"), of("ledger")), (Some(Health::Ok), Some(Health::Ok)), "{doctor:?}");
}

#[tokio::test]
async fn by_hand_is_for_operators_alone() {
    let deed = br#"{"deed":{"do":"restore","name":"1.2"}}"#;
    let served = Served::start();
    served.plan(1).await;
    let viewer = format!("{JSON}Swarm-Role: viewer\r\n");
    let (status, answer) = served.request("POST", "/v1/deeds", &viewer, deed).await;
    assert_eq!((status, answer.contains("not_for_viewers")), (403, true), "{answer}");
    assert_eq!(served.request("GET", "/v1/doctor", "Swarm-Role: viewer\r\n", b"").await.0, 200);

    let inside = Standing::Inside(Inside { run: Some(RunId::nth(7)), nonce: Some("n7".into()) });
    let served = Served::with(Limits::default(), Arc::new(move |_| inside.clone()));
    let (status, answer) = served.request("POST", "/v1/deeds", JSON, deed).await;
    assert_eq!((status, answer.contains("not_for_agents")), (403, true), "{answer}");
    for path in ["doctor", "worktrees", "saved", "learnings", "prompts", "hooks/programs"] {
        assert_eq!(served.request("GET", &format!("/v1/{path}"), "", b"").await.0, 403, "{path}");
    }
    let told = crate::world::until("the report", || !served.oversteps.lock().expect("whole").is_empty());
    told.await;
    assert_eq!(*served.oversteps.lock().expect("whole"), ["swarm restore 1.2"]);
}
