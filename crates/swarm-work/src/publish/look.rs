//! What a checkout really holds at the changed paths: on disk and in its index.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use swarm_git::{
    Change, Checkout, Entry, Git, GitError, Indexed, MODE_GITLINK, MODE_SYMLINK, READ_BYTES_MAX,
};

/// What is on disk at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OnDisk {
    Nothing,
    /// A file or symbolic link, as git would store it.
    Content(Entry),
    Folder,
    /// A part of the path is a file or a link.
    Behind(PathBuf),
    /// A pipe, a socket, something unreadable or far too large to be read.
    Odd,
}

#[derive(Debug)]
pub(super) struct Look<'a> {
    pub change: &'a Change,
    pub disk: OnDisk,
    pub indexed: Option<Indexed>,
}

/// Looks at every changed path; `index` is the index to ask.
pub(super) async fn look<'a>(
    git: &Git,
    checkout: &Checkout,
    index: &Path,
    changes: &'a [Change],
) -> Result<Vec<Look<'a>>, GitError> {
    let paths: Vec<&Path> = changes.iter().map(|change| &*change.path).collect();
    let mut indexed = git.indexed(&checkout.git_dir, &checkout.path, index, &paths).await?;
    let mut looks = Vec::with_capacity(changes.len());
    let mut files = Vec::new();
    for change in changes {
        let seen = first_sight(&checkout.path, &change.path);
        let disk = match seen {
            Sight::Is(disk) => disk,
            Sight::Link(target) => Entry { mode: MODE_SYMLINK, oid: git.hash_bytes(target).await? }.into(),
            Sight::File => {
                files.push(looks.len());
                OnDisk::Odd
            }
        };
        looks.push(Look { change, disk, indexed: indexed.remove(&change.path) });
    }
    let names: Vec<&Path> = files.iter().map(|at| &*looks[*at].change.path).collect();
    let oids = git.hash_files(&checkout.path, &checkout.git_dir, &names).await?;
    for (at, oid) in files.into_iter().zip(oids) {
        let mode = mode_of(&checkout.path.join(&looks[at].change.path));
        looks[at].disk = Entry { mode, oid }.into();
    }
    Ok(looks)
}

impl From<Entry> for OnDisk {
    fn from(entry: Entry) -> Self {
        Self::Content(entry)
    }
}

enum Sight {
    Is(OnDisk),
    Link(Vec<u8>),
    File,
}

fn first_sight(top: &Path, path: &Path) -> Sight {
    if let Some(parent) = not_a_folder_above(top, path) {
        return Sight::Is(OnDisk::Behind(parent));
    }
    let full = top.join(path);
    match std::fs::symlink_metadata(&full) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Sight::Is(OnDisk::Nothing),
        Err(_) => Sight::Is(OnDisk::Odd),
        Ok(meta) if meta.is_dir() => Sight::Is(OnDisk::Folder),
        Ok(meta) if meta.is_symlink() => match std::fs::read_link(&full) {
            Ok(target) => Sight::Link(target.as_os_str().as_bytes().to_vec()),
            Err(_) => Sight::Is(OnDisk::Odd),
        },
        Ok(meta) if meta.is_file() && meta.len() <= READ_BYTES_MAX => Sight::File,
        Ok(_) => Sight::Is(OnDisk::Odd),
    }
}

/// The first part of the path, above its last, that is there but is not a folder.
pub(super) fn not_a_folder_above(top: &Path, path: &Path) -> Option<PathBuf> {
    let mut above: Vec<&Path> =
        path.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty()).collect();
    above.reverse();
    let there = |part: &&Path| std::fs::symlink_metadata(top.join(part)).is_ok_and(|meta| !meta.is_dir());
    above.into_iter().find(there).map(Path::to_owned)
}

fn mode_of(path: &Path) -> u32 {
    let executable = std::fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o100 != 0);
    if executable { 0o100755 } else { 0o100644 }
}

impl Look<'_> {
    /// Whether the disk holds this content (or, for `None`, nothing).
    pub fn holds(&self, entry: Option<&Entry>) -> bool {
        match (&self.disk, entry) {
            (OnDisk::Nothing | OnDisk::Behind(_), None) => true,
            (OnDisk::Content(found), Some(entry)) => {
                // The executable bit is left to git's own check: it knows file systems without one.
                found.oid == entry.oid && (found.mode == MODE_SYMLINK) == (entry.mode == MODE_SYMLINK)
            }
            // Of another repository git keeps only its commit; its folder is not ours to look into.
            (OnDisk::Folder | OnDisk::Nothing, Some(entry)) => entry.mode == MODE_GITLINK,
            _ => false,
        }
    }

    /// Whether the index holds this entry (or, for `None`, none).
    pub fn indexes(&self, entry: Option<&Entry>) -> bool {
        match (&self.indexed, entry) {
            (None, None) => true,
            (Some(found), Some(entry)) => found.stage == 0 && found.entry == *entry,
            _ => false,
        }
    }

    /// Left out of the checkout on purpose, and really not there.
    pub fn is_left_out(&self) -> bool {
        self.disk == OnDisk::Nothing && self.indexed.as_ref().is_some_and(|found| found.skipped)
    }
}

/// What lies in a folder that has to go and would not go with it.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    pub files: Vec<PathBuf>,
    /// Repositories, each as a whole: what is in them is theirs to name.
    pub repositories: Vec<PathBuf>,
}

/// What is under `folder` and not among what will go, at most `max`.
pub(super) fn strangers_in(
    top: &Path,
    folder: &Path,
    going: &BTreeMap<&Path, bool>,
    max: usize,
) -> Strangers {
    let mut found = Strangers::default();
    let mut open = vec![folder.to_owned()];
    while let Some(dir) = open.pop() {
        if has_git(&top.join(&dir)) {
            found.repositories.push(dir);
            continue;
        }
        let entries = std::fs::read_dir(top.join(&dir)).into_iter().flatten().flatten();
        for entry in entries {
            let path = dir.join(entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path);
            } else if going.get(&*path) != Some(&true) {
                found.files.push(path);
            }
            if found.files.len() + found.repositories.len() >= max {
                return found;
            }
        }
    }
    found
}

/// Whether a folder is a repository of its own: git knows it as one, or it was made there. A submodule that was never set up
/// is an empty folder.
pub(super) fn is_repository(old: Option<&Entry>, folder: &Path) -> bool {
    let has_something = || std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    let known = old.is_some_and(|entry| entry.mode == MODE_GITLINK) && has_something();
    known || has_git(folder)
}

fn has_git(folder: &Path) -> bool {
    std::fs::symlink_metadata(folder.join(".git")).is_ok()
}
