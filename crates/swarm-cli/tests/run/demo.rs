//! The demo is the README's first command: it must tell the truth.

use crate::arena::Arena;

#[test]
fn the_demo_proves_its_tasks_on_trunk_and_leaves_nothing_behind() {
    let arena = Arena::new("{}");
    let out = arena.command(&["demo", "--json"]).env("TMPDIR", arena.path("")).output().expect("it runs");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{said}");
    let ending: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(ending["left_behind"], serde_json::json!([]), "{said}");
    let tasks = ending["tasks"].as_array().expect("tasks");
    assert_eq!(tasks.len(), 10);
    assert!(tasks.iter().all(|t| t["status"] == "done"), "{said}");
    for scene in [
        "SIGKILL",
        "coordinator crashed",
        "crashed",
        "repeats the same tool call",
        "the agent is told",
        "quota is used up",
        "quota is back",
        "Two agents changed the same lines",
        "An agent reviews this task and wants something changed",
        "The second round is approved",
        "swarm pause",
        "works on 3.2 next",
        "Revert \"docs: authors\"",
        "Undone: task rollback 2.2",
        "Rolled back to first-edition",
        "Undone: rollback first-edition",
    ] {
        assert!(said.contains(scene), "{scene} was not seen: {said}");
    }
    // One was sent back by the reviewer, one of two resolved a conflict, one was redirected: their tasks alone took two
    // attempts. One agent crashed and one ran out of quota: they went on with theirs.
    let number = |name: &str| tasks.iter().map(|t| t[name].as_u64().unwrap_or_default()).collect::<Vec<_>>();
    let mut attempts = number("attempts");
    attempts[6..8].sort_unstable();
    assert_eq!(attempts, [1, 1, 1, 1, 2, 1, 1, 2, 2, 1], "{said}");
    assert_eq!(number("restarts")[..6], [0, 1, 0, 0, 0, 1], "{said}");
}

#[test]
fn the_tour_shows_five_scenes_as_they_are_typed_and_leaves_nothing_behind() {
    let arena = Arena::new("{}");
    let mut command = arena.command(&["demo", "--tour", "--json"]);
    let out = command.env("TMPDIR", arena.path("")).output().expect("it runs");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{said}");
    let ending: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(ending["left_behind"], serde_json::json!([]), "{said}");
    assert!(ending["tasks"].as_array().is_some_and(|tasks| tasks.len() == 3), "{ending}");
    for shown in [
        "1. A goal becomes a plan",
        "$ swarm plan make 'A book of three chapters …' --agent script --yes",
        "Plan saved and approved: 3 tasks",
        "$ swarm ls",
        "2. Two agents work",
        "$ swarm diff 1.1",
        "+# Worktrees",
        "$ swarm log 1.1",
        "$ swarm task show 1.3",
        "both chapters are there",
        "$ swarm task rollback 1.3 --yes",
        "$ swarm undo --yes",
        "5. Nothing has to be believed",
        "$ swarm plan verify",
    ] {
        assert!(said.contains(shown), "{shown} was not seen: {said}");
    }
}
