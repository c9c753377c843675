//! How git is called: one environment, one set of switches, one kind of error.

mod answer;
mod environment;
mod error;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::{Mutex, Semaphore};

use super::barrier::Barrier;
use super::commits::Identity;
use super::filters;
use super::guard::{Guard, Looked, Watch};
use super::known_changes::KnownChanges;
use super::marker::OWN_FOLDER;
use super::traced::traced;
pub(super) use environment::base_env;
pub use error::GitError;
pub(super) use error::failed;
use swarm_process::{Call, Ended, Input, ProcessError};

/// Switches of every call. Nothing may start on its own (gc, maintenance, a file monitor, a hook),
/// nothing may ask, and nothing may go into a nested repository, whose configuration is not the person's.
const SWITCHES: [&str; 15] = [
    // Without it a power cut can leave a ref that was renamed into place without its bytes: the trunk would be lost.
    "core.fsync=reference",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "commit.gpgsign=false",
    "core.untrackedCache=false",
    // An index in two files could not be handed from one worktree to another.
    "core.splitIndex=false",
    "submodule.recurse=false",
    "advice.detachedHead=false",
    "core.quotePath=false",
    // Named from the top of a checkout, and not found from anywhere else: every comparison would fail.
    "diff.orderFile=/dev/null",
    // Messages are written and read in UTF-8, whatever a person has for the own ones.
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    // What is told of commits is read by programs, and a check of signatures would stand between.
    "log.showSignature=false",
];

/// A git that does nothing at all for so long waits for something that never comes: it takes no lock for longer than a
/// second, and asks nobody.
const STUCK_AFTER: Duration = Duration::from_secs(20);

/// `2.47.3` as numbers, for comparing.
pub type Version = (u32, u32, u32);

/// One repository with its main checkout. Cheap to clone; clones share locks and barrier.
#[derive(Debug, Clone)]
pub struct Git {
    pub common_dir: PathBuf,
    pub main_checkout: PathBuf,
    /// Where HEAD of the checkout is that the person stands in: the main one, or a linked worktree.
    pub(super) here: PathBuf,
    pub version: Version,
    /// Who signs what the swarm itself commits.
    pub identity: Identity,
    pub(super) env: BTreeMap<OsString, OsString>,
    pub(crate) shared: Arc<Shared>,
}

/// The right to move refs, which another process may take over.
pub trait Claim: std::fmt::Debug + Send + Sync {
    fn holds(&self) -> bool;
    /// The lock that it is about.
    fn path(&self) -> &Path;
}

/// The longest answer.
pub(super) const LIST_BYTES_MAX: usize = 512 << 20;

/// Worktrees that are filled with files at the same time. More would only make the disk seek.
const FILLING_MAX: usize = 8;

/// What all clones of one `Git` have together.
#[derive(Debug)]
pub(crate) struct Shared {
    pub barrier: Barrier,
    /// Held where several could choose the same name or slot: see `Administration`.
    pub worktrees: Mutex<()>,
    pub filling: Semaphore,
    /// Held while a result is being published.
    pub publishing: Mutex<()>,
    /// Asked before each change of a ref.
    pub claim: OnceLock<Box<dyn Claim>>,
    /// What was seen of the places that git reads.
    pub watch: Watch,
    pub known_changes: KnownChanges,
    pub filters: filters::Known,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            barrier: Barrier::default(),
            worktrees: Mutex::default(),
            filling: Semaphore::new(FILLING_MAX),
            publishing: Mutex::default(),
            claim: OnceLock::new(),
            watch: Watch::default(),
            known_changes: KnownChanges::default(),
            filters: filters::Known::default(),
        }
    }
}

impl Git {
    /// The same repository, with a variable more in the environment of every call
    /// (the nonce of the coordinator's epoch, so that a later one finds what an earlier one started).
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// From now on no ref is moved once this claim does not hold.
    pub fn act_only_while(&self, claim: impl Claim + 'static) {
        // A second one could only be the same: a process owns one ledger, once.
        let _ = self.shared.claim.set(Box::new(claim));
    }

    /// Held while a result is being published: one at a time in this process.
    pub async fn publishing(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.shared.publishing.lock().await
    }

    /// Refuses when another coordinator has taken over.
    pub fn may_act(&self) -> Result<(), GitError> {
        match self.shared.claim.get() {
            Some(claim) if !claim.holds() => Err(GitError::NotOwner(claim.path().to_path_buf())),
            _ => Ok(()),
        }
    }

    /// A call that works on objects, refs and administration, with no work tree.
    pub fn call<I: IntoIterator<Item = A>, A: AsRef<OsStr>>(&self, args: I) -> GitCall {
        let call = GitCall::new(self.env.clone(), Some(self.common_dir.clone()), &self.common_dir);
        GitCall { guard: Some(self.guard(None)), ..call }.args(args)
    }

    /// Files that belong to the swarm inside the common git directory: survives `git clean -fdx`.
    pub fn swarm_dir(&self) -> PathBuf {
        self.common_dir.join(OWN_FOLDER)
    }
}

