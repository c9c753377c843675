//! Used worktrees made new: cheap, and nothing of the task before is in them.

use std::os::unix::fs::PermissionsExt;

use super::{Field, is_clean};
use crate::git_scratch::{commit_all, git_in, write};
use swarm_work::remove::Removal;
use swarm_work::worktree::pool::{Tended, contents, tend};
use swarm_work::worktree::{record_setup, setup_due};

impl Field {
    async fn tend(&self) -> Tended {
        tend(&self.git, self.pool.as_ref().expect("a pool")).await.expect("git works")
    }
}

#[tokio::test]
async fn a_recycled_worktree_shows_the_new_base_and_keeps_only_the_caches() {
    let field = Field::with_pool(2).await;
    let first = field.prepare("t1").await;
    assert!(!first.recycled);
    for (path, text) in [
        ("mine.txt", "committed"),
        ("node_modules/dep/index.js", "cache"),
        ("loose.txt", "not committed"),
        ("dir/loose.txt", "not committed"),
    ] {
        write(&first.path, path, text.as_bytes());
    }
    commit_all(&first.path, "work of t1");
    write(&first.path, "a.txt", b"changed and not committed\n");
    std::fs::create_dir_all(first.path.join("empty/deep")).unwrap();
    // What only its own git would do.
    git_in(&first.path, ["update-index", "--assume-unchanged", "b.txt"]);
    write(&first.path, "b.txt", b"hidden from its own git\n");
    assert_eq!(field.give_up("t1").await, Removal::Removed);
    assert!(!first.path.exists() && !first.record.exists());
    assert_eq!(contents(&field.git).len(), 1);
    field.scratch.write("dir/c.txt", "c two\n");
    field.scratch.commit_all("trunk goes on");
    // Not proven yet: a new one is made.
    assert!(!field.prepare("t2").await.recycled);
    assert_eq!(field.tend().await, Tended { settled: 1, trashed: 0 });
    let third = field.prepare("t3").await;
    assert!(third.recycled);
    is_clean(&third.path, "swarm/t3");
    let mut names: Vec<String> = std::fs::read_dir(&third.path)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, [".git", ".gitignore", "a.txt", "b.txt", "dir", "node_modules"]);
    assert_eq!(std::fs::read(third.path.join("b.txt")).unwrap(), b"b one\n");
    assert_eq!(std::fs::read(third.path.join("dir/c.txt")).unwrap(), b"c two\n");
    // What was not committed is on a ref.
    let rescued = field.git.refs_under("refs/swarm/rescue/t1").await.unwrap();
    let shown = |path: &str| field.scratch.git(["show", &format!("{}:{path}", rescued[0].1)]);
    assert_eq!(shown("a.txt"), "changed and not committed");
    assert_eq!(shown("b.txt"), "hidden from its own git", "our own index does not believe the agent's");
}

#[tokio::test]
async fn what_cannot_be_proven_clean_or_is_too_much_goes_to_the_trash() {
    let field = Field::with_pool(1).await;
    let made = field.prepare("t1").await;
    // Git does not see a pipe.
    rustix::fs::mkfifoat(rustix::fs::CWD, made.path.join("dir/pipe"), rustix::fs::Mode::from_raw_mode(0o600))
        .unwrap();
    assert_eq!(field.give_up("t1").await, Removal::Removed);
    assert_eq!(field.tend().await, Tended { settled: 0, trashed: 1 });

    // A second name elsewhere could change the file later.
    let made = field.prepare("t2").await;
    std::fs::hard_link(made.path.join("a.txt"), field.scratch.dir.path().join("second-name")).unwrap();
    assert_eq!(field.give_up("t2").await, Removal::Removed);
    assert_eq!(field.tend().await, Tended { settled: 0, trashed: 1 });

    for name in ["t3", "t4"] {
        field.prepare(name).await;
    }
    assert_eq!(field.give_up("t3").await, Removal::Removed);
    assert_eq!(field.give_up("t4").await, Removal::Removed);
    assert_eq!(contents(&field.git).len(), 1, "the pool has its bound");
    field.tend().await;
    // Another plan does not get the caches of this one.
    let mut other = field;
    other.pool.as_mut().unwrap().plan = "plan-2".into();
    assert!(!other.prepare("t5").await.recycled);
    assert_eq!(other.tend().await, Tended { settled: 0, trashed: 1 });
    assert_eq!(contents(&other.git), []);
}

