//! A person's local changes that were put on a ref, back in the checkout: each file only where nothing has been changed
//! since. What cannot go back stays on its ref.

use std::ffi::OsString;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use swarm_protocol::ids::Oid;

use super::Waits;
use crate::worktree::checkouts_of_people;
use swarm_git::{Change, Checkout, Entry, Git, GitError, MODE_GITLINK, MODE_SYMLINK, path_of};

/// Checkouts of one branch that are looked at.
const CHECKOUTS_MAX: usize = 16;

/// What became of the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Brought {
    pub back: Vec<PathBuf>,
    /// Changed since, or no plain files: still on the ref.
    pub left: Vec<PathBuf>,
}

/// The name under which the changes of the n-th checkout lie.
fn name_of(ref_name: &str, n: usize) -> String {
    if n == 0 { ref_name.to_owned() } else { format!("{ref_name}-{}", n + 1) }
}

/// Files that lie on this ref; none: there is no such ref.
pub async fn saved_paths(git: &Git, ref_name: &str) -> Result<Vec<PathBuf>, GitError> {
    let mut paths = Vec::new();
    for n in 0..CHECKOUTS_MAX {
        let Some(saved) = git.ref_value(&name_of(ref_name, n)).await? else { break };
        let Some(base) = git.commit_parts(&saved).await?.parents.first().cloned() else { break };
        paths.extend(git.changed_paths(&base, &saved).await?);
    }
    Ok(paths)
}

/// Brings back what was put aside under this name. Safe to ask again: a file that is back is left alone.
pub async fn bring_back(git: &Git, trunk: &str, ref_name: &str) -> Result<Brought, GitError> {
    let _one_at_a_time = git.publishing().await;
    git.may_act()?;
    let branch = format!("refs/heads/{trunk}");
    let mut brought = Brought::default();
    let showing = checkouts_of_people(git).into_iter().filter(|checkout| checkout.occupies(&branch));
    for (n, checkout) in showing.take(CHECKOUTS_MAX).enumerate() {
        let (saved, head) = (git.ref_value(&name_of(ref_name, n)).await?, git.ref_value(&branch).await?);
        let (Some(saved), Some(head)) = (saved, head) else { continue };
        let Some(base) = git.commit_parts(&saved).await?.parents.first().cloned() else { continue };
        let moved = git.changed_paths(&base, &head).await?;
        for change in git.changes(&base, &saved).await? {
            let fits = Waits::of(&checkout).is_none() && !moved.contains(&change.path);
            match fits && one_back(git, &checkout, &saved, &change).await? {
                true => brought.back.push(change.path),
                false => brought.left.push(change.path),
            }
        }
    }
    Ok(brought)
}

/// True when the file is what was saved.
async fn one_back(git: &Git, checkout: &Checkout, saved: &Oid, change: &Change) -> Result<bool, GitError> {
    let full = checkout.path.join(&change.path);
    if is(git, checkout, &change.path, change.new.as_ref()).await? {
        return Ok(true);
    }
    // Through a link it would be a file of somewhere else.
    let through_link = change
        .path
        .ancestors()
        .skip(1)
        .any(|dir| std::fs::symlink_metadata(checkout.path.join(dir)).is_ok_and(|meta| !meta.is_dir()));
    if through_link || !is(git, checkout, &change.path, change.old.as_ref()).await? {
        return Ok(false);
    }
    let failed = GitError::io("bring back", &full);
    let Some(entry) = &change.new else {
        return std::fs::remove_file(&full).map(|()| true).map_err(failed);
    };
    let mut what = OsString::from(format!("{saved}:"));
    what.push(&change.path);
    let Some(bytes) = git
        .call(["cat-file", "--filters"])
        .arg(what)
        .git_dir(&checkout.git_dir)
        .work_tree(&checkout.path)
        .as_the_person()
        .long_list()
        .if_yes()
        .await?
    else {
        return Ok(false);
    };
    write(&full, entry, &bytes).map(|()| true).map_err(failed)
}

/// Whether the file on the disk is this entry; none: whether there is no file.
async fn is(git: &Git, checkout: &Checkout, path: &Path, entry: Option<&Entry>) -> Result<bool, GitError> {
    let full = checkout.path.join(path);
    let meta = std::fs::symlink_metadata(&full).ok();
    match (meta, entry) {
        (None, None) => Ok(true),
        (Some(meta), Some(entry)) if meta.is_symlink() && entry.mode == MODE_SYMLINK => {
            let target = std::fs::read_link(&full).map_err(GitError::io("read", &full))?;
            Ok(git.hash_bytes(target.as_os_str().as_encoded_bytes().to_vec()).await? == entry.oid)
        }
        (Some(meta), Some(entry))
            if meta.is_file() && ![MODE_SYMLINK, MODE_GITLINK].contains(&entry.mode) =>
        {
            let hashed = git.hash_files(&checkout.path, &checkout.git_dir, &[path]).await?;
            Ok(hashed.first() == Some(&entry.oid))
        }
        _ => Ok(false),
    }
}

/// Appears whole, under its name, or not at all.
fn write(full: &Path, entry: &Entry, bytes: &[u8]) -> std::io::Result<()> {
    let dir = full.parent().unwrap_or(full);
    std::fs::create_dir_all(dir)?;
    let draft = dir.join(format!(".swarm-back-{}", std::process::id()));
    let _ = std::fs::remove_file(&draft);
    if entry.mode == MODE_SYMLINK {
        symlink(path_of(bytes), &draft)?;
    } else {
        let mode = if entry.mode & 0o100 != 0 { 0o777 } else { 0o666 };
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&draft)?;
        std::io::Write::write_all(&mut file, bytes)?;
        file.sync_all()?;
    }
    std::fs::rename(&draft, full)
}
