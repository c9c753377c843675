//! Which repository the `.git` file of a worktree names.
//!
//! Where the agent can be given a view of its own, the file always names the person's. Where it cannot, the file names the
//! agent's own repository while a program of the agent runs, and the person's at all other times.

use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::{FOLDER, MAIN, OwnRepository};
use crate::call::{Git, GitError};
use crate::record::{pointer_line, replace_in};
use crate::ref_files::{Plain, read_plain};

const PATH_BYTES_MAX: u64 = 8 * 1024;

impl OwnRepository {
    /// The bytes of a `.git` file that names this repository.
    pub fn pointer(&self) -> Vec<u8> {
        pointer_line("gitdir: ", &self.dir)
    }

    /// A file with these bytes, where no agent can write, under a name that no task has.
    pub fn pointer_file(&self) -> PathBuf {
        self.dir.with_file_name(format!(".{}.pointer", self.task))
    }

    /// From now on git in the worktree works in this repository.
    pub fn point_here(&self) -> Result<(), GitError> {
        if is_folder(&self.worktree.join(".git")) {
            return Ok(());
        }
        replace_in(&self.worktree, ".git", &self.pointer())
    }

    /// From now on git in the worktree works in the person's repository again, whatever the file says now. A folder in
    /// its place may hold commits: it is left to whoever makes the worktree fit.
    pub fn point_back(&self, record: &Path) -> Result<(), GitError> {
        if is_folder(&self.worktree.join(".git")) || !self.worktree.is_dir() {
            return Ok(());
        }
        replace_in(&self.worktree, ".git", &pointer_line("gitdir: ", record))
    }

    /// Whether the worktree's file names this repository: a program runs, or we were killed while it did.
    pub fn is_pointed_at(&self) -> bool {
        let wanted = self.pointer();
        matches!(read_plain(&self.worktree.join(".git"), PATH_BYTES_MAX), Plain::Bytes(found) if found == wanted)
    }
}

fn is_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

impl Git {
    /// Whether the `.git` file of this worktree names the own repository of its agent.
    pub fn points_to_own(&self, path: &Path) -> bool {
        let Some(name) = path.file_name() else { return false };
        let own = path.parent().unwrap_or(path).join(FOLDER).join(name);
        let wanted = pointer_line("gitdir: ", &own);
        matches!(read_plain(&path.join(".git"), PATH_BYTES_MAX), Plain::Bytes(found) if found == wanted)
    }
}

/// The person's checkout, where `git_dir` is the own repository of an agent. It is told by a file that no agent can write.
pub(crate) fn main_of(git_dir: &Path) -> Option<PathBuf> {
    let all = git_dir.parent().filter(|all| all.file_name().is_some_and(|name| name == FOLDER))?;
    let Plain::Bytes(mut path) = read_plain(&all.join(MAIN), PATH_BYTES_MAX) else { return None };
    path.pop_if(|last| *last == b'\n');
    let main = PathBuf::from(std::ffi::OsString::from_vec(path));
    (main.is_absolute() && main.is_dir()).then_some(main)
}
