//! What must not reach git. An agent may leave a pipe where git reads a file: git opens by name whatever lies there, and
//! waits for ever. So before each call the places that git opens unasked are looked at, and what is no file of a
//! sensible size is set aside: renamed, never removed. A pipe, a socket and a device hold no work.

mod places;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::{Duration, Instant};

use swarm_protocol::ids::{Oid, TaskId};
use tokio::sync::Mutex;

use super::call::{Git, GitError, Shared};
use super::private_index::PrivateIndex;

/// What was looked through so short a time ago is not looked through again by calls that belong to nothing larger.
const PLACES_GOOD_FOR: Duration = Duration::from_millis(250);
const TREE_GOOD_FOR: Duration = Duration::from_secs(2);

/// Words that wait to be told; what is above has been told before, in other words.
const NOTICES_MAX: usize = 100;

/// Folders that are told one by one.
const CLOSED_TOLD_MAX: usize = 5;

/// Something that git would have opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Odd {
    /// From the top of the worktree, or of the git directory.
    pub path: PathBuf,
    pub what: &'static str,
}

/// Worktrees that one piece of work has looked through already.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    trees: Mutex<BTreeSet<PathBuf>>,
    /// The worktrees are the swarm's own, so what stands in the way there may be renamed.
    ours: bool,
}

impl Looked {
    pub fn new(ours: bool) -> Arc<Self> {
        Arc::new(Self { ours, ..Self::default() })
    }
}

/// What all calls on one repository know together.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    places: Mutex<Option<Instant>>,
    trees: Mutex<BTreeMap<PathBuf, Instant>>,
    notices: StdMutex<Notices>,
}

#[derive(Debug, Default)]
struct Notices {
    waiting: Vec<Notice>,
    told: BTreeSet<Notice>,
}

/// Something that a person should know.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Notice {
    /// In whose worktree it was found; none: in the repository itself.
    pub task: Option<TaskId>,
    pub text: String,
}

/// Stands before a call.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    pub common_dir: PathBuf,
    pub main_checkout: PathBuf,
    pub shared: Arc<Shared>,
    pub looked: Option<Arc<Looked>>,
}

impl Guard {
    pub async fn before(&self, work_tree: Option<&Path>) -> Result<(), GitError> {
        self.look_at_places().await?;
        match work_tree {
            Some(tree) => self.look_through(tree).await.map(drop),
            None => Ok(()),
        }
    }

    /// Whether `A` is `a` on the disk that the repository lies on: asked as git asks when it makes one.
    pub fn disk_ignores_case(&self) -> bool {
        self.common_dir.join("CoNfIg").exists()
    }

    async fn look_at_places(&self) -> Result<(), GitError> {
        let watch = &self.shared.watch;
        let mut last = watch.places.lock().await;
        if last.is_some_and(|at| at.elapsed() < PLACES_GOOD_FOR) {
            return Ok(());
        }
        let dir = self.common_dir.clone();
        let set_aside = blocking(&self.common_dir, move || places::clear(&dir)).await?;
        *last = Some(Instant::now());
        for odd in set_aside {
            let name = odd.path.display();
            let text = format!("{name} in the git directory was {}, and was set aside", odd.what);
            self.shared.notice(None, text);
        }
        Ok(())
    }

    /// Looks through a worktree; answers with what was set aside in it.
    async fn look_through(&self, tree: &Path) -> Result<Vec<PathBuf>, GitError> {
        let ours = self.looked.as_ref().is_some_and(|looked| looked.ours);
        match &self.looked {
            Some(looked) => {
                let mut trees = looked.trees.lock().await;
                if trees.contains(tree) {
                    return Ok(Vec::new());
                }
                let set_aside = self.clear(tree, ours).await?;
                trees.insert(tree.to_owned());
                Ok(set_aside)
            }
            None => {
                let mut trees = self.shared.watch.trees.lock().await;
                if trees.get(tree).is_some_and(|at| at.elapsed() < TREE_GOOD_FOR) {
                    return Ok(Vec::new());
                }
                let set_aside = self.clear(tree, ours).await?;
                trees.retain(|_, at| at.elapsed() < TREE_GOOD_FOR);
                trees.insert(tree.to_owned(), Instant::now());
                Ok(set_aside)
            }
        }
    }

