//! What was saved can be seen and brought back, over nothing that is there.

use super::Field;
use crate::git_scratch::{commit_all, git_in, task, write};
use swarm_protocol::ids::RunId;
use swarm_work::remove::Removal;
use swarm_work::rescue::save_wip;
use swarm_work::restore::{Restored, Saved, Shelf, restore, saved};

#[tokio::test]
async fn a_removed_task_comes_back_from_each_shelf() {
    let field = Field::new().await;
    let made = field.prepare("t1").await;
    write(&made.path, "done.txt", b"done\n");
    let tip = commit_all(&made.path, "done");
    write(&made.path, "half.txt", b"half\n");
    write(&made.path, "target/cache.bin", b"cache\n");
    save_wip(&field.git, &made.path, &task("t1"), &RunId::nth(3), &tip).await.unwrap().unwrap();
    assert_eq!(field.give_up("t1").await, Removal::Removed);
    let dir = field.scratch.worktrees();
    let all = saved(&field.git, &dir, "main").await.unwrap();
    let on = |shelf: Shelf| -> Saved {
        let found: Vec<&Saved> = all.iter().filter(|one| one.shelf == shelf).collect();
        assert_eq!((found.len(), found[0].task.as_str()), (1, "t1"), "{shelf:?}: {all:#?}");
        found[0].clone()
    };
    let (wip, rescue) = (on(Shelf::Wip), on(Shelf::Rescue));
    assert_eq!((wip.files, rescue.files), (Some(1), Some(1)));
    assert!(all.iter().all(|one| one.at_secs > 1_700_000_000), "{all:#?}");
    let into = field.scratch.at(".swarm/restored");
    let back = async |what: &Saved| -> Restored { restore(&field.git, what, &into).await.unwrap() };

    let branch = back(&on(Shelf::Kept)).await;
    assert_eq!(branch.branch.as_deref(), Some("restored/t1"));
    assert_eq!(git_in(&branch.path, ["status", "--porcelain", "--branch"]), "## restored/t1");
    assert!(branch.path.join("done.txt").exists() && !branch.path.join("half.txt").exists());

    let work = back(&wip).await;
    assert_eq!((work.branch.as_deref(), work.path.ends_with("t1-2")), (Some("restored/t1-2"), true));
    assert_eq!(std::fs::read(work.path.join("half.txt")).unwrap(), b"half\n");

    let folder = back(&on(Shelf::Trash)).await;
    assert_eq!(git_in(&folder.path, ["status", "--porcelain"]), "?? half.txt", "as it was, on its branch");
    assert!(folder.path.join("target/cache.bin").exists());
    // Twice asked for is brought back twice, beside.
    assert!(back(&rescue).await.path.ends_with("t1-4"));
    assert!(!saved(&field.git, &dir, "main").await.unwrap().iter().any(|one| one.shelf == Shelf::Trash));
}