#[tokio::test]
async fn a_recycled_worktree_has_a_record_that_nobody_has_written_in() {
    let field = Field::with_pool(1).await;
    let made = field.prepare("t1").await;
    let trap = field.scratch.dir.path().join("trap.sh");
    let trace = field.scratch.dir.path().join("it-ran");
    std::fs::write(&trap, format!("#!/bin/sh\necho ran >> {}\n", trace.display())).unwrap();
    std::fs::set_permissions(&trap, std::fs::Permissions::from_mode(0o755)).unwrap();
    field.scratch.git(["config", "extensions.worktreeConfig", "true"]);
    write(
        &made.record,
        "config.worktree",
        format!("[core]\n\tfsmonitor = {0}\n\thooksPath = {0}\n", trap.display()).as_bytes(),
    );
    write(&made.record, "commondir", b"/nowhere\n");
    write(&made.path, ".git", b"gitdir: /nowhere\n");
    assert_eq!(field.give_up("t1").await, Removal::Removed);
    field.tend().await;
    let next = field.prepare("t2").await;
    assert!(next.recycled);
    is_clean(&next.path, "swarm/t2");
    assert!(!next.record.join("config.worktree").exists());
    assert!(!trace.exists(), "a planted program ran");
}

#[tokio::test]
async fn the_set_up_runs_again_when_a_deciding_file_changed_and_follows_a_recycled_worktree() {
    let field = Field::with_pool(1).await;
    field.scratch.write("package-lock.json", "{\"v\":1}\n");
    field.scratch.write("packages/x/package-lock.json", "{}\n");
    field.scratch.commit_all("locks");
    let when = ["package-lock.json".to_owned(), "packages/*/package-lock.json".to_owned()];
    let due = |name: &str, path: &std::path::Path, command: &str| {
        setup_due(&field.git, name, path, &when, command).unwrap()
    };
    let made = field.prepare("t1").await;
    assert!(due("t1", &made.path, "npm ci"));
    record_setup(&field.git, "t1", &made.path, &when, "npm ci").unwrap();
    assert!(!due("t1", &made.path, "npm ci"));
    assert!(due("t1", &made.path, "npm install"), "another command");
    write(&made.path, "packages/x/package-lock.json", b"{\"v\":2}\n");
    assert!(due("t1", &made.path, "npm ci"), "a pattern matches below");
    write(&made.path, "packages/x/package-lock.json", b"{}\n");
    assert!(!due("t1", &made.path, "npm ci"), "contents count, not times");
    field.give_up("t1").await;
    field.tend().await;
    let next = field.prepare("t2").await;
    assert!(next.recycled && !due("t2", &next.path, "npm ci"), "its node_modules came along");
    // A folder made anew is not set up, whatever its name was.
    std::fs::remove_dir_all(&next.path).unwrap();
    let anew = field.prepare("t2").await;
    assert!(!anew.recycled && due("t2", &anew.path, "npm ci"));
}

#[tokio::test]
async fn what_is_written_while_a_worktree_goes_is_not_wiped_with_it() {
    let field = Field::with_pool(8).await;
    let trash = field.scratch.worktrees().parent().expect(".swarm").join("trash");
    for round in 0..24u64 {
        let name = format!("t{round}");
        let prepared = field.prepare(&name).await;
        let file = prepared.path.join("late.txt");
        let text = format!("round {round}\n");
        let writer = tokio::spawn({
            let (file, text) = (file.clone(), text.clone());
            async move {
                tokio::time::sleep(std::time::Duration::from_millis(round * 3)).await;
                std::fs::write(file, text).is_ok()
            }
        });
        let removal = field.give_up(&name).await;
        let written = writer.await.expect("the writer ends");
        field.tend().await;
        let rescued = field.git.refs_under(&format!("refs/swarm/rescue/{name}")).await.unwrap();
        let on_a_ref = rescued
            .iter()
            .any(|(_, oid)| !field.scratch.git(["ls-tree", oid.as_str(), "late.txt"]).is_empty());
        let in_trash = std::fs::read_dir(&trash).into_iter().flatten().flatten().any(|entry| {
            std::fs::read_to_string(entry.path().join("late.txt")).is_ok_and(|found| found == text)
        });
        assert!(!written || file.exists() || on_a_ref || in_trash, "round {round}, {removal:?}: it is lost");
    }
}
