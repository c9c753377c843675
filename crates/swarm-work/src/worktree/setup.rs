//! Whether a worktree has to be set up: by a stamp that lies where no agent can write.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::tree_walk::{Step, globs, walk};
use crate::remove::DISPOSABLE;
use swarm_git::{Git, read_marker, write_marker};

/// Files that decide over the set-up are lists and locks; of a longer one the beginning is compared.
const FILE_MAX_BYTES: u64 = 64 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    command: String,
    /// Over names and contents of the files that decide.
    files: String,
    /// The folder itself, so that one made anew under the same name is set up again.
    folder: (u64, u64),
}

fn stamp_path(git: &Git, name: &str) -> PathBuf {
    git.main_checkout.join(".swarm").join("state").join("setup").join(format!("{name}.json"))
}

/// Whether `command` has to be run in this worktree: it never was, it is another command, or a file that `when`
/// (globs from the worktree's root) names has changed since. `name` is the task's, or `merge`.
pub fn setup_due(git: &Git, name: &str, worktree: &Path, when: &[String], command: &str) -> io::Result<bool> {
    let stamp: Option<Stamp> = read_marker(&stamp_path(git, name));
    Ok(stamp != Some(stamp_of(worktree, when, command)?))
}

/// Whether some set-up has succeeded there.
pub(crate) fn was_made(git: &Git, name: &str) -> bool {
    read_marker::<Stamp>(&stamp_path(git, name)).is_some()
}

/// Remembers that `command` has succeeded there.
pub fn record_setup(
    git: &Git,
    name: &str,
    worktree: &Path,
    when: &[String],
    command: &str,
) -> io::Result<()> {
    let stamp = stamp_of(worktree, when, command)?;
    write_marker(&stamp_path(git, name), &stamp).map_err(io::Error::other)
}

/// The next set-up is due.
pub(crate) fn forget(git: &Git, name: &str) {
    let _ = std::fs::remove_file(stamp_path(git, name));
    super::setup_made::forget(git, name);
}

/// A worktree has got another name.
pub(crate) fn rename(git: &Git, from: &str, to: &str) {
    forget(git, to);
    let _ = std::fs::rename(stamp_path(git, from), stamp_path(git, to));
    super::setup_made::rename(git, from, to);
}

fn stamp_of(worktree: &Path, when: &[String], command: &str) -> io::Result<Stamp> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::metadata(worktree)?;
    let files = hash_of(worktree, when)?;
    Ok(Stamp { command: command.to_owned(), files, folder: (meta.dev(), meta.ino()) })
}

fn hash_of(worktree: &Path, when: &[String]) -> io::Result<String> {
    let mut hash = Sha256::new();
    for path in deciding(worktree, when) {
        hash.update(path.as_os_str().as_encoded_bytes());
        hash.update([0]);
        let file = open_plain(&worktree.join(&path))?;
        let mut content = Sha256::new();
        io::copy(&mut io::Read::take(file, FILE_MAX_BYTES), &mut Into(&mut content))?;
        hash.update(content.finalize());
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

struct Into<'a>(&'a mut Sha256);

impl io::Write for Into<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A link or a pipe in place of a list is not read.
fn open_plain(path: &Path) -> io::Result<std::fs::File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// The files that the globs name, in order. Plain names are looked up, patterns need a walk.
fn deciding(worktree: &Path, when: &[String]) -> Vec<PathBuf> {
    let is_pattern = |glob: &&String| glob.contains(['*', '?', '[', '{']);
    let is_file =
        |path: &Path| std::fs::symlink_metadata(worktree.join(path)).is_ok_and(|meta| meta.is_file());
    let stays_inside =
        |path: &Path| path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let plain =
        when.iter().filter(|glob| !is_pattern(glob)).map(|glob| PathBuf::from(glob.trim_start_matches("./")));
    let mut found: Vec<PathBuf> = plain.filter(|path| stays_inside(path) && is_file(path)).collect();
    let patterns: Vec<String> = when.iter().filter(is_pattern).cloned().collect();
    if !patterns.is_empty() {
        let wanted = globs(&patterns);
        walk(worktree, |path, meta| {
            if meta.is_dir() {
                let cache =
                    path.file_name().is_some_and(|name| DISPOSABLE.iter().any(|known| name == *known));
                return if cache { Step::Past } else { Step::Into };
            }
            if meta.is_file() && wanted.is_match(path) {
                found.push(path.to_owned());
            }
            Step::Into
        });
    }
    found.sort();
    found.dedup();
    found
}
