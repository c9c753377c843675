//! What goes, what is kept of it, and how much the trash holds.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;

use super::Field;
use crate::git_scratch::{commit_all, git_in, write};
use swarm_work::remove::{KeptWhy, Removal, TrashRule, tend_trash, trash_dir};

#[tokio::test]
async fn commits_that_only_the_worktree_knew_are_kept() {
    let field = Field::new().await;
    let made = field.prepare("t1").await;
    let mut dropped = Vec::new();
    for n in 0..3 {
        write(&made.path, "x.txt", format!("{n}\n").as_bytes());
        dropped.push(commit_all(&made.path, &format!("version {n}")));
        git_in(&made.path, ["reset", "--quiet", "--hard", "HEAD^"]);
    }
    write(&made.path, "y.txt", b"y\n");
    commit_all(&made.path, "the work");
    assert_eq!(field.give_up("t1").await, Removal::Removed);
    field.scratch.git(["reflog", "expire", "--expire=now", "--all"]);
    field.scratch.git(["gc", "--quiet", "--prune=now"]);
    for commit in dropped {
        assert_eq!(field.scratch.git(["cat-file", "-t", commit.as_str()]), "commit");
    }
}

#[tokio::test]
async fn a_worktree_off_its_branch_goes_with_its_commit_and_its_files_on_refs() {
    let field = Field::new().await;
    let made = field.prepare("t1").await;
    git_in(&made.path, ["switch", "--quiet", "--detach"]);
    write(&made.path, "off.txt", b"off\n");
    let off = commit_all(&made.path, "off the branch");
    write(&made.path, "new.txt", b"not tracked\n");
    // Without the reflog nothing but HEAD names the commit.
    std::fs::remove_dir_all(made.record.join("logs")).unwrap();
    assert_eq!(field.give_up("t1").await, Removal::Removed);
    assert!(!made.path.exists());
    field.scratch.git(["reflog", "expire", "--expire=now", "--all"]);
    field.scratch.git(["gc", "--quiet", "--prune=now"]);
    let rescued = field.git.refs_under("refs/swarm/rescue/t1").await.unwrap();
    assert!(rescued.iter().any(|(_, oid)| *oid == off), "{rescued:?}");
    let holds_both = |oid: &str| {
        let names = field.scratch.git(["ls-tree", "--name-only", oid]);
        ["new.txt", "off.txt"].iter().all(|file| names.lines().any(|name| name == *file))
    };
    assert!(rescued.iter().any(|(_, oid)| holds_both(oid.as_str())), "{rescued:?}");
}

#[tokio::test]
async fn a_folder_that_a_person_put_behind_a_link_stays_with_its_branch_until_it_is_back() {
    let field = Field::new().await;
    let made = field.prepare("t1").await;
    write(&made.path, "half.txt", b"half\n");
    let roomy = field.scratch.repo.parent().unwrap().join("roomy");
    std::fs::rename(&made.path, &roomy).unwrap();
    symlink(&roomy, &made.path).unwrap();
    let kept = field.give_up("t1").await;
    assert_eq!(kept, Removal::Kept { why: KeptWhy::Linked { path: made.path.clone() } });
    assert_eq!(std::fs::read_to_string(roomy.join("half.txt")).unwrap(), "half\n");
    assert!(std::fs::symlink_metadata(&made.path).unwrap().is_symlink() && made.record.is_dir());
    assert!(field.git.ref_value("refs/heads/swarm/t1").await.unwrap().is_some());
    std::fs::remove_file(&made.path).unwrap();
    std::fs::rename(&roomy, &made.path).unwrap();
    assert_eq!(field.give_up("t1").await, Removal::Removed);
}

#[tokio::test]
async fn where_all_worktrees_are_behind_a_link_one_is_given_up_like_any_other() {
    let field = Field::new().await;
    let roomy = field.scratch.repo.parent().unwrap().join("roomy");
    std::fs::create_dir(&roomy).unwrap();
    std::fs::create_dir_all(field.scratch.at(".swarm")).unwrap();
    symlink(&roomy, field.scratch.worktrees()).unwrap();
    let made = field.prepare("t1").await;
    assert_eq!(made.path, roomy.join("t1"));
    write(&made.path, "half.txt", b"half\n");
    assert_eq!(field.give_up("t1").await, Removal::Removed);
    assert!(!made.path.exists() && field.scratch.worktrees().is_dir());
    let rescued = field.git.refs_under("refs/swarm/rescue/t1").await.unwrap();
    assert_eq!(field.scratch.git(["show", &format!("{}:half.txt", rescued[0].1)]), "half");
}

