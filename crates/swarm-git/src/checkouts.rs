//! The checkouts of a repository, and what each is in the middle of.
//!
//! Read from git's administration and not from `git worktree list`, because that shows a checkout
//! that is rebasing as belonging to no branch, although git would move the branch at the end.

use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use swarm_protocol::ids::Oid;

use super::call::{Git, GitError};
use super::ref_files::is_plain;

/// What HEAD of a checkout says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// The full name, `refs/heads/main`.
    Branch(String),
    Detached(Oid),
    Unreadable,
}

/// Something a person has begun and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MidWay {
    Merge,
    Rebase,
    CherryPick,
    Revert,
    Bisect,
}

/// One checkout: the main one or a linked worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    pub path: PathBuf,
    /// Where its HEAD and index are: the common directory, or `worktrees/<name>` in it.
    pub git_dir: PathBuf,
    pub is_main: bool,
    pub head: Head,
}

impl Git {
    pub fn main(&self) -> Checkout {
        let (path, git_dir) = (self.main_checkout.clone(), self.common_dir.clone());
        Checkout { head: read_head(&git_dir), path, git_dir, is_main: true }
    }

    /// Every linked worktree git knows of, also those whose folder is gone.
    pub fn linked_checkouts(&self) -> Vec<Checkout> {
        let entries = std::fs::read_dir(self.common_dir.join("worktrees")).into_iter().flatten().flatten();
        let mut found: Vec<Checkout> = entries.filter_map(|entry| linked(entry.path())).collect();
        found.sort_by(|a, b| a.git_dir.cmp(&b.git_dir));
        found
    }

    /// What HEAD in this record of a worktree says.
    pub fn head_in(&self, record: &Path) -> Head {
        read_head(record)
    }

    pub fn checkouts(&self) -> Vec<Checkout> {
        std::iter::once(self.main()).chain(self.linked_checkouts()).collect()
    }

    /// The short name of the branch that the person stands on, in the main checkout or in a linked worktree;
    /// `None` when HEAD is detached there.
    pub fn current_branch(&self) -> Option<String> {
        match read_head(&self.here) {
            Head::Branch(name) => name.strip_prefix("refs/heads/").map(str::to_owned),
            Head::Detached(_) | Head::Unreadable => None,
        }
    }

    /// The commit that the person stands on; none on a branch without one.
    pub async fn current_commit(&self) -> Result<Option<Oid>, GitError> {
        match read_head(&self.here) {
            Head::Branch(name) => self.ref_value(&name).await,
            Head::Detached(oid) => Ok(Some(oid)),
            Head::Unreadable => Ok(None),
        }
    }
}

fn linked(git_dir: PathBuf) -> Option<Checkout> {
    let file = git_dir.join("gitdir");
    let plain = std::fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file() && meta.len() <= 64 * 1024);
    let mut pointer = if plain { std::fs::read(&file).ok()? } else { return None };
    while pointer.last().is_some_and(|b| b.is_ascii_whitespace()) {
        pointer.pop();
    }
    if pointer.is_empty() {
        return None;
    }
    // git 2.48 and newer may write it relative to the administrative folder.
    let dot_git = git_dir.join(PathBuf::from(std::ffi::OsString::from_vec(pointer)));
    let parent = dot_git.parent()?;
    let path = std::fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned());
    Some(Checkout { head: read_head(&git_dir), path, git_dir, is_main: false })
}

fn read_head(git_dir: &Path) -> Head {
    let text = small_text(&git_dir.join("HEAD"));
    let text = text.trim();
    match (text.strip_prefix("ref:"), Oid::new(text)) {
        // No branch has such a name, and no program can be told of it.
        (Some(name), _) if name.trim().contains(char::is_control) => Head::Unreadable,
        (Some(name), _) => Head::Branch(name.trim().to_owned()),
        (None, Ok(oid)) => Head::Detached(oid),
        (None, Err(_)) => Head::Unreadable,
    }
}

/// Names that lead to one another; git follows no more.
const NAMES_MAX: usize = 5;

