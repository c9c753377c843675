//! An index of ours led from one tree to another, and files taken byte by byte.
//!
//! To read a tree of many files into an index costs more than everything else that is done with it. While it is
//! known what the index shows, only the paths that differ are entered.

use std::path::Path;

use swarm_protocol::ids::Oid;

use super::call::{Git, GitCall, GitError};
use super::entry::Change;
use super::private_index::PrivateIndex;
use swarm_process::Input;

/// More differences than this, and reading the whole tree is as quick.
const CHANGES_MAX: usize = 5_000;

/// Nothing that changes bytes on their way between a file and the object database.
const EXACT: [&str; 3] = ["core.autocrlf=false", "core.safecrlf=false", "core.attributesFile=/dev/null"];

/// The tree without files, which every git knows by heart.
pub(super) const EMPTY_TREE: [&str; 2] = [
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
];

impl Git {
    /// The same call, with files taken and given byte by byte. Attributes are read from a tree that has none;
    /// before git 2.43 that cannot be said, and they count. `like` tells how long the names of objects are here.
    pub fn exactly(&self, call: GitCall, like: &Oid) -> GitCall {
        let call = EXACT.iter().fold(call, |call, switch| call.global("-c").global(switch));
        let empty = EMPTY_TREE[usize::from(like.as_str().len() > 40)];
        if self.version >= (2, 43, 0) { call.global(format!("--attr-source={empty}")) } else { call }
    }
}

impl PrivateIndex {
    /// Goes from what the index shows to another commit or tree by their difference. False where that is too large,
    /// or cannot be seen because the first one was nobody's any more and has been cleaned away.
    pub(super) async fn go_over(
        &self,
        git: &Git,
        worktree: &Path,
        from: &Oid,
        to: &Oid,
    ) -> Result<bool, GitError> {
        match git.changes(from, to).await {
            Ok(changes) if changes.len() <= CHANGES_MAX => {
                self.enter(git, worktree, &changes).await?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Enters the new sides of the changes; files are not touched.
    pub async fn enter(&self, git: &Git, worktree: &Path, changes: &[Change]) -> Result<(), GitError> {
        if changes.is_empty() {
            return Ok(());
        }
        let (mut gone, mut there) = (Vec::new(), Vec::new());
        for Change { path, old, new } in changes {
            let (out, words) = match (new, old) {
                (Some(new), _) => (&mut there, format!("{:06o} {} 0\t", new.mode, new.oid)),
                (None, Some(old)) => (&mut gone, format!("0 {} 0\t", "0".repeat(old.oid.as_str().len()))),
                (None, None) => continue,
            };
            out.extend(words.bytes());
            out.extend_from_slice(path.as_os_str().as_encoded_bytes());
            out.push(0);
        }
        // First what goes: a file may become a folder.
        gone.extend(there);
        let update = self.draft(git, worktree, &["update-index", "--add", "--replace", "-z", "--index-info"]);
        update.stdin(Input::Bytes(gone)).ok().await.map(drop)
    }

    /// Makes another index of ours the same as this one.
    pub fn copy_to(&self, other: &Self) -> Result<(), GitError> {
        let copied = (|| {
            std::fs::copy(&self.file, &other.file)?;
            // git compares the index's own time with those of the files to know which it cannot trust.
            let modified = std::fs::metadata(&self.file)?.modified()?;
            std::fs::File::options().write(true).open(&other.file)?.set_modified(modified)
        })();
        copied.map_err(GitError::io("copy", &self.file))
    }
}
