//! What one look at a worktree finds: what git itself would find, and nothing that only seems to be changed.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use swarm_work::operation::restore_tree::{Restore, Restored, restore};

use crate::checkpoints::{full, make_dirty, worktree};
use crate::git_scratch::{Scratch, commit_all, git_in, task, write};

/// What `git add --all` makes of the files.
fn tree_by_git(dir: &Path) -> String {
    git_in(dir, ["add", "--all"]);
    git_in(dir, ["write-tree"])
}

#[tokio::test]
async fn the_saved_tree_is_the_one_that_git_add_would_make() {
    type Dirt = (&'static str, fn(&Path));
    let dirts: [Dirt; 5] = [
        ("every kind", make_dirty),
        ("nothing left", |dir| {
            for file in ["a.txt", "b.txt", "dir/c.txt", ".gitignore"] {
                let _ = std::fs::remove_file(dir.join(file));
            }
        }),
        ("a file becomes a folder", |dir| {
            std::fs::remove_file(dir.join("a.txt")).unwrap();
            write(dir, "a.txt/inside.txt", b"inside\n");
        }),
        ("only the right to run it", |dir| {
            std::fs::set_permissions(dir.join("a.txt"), std::fs::Permissions::from_mode(0o755)).unwrap();
        }),
        ("a link in place of a folder", |dir| {
            std::fs::rename(dir.join("dir"), dir.join("moved")).unwrap();
            std::os::unix::fs::symlink("moved", dir.join("dir")).unwrap();
        }),
    ];
    let scratch = Scratch::new();
    let git = scratch.open().await;
    for (n, (what, dirt)) in dirts.into_iter().enumerate() {
        let name = format!("t{n}");
        let place = worktree(&git, &scratch, &name).await;
        dirt(&place.path);
        let saved = full(&git, &format!("c{n}"), &[]).await;
        let commit = saved.dirty.get(&task(&name)).unwrap_or_else(|| panic!("{what}: nothing was saved"));
        assert_eq!(
            scratch.git(["rev-parse", &format!("{commit}^{{tree}}")]),
            tree_by_git(&place.path),
            "{what}"
        );
    }
}

#[tokio::test]
async fn a_file_that_only_seems_changed_is_no_uncommitted_work() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let place = worktree(&git, &scratch, "t1").await;
    write(&place.path, ".gitattributes", b"*.txt text eol=crlf\n");
    write(&place.path, "lines.txt", b"one\r\ntwo\r\n");
    commit_all(&place.path, "lines that git stores otherwise");
    for _ in 0..2 {
        // Written anew with the same bytes, and the second time after a checkpoint has seen it.
        std::fs::remove_file(place.path.join("lines.txt")).unwrap();
        write(&place.path, "lines.txt", b"one\r\ntwo\r\n");
        assert_eq!(full(&git, "same", &[]).await.dirty, Default::default());
    }
    write(&place.path, "lines.txt", b"one\r\nTWO\r\n");
    let saved = full(&git, "changed", &[]).await;
    let commit = &saved.dirty[&task("t1")];
    assert_eq!(scratch.git(["diff", "--name-only", &format!("{commit}^"), commit.as_str()]), "lines.txt");
}

#[tokio::test]
async fn a_file_too_large_to_be_saved_stays_where_it_lies_and_the_index_is_whole() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let place = worktree(&git, &scratch, "t1").await;
    write(&place.path, "grows.txt", b"small\n");
    let tip = commit_all(&place.path, "small yet");
    write(&place.path, "more.txt", b"more\n");
    let grown = std::fs::File::create(place.path.join("grows.txt")).unwrap();
    grown.set_len(100 * 1024 * 1024 + 1).unwrap();
    // Back to where it did not exist at all.
    let (name, dir) = (task("t1"), scratch.worktrees());
    let (old, base) = (Some(&tip), None);
    let asked = Restore { task: &name, dir: &dir, old, tip: &place.base, base, dirty: None, save_as: None };
    let outcome = restore(&git, &asked).await.unwrap();
    assert!(matches!(outcome, Restored::Done { saved: Some(_), .. }), "{outcome:?}");
    assert_eq!(std::fs::metadata(place.path.join("grows.txt")).unwrap().len(), 100 * 1024 * 1024 + 1);
    assert!(!place.path.join("more.txt").exists());
    assert_eq!(git_in(&place.path, ["status", "--porcelain"]), "?? grows.txt");
    // Programs other than git look at its checksum.
    let index = std::fs::read(place.record.join("index")).unwrap();
    assert!(index[index.len() - 20..].iter().any(|byte| *byte != 0), "a checksum");
}