/// The branch that a name stands for: who renames one often leaves the old name as a symbolic ref to the new one. Git moves
/// the branch, whichever name it is told.
fn real_name(common_dir: &Path, name: &str) -> String {
    let mut name = name.to_owned();
    for _ in 0..NAMES_MAX {
        if !is_plain(&name) {
            break;
        }
        match small_text(&common_dir.join(&name)).trim().strip_prefix("ref:") {
            Some(other) => name = other.trim().to_owned(),
            None => break,
        }
    }
    name
}

/// A small text file; nothing when it is anything else. An agent may have put a pipe or a huge file there,
/// which must neither stop nor fill us.
pub(super) fn small_text(path: &Path) -> String {
    const MAX_BYTES: u64 = 64 * 1024;
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() && meta.len() <= MAX_BYTES => {
            std::fs::read_to_string(path).unwrap_or_default()
        }
        // Very old repositories have a link here, which only a person can have made in the main checkout.
        Ok(meta) if meta.is_symlink() => match std::fs::read_link(path) {
            Ok(target) if target.starts_with("refs") => format!("ref: {}", target.display()),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

impl Checkout {
    /// Whether the folder of a linked worktree is not there: deleted, moved, or on a disk that is not mounted. Git keeps its
    /// record until somebody prunes it.
    pub fn is_gone(&self) -> bool {
        !self.is_main && !self.path.is_dir()
    }

    /// Whether `git worktree prune` leaves its record alone.
    pub fn is_locked(&self) -> bool {
        std::fs::symlink_metadata(self.git_dir.join("locked")).is_ok()
    }

    pub fn mid_way(&self) -> Option<MidWay> {
        let signs = [
            ("MERGE_HEAD", MidWay::Merge),
            ("rebase-merge", MidWay::Rebase),
            ("rebase-apply", MidWay::Rebase),
            ("CHERRY_PICK_HEAD", MidWay::CherryPick),
            ("REVERT_HEAD", MidWay::Revert),
            ("sequencer", MidWay::CherryPick),
            ("BISECT_LOG", MidWay::Bisect),
            ("BISECT_START", MidWay::Bisect),
        ];
        signs.iter().find(|(name, _)| self.git_dir.join(name).exists()).map(|(_, what)| *what)
    }

    /// Whether HEAD is on `branch` (a full name), under whichever of its names.
    pub fn shows(&self, branch: &str) -> bool {
        matches!(&self.head, Head::Branch(name) if name == branch || self.real(name) == self.real(branch))
    }

    fn real(&self, name: &str) -> String {
        let common_dir = match self.is_main {
            true => Some(self.git_dir.as_path()),
            false => self.git_dir.parent().and_then(Path::parent),
        };
        common_dir.map_or_else(|| name.to_owned(), |dir| real_name(dir, name))
    }

    /// Whether this checkout shows `branch` (a full name), or will come back to it when what it is
    /// in the middle of ends.
    pub fn occupies(&self, branch: &str) -> bool {
        if self.shows(branch) {
            return true;
        }
        let real = self.real(branch);
        let names = [branch, &*real].map(|name| (name, name.strip_prefix("refs/heads/").unwrap_or(name)));
        let names_it = |file: &str| {
            let text = small_text(&self.git_dir.join(file));
            text.lines().any(|line| names.iter().any(|(full, short)| [*full, *short].contains(&line.trim())))
        };
        ["rebase-merge/head-name", "rebase-apply/head-name", "rebase-merge/update-refs", "BISECT_START"]
            .into_iter()
            .any(names_it)
    }
}

impl MidWay {
    pub const ALL: [Self; 5] = [Self::Merge, Self::Rebase, Self::CherryPick, Self::Revert, Self::Bisect];

    /// What a person calls it, and the command that ends it.
    pub fn describe(self) -> (&'static str, &'static str) {
        match self {
            Self::Merge => ("a merge", "git merge --continue"),
            Self::Rebase => ("a rebase", "git rebase --continue"),
            Self::CherryPick => ("a cherry-pick", "git cherry-pick --continue"),
            Self::Revert => ("a revert", "git revert --continue"),
            Self::Bisect => ("a bisect", "git bisect reset"),
        }
    }
}