/// Each removes the file the others wait for; still one at a time, and in the end nothing is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn locks_of_a_task_go_with_its_worktree_and_still_keep_others_out() {
    let field = std::sync::Arc::new(Field::new().await);
    let crowd = (0..4).map(|_| {
        let field = std::sync::Arc::clone(&field);
        tokio::spawn(async move {
            for _ in 0..2 {
                let made = field.prepare("t1").await;
                assert!(made.path.ends_with("t1"));
                assert_eq!(field.give_up("t1").await, Removal::Removed);
            }
        })
    });
    for one in crowd.collect::<Vec<_>>() {
        one.await.expect("no panic");
    }
    let left = |dir: &str| {
        let entries = std::fs::read_dir(field.git.common_dir.join("swarm").join(dir)).unwrap().flatten();
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((left("worktrees"), left("index")), (vec![], vec![]));
}

#[tokio::test]
async fn a_repository_in_place_of_the_pointer_keeps_the_worktree() {
    let field = Field::new().await;
    let made = field.prepare("t1").await;
    std::fs::remove_file(made.path.join(".git")).unwrap();
    git_in(&made.path, ["init", "--quiet"]);
    let kept = field.give_up("t1").await;
    assert!(matches!(&kept, Removal::Kept { why: KeptWhy::NestedRepository { .. } }), "{kept:?}");
    // The next attempt gets a proper one; the repository is aside, not away.
    let again = field.prepare("t1").await;
    assert!(made.path.join(".git").is_file());
    assert_eq!(git_in(&again.path, ["rev-parse", "--abbrev-ref", "HEAD"]), "swarm/t1");
    let aside = std::fs::read_dir(trash_dir(&field.git)).unwrap().flatten();
    assert!(aside.map(|entry| entry.path()).any(|path| path.join("objects").is_dir()));
}

#[tokio::test]
async fn the_trash_has_bounds_and_empties_what_is_write_protected() {
    let field = Field::new().await;
    for n in 0..4 {
        let made = field.prepare(&format!("t{n}")).await;
        write(&made.path, "target/cache/big.bin", &[7; 100_000]);
        if n == 0 {
            let folder = made.path.join("target/cache");
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o500)).unwrap();
        }
        assert_eq!(field.give_up(&format!("t{n}")).await, Removal::Removed);
    }
    let dir = field.scratch.worktrees();
    let week = Duration::from_secs(7 * 86_400);
    let rule = TrashRule { older_than: week, entries_max: 1000, bytes_max: u64::MAX };
    let first = tend_trash(&field.git, &dir, &rule).await;
    assert_eq!((first.deleted, first.failed), (0, 0));
    let folders = first.left;
    let some = TrashRule { entries_max: folders - 2, ..rule };
    assert_eq!(tend_trash(&field.git, &dir, &some).await.deleted, 2);
    let small = TrashRule { bytes_max: 1, ..rule };
    let rest = tend_trash(&field.git, &dir, &small).await;
    assert_eq!((rest.left, rest.failed), (0, 0));
    assert_eq!(std::fs::read_dir(trash_dir(&field.git)).unwrap().count(), 0, "nothing is left beside either");
    // A word about a folder that cannot be read at this moment may say that it is to be kept.
    let kept = trash_dir(&field.git).join("t9-2026-01-01T00-00-00");
    write(&kept, "only-copy.txt", b"work\n");
    write(&trash_dir(&field.git), "t9-2026-01-01T00-00-00.about.json", b"torn");
    assert_eq!(tend_trash(&field.git, &dir, &small).await.deleted, 0);
    assert!(kept.join("only-copy.txt").is_file());
}

/// The calls are the same few for any number: more files show nothing else, and take their time.
#[tokio::test]
async fn two_thousand_files_of_an_agent_are_saved_and_given_up_in_bounded_time() {
    let field = Field::new().await;
    let made = field.prepare("t1").await;
    for dir in 0..20 {
        std::fs::create_dir(made.path.join(format!("d{dir}"))).unwrap();
        for n in 0..100 {
            std::fs::write(made.path.join(format!("d{dir}/{n}.txt")), format!("{dir} {n}\n")).unwrap();
        }
    }
    let begun = std::time::Instant::now();
    assert_eq!(field.give_up("t1").await, Removal::Removed);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let rescued = field.git.refs_under("refs/swarm/rescue/t1").await.unwrap();
    let listed = field.scratch.git(["ls-tree", "-r", "--name-only", rescued[0].1.as_str()]);
    assert_eq!(listed.lines().count(), 2_000 + 4);
}
