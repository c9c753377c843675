//! Waiting, without polling, until a person's checkout has changed in a way that may let a result through.
//!
//! Arm first, try to publish second, wait third: a change between the trying and the waiting is not missed.
//! What a publication that waits does itself (its lock comes and goes) does not count as a change.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;
use tokio::io::unix::AsyncFd;

use crate::publish::{WaitReason, Waits};
use swarm_git::{Git, GitError};
use swarm_process::watch_readable;

/// Folders watched at most. With more paths in the way, each of the first ones still wakes us.
const WATCHES_MAX: usize = 64;

const NO_WATCHES: &str = "no more files can be watched: `sysctl fs.inotify.max_user_watches` says how many";

/// A git command or an editor touches several files: wait until it has been quiet for so long.
const QUIET: Duration = Duration::from_millis(150);
/// But not longer than this altogether, if it never is.
const QUIET_LIMIT: Duration = Duration::from_secs(2);

/// Names in a git directory that say what the checkout is doing.
const TELLING: [&str; 11] = [
    "index",
    "HEAD",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_LOG",
    "BISECT_START",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "packed-refs",
];

/// There as long as a git command works on the index, or since one was killed.
const LOCK: &str = "index.lock";

#[derive(Debug)]
pub struct CheckoutWatch {
    inotify: AsyncFd<OwnedFd>,
    /// By watch descriptor: the names in that folder that matter, as they are shown. The ledger has a name that is no
    /// text only in that form, and two names that are shown alike wake us once too often at most.
    names: BTreeMap<i32, BTreeSet<String>>,
}

impl CheckoutWatch {
    /// Watches the checkout a publication waits for.
    pub fn arm(git: &Git, waits: &Waits) -> Result<Self, GitError> {
        Self::on(&waits.checkout, folders(git, waits))
    }

    /// The same without what git itself writes there: a publication that is tried meanwhile is no change. It does not touch the
    /// lock of somebody else.
    pub fn of_files(git: &Git, waits: &Waits) -> Result<Self, GitError> {
        let mut folders = in_the_way(waits);
        let git_dir = git_dir_of(git, waits);
        if is_locked(waits, &git_dir) {
            folders.entry(git_dir).or_default().insert(LOCK.into());
        }
        Self::on(&waits.checkout, folders)
    }

    /// Watches where a branch points to, whoever moves it.
    pub fn of_branch(git: &Git, branch: &str) -> Result<Self, GitError> {
        let heads = git.common_dir.join("refs").join("heads");
        let (folder, name) = nearest_folder(&heads, Path::new(branch));
        let packed = (git.common_dir.clone(), BTreeSet::from([OsString::from("packed-refs")]));
        Self::on(&git.common_dir, BTreeMap::from([packed, (folder, BTreeSet::from([name]))]))
    }

    fn on(place: &Path, folders: BTreeMap<PathBuf, BTreeSet<OsString>>) -> Result<Self, GitError> {
        let failed = |source: std::io::Error| GitError::io("watch", place)(source);
        let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(|e| failed(e.into()))?;
        let mut names = BTreeMap::new();
        let flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_TO
            | WatchFlags::MOVED_FROM
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ATTRIB;
        for (folder, wanted) in folders.into_iter().take(WATCHES_MAX) {
            match inotify::add_watch(&fd, &folder, flags | WatchFlags::ONLYDIR) {
                Ok(watch) => {
                    let wanted = wanted.iter().map(|name| name.to_string_lossy().into_owned());
                    names.entry(watch).or_insert_with(BTreeSet::new).extend(wanted);
                }
                // Gone since we looked: then its parent tells of it.
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                // In these words the kernel says it as of a full disk.
                Err(Errno::NOSPC) => return Err(failed(std::io::Error::other(NO_WATCHES))),
                Err(error) => return Err(failed(error.into())),
            }
        }
        Ok(Self { inotify: watch_readable(fd).map_err(failed)?, names })
    }

    /// Returns after something that matters has changed and it is quiet again. Cancelled by dropping it.
    pub async fn changed(&mut self) -> Result<(), GitError> {
        while !self.read_some().await? {}
        let limit = tokio::time::Instant::now() + QUIET_LIMIT;
        while tokio::time::Instant::now() < limit {
            match tokio::time::timeout(QUIET, self.read_some()).await {
                Ok(read) => drop(read?),
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Waits for events and takes them; true when one of them matters.
    async fn read_some(&mut self) -> Result<bool, GitError> {
        let failed = |source| GitError::io("watch", Path::new("the checkout"))(source);
        let mut guard = self.inotify.readable().await.map_err(failed)?;
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(guard.get_inner(), &mut buffer);
        let mut matters = false;
        loop {
            match reader.next() {
                // Too many events at once: some are lost, so something has changed.
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => matters = true,
                Ok(event) => {
                    let name = event.file_name().map(|name| String::from_utf8_lossy(name.to_bytes()));
                    let wanted = self.names.get(&event.wd());
                    matters |= name.is_some_and(|name| wanted.is_some_and(|wanted| wanted.contains(&*name)));
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(failed(error.into())),
            }
        }
        guard.clear_ready();
        Ok(matters)
    }
}

fn folders(git: &Git, waits: &Waits) -> BTreeMap<PathBuf, BTreeSet<OsString>> {
    let mut folders = in_the_way(waits);
    let git_dir = git_dir_of(git, waits);
    let locked = is_locked(waits, &git_dir);
    let of_git = folders.entry(git_dir).or_default();
    of_git.extend(TELLING.iter().map(OsString::from));
    if locked {
        of_git.insert(LOCK.into());
    }
    folders
}

fn git_dir_of(git: &Git, waits: &Waits) -> PathBuf {
    let checkout = git.checkouts().into_iter().find(|checkout| checkout.path == waits.checkout);
    checkout.map_or_else(|| git.common_dir.clone(), |checkout| checkout.git_dir)
}

/// Whoever waits knows paths at most: where there are none and a lock is there, it is the lock. A person removes it without
/// touching anything else.
fn is_locked(waits: &Waits, git_dir: &Path) -> bool {
    let said = matches!(waits.reason, WaitReason::IndexLocked { .. });
    let is_there = || std::fs::symlink_metadata(git_dir.join(LOCK)).is_ok();
    said || (waits.reason.paths().is_empty() && is_there())
}

fn in_the_way(waits: &Waits) -> BTreeMap<PathBuf, BTreeSet<OsString>> {
    let mut folders: BTreeMap<PathBuf, BTreeSet<OsString>> = BTreeMap::new();
    for path in waits.reason.paths() {
        let (folder, name) = nearest_folder(&waits.checkout, path);
        folders.entry(folder).or_default().insert(name);
    }
    folders
}

/// The deepest folder on the way to `path` that exists, and the name below it to wait for.
fn nearest_folder(top: &Path, path: &Path) -> (PathBuf, OsString) {
    let mut folder = top.to_owned();
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let next = folder.join(part);
        if parts.peek().is_none() || !next.is_dir() {
            return (folder, part.as_os_str().to_owned());
        }
        folder = next;
    }
    (folder, OsString::new())
}
