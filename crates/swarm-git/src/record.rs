//! Git's record of a linked worktree (`.git/worktrees/<name>`), written by us.
//!
//! Not by `git worktree add`: that registers and fills the folder in one step which, killed, leaves a locked
//! half, and two at once meet on locks that git does not wait for. A record of ours is put together aside
//! and appears by one rename, so no lock is needed at all, and the files can be written in parallel.
//!
//! An agent can write everything in the record of its own worktree. So nothing in it is believed: our git
//! never takes it for its git directory, and whatever points somewhere is written anew before the next use.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use swarm_process::complain;
use swarm_protocol::ids::Oid;
use tokio::sync::MutexGuard;

use super::call::{Git, GitError};
use super::checkouts::Head;
use super::marker::{lock_within, make_own_folder};
use super::private_index::PrivateIndex;

/// How long another command of ours may take for its few renames.
const OTHERS_LIMIT: Duration = Duration::from_secs(120);

/// Names that are tried for a record before it is given up.
const NAMES_MAX: u32 = 1000;

/// Leave to choose names, slots and records that several could choose at once: one at a time in this process
/// and among all processes. Held for moments, never while files are written.
#[derive(Debug)]
pub struct Administration<'a> {
    _here: MutexGuard<'a, ()>,
    _everywhere: File,
}

impl Git {
    pub async fn administration(&self) -> Result<Administration<'_>, GitError> {
        let here = self.shared.worktrees.lock().await;
        let dir = self.swarm_dir();
        make_own_folder(&dir)?;
        let path = dir.join("worktrees.lock");
        match lock_within(&path, "", OTHERS_LIMIT).await? {
            Some(everywhere) => Ok(Administration { _here: here, _everywhere: everywhere }),
            None => {
                Err(GitError::io("take", &path)(std::io::Error::other("another swarm command does not end")))
            }
        }
    }

    pub fn record_dir(&self, name: &str) -> PathBuf {
        self.common_dir.join("worktrees").join(name)
    }

    /// Registers the folder `path`, which must be there, under `wanted` or a name like it. Answers with the name.
    pub fn register(&self, wanted: &str, path: &Path, head: &Head, tip: &Oid) -> Result<String, GitError> {
        let all = self.common_dir.join("worktrees");
        std::fs::create_dir_all(&all).map_err(GitError::io("make the folder", &all))?;
        let unique = ulid::Ulid::generate().to_string();
        let aside = self.swarm_dir().join("making").join(&unique);
        std::fs::create_dir_all(aside.join("logs")).map_err(GitError::io("make the folder", &aside))?;
        for n in 0..NAMES_MAX {
            let name = if n == 0 { wanted.to_owned() } else { format!("{wanted}-{n}") };
            let place = all.join(&name);
            if std::fs::symlink_metadata(&place).is_ok() {
                continue;
            }
            self.write_record(&aside, path, head, tip)?;
            // The pointer first: a record whose folder does not point back is swept away by `git worktree prune`.
            write_pointer(path, &place)?;
            match std::fs::rename(&aside, &place) {
                Ok(()) => return Ok(name),
                // Somebody has taken the name meanwhile.
                Err(_) if std::fs::symlink_metadata(&place).is_ok() => continue,
                Err(error) => return Err(GitError::io("write git's record", &place)(error)),
            }
        }
        let _ = std::fs::remove_dir_all(&aside);
        Err(GitError::io("name git's record of", path)(std::io::Error::other("all names are taken")))
    }

    fn write_record(&self, record: &Path, path: &Path, head: &Head, tip: &Oid) -> Result<(), GitError> {
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(record.join(name), bytes).map_err(GitError::io("write", record.join(name)))
        };
        write("gitdir", &pointer_line("", &path.join(".git")))?;
        write("commondir", b"../..\n")?;
        write("HEAD", &head_line(head))?;
        // Git goes on with a log that is there, whatever the configuration says of logs.
        write("logs/HEAD", self.log_line(tip).as_bytes())
    }

    fn log_line(&self, tip: &Oid) -> String {
        let plain = |text: &str| text.replace(['<', '>', '\n', '\0'], "");
        let nothing = "0".repeat(tip.as_str().len());
        let now = jiff::Timestamp::now().as_second();
        let (name, email) = (plain(&self.identity.name), plain(&self.identity.email));
        format!("{nothing} {tip} {name} <{email}> {now} +0000\tswarm: worktree made\n")
    }

    /// Makes record and folder point at each other and at this repository again, whatever was done to them,
    /// and takes away configuration that only this worktree would have. HEAD is left unless nobody can read it.
    /// What stood in the folder instead of its pointer, if that was a folder, goes to `aside`.
    pub fn put_right(
        &self,
        record: &Path,
        path: &Path,
        branch: &str,
        aside: impl FnOnce(&Path) -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        replace_in(record, "gitdir", &pointer_line("", &path.join(".git")))?;
        replace_in(record, "commondir", b"../..\n")?;
        remove_whatever(&record.join("config.worktree"))?;
        if self.head_in(record) == Head::Unreadable {
            self.point_head(record, branch)?;
        }
        let dot_git = path.join(".git");
        if std::fs::symlink_metadata(&dot_git).is_ok_and(|meta| meta.is_dir()) {
            aside(&dot_git)?;
        }
        write_pointer(path, record)
    }

    /// Whether record and folder point at each other and at this repository.
    pub fn points_right(&self, record: &Path, path: &Path) -> bool {
        let says = |file: PathBuf, bytes: &[u8]| {
            let plain = std::fs::symlink_metadata(&file)
                .is_ok_and(|meta| meta.is_file() && meta.len() == bytes.len() as u64);
            plain && std::fs::read(&file).is_ok_and(|found| found == bytes)
        };
        says(record.join("gitdir"), &pointer_line("", &path.join(".git")))
            && says(record.join("commondir"), b"../..\n")
            && says(path.join(".git"), &pointer_line("gitdir: ", record))
    }

    /// Puts HEAD on this branch; index and files are left.
    pub fn point_head(&self, record: &Path, branch: &str) -> Result<(), GitError> {
        replace_in(record, "HEAD", &head_line(&Head::Branch(branch.to_owned())))
    }

    /// Puts HEAD on this commit and no branch; index and files are left.
    pub fn detach_head(&self, record: &Path, commit: &Oid) -> Result<(), GitError> {
        replace_in(record, "HEAD", &head_line(&Head::Detached(commit.clone())))
    }

    /// Gives the worktree an index of its own, as git would: through `index.lock` and a rename.
    pub async fn install_index(
        &self,
        record: &Path,
        index: &PrivateIndex,
        worktree: &Path,
    ) -> Result<(), GitError> {
        index.seal(self, worktree).await?;
        let lock = record.join("index.lock");
        if std::fs::symlink_metadata(&lock).is_ok() {
            self.clear_if_abandoned(&lock).await;
        }
        let copied = (|| {
            let mut source = File::open(&index.file)?;
            let mut target = File::create_new(&lock)?;
            std::io::copy(&mut source, &mut target)?;
            // git compares this time with those of the files to know which it must read again.
            target.set_modified(source.metadata()?.modified()?)?;
            std::fs::rename(&lock, record.join("index"))
        })();
        copied.map_err(GitError::io("hand over the index to", &lock))
    }
}

