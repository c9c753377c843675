//! What must be true when everything is over, seen from outside.

use std::collections::BTreeMap;

use super::sky::Sky;
use crate::arena::files_below;

pub fn check(sky: &Sky) {
    let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| all(sky)));
    if let Err(panic) = checked {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        sky.fail(&text.unwrap_or_default());
    }
}

fn all(sky: &Sky) {
    let arena = &sky.arena;
    let tasks = arena.tasks();
    let ids: Vec<&str> = tasks.iter().filter_map(|task| task["id"].as_str()).collect();
    let acknowledged = sky.acknowledged.lock().expect("no panic").clone();
    for id in &acknowledged {
        assert!(ids.contains(&id.as_str()), "the task {id} was answered and is not there");
    }
    arena.assert_all_done();
    // A disk that was full for longer than the patience of a removal: its worktree is kept and a person told.
    if arena.records("worktree_kept") > 0 {
        arena.ok(&["worktree", "cleanup", "--all"]);
    }
    ids.iter().for_each(|id| arena.assert_proven(id, "main"));
    once_on_trunk(sky, &ids);
    arena.assert_tidy();
    nothing_of_nobody(sky, &ids);
    let doctor = arena.swarm(&["doctor"]);
    let said = String::from_utf8_lossy(&[doctor.stdout, doctor.stderr].concat()).into_owned();
    assert!(doctor.status.success(), "the doctor finds: {said}");
    twice_the_same(sky);
    let rubbish = files_below(&arena.root.join(".git/objects"), "").into_iter();
    let rubbish = rubbish.filter(|file| file.to_string_lossy().contains("tmp_obj")).count();
    println!(
        "{} tasks ({} answered), all on trunk once; {rubbish} objects of killed gits wait for gc",
        ids.len(),
        acknowledged.len()
    );
}

/// Each task has two files of its own: each was added by one commit of trunk. An agent that was killed while it wrote may
/// have put it right in another.
fn once_on_trunk(sky: &Sky, ids: &[&str]) {
    let touched = sky.arena.git(&[
        "log",
        "--format=",
        "--diff-filter=A",
        "--no-renames",
        "--name-only",
        "main",
        "--",
        "work",
    ]);
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    touched.lines().filter(|line| !line.is_empty()).for_each(|file| *times.entry(file).or_default() += 1);
    for id in ids {
        for file in ["a", "b"].map(|part| format!("work/{id}-{part}.txt")) {
            assert_eq!(times.remove(file.as_str()), Some(1), "{file} is on trunk by one commit");
        }
    }
    assert!(times.is_empty(), "on trunk and of no task: {times:?}");
}

/// Worktrees and refs that are left belong to a task or are the swarm's own.
fn nothing_of_nobody(sky: &Sky, ids: &[&str]) {
    let arena = &sky.arena;
    assert_eq!(arena.worktrees(), Vec::<String>::new(), "worktrees of finished tasks");
    assert_eq!(arena.task_branches(), Vec::<String>::new(), "branches of finished tasks");
    let refs = arena.git(&["for-each-ref", "--format=%(refname)", "refs/swarm"]);
    let checkpoints = arena.json(&["checkpoint", "list"]);
    let checkpoints = checkpoints.as_array().expect("a list");
    for name in refs.lines().filter(|name| *name != "refs/swarm/ledger") {
        if let Some(rest) = name.strip_prefix("refs/swarm/checkpoints/") {
            let of = rest.split('/').next().unwrap_or_default();
            assert!(checkpoints.iter().any(|c| c["name"] == of), "the ref {name} belongs to no checkpoint");
            continue;
        }
        let owner = name.split('/').nth(3).unwrap_or_default();
        assert!(ids.contains(&owner), "the ref {name} belongs to no task");
    }
}

/// A start more changes nothing but that it happened, and so does another.
fn twice_the_same(sky: &Sky) {
    let shown = || (sky.arena.tasks(), sky.arena.git(&["for-each-ref", "refs/heads"]));
    let before = shown();
    for _ in 0..2 {
        let records = || std::fs::read_to_string(sky.arena.ledger()).expect("a ledger").lines().count();
        let so_far = records();
        let (code, said) = sky.arena.start(&[]).end();
        assert_eq!(code, 0, "{said}");
        assert_eq!(shown(), before, "another start changed something: {said}");
        let ledger = std::fs::read_to_string(sky.arena.ledger()).expect("a ledger");
        for line in ledger.lines().skip(so_far) {
            let harmless = [
                "coordinator_started",
                "coordinator_stopped",
                "execution_profile_set",
                "operation",
                "checkpoint_due",
                "checkpoint_made",
                "checkpoint_deleted",
                "checkpoint_purged",
                "trunk_proven",
            ];
            assert!(harmless.iter().any(|kind| line.contains(&format!("\"type\":\"{kind}\""))), "{line}");
        }
    }
}
