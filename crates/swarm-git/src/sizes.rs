//! Files that are not read to find out whether they have changed: their size says so, and reading them would take hours.

use std::collections::BTreeMap;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use swarm_protocol::ids::Oid;

use super::call::{Git, GitError};
use super::entry::Change;
use super::private_index::PrivateIndex;
use swarm_process::Input;

/// Smaller files are read whenever there is doubt. By what a file claims to be, not by what it takes of the disk: one of
/// a terabyte with nothing in it is read to its end like any other.
const DOUBTED_BYTES_MAX: u64 = 100 << 20;

/// As large as what was committed, so perhaps the same. Still larger ones are never read on our own account.
pub const READ_BYTES_MAX: u64 = 4 << 30;

/// How git sees something that has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// Git may read it.
    Plain,
    /// So large that only its size is looked at.
    Large(u64),
    /// A pipe, a socket, a device: nothing that could be committed stands there.
    NoFile,
}

fn sight(file: &Path) -> Sight {
    let Ok(meta) = std::fs::symlink_metadata(file) else { return Sight::Plain };
    let kind = meta.file_type();
    match () {
        () if kind.is_file() && meta.len() > DOUBTED_BYTES_MAX => Sight::Large(meta.len()),
        () if kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device() => {
            Sight::NoFile
        }
        () => Sight::Plain,
    }
}

/// Files that seem to differ, by whether git may read them.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// To be judged by git.
    pub doubtful: Vec<Change>,
    /// Changed for sure.
    pub changed: Vec<Change>,
}

/// Whatever is not to be read is changed: as large as nothing that was committed, or no file at all any more.
pub(super) async fn sorted(git: &Git, worktree: &Path, seeming: Vec<Change>) -> Result<Sorted, GitError> {
    let mut found = Sorted::default();
    let mut large = Vec::new();
    for change in seeming {
        match sight(&worktree.join(&change.path)) {
            Sight::Plain => found.doubtful.push(change),
            Sight::NoFile => found.changed.push(Change { new: None, ..change }),
            Sight::Large(bytes) => large.push((change, bytes)),
        }
    }
    let committed = |change: &Change| change.old.as_ref().map(|old| old.oid.clone());
    let sizes = git.sizes_of(large.iter().filter_map(|(change, _)| committed(change))).await?;
    for (change, bytes) in large {
        let same_size = committed(&change).is_some_and(|oid| sizes.get(&oid) == Some(&bytes));
        let list =
            if same_size && bytes <= READ_BYTES_MAX { &mut found.doubtful } else { &mut found.changed };
        list.push(change);
    }
    Ok(found)
}

impl Git {
    /// How many bytes these objects have; those that are not there are left out.
    async fn sizes_of(&self, oids: impl Iterator<Item = Oid>) -> Result<BTreeMap<Oid, u64>, GitError> {
        let input: String = oids.map(|oid| format!("{oid}\n")).collect();
        if input.is_empty() {
            return Ok(BTreeMap::new());
        }
        let call = self.call(["cat-file", "--batch-check=%(objectname) %(objectsize)"]);
        let output = call.stdin(Input::Bytes(input.into_bytes())).long_list().ok().await?;
        let lines = String::from_utf8_lossy(&output).into_owned();
        let parsed = lines.lines().filter_map(|line| line.split_once(' '));
        Ok(parsed.filter_map(|(oid, size)| Some((Oid::new(oid).ok()?, size.parse().ok()?))).collect())
    }
}

impl PrivateIndex {
    /// The index learns of every file what is true now, except of those that would have to be read and are too large:
    /// these it goes on not to know.
    pub(super) async fn refresh(&self, git: &Git, worktree: &Path, more: &[&str]) -> Result<(), GitError> {
        let unread = self.not_to_be_read(git, worktree).await?;
        self.mark(git, worktree, "--assume-unchanged", &unread).await?;
        let args = [&["update-index", "-q", "--refresh", "--ignore-submodules"], more].concat();
        // Exit code 1 only says that some files differ.
        self.draft(git, worktree, &args).if_yes().await?;
        self.mark(git, worktree, "--no-assume-unchanged", &unread).await
    }

    async fn mark(&self, git: &Git, worktree: &Path, how: &str, paths: &[PathBuf]) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        let names =
            paths.iter().flat_map(|path| [path.as_os_str().as_encoded_bytes(), b"\0"].concat()).collect();
        let call = self.draft(git, worktree, &["update-index", how, "-z", "--stdin"]);
        call.stdin(Input::Bytes(names)).ok().await.map(drop)
    }

    /// Tracked files that only their size is looked at of.
    async fn not_to_be_read(&self, git: &Git, worktree: &Path) -> Result<Vec<PathBuf>, GitError> {
        let entries = self.entries(git, worktree).await?;
        let top = worktree.to_owned();
        let looked = tokio::task::spawn_blocking(move || {
            let is_large = |path: &PathBuf| matches!(sight(&top.join(path)), Sight::Large(_));
            entries.into_iter().filter(|(path, _)| is_large(path)).collect::<Vec<_>>()
        });
        let large = looked
            .await
            .map_err(|error| GitError::io("look through", worktree)(std::io::Error::other(error)))?;
        let as_changes = large.into_iter().map(|(path, entry)| Change {
            path,
            old: Some(entry.clone()),
            new: Some(entry),
        });
        let sorted = sorted(git, worktree, as_changes.collect()).await?;
        Ok(sorted.changed.into_iter().map(|change| change.path).collect())
    }
}
