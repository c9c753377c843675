//! Which tree an index of ours shows, remembered beside it.
//!
//! To read a tree of many files into an index costs more than everything else that is done with it. While it is
//! known what the index shows, it is led to another tree by the paths that differ. The memory names the
//! very file it speaks of, so an index that anybody has written since is read anew.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::Oid;

use super::call::{Git, GitError};
use super::marker::read_marker;
use super::objects::Change;
use super::private_index::PrivateIndex;
use crate::process::Input;

/// More differences than this, and reading the whole tree is as quick.
const CHANGES_MAX: usize = 5_000;

#[derive(Debug, Serialize, Deserialize)]
struct Shown {
    tree: Oid,
    /// Device, inode, size, times of the index file.
    face: Face,
}

type Face = (u64, u64, u64, i64, i64, i64, i64);

impl PrivateIndex {
    /// The tree that this index shows, if that is known for sure.
    pub fn shown(&self) -> Option<Oid> {
        let noted: Shown = read_marker(&self.note_path())?;
        (face_of(&self.file)? == noted.face).then_some(noted.tree)
    }

    /// Remembers that the index, as it lies there now, shows exactly this tree. Not synced: a note that does not
    /// fit its index is no note.
    pub fn note_shown(&self, tree: &Oid) {
        let Some(face) = face_of(&self.file) else { return };
        let bytes = serde_json::to_vec(&Shown { tree: tree.clone(), face }).unwrap_or_default();
        let _ = std::fs::write(self.note_path(), bytes);
    }

    /// Leads the index to this tree. What it knows of files that are the same in both stays known.
    pub async fn show(&self, git: &Git, worktree: &Path, tree: &Oid) -> Result<(), GitError> {
        match self.shown() {
            Some(shown) if shown == *tree => return Ok(()),
            Some(shown) => {
                // The tree before may be nobody's any more, and cleaned away: then there is no difference to see.
                if let Ok(changes) = git.changes(&shown, tree).await
                    && changes.len() <= CHANGES_MAX
                {
                    self.enter(git, worktree, &changes).await?;
                    self.note_shown(tree);
                    return Ok(());
                }
            }
            None => {}
        }
        self.call(git, worktree, &["read-tree", "--reset", tree.as_str()]).ok().await?;
        // Exit code 1 only says that some files differ.
        let refresh = ["update-index", "-q", "--refresh", "--ignore-submodules"];
        self.call(git, worktree, &refresh).if_yes().await?;
        self.note_shown(tree);
        Ok(())
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
        let update = self.call(git, worktree, &["update-index", "--add", "--replace", "-z", "--index-info"]);
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

    fn note_path(&self) -> PathBuf {
        let mut name = self.file.clone().into_os_string();
        name.push(".shows");
        name.into()
    }
}

fn face_of(file: &Path) -> Option<Face> {
    let meta = std::fs::metadata(file).ok()?;
    Some((
        meta.dev(),
        meta.ino(),
        meta.size(),
        meta.mtime(),
        meta.mtime_nsec(),
        meta.ctime(),
        meta.ctime_nsec(),
    ))
}
