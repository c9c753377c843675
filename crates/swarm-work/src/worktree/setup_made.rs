//! What the set-up of a worktree has made and git ignores: it can be made again, so it keeps no worktree alive.
//! The list lies where no agent can write.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use swarm_git::{Git, GitError, PrivateIndex, Untracked, read_marker, write_marker};

/// Entries that are remembered; of more, those that are not are looked at like everything else.
const ENTRIES_MAX: usize = 10_000;

/// A thing that git ignores, as it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Seen {
    /// A folder with nothing in it but what is ignored.
    Folder {
        inode: u64,
    },
    File {
        inode: u64,
        bytes: u64,
        modified: (i64, i64),
    },
}

impl Seen {
    fn of(meta: &Metadata) -> Self {
        match meta.is_dir() {
            true => Self::Folder { inode: meta.ino() },
            false => Self::File {
                inode: meta.ino(),
                bytes: meta.len(),
                modified: (meta.mtime(), meta.mtime_nsec()),
            },
        }
    }
}

/// Ignored things by their path from the root of the worktree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ignored(BTreeMap<String, Seen>);

impl Ignored {
    /// Whether it is one of these as it was seen then, or lies in a folder among them.
    pub fn covers(&self, path: &Path, meta: &Metadata) -> bool {
        let known = |path: &Path| self.0.get(path.to_str()?);
        let above = path.ancestors().skip(1).any(|dir| matches!(known(dir), Some(Seen::Folder { .. })));
        above || known(path) == Some(&Seen::of(meta))
    }
}

fn list_path(git: &Git, name: &str) -> PathBuf {
    git.main_checkout.join(".swarm").join("state").join("setup").join(format!("{name}.made.json"))
}

/// What git ignores there now, folders as a whole.
pub(crate) async fn ignored_in(git: &Git, name: &str, worktree: &Path) -> Result<Ignored, GitError> {
    let index = PrivateIndex::take(git, name).await?;
    let all = index.untracked(git, worktree, Untracked::Ignored).await?;
    // A name that is no text is looked at like everything else.
    let seen =
        all.into_iter().filter_map(|path| path.into_os_string().into_string().ok()).filter_map(|name| {
            let meta = std::fs::symlink_metadata(worktree.join(&name)).ok()?;
            Some((name, Seen::of(&meta)))
        });
    Ok(Ignored(seen.take(ENTRIES_MAX).collect()))
}

/// Remembers what a set-up has made: what is there after it and was not there, or not so, before.
pub(crate) fn record_made(git: &Git, name: &str, before: &Ignored, after: Ignored) -> Result<(), GitError> {
    let earlier = made_by_setup(git, name);
    let made = after.0.into_iter().filter(|(path, seen)| {
        let known = earlier.0.get(path) == Some(seen);
        known || before.0.get(path) != Some(seen)
    });
    write_marker(&list_path(git, name), &Ignored(made.collect()))
}

/// What the set-ups of this worktree have made.
pub(crate) fn made_by_setup(git: &Git, name: &str) -> Ignored {
    read_marker(&list_path(git, name)).unwrap_or_default()
}

pub(super) fn forget(git: &Git, name: &str) {
    let _ = std::fs::remove_file(list_path(git, name));
}

/// A worktree has got another name.
pub(super) fn rename(git: &Git, from: &str, to: &str) {
    forget(git, to);
    let _ = std::fs::rename(list_path(git, from), list_path(git, to));
}
