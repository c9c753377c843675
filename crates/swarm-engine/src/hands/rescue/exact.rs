//! What lies in a worktree with its very bytes, whatever line ends and filters would make of them: for trees that
//! nobody will merge.
//!
//! Only files that differ from the tip are read, and only folders on the way to them are written. The index that
//! knows the files goes on showing the tip, so the next look begins where this one did.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use swarm_protocol::ids::{Oid, TaskId};

use super::{RESCUE_FILE_MAX_BYTES, Reading, Snapshot, other_names, populated_submodules, read_files};
use crate::git::{Change, Entry, Git, GitError, MODE_GITLINK, PrivateIndex, path_of};
use crate::process::Input;

/// A snapshot, and how it differs from the commit it was compared with.
#[derive(Debug)]
pub(crate) struct Exact {
    pub shot: Snapshot,
    pub tip: Oid,
    /// From the tip to the files, one for each path.
    pub changes: Vec<Change>,
    /// Nothing that was written later is in it for sure.
    pub since: SystemTime,
}

/// Reads the files of `worktree`. Writes objects and indexes of our own, nothing else.
pub(crate) async fn snapshot_exact(
    git: &Git,
    worktree: &Path,
    task: &TaskId,
    tip: &Oid,
) -> Result<Exact, GitError> {
    let since = SystemTime::now();
    let index = PrivateIndex::take(git, task.as_str()).await?;
    let read = async {
        let look = look(git, worktree, &index, tip).await?;
        let changes = look.entered(git, worktree, &index, tip).await?;
        let tree = match git.tree_with(tip, &changes).await {
            // A git without that command: through the index, as ever.
            Err(GitError::Failed { .. }) => return through_index(git, worktree, &index, tip, since).await,
            tree => tree?,
        };
        let differs = !changes.is_empty() && tree != git.tree_of(tip).await?;
        let shot = Snapshot { tree, differs, nested: look.nested, too_large: look.too_large };
        Ok(Exact { shot, tip: tip.clone(), changes, since })
    };
    let read = read.await;
    if read.is_err() {
        // What a failed step left half done must not be the start of the next one.
        index.forget();
    }
    read
}

async fn through_index(
    git: &Git,
    worktree: &Path,
    index: &PrivateIndex,
    tip: &Oid,
    since: SystemTime,
) -> Result<Exact, GitError> {
    let reading = Reading { max_bytes: Some(RESCUE_FILE_MAX_BYTES), exact: true };
    let shot = read_files(git, worktree, index, tip, reading).await?;
    let changes = git.changes(tip, &shot.tree).await?;
    Ok(Exact { shot, tip: tip.clone(), changes, since })
}

/// What differs from the tip, by name.
struct Look {
    /// Known to the tip: changed, or gone.
    known: Vec<Change>,
    /// Not known to it, one after the other, each ended by a NUL.
    fresh: Vec<u8>,
    nested: Vec<PathBuf>,
    too_large: Vec<PathBuf>,
}

async fn look(git: &Git, worktree: &Path, index: &PrivateIndex, tip: &Oid) -> Result<Look, GitError> {
    index.show(git, worktree, tip).await?;
    // Each of the two looks at every file or folder, so both at once.
    let (known, others) =
        tokio::try_join!(index.differences(git, worktree), other_names(git, worktree, index))?;
    let too_large_at = |path: &Path| {
        std::fs::symlink_metadata(worktree.join(path))
            .is_ok_and(|meta| meta.is_file() && meta.len() > RESCUE_FILE_MAX_BYTES)
    };
    let mut look = Look { known: Vec::new(), fresh: Vec::new(), nested: Vec::new(), too_large: Vec::new() };
    for change in known {
        match change.new.is_some() && too_large_at(&change.path) {
            true => look.too_large.push(change.path),
            false => look.known.push(change),
        }
    }
    for name in others.split(|b| *b == 0).filter(|name| !name.is_empty()) {
        let path = path_of(name);
        if name.ends_with(b"/") {
            look.nested.push(path);
        } else if too_large_at(&path) {
            look.too_large.push(path);
        } else {
            look.fresh.extend_from_slice(name);
            look.fresh.push(0);
        }
    }
    look.nested.extend(populated_submodules(git, worktree, tip).await?);
    Ok(look)
}

impl Look {
    /// The changes with what the files hold now, which is put into the object database.
    async fn entered(
        &self,
        git: &Git,
        worktree: &Path,
        index: &PrivateIndex,
        tip: &Oid,
    ) -> Result<Vec<Change>, GitError> {
        let mut names = self.fresh.clone();
        for change in self.known.iter().filter(|change| change.new.is_some() && !is_now_a_repository(change))
        {
            names.extend_from_slice(change.path.as_os_str().as_encoded_bytes());
            names.push(0);
        }
        let mut found = if names.is_empty() {
            BTreeMap::new()
        } else {
            // An index of these files alone: git decides how each is stored, and it is small.
            let small = index.empty_one()?;
            let args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
            let update = git.exactly(small.call(git, worktree, &args), tip);
            let entered = async {
                update.stdin(Input::Bytes(names)).ok().await?;
                small.entries(git, worktree).await
            };
            let entered = entered.await;
            small.forget();
            entered?
        };
        let mut changes = Vec::with_capacity(self.known.len() + found.len());
        for Change { path, old, new } in &self.known {
            let held = found.remove(path).map(|entry| with_mode(entry, new.as_ref()));
            if held != *old {
                changes.push(Change { path: path.clone(), old: old.clone(), new: held });
            }
        }
        changes.extend(found.into_iter().map(|(path, entry)| Change { path, old: None, new: Some(entry) }));
        Ok(changes)
    }
}

/// A file in whose place somebody has put another repository: of the file nothing is left.
fn is_now_a_repository(change: &Change) -> bool {
    let is = |side: &Option<Entry>| side.as_ref().is_some_and(|entry| entry.mode == MODE_GITLINK);
    is(&change.new) && !is(&change.old)
}

/// The small index does not know whether a file could be run before; where the file system cannot say it, that counts.
fn with_mode(found: Entry, compared: Option<&Entry>) -> Entry {
    let is_file = |mode: u32| mode & 0o170000 == 0o100000;
    match compared {
        Some(seen) if is_file(found.mode) && is_file(seen.mode) => Entry { mode: seen.mode, ..found },
        _ => found,
    }
}
