//! The files of a worktree that git opens wherever it finds them, whatever was asked.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Odd, oddity};
use crate::entry::path_of;
use crate::readable::make_readable;

/// Read in every folder.
const READ_EVERYWHERE: [&str; 3] = [".gitignore", ".gitattributes", ".gitmodules"];

/// A file that leads to a repository, or to a ref.
const POINTER_BYTES_MAX: u64 = 1 << 20;

/// Refs that stand for others are followed by git no further.
const REF_STEPS_MAX: usize = 5;

/// Git itself passes over longer ones.
const BYTES_MAX: u64 = 100 << 20;

/// A worktree that takes longer to look through is none that git could read.
const WITHIN: Duration = Duration::from_secs(120);

/// Names that are tried for what is set aside.
const NAMES_MAX: u32 = 100;

/// Folders of a person's checkout that hold nothing git would read: our own, and what is installed or built.
const OF_NO_INTEREST: [&str; 5] = [".swarm", "node_modules", "target", ".venv", "__pycache__"];

/// Names alone are looked at, so this is far quicker than git's own look. Links are not followed. Where agents work
/// (`everywhere`) nothing is passed over and locked folders are opened; a person's checkout may hold other repositories
/// and very many files. The second answer: folders that we may not read, so that git does not either.
pub fn odd_below(top: &Path, everywhere: bool) -> std::io::Result<(Vec<Odd>, Vec<PathBuf>)> {
    let (begun, mut found, mut closed) = (Instant::now(), Vec::new(), Vec::new());
    let mut open = vec![PathBuf::new()];
    while let Some(dir) = open.pop() {
        if begun.elapsed() > WITHIN {
            let text = format!("it has more folders than can be looked through in {} s", WITHIN.as_secs());
            return Err(std::io::Error::new(std::io::ErrorKind::TimedOut, text));
        }
        let place = top.join(&dir);
        if everywhere && !make_readable(&place) {
            closed.push(dir);
            continue;
        }
        // A folder that is gone git does not read either.
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            let (name, kind) = (entry.file_name(), entry.file_type());
            if READ_EVERYWHERE.iter().any(|special| name == OsStr::new(special)) {
                let path = dir.join(&name);
                if let Some(what) = what_is(&top.join(&path)) {
                    found.push(Odd { path, what });
                }
            } else if name == OsStr::new(".git") {
                // At the top git is told which repository it works in.
                let below = everywhere && !dir.as_os_str().is_empty();
                found.extend(below.then(|| repository(top, &dir.join(&name))).flatten());
            } else if kind.is_ok_and(|kind| kind.is_dir()) {
                let passed_over = || OF_NO_INTEREST.iter().any(|one| name == OsStr::new(one));
                if everywhere || !(passed_over() || entry.path().join(".git").exists()) {
                    open.push(dir.join(name));
                }
            }
        }
    }
    Ok((found, closed))
}

/// What git would wait for in the repository that this `.git` is, or leads to. Without its HEAD it is none, and git opens
/// nothing more of it; so that goes, and whatever it leads to is left alone.
fn repository(top: &Path, dot_git: &Path) -> Option<Odd> {
    let full = top.join(dot_git);
    let is_here = std::fs::symlink_metadata(&full).ok()?.is_dir();
    let place = match std::fs::metadata(&full).ok()?.is_dir() {
        true => full,
        false => full.parent()?.join(path_of(small(&full)?.strip_prefix(b"gitdir: ")?.trim_ascii_end())),
    };
    let head = place.join("HEAD");
    std::fs::symlink_metadata(&head).ok()?;
    let borrows = place.join("commondir");
    let common = small(&borrows).map_or_else(|| place.clone(), |to| place.join(path_of(to.trim_ascii_end())));
    let mut opened = vec![borrows, place.join("config"), common.join("config"), common.join("packed-refs")];
    let mut named = small(&head);
    opened.push(head);
    for _ in 0..REF_STEPS_MAX {
        let Some(name) = named.as_deref().and_then(|text| text.strip_prefix(b"ref:")) else { break };
        let file = common.join(path_of(name.trim_ascii()));
        named = small(&file);
        opened.push(file);
    }
    let what = opened.iter().find_map(|file| what_is(file))?;
    let path = if is_here { dot_git.join("HEAD") } else { dot_git.to_owned() };
    Some(Odd { path, what })
}

/// The bytes of a file that leads elsewhere. What the kernel makes up as it is read has no size, and may have no end.
fn small(file: &Path) -> Option<Vec<u8>> {
    let meta = std::fs::metadata(file).ok()?;
    let fits = meta.is_file() && (1..=POINTER_BYTES_MAX).contains(&meta.len());
    fits.then(|| std::fs::read(file).ok()).flatten()
}

fn what_is(file: &Path) -> Option<&'static str> {
    // Following a link opens nothing; one that leads nowhere is no harm.
    oddity(&std::fs::metadata(file).ok()?, BYTES_MAX)
}

/// Renames it within its folder. Answers with the new name, from the top. A link would be a file like any other under
/// its new name, and so in the next commit: it goes to `kept`.
pub fn set_aside(top: &Path, path: &Path, kept: &Path) -> std::io::Result<PathBuf> {
    if let Ok(target) = std::fs::read_link(top.join(path)) {
        std::fs::create_dir_all(kept)?;
        let to = kept.join(format!("{}-link.set-aside", ulid::Ulid::generate()));
        std::os::unix::fs::symlink(target, &to)?;
        return std::fs::remove_file(top.join(path)).map(|()| to);
    }
    for n in 0..NAMES_MAX {
        let mut name = path.as_os_str().to_owned();
        name.push(if n == 0 { ".set-aside".to_owned() } else { format!(".set-aside-{n}") });
        let to = PathBuf::from(name);
        if std::fs::symlink_metadata(top.join(&to)).is_err() {
            return std::fs::rename(top.join(path), top.join(&to)).map(|()| to);
        }
    }
    Err(std::io::Error::other("all names are taken"))
}
