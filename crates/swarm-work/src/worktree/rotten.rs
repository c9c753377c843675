//! Objects of a task that rotted on the disk. Git finds that it has them and does not write them again, so whatever commits
//! the same content is broken as well, for ever. Out of the way they are written anew, from the files that lie in the worktree.

use std::collections::BTreeSet;

use swarm_protocol::ids::Oid;

use super::WorktreeMarker;
use crate::remove::move_to_trash;
use swarm_git::{Git, GitCall, GitError};
use swarm_process::ProcessError;

/// Each look tells of one or two.
const LOOKS_MAX: u32 = 50;

/// Reads all that a task has added.
pub(super) fn walk(git: &Git, base: &Oid, tip: &Oid) -> GitCall {
    let range = format!("{base}..{tip}");
    git.call(["rev-list", "--quiet", "--verify-objects", "--end-of-options", &range])
}

/// Puts what git calls damaged between the base of the task and this tip into the trash. What lies in a pack stays.
pub(super) async fn put_aside(git: &Git, marker: &WorktreeMarker, tip: &Oid) -> Result<(), GitError> {
    for _ in 0..LOOKS_MAX {
        let looked = match walk(git, &marker.base, tip).any().await {
            // It waits for a pipe in the place of an object, and can tell of none behind it.
            Err(GitError::Process(ProcessError::Stuck { .. })) => break,
            looked => looked?,
        };
        let mut moved = false;
        for oid in damaged_in(&String::from_utf8_lossy(&looked.stderr_tail)) {
            let (folder, name) = oid.as_str().split_at(2);
            let file = git.common_dir.join("objects").join(folder).join(name);
            if file.is_file() {
                move_to_trash(git, marker.task.as_str(), &file)?;
                let what = format!(
                    "the object {} cannot be read: moved to .swarm/trash, so that git can write it again",
                    oid.short()
                );
                git.notice(Some(&marker.task), what);
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    Ok(())
}

/// Whether git tells of any.
pub(super) fn is_named_in(said: &str) -> bool {
    !damaged_in(said).is_empty()
}

/// Loose objects whose own bytes are wrong, in the words of git.
fn damaged_in(said: &str) -> BTreeSet<Oid> {
    said.lines().filter_map(|line| Oid::new(damaged(line)?).ok()).collect()
}

fn damaged(line: &str) -> Option<String> {
    if let Some(file) = line.strip_suffix(" is empty") {
        return file.rsplit_once("objects/").map(|(_, name)| name.replacen('/', "", 1));
    }
    let of_one_that = |words: &str| line.split_once(words).map(|(_, rest)| rest);
    let named = of_one_that("corrupt loose object '")
        .or_else(|| of_one_that("unable to unpack "))
        .or_else(|| of_one_that("loose object ").filter(|rest| rest.ends_with(" is corrupt")))?;
    Some(named.chars().take_while(char::is_ascii_hexdigit).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_objects_whose_own_bytes_are_wrong_are_named() {
        let oid = "4414025192f28e1f710bf02cf3c55a0cf05b3f2a";
        for line in [
            "error: object file /x/.git/objects/44/14025192f28e1f710bf02cf3c55a0cf05b3f2a is empty"
                .to_owned(),
            format!("error: unable to unpack {oid} header"),
            format!("error: corrupt loose object '{oid}'"),
            format!("fatal: loose object {oid} (stored in /x/.git/objects/44/14) is corrupt"),
        ] {
            let found: Vec<Oid> = damaged_in(&line).into_iter().collect();
            assert_eq!(found, [Oid::new(oid).expect("hex")], "{line}");
        }
        for line in [
            format!("fatal: missing blob object '{oid}'"),
            format!("fatal: bad tree object {oid}"),
            format!("error: Could not read {oid}"),
            "fatal: packed object x (stored in .git/objects/pack/pack-1.pack) is corrupt".to_owned(),
        ] {
            assert_eq!(damaged_in(&line), BTreeSet::new(), "{line}");
        }
    }
}
