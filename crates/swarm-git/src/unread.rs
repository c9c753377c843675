//! A repository that git itself cannot read: a bit of `.git/HEAD` or of its configuration is another. The swarm that runs in
//! it can be looked at and stopped all the same.

use std::path::{Path, PathBuf};

use super::call::{Git, Version, base_env};
use super::commits::Identity;

/// `git merge-tree --write-tree` came with it.
pub(super) const OLDEST: Version = (2, 38, 0);

/// The git directory above `path`, by what lies in it.
pub(super) fn seen_above(path: &Path) -> Option<PathBuf> {
    let start = std::fs::canonicalize(path).ok()?;
    let git_dir = start.ancestors().map(|dir| dir.join(".git")).find(|git_dir| git_dir.exists())?;
    ["objects", "refs"].iter().all(|name| git_dir.join(name).is_dir()).then_some(git_dir)
}

/// The first file where branches lie; a repository without a commit has none.
pub(super) fn a_branch_in(git_dir: &Path) -> Option<String> {
    let mut open = vec![git_dir.join("refs/heads")];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => open.push(path),
                false if path.extension().is_some_and(|end| end == "lock") => {}
                false => return Some(path.strip_prefix(git_dir).unwrap_or(&path).display().to_string()),
            }
        }
    }
    None
}

impl Git {
    /// The repository above `path`, without having asked git. Whatever is asked of it may fail.
    pub fn unread(path: &Path) -> Option<Self> {
        let common_dir = seen_above(path)?;
        Some(Self {
            main_checkout: common_dir.parent()?.to_owned(),
            here: common_dir.clone(),
            common_dir,
            version: OLDEST,
            identity: Identity::of_the_swarm(),
            env: base_env(),
            shared: Default::default(),
        })
    }
}
