//! Deleting is renaming: the folder goes to `.swarm/trash`, which is emptied later, off the hot path.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::Oid;

use swarm_git::{Git, GitError, read_marker, write_marker};
use swarm_process::remove_tree;

/// Folders and links in one folder are counted up to this; whoever has more has a reason to empty the trash.
const COUNTED_MAX: usize = 1_000_000;

/// What a folder in the trash was, written beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    pub task: String,
    /// What its branch was at.
    pub tip: Option<Oid>,
    /// It may hold what is nowhere else: only a person takes it out of the trash.
    #[serde(default)]
    pub keep: bool,
}

/// A folder in the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trashed {
    pub path: PathBuf,
    pub name: String,
    /// Since when.
    pub at: SystemTime,
    pub about: Option<About>,
}

/// How much the trash may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrashRule {
    pub older_than: Duration,
    pub entries_max: usize,
    pub bytes_max: u64,
}

impl Default for TrashRule {
    fn default() -> Self {
        Self {
            older_than: Duration::from_secs(7 * 86_400),
            entries_max: 1000,
            bytes_max: 20 * 1024 * 1024 * 1024,
        }
    }
}

/// What emptying did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Emptied {
    pub deleted: usize,
    pub left: usize,
    pub bytes_left: u64,
    /// Could not be deleted: the next time may do better.
    pub failed: usize,
}

pub fn trash_dir(git: &Git) -> PathBuf {
    git.main_checkout.join(".swarm").join("trash")
}

/// Renames the folder to `.swarm/trash/<name>-<time>`; where that is another disk, to `.trash` beside it.
pub fn move_to_trash(git: &Git, name: &str, path: &Path) -> Result<PathBuf, GitError> {
    rename_away(git, name, path, None)
}

/// The same with a word about what it was, which is there before the folder is.
pub fn move_with_note(git: &Git, name: &str, path: &Path, about: &About) -> Result<PathBuf, GitError> {
    rename_away(git, name, path, Some(about))
}

fn rename_away(git: &Git, name: &str, path: &Path, about: Option<&About>) -> Result<PathBuf, GitError> {
    match rename_into(&trash_dir(git), name, path, about) {
        Err(error) if error.kind() == std::io::ErrorKind::CrossesDevices => {
            let beside = path.parent().unwrap_or(path).join(".trash");
            rename_into(&beside, name, path, about).map_err(GitError::io("move to the trash", path))
        }
        other => other.map_err(GitError::io("move to the trash", path)),
    }
}

fn rename_into(dir: &Path, name: &str, path: &Path, about: Option<&About>) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(dir)?;
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S");
    // A second one within the same second gets a number.
    for n in 0..1000 {
        let target = dir.join(if n == 0 { format!("{name}-{now}") } else { format!("{name}-{now}-{n}") });
        if std::fs::symlink_metadata(&target).is_err() {
            match about {
                // Where it cannot be said that the folder is to be kept it does not go.
                Some(about) if about.keep => {
                    write_marker(&about_path(&target), about).map_err(std::io::Error::other)?;
                }
                // Only for `swarm restore`: without it the folder is there all the same.
                Some(about) => drop(write_marker(&about_path(&target), about)),
                None => {}
            }
            let renamed = std::fs::rename(path, &target);
            if renamed.is_err() {
                let _ = std::fs::remove_file(about_path(&target));
            }
            return renamed.map(|()| target);
        }
    }
    Err(std::io::Error::other("too many of the same name"))
}

fn about_path(place: &Path) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(".about.json");
    name.into()
}

/// Moves git's record of a worktree away, whose folder is gone: what `git worktree prune` does for all.
pub fn trash_record(git: &Git, name: &str, record: &Path) -> Result<(), GitError> {
    match std::fs::symlink_metadata(record) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        _ => {}
    }
    match move_to_trash(git, &format!("{name}-record"), record) {
        Ok(_) => Ok(()),
        // On another disk, or its name is too long: it holds nothing that is not on a ref by now.
        Err(_) => std::fs::remove_dir_all(record).map_err(GitError::io("remove git's record", record)),
    }
}

/// What lies in the trash, oldest first.
pub fn trashed(git: &Git, worktrees: &Path) -> Vec<Trashed> {
    let dirs = [trash_dir(git), worktrees.join(".trash")];
    let entries = dirs.iter().filter_map(|dir| std::fs::read_dir(dir).ok()).flatten().flatten();
    let mut all: Vec<Trashed> = entries
        .filter_map(|entry| {
            let (path, meta) = (entry.path(), entry.metadata().ok()?);
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".about.json") {
                return None;
            }
            // A rename sets the change time: the moment it was put here.
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(meta.ctime().max(0) as u64);
            Some(Trashed { about: read_marker(&about_path(&path)), path, name, at })
        })
        .collect();
    all.sort_by(|a, b| a.at.cmp(&b.at).then_with(|| a.name.cmp(&b.name)));
    all
}

/// Deletes what has lain in the trash for longer than `older_than`. Returns how many folders went.
pub async fn empty_trash(git: &Git, older_than: Duration) -> usize {
    let rule = TrashRule { older_than, entries_max: usize::MAX, bytes_max: u64::MAX };
    tend_trash(git, &git.main_checkout.join(".swarm/worktrees"), &rule).await.deleted
}

/// Deletes what is too old, and the oldest while there is too much. Slow; for when nothing is urgent.
pub async fn tend_trash(git: &Git, worktrees: &Path, rule: &TrashRule) -> Emptied {
    let (git, worktrees, rule) = (git.clone(), worktrees.to_owned(), *rule);
    let emptied = tokio::task::spawn_blocking(move || {
        let mut all = trashed(&git, &worktrees);
        all.retain(may_go);
        let sizes: Vec<u64> = match rule.bytes_max {
            u64::MAX => vec![0; all.len()],
            _ => all.iter().map(|one| bytes_of(&one.path)).collect(),
        };
        let mut emptied = Emptied { left: all.len(), bytes_left: sizes.iter().sum(), ..Emptied::default() };
        for (one, size) in all.iter().zip(sizes) {
            let age = SystemTime::now().duration_since(one.at).unwrap_or_default();
            let too_much = emptied.left > rule.entries_max || emptied.bytes_left > rule.bytes_max;
            if age <= rule.older_than && !too_much {
                break;
            }
            if delete(&one.path) {
                let _ = std::fs::remove_file(about_path(&one.path));
                emptied.deleted += 1;
                emptied.left -= 1;
                emptied.bytes_left -= size;
            } else {
                emptied.failed += 1;
            }
        }
        emptied
    });
    emptied.await.unwrap_or_default()
}

/// Whether it need not be kept for good. A word about it that is there and cannot be read at this moment may say so.
fn may_go(one: &Trashed) -> bool {
    match &one.about {
        Some(about) => !about.keep,
        None => std::fs::symlink_metadata(about_path(&one.path)).is_err(),
    }
}

fn delete(path: &Path) -> bool {
    remove_tree(path).is_ok()
}

/// What deleting would free, roughly.
fn bytes_of(path: &Path) -> u64 {
    let mut bytes = 0;
    for_each(path, |_, meta| bytes += meta.blocks() * 512);
    bytes
}

/// Each entry from the top down, links not followed.
fn for_each(top: &Path, mut visit: impl FnMut(&Path, &std::fs::Metadata)) {
    let mut open = vec![top.to_owned()];
    let mut seen = 0;
    while let Some(path) = open.pop() {
        seen += 1;
        let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
        visit(&path, &meta);
        if meta.is_dir() && seen < COUNTED_MAX {
            open.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
}