fn head_line(head: &Head) -> Vec<u8> {
    match head {
        Head::Branch(name) => format!("ref: {name}\n").into_bytes(),
        Head::Detached(oid) => format!("{oid}\n").into_bytes(),
        Head::Unreadable => Vec::new(),
    }
}

pub(super) fn pointer_line(before: &str, path: &Path) -> Vec<u8> {
    let mut line = before.as_bytes().to_vec();
    line.extend_from_slice(path.as_os_str().as_bytes());
    line.push(b'\n');
    line
}

/// The `.git` file of a linked worktree.
fn write_pointer(path: &Path, record: &Path) -> Result<(), GitError> {
    replace_in(path, ".git", &pointer_line("gitdir: ", record))
}

/// What stands between the name of a file in the making and the process that makes it.
const DRAFT: &str = ".swarm-";

/// Takes away what a process left that was killed before its file was whole: in a worktree it would be taken for work.
fn sweep_drafts(dir: &Path, name: &str) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let file = entry.file_name();
        let rest = file.to_str().and_then(|file| file.strip_prefix(name)?.strip_prefix(DRAFT));
        let Some(pid) = rest.and_then(|rest| rest.parse::<u32>().ok()) else { continue };
        let plain = entry.file_type().is_ok_and(|kind| kind.is_file());
        if plain && !Path::new("/proc").join(pid.to_string()).exists() {
            complain("remove what a killed process left", std::fs::remove_file(entry.path()));
        }
    }
}

/// A file appears whole. What was there, also a link to somewhere, is replaced and never followed.
pub(super) fn replace_in(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), GitError> {
    let (place, mut fresh) = (dir.join(name), OsString::from(name));
    let is_plain = std::fs::symlink_metadata(&place).is_ok_and(|meta| meta.is_file());
    if is_plain && std::fs::read(&place).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    sweep_drafts(dir, name);
    fresh.push(format!("{DRAFT}{}", std::process::id()));
    let fresh = dir.join(fresh);
    let written = (|| {
        remove_if_there(&fresh)?;
        File::create_new(&fresh)?.write_all(bytes)?;
        if std::fs::symlink_metadata(&place).is_ok_and(|meta| meta.is_dir()) {
            std::fs::remove_dir_all(&place)?;
        }
        std::fs::rename(&fresh, &place)
    })();
    written.map_err(GitError::io("write", &place))
}

fn remove_if_there(path: &Path) -> std::io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn remove_whatever(path: &Path) -> Result<(), GitError> {
    remove_if_there(path).map_err(GitError::io("remove", path))
}