/// One call in the making.
#[derive(Debug)]
pub struct GitCall {
    call: Call,
    git_dir: Option<PathBuf>,
    work_tree: Option<PathBuf>,
    globals: Vec<OsString>,
    args: Vec<OsString>,
    /// None where the repository is not known yet.
    guard: Option<Guard>,
    /// The work tree is a checkout of the person's.
    persons: bool,
}

impl GitCall {
    /// As a person would call it in this folder: git finds the repository, or makes one there.
    pub fn by_hand(folder: &Path) -> Self {
        Self::new(base_env(), None, folder)
    }

    pub(super) fn new(env: BTreeMap<OsString, OsString>, git_dir: Option<PathBuf>, cwd: &Path) -> Self {
        let mut call = Call::new("git").cwd(cwd);
        call.stuck_after = Some(STUCK_AFTER);
        call.env = env;
        Self {
            call,
            git_dir,
            work_tree: None,
            globals: Vec::new(),
            args: Vec::new(),
            guard: None,
            persons: false,
        }
    }

    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub fn args<I: IntoIterator<Item = A>, A: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// As a part of a piece of work that looks through each worktree once.
    pub(super) fn within(mut self, looked: &Arc<Looked>) -> Self {
        if let Some(guard) = &mut self.guard {
            guard.looked = Some(looked.clone());
        }
        self
    }

    /// A switch before the command's name, like `--literal-pathspecs`.
    pub fn global(mut self, switch: impl AsRef<OsStr>) -> Self {
        self.globals.push(switch.as_ref().to_owned());
        self
    }

    /// Works on the files under `dir`.
    pub fn work_tree(mut self, dir: &Path) -> Self {
        self.work_tree = Some(dir.to_owned());
        self.call.cwd = Some(dir.to_owned());
        self
    }

    /// The work tree is a checkout of the person's, with nothing in it that was not merged: filters run as in the person's
    /// own git.
    pub fn as_the_person(mut self) -> Self {
        self.persons = true;
        self
    }

    /// Speaks for this checkout (its HEAD and, unless `index` says otherwise, its index).
    pub fn git_dir(mut self, dir: &Path) -> Self {
        self.git_dir = Some(dir.to_owned());
        self
    }

    pub fn index(self, file: &Path) -> Self {
        self.env("GIT_INDEX_FILE", file)
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.call.env.insert(name.into(), value.as_ref().to_owned());
        self
    }

    pub fn stdin(mut self, input: Input) -> Self {
        self.call.stdin = input;
        self
    }

    /// Raises the bound on the output, for lists that grow with the repository.
    pub fn long_list(self) -> Self {
        self.output_max(LIST_BYTES_MAX)
    }

    pub(super) fn output_max(mut self, bytes: usize) -> Self {
        self.call.stdout_max = bytes;
        self
    }

    /// The most that git may have of memory of its own.
    pub fn data_max(mut self, bytes: u64) -> Self {
        self.call.data_max = Some(bytes);
        self
    }

    pub fn timeout(mut self, limit: Duration) -> Self {
        self.call.timeout = limit;
        self
    }

    /// The command as a person would type it, for messages.
    fn shown(&self) -> String {
        let words: Vec<_> = self.args.iter().take(6).map(|arg| arg.to_string_lossy()).collect();
        words.join(" ")
    }

    /// Runs it and hands back whatever happened, also a failure of git.
    pub async fn any(self) -> Result<Ended, GitError> {
        // In a box: it is at the bottom of every future that asks git, and each of them would carry all of it.
        Box::pin(traced(self.shown(), self.end())).await
    }

    async fn end(self) -> Result<Ended, GitError> {
        if let Some(guard) = &self.guard {
            guard.before(self.work_tree.as_deref()).await?;
        }
        let mut call = self.call;
        let walled = match (&self.guard, &self.work_tree) {
            (Some(guard), Some(tree)) if !self.persons => guard.walled(&call.env, tree).await?,
            _ => None,
        };
        if let Some(walled) = &walled {
            walled.around(&mut call);
        }
        for switch in SWITCHES {
            call = call.arg("-c").arg(switch);
        }
        // The configuration may say what was true on another machine. A new file would count as one that is known, whose
        // name differs in case alone, and nobody would save it.
        if self.guard.as_ref().is_some_and(|guard| !guard.disk_ignores_case()) {
            call = call.arg("-c").arg("core.ignoreCase=false");
        }
        if let Some(dir) = &self.git_dir {
            call = call.arg(with_path("--git-dir=", dir));
        }
        if let Some(dir) = &self.work_tree {
            call = call.arg(with_path("--work-tree=", dir));
        }
        let ended = match call.args(self.globals).args(self.args).run().await {
            Err(ProcessError::NotFound { .. }) => return Err(GitError::Missing),
            other => other?,
        };
        if let (Some(walled), Some(guard)) = (&walled, &self.guard) {
            guard.filters_ended(walled)?;
        }
        Ok(ended)
    }
}

fn with_path(switch: &str, path: &Path) -> OsString {
    let mut arg = OsString::from(switch);
    arg.push(path);
    arg
}
