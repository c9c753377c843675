//! What lies in a worktree with its very bytes, whatever line ends and filters would make of them: for trees that
//! nobody will merge.
//!
//! Only files that differ from the tip are read, and only folders on the way to them are written. The index that
//! knows the files goes on showing the tip, so the next look begins where this one did.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use swarm_protocol::ids::{Oid, TaskId};

use super::{
    RESCUE_FILE_MAX_BYTES, Reading, Snapshot, is_refused, other_names, populated_submodules, read_files,
    tell_left_out,
};
use swarm_git::{Change, Differences, Git, GitError, PrivateIndex, SmallIndex, make_readable, path_of};
use swarm_process::Input;

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
        let mut look = look(git, worktree, &index, tip).await?;
        let changes = look.entered(git, worktree, &index, tip).await?;
        let tree = match git.tree_with(tip, &changes).await {
            // A git without that command: through the index, as ever.
            Err(GitError::Failed { .. }) => return through_index(git, worktree, &index, tip, since).await,
            tree => tree?,
        };
        let differs = !changes.is_empty() && tree != git.tree_of(tip).await?;
        let shot = Snapshot { tree, differs, nested: look.nested, left_out: look.left_out };
        Ok(Exact { shot, tip: tip.clone(), changes, since })
    };
    let read = read.await;
    if let Ok(exact) = &read {
        tell_left_out(git, task, worktree, &exact.shot.left_out);
    }
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
    let reading = Reading { max_bytes: Some(RESCUE_FILE_MAX_BYTES), exact: true, only: None };
    let shot = read_files(git, worktree, index, tip, reading).await?;
    let changes = git.changes(tip, &shot.tree).await?;
    Ok(Exact { shot, tip: tip.clone(), changes, since })
}

/// What differs from the tip, by name.
struct Look {
    /// Known to the tip: changed, or gone.
    known: Vec<Change>,
    /// Shows what the tip has of those.
    small: Option<SmallIndex>,
    /// Not known to it, one after the other, each ended by a NUL.
    fresh: Vec<u8>,
    nested: Vec<PathBuf>,
    left_out: Vec<PathBuf>,
}

async fn look(git: &Git, worktree: &Path, index: &PrivateIndex, tip: &Oid) -> Result<Look, GitError> {
    index.make_fit(git, worktree, tip).await?;
    index.show(git, worktree, tip).await?;
    // Each of the two looks at every file or folder, so both at once.
    let (known, others) =
        tokio::try_join!(index.differences(git, worktree), other_names(git, worktree, index))?;
    let is_left_out = |path: &Path| {
        let place = worktree.join(path);
        let larger = |meta: std::fs::Metadata| meta.is_file() && meta.len() > RESCUE_FILE_MAX_BYTES;
        std::fs::symlink_metadata(&place).is_ok_and(larger)
            || !make_readable(&place)
            || is_refused(worktree, path)
    };
    let Differences { changes, small } = known;
    let mut look =
        Look { known: Vec::new(), small, fresh: Vec::new(), nested: Vec::new(), left_out: Vec::new() };
    for change in changes {
        match change.new.is_some() && is_left_out(&change.path) {
            true => look.left_out.push(change.path),
            false => look.known.push(change),
        }
    }
    for name in others.split(|b| *b == 0).filter(|name| !name.is_empty()) {
        let path = path_of(name);
        if name.ends_with(b"/") {
            look.nested.push(path);
        } else if is_left_out(&path) {
            look.left_out.push(path);
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
        &mut self,
        git: &Git,
        worktree: &Path,
        index: &PrivateIndex,
        tip: &Oid,
    ) -> Result<Vec<Change>, GitError> {
        let mut names = Vec::new();
        // First what the index knows: a file may have become a folder. What is gone is known to be, and may lie
        // behind a link, where git does not look.
        for change in self.known.iter().filter(|change| change.new.is_some()) {
            names.extend_from_slice(change.path.as_os_str().as_encoded_bytes());
            names.push(0);
        }
        names.extend_from_slice(&self.fresh);
        if names.is_empty() {
            let gone = |change: Change| Change { new: None, ..change };
            return Ok(std::mem::take(&mut self.known).into_iter().map(gone).collect());
        }
        // An index of these files alone: git decides how each is stored, and it is small.
        let small = match self.small.take() {
            Some(small) => small,
            None => SmallIndex(index.empty_one()?),
        };
        let args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
        let update = git.exactly(small.0.call(git, worktree, &args), tip);
        update.stdin(Input::Bytes(names)).ok().await?;
        let mut found = small.0.entries(git, worktree).await?;
        let mut changes = Vec::with_capacity(found.len());
        for Change { path, old, new } in std::mem::take(&mut self.known) {
            let new = found.remove(&path).filter(|_| new.is_some());
            if new != old {
                changes.push(Change { path, old, new });
            }
        }
        for name in self.fresh.split(|b| *b == 0).filter(|name| !name.is_empty()) {
            let path = path_of(name);
            if let Some(entry) = found.remove(&path) {
                changes.push(Change { path, old: None, new: Some(entry) });
            }
        }
        Ok(changes)
    }
}