    async fn clear(&self, tree: &Path, ours: bool) -> Result<Vec<PathBuf>, GitError> {
        let top = tree.to_owned();
        let (found, closed) = blocking(tree, move || tree::odd_below(&top, ours)).await?;
        // Worktrees are named after their tasks.
        let task = tree.file_name().and_then(|name| TaskId::new(name.to_str()?).ok());
        for dir in closed.iter().take(CLOSED_TOLD_MAX) {
            let text = format!("{} cannot be read, so what is in it is not saved", dir.display());
            self.shared.notice(task.as_ref(), text);
        }
        let mut set_aside = Vec::new();
        for Odd { path, what } in found {
            if !ours {
                return Err(GitError::Unfit { path: tree.join(path), what });
            }
            let kept = self.common_dir.join("swarm").join("set-aside");
            let to = tree::set_aside(tree, &path, &kept)
                .map_err(|_| GitError::Unfit { path: tree.join(&path), what })?;
            let (path_text, to) = (path.display(), to.display());
            self.shared.notice(
                task.as_ref(),
                format!("{path_text} was {what}, which git cannot read; it is called {to} now"),
            );
            set_aside.push(path);
        }
        Ok(set_aside)
    }
}

impl PrivateIndex {
    /// Makes the worktree one that git can read. Where something was set aside, what the commit has there is put back:
    /// without its lists of what is ignored everything that was ever built would count as work.
    pub async fn make_fit(&self, git: &Git, worktree: &Path, commit: &Oid) -> Result<(), GitError> {
        let guard = git.guard(Some(self.looked.clone()));
        for path in guard.look_through(worktree).await? {
            let mut name = std::ffi::OsString::from(format!("{commit}:"));
            name.push(&path);
            let blob = git.call(["cat-file", "blob"]).arg(name).any().await?;
            if blob.status.success() {
                let place = worktree.join(&path);
                let written = std::fs::File::create_new(&place)
                    .and_then(|mut file| std::io::Write::write_all(&mut file, &blob.stdout));
                written.map_err(GitError::io("put back", &place))?;
            }
        }
        Ok(())
    }
}

impl Shared {
    /// Said once.
    pub fn notice(&self, task: Option<&TaskId>, text: String) {
        let mut notices = self.watch.notices.lock().unwrap_or_else(PoisonError::into_inner);
        let notice = Notice { task: task.cloned(), text };
        if notices.told.len() < NOTICES_MAX && notices.told.insert(notice.clone()) {
            notices.waiting.push(notice);
        }
    }
}

impl Git {
    /// Something that a person should know. Said once.
    pub fn notice(&self, task: Option<&TaskId>, text: String) {
        self.shared.notice(task, text);
    }

    pub(super) fn guard(&self, looked: Option<Arc<Looked>>) -> Guard {
        let (common_dir, main_checkout) = (self.common_dir.clone(), self.main_checkout.clone());
        Guard { common_dir, main_checkout, shared: self.shared.clone(), looked }
    }

    /// What a person should know of, found since this was last asked.
    pub fn take_notices(&self) -> Vec<Notice> {
        let mut notices = self.shared.watch.notices.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut notices.waiting)
    }
}

async fn blocking<T: Send + 'static>(
    place: &Path,
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, GitError> {
    let looked =
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    looked.map_err(GitError::io("look through", place))
}

/// What is wrong with a file that git would read as a whole; none where nothing is. A link counts as what it leads to.
fn oddity(meta: &std::fs::Metadata, bytes_max: u64) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt;
    let kind = meta.file_type();
    match () {
        () if kind.is_fifo() => Some("a pipe"),
        () if kind.is_socket() => Some("a socket"),
        () if kind.is_char_device() || kind.is_block_device() => Some("a device"),
        () if kind.is_file() && meta.len() > bytes_max => Some("a file far too large"),
        () => None,
    }
}
